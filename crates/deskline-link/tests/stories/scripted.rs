//! The desktop in memory, as an implementation of the contract.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskline_core::{ElementId, Key, KeyPress, Modifiers, Point, States, Tree};
use deskline_input::clock;
use deskline_link::grants::{Approval, Question};
use deskline_link::guard::{Grab, Guards, Task};
use deskline_link::{
    Aim, AppWindows, Application, Apps, Button, Cancel, Click, Clicks, Clipboard, Deed, Desktop,
    Display, DisplayError, End, Error, Hit, Identity, KeyInput, Missed, Missing, Obstacle, Offer,
    OpenError, Opened, Overlay, Permit, Picture, PictureNature, Pictures, Platform, Pointer,
    PointerInput, Progress, Raising, Result, Scope, Screen, Shown, Sign, TargetError, Thread,
    Trees, Window, WindowHint, WindowId,
};

use crate::script::{Script, When, refused};
use crate::world::{Health, World};

/// How long a call takes.
const CALL: Duration = Duration::from_micros(100);

/// The desktop and its platform. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    pub(crate) fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(Script::new(world))))
    }

    /// A panic in the script leaves nothing in an invalid state, so a poisoned lock can be used.
    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that fails on a broken connection.
    fn call<T>(
        &self,
        line: impl Into<String>,
        act: impl FnOnce(&mut Script) -> Result<T>,
    ) -> Result<T> {
        self.ask(&line.into(), |script| {
            if script.world.broken {
                return Err(Error::lost("asking the desktop")("connection reset"));
            }
            act(script)
        })
    }

    fn has(&self, ability: &str) -> Offer<()> {
        let lacks = &self.script().lacks;
        let why = lacks.get(ability).or(lacks.get("display"));
        why.map_or(Ok(()), |why| Err(Missing::new(*why)))
    }

    /// One call of the contract: logs it, runs the events due before it, carries it out, runs the
    /// events due after it.
    fn ask<T>(&self, line: &str, act: impl FnOnce(&mut Script) -> T) -> T {
        let mut script = self.script();
        script.calls.push(line.to_owned());
        clock::pass(CALL);
        let number = script.calls.len();
        script.fire(|when| matches!(when, When::Before(n) if *n == number));
        let result = act(&mut script);
        script.fire(|when| matches!(when, When::After(name) if line.starts_with(name)));
        result
    }
}

