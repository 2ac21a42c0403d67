//! The desktop in memory behind the contract, and the script: what happens before or after which call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskline_core::{ElementId, Key, KeyPress, Modifiers, Point, Rect, States, Tree};
use deskline_link::cancel::Reason;
use deskline_link::guard::{Grab, Task};
use deskline_link::{
    Aim, Application, Apps, Button, Cancel, Capabilities, Clicks, Desktop, Display, Error, Opened,
    Other, Permit, Picture, Platform, Pointer, Progress, Refusal, Result, Scope, Trees, Window,
    WindowId,
};

use crate::world::{Health, ScriptWindow, World};

/// Something that happens on its own: the person does it, or an app.
pub(crate) type Happening = Box<dyn FnOnce(&mut World) + Send>;

/// Starts an app: its pid.
pub(crate) type Start = fn(&mut World) -> u32;

/// When it does.
enum When {
    /// Before the call with this number in the link, counted from 1.
    Before(usize),
    /// After the first call whose line in the log begins with this.
    After(&'static str),
}

/// What is scripted, and what was called.
// Each is a switch of its own.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Script {
    pub(crate) world: World,
    happenings: Vec<(When, Happening)>,
    /// A line for each call.
    pub(crate) calls: Vec<String>,
    /// Why there is no guard.
    pub(crate) unable: Option<&'static str>,
    /// Whether this desktop can tell whether the person presses anything.
    pub(crate) watches: bool,
    /// Whether the connection to the desktop is broken.
    pub(crate) broken: bool,
    pub(crate) connections: u32,
    /// Whether apps answer what nobody can read.
    pub(crate) garbled: bool,
    listening: bool,
    aim: Option<Aim>,
    /// What this desktop can do.
    pub(crate) capabilities: Capabilities,
    /// How often a started app is looked at before it has a window.
    pub(crate) slow: usize,
    started: Option<u32>,
    /// What `open` starts.
    pub(crate) installed: Vec<(&'static str, Start)>,
}

/// The desktop and its platform. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    pub(crate) fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(Script {
            world,
            happenings: Vec::new(),
            calls: Vec::new(),
            unable: None,
            watches: true,
            broken: false,
            connections: 0,
            garbled: false,
            listening: false,
            aim: None,
            capabilities: Capabilities::ALL,
            slow: 0,
            started: None,
            installed: Vec::new(),
        })))
    }

    /// A panic in the script poisons nothing that matters.
    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One call of the contract: what is due before it, its line, what it does, what is due after it.
    fn call<T>(
        &self,
        line: impl Into<String>,
        act: impl FnOnce(&mut Script) -> Result<T>,
    ) -> Result<T> {
        let mut script = self.script();
        let line = line.into();
        script.calls.push(line.clone());
        let number = script.calls.len();
        script.fire(|when| matches!(when, When::Before(n) if *n == number));
        if script.broken {
            return Err(Error::lost("asking the desktop")("connection reset"));
        }
        let result = act(&mut script);
        script.fire(|when| matches!(when, When::After(name) if line.starts_with(name)));
        result
    }

    /// A question that cannot fail.
    fn ask<T>(&self, line: &str, act: impl FnOnce(&mut Script) -> T) -> T {
        let mut script = self.script();
        script.calls.push(line.to_owned());
        let number = script.calls.len();
        script.fire(|when| matches!(when, When::Before(n) if *n == number));
        let result = act(&mut script);
        script.fire(|when| matches!(when, When::After(name) if line.starts_with(name)));
        result
    }
}

impl Script {
    pub(crate) fn before(&mut self, call: usize, happens: Happening) {
        self.happenings.push((When::Before(call), happens));
    }

    pub(crate) fn after(&mut self, call: &'static str, happens: Happening) {
        self.happenings.push((When::After(call), happens));
    }

    fn fire(&mut self, due: impl Fn(&When) -> bool) {
        while let Some(at) = self.happenings.iter().position(|(when, _)| due(when)) {
            let (_, happens) = self.happenings.remove(at);
            happens(&mut self.world);
        }
    }

    /// An error unless the app answers.
    fn answers(&self, pid: u32) -> Result<()> {
        if self.garbled {
            return Err(Error::system("talking to the app")("a malformed reply"));
        }
        match self.world.health(pid) {
            Health::Well => Ok(()),
            Health::Dead => Err(Error::NoProcess(pid)),
            Health::Hung => Err(Error::NotAnswering {
                app: self.world.name(pid),
                pid,
                ms: 2_000,
            }),
        }
    }

