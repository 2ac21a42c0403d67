//! The desktop in memory behind the contract, and the script: what happens before or after which call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskline_core::{ElementId, Key, KeyPress, Modifiers, Point, Rect, States, Tree};
use deskline_link::cancel::Reason;
use deskline_link::guard::{Kept, Task};
use deskline_link::{
    Application, Button, Cancel, Clicks, Desktop, Error, Permit, Picture, Platform, Pointer,
    Result, Scope, Window, WindowId,
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
    listening: bool,
    aim: Option<(u32, Option<WindowId>)>,
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
            listening: false,
            aim: None,
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
            return Err(Error::system("asking the desktop")("connection reset"));
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
        let (Some((pid, window)), Some((there, _))) = (self.aim, self.world.lies_at(at)) else {
            return Ok(());
        };
        let same = window.is_none_or(|id| id.0 == there.id);
        if there.pid == pid && (same || there.menu) {
            return Ok(());
        }
        Err(elsewhere(
            there,
            "lies over the place. Nothing was sent there",
        ))
    }

    fn require_front(&self, typed: usize) -> Result<()> {
        match (self.aim, self.world.front()) {
            (Some((pid, _)), Some(front)) if front.pid != pid => Err(elsewhere(
                front,
                &format!("is in front now. {typed} characters were typed"),
            )),
            _ => Ok(()),
        }
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
    Error::Refused {
        element: String::new(),
        action: "the action",
        why: why.to_owned(),
        instead: "Click it".into(),
    }
}

fn elsewhere(window: &ScriptWindow, why: &str) -> Error {
    Error::Elsewhere {
        title: window.title.clone(),
        pid: window.pid,
        why: why.to_owned(),
    }
}

fn known(window: &ScriptWindow) -> Window {
    Window {
        id: WindowId(window.id),
        pid: window.pid,
        title: window.title.clone(),
        extents: window.at,
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

    fn open(&mut self, identifier: &str, permit: Permit<'_>, _: &Cancel) -> Result<u32> {
        self.call(format!("open {identifier}"), |script| {
            permit(&[identifier])?;
            let found = script
                .installed
                .iter()
                .find(|(name, _)| *name == identifier);
            let unknown = || Error::Open(format!("no app is called {identifier}"));
            let start = found.ok_or_else(unknown)?.1;
            Ok(start(&mut script.world))
        })
    }

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
        self.ask("stop_listening", |script| {
            script.listening = false;
            script.world.ear = None;
            script.world.person = None;
            script.aim = None;
        });
    }

    fn wait_for_change(&mut self, _: Duration) -> Result<bool> {
        self.call("wait_for_change", |script| {
            Ok(script.listening && script.world.take_changed())
        })
    }

    fn is_busy(&mut self, _: u32) -> Result<bool> {
        self.call("is_busy", |_| Ok(false))
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        self.call("handoff_pending", |_| Ok(false))
    }

    fn front(&mut self) -> Result<Option<Window>> {
        self.call("front", |script| Ok(script.world.front().map(known)))
    }

    fn activate(&mut self, window: WindowId, _: &Cancel) -> Result<()> {
        self.call(format!("activate {}", window.0), |script| {
            script.world.raise(window.0);
            let there = script.world.front().is_some_and(|w| w.id == window.0);
            let gone = || Error::Input("the window is gone".into());
            there.then_some(()).ok_or_else(gone)
        })
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        self.call("windows", |script| {
            let own = script
                .world
                .stack
                .iter()
                .filter(|w| w.pid == pid && !w.menu);
            Ok(own.map(known).collect())
        })
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.call("every_window", |script| {
            let all = script.world.stack.iter().filter(|w| !w.menu);
            Ok(all.map(known).collect())
        })
    }

    fn watch_person(&mut self) {
        self.ask("watch_person", |script| script.world.person = Some(false));
    }

    fn person_pressed(&mut self) -> Option<bool> {
        self.ask("person_pressed", |script| {
            script.world.person.filter(|_| script.watches)
        })
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.call("popup_open", |script| {
            let mut menus = script.world.stack.iter().filter(|w| w.menu);
            Ok(menus.any(|w| w.pid == pid))
        })
    }

    fn pointer(&mut self) -> Result<Pointer> {
        self.call("pointer", |script| {
            Ok(Pointer {
                at: script.world.pointer,
                pressed: script.world.held,
            })
        })
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.call(format!("move_pointer {},{}", to.x, to.y), |script| {
            script.world.pointer = to;
            Ok(())
        })
    }

    fn show(&mut self, _: Option<Rect>, caption: &str, _: Duration, _: &Cancel) -> Result<()> {
        self.call(format!("show '{caption}'"), |_| Ok(()))
    }

    fn keep_out(&mut self, task: &Task, cancel: &Cancel) -> Result<Kept> {
        let caption = task.caption.as_deref().unwrap_or("nothing");
        let caption = caption.split(" — ").next().unwrap_or_default();
        self.call(format!("keep_out '{caption}'"), |script| {
            if let Some(why) = script.unable {
                return Ok(Kept::Unable(why.into()));
            }
            script.world.guarded = true;
            script.world.ear = Some(cancel.clone());
            Ok(Kept::Out)
        })
    }

    fn let_in(&mut self) {
        self.ask("let_in", |script| script.world.guarded = false);
    }

    fn aim(&mut self, pid: u32, window: Option<WindowId>, _: bool) {
        let at = window.map_or("any".to_owned(), |w| w.0.to_string());
        self.ask(&format!("aim {pid} {at}"), |script| {
            script.aim = Some((pid, window));
        });
    }

    fn click(&mut self, at: Point, button: Button, clicks: Clicks, _: &Cancel) -> Result<()> {
        let how = match (button, clicks) {
            (Button::Left, Clicks::Single) => "click",
            (Button::Left, Clicks::Double) => "double_click",
            (Button::Right, _) => "right_click",
        };
        self.call(format!("{how} {},{}", at.x, at.y), |script| {
            script.require_place(at)?;
            script.world.pointer = at;
            script.world.click(at);
            Ok(())
        })
    }

    fn drag(&mut self, from: Point, to: Point, _: Modifiers, _: &Cancel) -> Result<()> {
        let line = format!("drag {},{} {},{}", from.x, from.y, to.x, to.y);
        self.call(line, |script| {
            script.require_place(from)?;
            script.world.pointer = to;
            Ok(())
        })
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.call("type_text", |script| script.typed(text, cancel))
    }

    fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        self.call(format!("press_key {press}"), |script| {
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
            script.require_place(at)?;
            script.world.pointer = at;
            Ok(())
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

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.call(format!("picture {}", window.0), |script| {
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

    fn release_all(&mut self) {
        self.ask("release_all", |script| script.world.keys_down = false);
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