impl Platform for Scripted {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        let mut script = self.script();
        script.world.broken = false;
        script.connections += 1;
        Ok(Box::new(self.clone()))
    }

    fn ping(&self, pid: u32) -> Result<()> {
        self.script().answers(pid)
    }

    fn ask(&self, _: &Question, _: &Cancel) -> Result<Option<Approval>, String> {
        Err("nobody sits at this desktop".to_owned())
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
                let (name, hint) = (tree.app.name, WindowHint::ClosedOrComing);
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

    fn rest(&mut self) {
        self.ask("rest", |script| script.listening = false);
    }

    fn moves_silently(&mut self, _: u32) -> bool {
        self.script().moves_silently
    }

    fn switched(&mut self, _: &ElementId) -> Option<(Duration, bool)> {
        let script = self.script();
        let at = script.switched?;
        Some((script.waited.saturating_sub(at), false))
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>> {
        self.call("wait_for_change", |script| {
            let changed = script.world.take_changed();
            let changed = changed.or_else(|| {
                script.pass(time);
                script.world.take_changed()
            });
            Ok(changed.filter(|_| script.listening))
        })
    }

    /// Not among the calls of a story: it changes nothing.
    fn hit_test(&mut self, tree: &Tree, index: usize, at: Point) -> Result<Hit> {
        let over = tree.drawn_over((index, false), at, false);
        Ok(over.map_or(Hit::Unknown, Hit::Topmost))
    }

    fn act(&mut self, element: &ElementId, deed: Deed<'_>) -> Result<bool> {
        let called = match deed {
            Deed::ScrollIntoView => "scroll_into_view".to_owned(),
            Deed::Focus => "focus".to_owned(),
            Deed::Press => "press".to_owned(),
            Deed::SetValue(_) => "set_value".to_owned(),
            Deed::Choose(_) => "choose".to_owned(),
            Deed::SetSelected(selected) => format!("set_selected {selected}"),
        };
        self.call(called, |script| {
            script.owner(element)?;
            let chooses = script.chooses;
            let node = script.world.node(element.as_str());
            match deed {
                Deed::Press => {
                    let pressed = node.and_then(|node| node.pressed.clone());
                    let nothing = || refused(Obstacle::NoPress(Vec::new()));
                    pressed.ok_or_else(nothing)?(&mut script.world);
                }
                Deed::Choose(_) if !chooses => return Err(refused(Obstacle::ChoiceNotSettable)),
                Deed::ScrollIntoView | Deed::Focus => {
                    if let Some(node) = node {
                        node.away = false;
                    }
                }
                Deed::SetValue(text) | Deed::Choose(text) => {
                    if let Some(node) = node {
                        node.take(text);
                    }
                }
                Deed::SetSelected(selected) => {
                    if let Some(node) = node.filter(|node| node.makes.is_none()) {
                        node.line.states.set(States::SELECTED, selected);
                    }
                }
            }
            Ok(true)
        })
    }
}

impl Display for Scripted {
    fn is_private(&self) -> bool {
        self.script().private
    }

    fn begin_link(&mut self, _: bool) {}

    fn set_aim(&mut self, aim: Aim) {
        let at = aim.window.map_or("any".to_owned(), |w| w.0.to_string());
        let line = format!("aim {} {at}", aim.pid);
        match aim.place {
            // The same aim, once the place is known.
            Some(_) => self.script().aim = Some(aim),
            None => self.ask(&line, |script| script.aim = Some(aim)),
        }
    }

    fn release_all(&mut self) {
        self.ask("release_all", |script| script.world.keys_down = false);
    }

    fn screen(&mut self) -> Offer<&mut dyn Screen> {
        self.has("screen")?;
        Ok(self)
    }

    fn raising(&mut self) -> Offer<&mut dyn Raising> {
        self.has("raising")?;
        Ok(self)
    }

    fn pointer_input(&mut self) -> Offer<&mut dyn PointerInput> {
        self.has("pointer_input")?;
        Ok(self)
    }

    fn key_input(&mut self) -> Offer<&mut dyn KeyInput> {
        self.has("key_input")?;
        Ok(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        self.has("pictures")?;
        Ok(self)
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        self.has("guard")?;
        Ok(self)
    }

    fn overlay(&mut self) -> Offer<&mut dyn Overlay> {
        Ok(self)
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        Ok(self)
    }
}

impl Screen for Scripted {
    fn front(&mut self) -> Result<Option<Window>> {
        self.call("front", |script| {
            let front = script.world.front();
            Ok(front.map(|window| script.known(window)))
        })
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.call("every_window", |script| {
            let listed = script.world.stack.iter().filter(|w| !w.menu);
            Ok(listed.map(|window| script.known(window)).collect())
        })
    }

    fn windows_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        self.call("windows", |script| {
            let windows = script.world.stack.iter();
            let listed = windows.filter(|w| w.pid == pid && !w.menu);
            Ok(listed.map(|window| script.known(window)).collect())
        })
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.call("pointer", |script| {
            let pointer = Pointer {
                at: script.world.pointer,
                pressed: script.world.held,
            };
            Ok(Some(pointer).filter(|_| !script.lacks.contains_key("pointer")))
        })
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.call(format!("move_pointer {},{}", to.x, to.y), |script| {
            script.world.pointer = to;
            Ok(())
        })
    }
}

impl AppWindows for Scripted {
    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.call("popup_open", |script| {
            let mut menus = script.world.stack.iter().filter(|w| w.menu);
            Ok(menus.any(|w| w.pid == pid))
        })
    }
}

impl Raising for Scripted {
    fn activate(&mut self, window: WindowId, _: &Cancel) -> Result<()> {
        self.call(format!("activate {}", window.0), |script| {
            script.world.raise(window.0);
            let there = script.world.front().is_some_and(|w| w.id == window.0);
            let gone = || TargetError::WindowGone.into();
            there.then_some(()).ok_or_else(gone)
        })
    }
}

impl PointerInput for Scripted {
    fn click(&mut self, click: Click, _: Missed<'_>, _: &Cancel) -> Result<()> {
        let Click {
            at, button, clicks, ..
        } = click;
        let how = match (button, clicks) {
            (Button::Left, Clicks::Single) => "click",
            (Button::Left, Clicks::Double) => "double_click",
            (Button::Right, _) => "right_click",
            (Button::Middle, _) => "middle_click",
        };
        self.call(format!("{how} {},{}", at.x, at.y), |script| {
            script.require_place(at)?;
            script.world.pointer = at;
            script.world.click(at);
            Ok(())
        })
    }

    fn hover(&mut self, at: Point, _: &Cancel) -> Result<()> {
        self.call(format!("hover {},{}", at.x, at.y), |script| {
            script.require_place(at)?;
            script.world.pointer = at;
            Ok(())
        })
    }

    fn drag(&mut self, [from, to]: [Point; 2], _: Modifiers, _: &Cancel) -> Result<()> {
        let line = format!("drag {},{} {},{}", from.x, from.y, to.x, to.y);
        self.call(line, |script| {
            script.require_place(from)?;
            script.require_end(to)?;
            script.world.pointer = to;
            script.world.drop(from, to);
            Ok(())
        })
    }

    fn scroll(&mut self, at: Point, (_, lines): (i32, i32), _: &Cancel) -> Result<()> {
        self.call(format!("scroll {},{} {lines}", at.x, at.y), |script| {
            script.require_place(at)?;
            script.world.pointer = at;
            if let Some(turned) = script.world.turned {
                turned(&mut script.world, lines);
                script.world.changes(Sign::Change);
            }
            Ok(())
        })
    }
}