    /// The app that an element is of, if it is still there.
    fn owner(&mut self, id: &ElementId) -> Result<u32> {
        let mut windows = self.world.stack.iter();
        let owner = windows.find(|w| w.nodes.iter().any(|n| n.id == id.as_str()));
        let pid = owner.map(|w| w.pid).ok_or_else(|| refused("it is gone"))?;
        self.answers(pid).map(|()| pid)
    }

    /// Whether what lies there is what was aimed at.
    fn require_place(&self, at: Point) -> Result<()> {
        let (Some(aim), Some((there, _))) = (self.aim, self.world.lies_at(at)) else {
            return Ok(());
        };
        let same = aim.window.is_none_or(|id| id.0 == there.id);
        if there.pid == aim.pid && (same || there.menu) {
            return Ok(());
        }
        Err(other(there).lies_over(at))
    }

    fn require_front(&self, typed: usize) -> Result<()> {
        match (self.aim, self.world.front()) {
            (Some(aim), Some(front)) if front.pid != aim.pid => {
                Err(other(front).has_keyboard(&format!("{typed} characters were typed")))
            }
            _ => Ok(()),
        }
    }

    /// A window as this desktop tells of it.
    fn known(&self, window: &ScriptWindow) -> Window {
        let Capabilities { pids, extents, .. } = &self.capabilities;
        Window {
            id: WindowId(window.id),
            pid: pids.is_there().then_some(window.pid),
            title: window.title.clone(),
            extents: extents.is_there().then_some(window.at),
        }
    }

    /// The link does not ask a desktop for what it lacks.
    fn require(&self, ability: impl FnOnce(&Capabilities) -> bool) {
        assert!(ability(&self.capabilities), "asked for what there is not");
    }

    /// The keys of a text go in one by one; half way through something may happen.
    fn typed(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.world.keys_down = true;
        for (typed, key) in text.chars().enumerate() {
            if typed == text.chars().count() / 2 {
                self.fire(|when| matches!(when, When::After("half")));
            }
            cancel.check()?;
            self.require_front(typed)?;
            self.world.key(key);
        }
        self.world.keys_down = false;
        Ok(())
    }
}

fn refused(why: &str) -> Error {
    Error::Refused(Refusal {
        action: "the action",
        why: why.to_owned(),
        instead: "Click it".into(),
    })
}

fn other(window: &ScriptWindow) -> Other {
    Other {
        title: window.title.clone(),
        pid: window.pid,
    }
}

impl Platform for Scripted {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        let mut script = self.script();
        script.broken = false;
        script.connections += 1;
        Ok(Box::new(self.clone()))
    }

    fn ping(&self, pid: u32) -> Result<()> {
        self.script().answers(pid)
    }
}

impl Desktop for Scripted {
    fn id(&self) -> String {
        "scripted".into()
    }
}

impl Trees for Scripted {
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        let how = match scope {
            Scope::Whole { .. } => "whole",
            Scope::Again { .. } => "again",
            Scope::Showing => "showing",
        };
        self.call(format!("read {pid} {how}"), |script| {
            script.answers(pid)?;
            let tree = script.world.tree(pid);
            if tree.windows.is_empty() {
                let (name, hint) = (tree.app.name, String::new());
                return Err(Error::NoWindow { pid, name, hint });
            }
            Ok(tree)
        })
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.call(format!("listen {pid}"), |script| {
            script.world.take_changed();
            script.listening = true;
            script.answers(pid)
        })
    }

    fn stop_listening(&mut self) {
        self.ask("stop_listening", |script| script.listening = false);
    }

    fn wait_for_change(&mut self, _: Duration) -> Result<bool> {
        self.call("wait_for_change", |script| {
            Ok(script.listening && script.world.take_changed())
        })
    }

    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        self.call("scroll_into_view", |script| {
            script.owner(element)?;
            if let Some(node) = script.world.node(element.as_str()) {
                node.away = false;
            }
            Ok(true)
        })
    }

    fn press(&mut self, element: &ElementId) -> Result<()> {
        self.call("press", |script| {
            script.owner(element)?;
            let pressed = script
                .world
                .node(element.as_str())
                .map(|n| n.pressed.clone());
            match pressed.flatten() {
                Some(pressed) => pressed(&mut script.world),
                None => return Err(refused("it has no action")),
            }
            Ok(())
        })
    }

    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        self.call("set_value", |script| {
            script.owner(element)?;
            if let Some(node) = script.world.node(element.as_str()) {
                node.value = value.to_owned();
            }
            Ok(())
        })
    }

    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        self.call(format!("set_selected {selected}"), |script| {
            script.owner(element)?;
            if let Some(node) = script.world.node(element.as_str()) {
                node.line.states.set(States::SELECTED, selected);
            }
            Ok(())
        })
    }
}

impl Display for Scripted {
    fn capabilities(&self) -> Capabilities {
        self.script().capabilities.clone()
    }

    fn front(&mut self) -> Result<Option<Window>> {
        self.call("front", |script| {
            let front = script.world.front();
            let known = front.filter(|_| script.capabilities.windows.is_there());
            Ok(known.map(|window| script.known(window)))
        })
    }

    fn activate(&mut self, window: WindowId, _: &Cancel) -> Result<()> {
        self.call(format!("activate {}", window.0), |script| {
            script.require(|has| has.raise.is_there());
            script.world.raise(window.0);
            let there = script.world.front().is_some_and(|w| w.id == window.0);
            let gone = || Error::Input("the window is gone".into());
            there.then_some(()).ok_or_else(gone)
        })
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        self.call("windows", |script| {
            let listed = script
                .world
                .stack
                .iter()
                .filter(|w| w.pid == pid && !w.menu);
            let known = listed.filter(|_| script.capabilities.windows.is_there());
            Ok(known.map(|window| script.known(window)).collect())
        })
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.call("every_window", |script| {
            let listed = script.world.stack.iter().filter(|w| !w.menu);
            let known = listed.filter(|_| script.capabilities.windows.is_there());
            Ok(known.map(|window| script.known(window)).collect())
        })
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.call("popup_open", |script| {
            let mut menus = script.world.stack.iter().filter(|w| w.menu);
            Ok(menus.any(|w| w.pid == pid))
        })
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.call("pointer", |script| {
            let pointer = Pointer {
                at: script.world.pointer,
                pressed: script.world.held,
            };
            Ok(Some(pointer).filter(|_| script.capabilities.locate_pointer.is_there()))
        })
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.call(format!("move_pointer {},{}", to.x, to.y), |script| {
            script.world.pointer = to;
            Ok(())
        })
    }

    fn watch_person(&mut self) {
        self.ask("watch_person", |script| script.world.person = Some(false));
    }

    fn unwatch_person(&mut self) {
        self.ask("unwatch_person", |script| {
            script.world.ear = None;
            script.world.person = None;
            script.aim = None;
        });
    }

    fn person_pressed(&mut self) -> Option<bool> {
        self.ask("person_pressed", |script| {
            script.world.person.filter(|_| script.watches)
        })
    }

    fn show(&mut self, _: Option<Rect>, caption: &str, _: Duration, _: &Cancel) -> Result<()> {
        self.call(format!("show '{caption}'"), |_| Ok(()))
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let caption = task.caption.as_deref().unwrap_or("nothing");
        let caption = caption.split(" — ").next().unwrap_or_default();
        self.call(format!("grab '{caption}'"), |script| {
            script.require(|has| has.guard.is_there());
            if let Some(why) = script.unable {
                return Ok(Grab::Unable(why.into()));
            }
            script.world.guarded = true;
            script.world.ear = Some(cancel.clone());
            Ok(Grab::Held)
        })
    }

    fn ungrab(&mut self) {
        self.ask("ungrab", |script| script.world.guarded = false);
    }

    fn aim(&mut self, aim: Aim) {
        let at = aim.window.map_or("any".to_owned(), |w| w.0.to_string());
        let line = format!("aim {} {at}", aim.pid);
        self.ask(&line, |script| script.aim = Some(aim));
    }

    fn click(&mut self, at: Point, button: Button, clicks: Clicks, _: &Cancel) -> Result<()> {
        let how = match (button, clicks) {
            (Button::Left, Clicks::Single) => "click",
            (Button::Left, Clicks::Double) => "double_click",
            (Button::Right, _) => "right_click",
        };
        self.call(format!("{how} {},{}", at.x, at.y), |script| {
            script.require(|has| has.pointer.is_there());
            script.require_place(at)?;
            script.world.pointer = at;
            script.world.click(at);
            Ok(())
        })
    }