impl KeyInput for Scripted {
    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.call("type_text", |script| script.typed(text, cancel))
    }

    fn press_key(&mut self, press: KeyPress, _held: Duration, cancel: &Cancel) -> Result<()> {
        self.call(format!("press_key {press}"), |script| {
            if press.to_string().ends_with("Control+V") && script.pastes {
                let text = script.world.clipboard.clone();
                script.typed(&text, cancel)?;
                script.pasted = true;
                return Ok(());
            }
            if press.key == Key::Escape {
                script.world.closes_menus();
            }
            let key = match press.key {
                Key::Char(key) => key,
                Key::Return => '\n',
                Key::Tab => '\t',
                _ => '·',
            };
            script.typed(&key.to_string(), cancel)
        })
    }
}

impl Pictures for Scripted {
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.call(format!("picture {}", window.0), |script| {
            let mut windows = script.world.stack.iter();
            let window = windows.find(|w| w.id == window.0);
            let at = window
                .map(|w| w.at)
                .ok_or_else(|| Error::NoPicture("it is gone".into()))?;
            Ok(Picture {
                width: 2,
                height: 2,
                rgb: vec![200; 12],
                origin: Point { x: at.x, y: at.y },
                scale: 1.0,
            })
        })
    }

    fn nature(&self) -> PictureNature {
        PictureNature::Quick
    }
}

impl Overlay for Scripted {
    fn show(&mut self, what: Shown<'_>, _: &Cancel) -> Result<()> {
        self.call(format!("show '{}'", what.caption), |_| Ok(()))
    }
}

impl Guards for Scripted {
    fn watch(&mut self) {
        self.ask("watch_person", |script| script.world.person = Some(false));
    }

    fn unwatch(&mut self) {
        self.ask("unwatch_person", |script| {
            script.world.ear = None;
            script.world.person = None;
            script.aim = None;
        });
    }

    fn pressed(&mut self) -> Option<bool> {
        self.ask("person_pressed", |script| {
            script.world.person.filter(|_| script.watches)
        })
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let caption = task.caption.as_deref().unwrap_or("nothing");
        let caption = caption.split(" — ").next().unwrap_or_default();
        self.call(format!("grab '{caption}'"), |script| {
            if let Some(why) = script.unable {
                return Ok(Grab::Unable(why.into()));
            }
            script.world.guarded = true;
            script.world.ear = Some(cancel.clone());
            Ok(Grab::Held)
        })
    }

    fn holds_on(&mut self) -> bool {
        self.script().holds_on
    }

    fn ungrab(&mut self) {
        self.ask("ungrab", |script| script.world.guarded = false);
    }
}

impl Clipboard for Scripted {
    fn save(&mut self, _: &Cancel) -> Result<Option<String>> {
        self.call("save clipboard", |script| match script.unsaved {
            Some(kind) => {
                Err(DisplayError::ClipboardLate(kind.into(), Duration::from_secs(3)).into())
            }
            None => Ok(None),
        })
    }

    fn offer(&mut self, text: &str, app: u32, _: &Cancel) -> Result<()> {
        self.call(format!("offer {app}"), |script| {
            let theirs = std::mem::replace(&mut script.world.clipboard, text.to_owned());
            script.saved = Some(theirs);
            script.pasted = false;
            Ok(())
        })
    }

    fn await_reader(&mut self, cancel: &Cancel) -> Result<bool> {
        self.call("await_reader", |script| {
            cancel.check()?;
            Ok(script.pasted)
        })
    }

    fn give_back(&mut self) -> Result<()> {
        self.call("give_back", |script| {
            if let Some(theirs) = script.saved.take() {
                script.world.clipboard = theirs;
            }
            Ok(())
        })
    }

    fn keys(&self, terminal: bool) -> KeyPress {
        deskline_link::clipboard::keys(terminal)
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
            permit(&Identity::named(identifier))?;
            let mut known = script.installed.iter();
            let found = known.find(|(name, _)| *name == identifier);
            let unknown = || OpenError::NotFound {
                identifier: identifier.to_owned(),
                nearest: "None is like it".into(),
            };
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

    fn threads(&mut self, _: u32) -> Vec<Thread> {
        let mut script = self.script();
        // The link asks once before it listens, and once after.
        if script.computes > 0 {
            script.computes -= 1;
            script.computed += Duration::from_secs(100);
        }
        let ran = script.computed;
        vec![Thread {
            id: 0,
            ran,
            sleeps: None,
        }]
    }

    fn known_as(&mut self, pid: u32) -> Identity {
        let script = self.script();
        let known = script.programs.iter().find(|(of, _)| *of == pid);
        let named = known.map(|(_, program)| (*program).to_owned());
        Identity::named(named.unwrap_or_else(|| script.world.name(pid)))
    }

    fn end_of(&mut self, pid: u32) -> Option<End> {
        let script = self.script();
        let exit = script.exit?;
        (script.world.health(pid) == Health::Dead).then(|| End {
            app: script.world.name(pid),
            exit,
            wrote: None,
        })
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        self.call("handoff_pending", |_| Ok(false))
    }
}