    fn drag(&mut self, from: Point, to: Point, _: Modifiers, _: &Cancel) -> Result<()> {
        let line = format!("drag {},{} {},{}", from.x, from.y, to.x, to.y);
        self.call(line, |script| {
            script.require(|has| has.pointer.is_there());
            script.require_place(from)?;
            script.world.pointer = to;
            Ok(())
        })
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.call("type_text", |script| {
            script.require(|has| has.keys.is_there());
            script.typed(text, cancel)
        })
    }

    fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        self.call(format!("press_key {press}"), |script| {
            script.require(|has| has.keys.is_there());
            let key = match press.key {
                Key::Char(key) => key,
                Key::Return => '\n',
                Key::Tab => '\t',
                _ => '·',
            };
            script.typed(&key.to_string(), cancel)
        })
    }

    fn scroll(&mut self, at: Point, _: i32, lines: i32, _: &Cancel) -> Result<()> {
        self.call(format!("scroll {},{} {lines}", at.x, at.y), |script| {
            script.require(|has| has.pointer.is_there());
            script.require_place(at)?;
            script.world.pointer = at;
            Ok(())
        })
    }

    fn release_all(&mut self) {
        self.ask("release_all", |script| script.world.keys_down = false);
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.call(format!("picture {}", window.0), |script| {
            script.require(|has| has.pictures.is_there());
            let mut windows = script.world.stack.iter();
            let window = windows.find(|w| w.id == window.0);
            let at = window
                .map(|w| w.at)
                .ok_or_else(|| Error::Input("it is gone".into()))?;
            Ok(Picture {
                width: 2,
                height: 2,
                rgb: vec![200; 12],
                origin: Point { x: at.x, y: at.y },
                scale: 1.0,
            })
        })
    }
}

impl Apps for Scripted {
    fn applications(&mut self) -> Result<Vec<Application>> {
        self.call("applications", |script| {
            let world = &script.world;
            let front = world.front().map(|w| w.pid);
            let listed = world.apps.iter().map(|(app, _)| Application {
                app: app.clone(),
                windows: Vec::new(),
                front: front == Some(app.pid),
            });
            Ok(listed.collect())
        })
    }

    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        self.call(format!("open {identifier}"), |script| {
            permit(&[identifier])?;
            let mut known = script.installed.iter();
            let found = known.find(|(name, _)| *name == identifier);
            let unknown = || Error::Open(format!("no app is called {identifier}"));
            let start = found.ok_or_else(unknown)?.1;
            script.started = Some(start(&mut script.world));
            Ok(Opened::Started(identifier.to_owned()))
        })
    }

    fn progress(&mut self) -> Result<Progress> {
        self.call("progress", |script| match script.slow.checked_sub(1) {
            Some(left) => {
                script.slow = left;
                Ok(Progress::Starting)
            }
            None => Ok(script.started.map_or(Progress::Starting, Progress::Ready)),
        })
    }

    fn computed(&mut self, _: u32) -> Option<Duration> {
        self.ask("computed", |_| Some(Duration::ZERO))
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        self.call("handoff_pending", |_| Ok(false))
    }
}

/// What the person can do. While the guard holds it reaches nobody.
pub(crate) mod person {
    use super::{Happening, Point, Reason, World};

    fn does(act: impl FnOnce(&mut World) + Send + 'static) -> Happening {
        Box::new(move |world| {
            if world.guarded {
                world.kept_out += 1;
            } else {
                act(world);
            }
        })
    }

    pub(crate) fn moves(x: i32, y: i32) -> Happening {
        does(move |world| world.pointer = Point { x, y })
    }

    pub(crate) fn types() -> Happening {
        does(|world| {
            world.person = world.person.map(|_| true);
            world.key('p');
        })
    }

    /// By a key or a click, which count as pressed.
    pub(crate) fn switches_to(window: u64) -> Happening {
        does(move |world| {
            world.person = world.person.map(|_| true);
            world.raise(window);
        })
    }

    /// Esc is heard through the guard, and after it until the link is over.
    pub(crate) fn presses_esc() -> Happening {
        Box::new(|world| {
            if let Some(ear) = &world.ear {
                ear.cancel(Reason::Person);
            }
        })
    }
}
