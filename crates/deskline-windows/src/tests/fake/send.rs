//! The calls of `crate::input::send`. Windows drops events for a program with more rights, without
//! an error (<https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-sendinput>).

use deskline_contract::Result;
use deskline_core::{Modifiers, Point, Rect};
use deskline_input::Button;

use super::{Win, World, current};
use crate::tree::facts::extents;
use crate::tree::uia::Patterns;

/// The control type of a text field.
const EDIT: i32 = 50_004;

impl World {
    /// The frontmost window at a place.
    pub(super) fn at(&self, point: Point) -> Option<&Win> {
        let shown = |window: &&Win| !window.minimised && window.cloaked == 0;
        let mut shown = self.windows.iter().filter(shown);
        shown.find(|window| window.at.contains(point))
    }

    /// Whether the window takes input of this process.
    fn reaches(&self, window: &Win) -> bool {
        let pid = window.core.map_or(window.pid, |(_, pid)| pid);
        let app = self.apps.get(&pid);
        app.is_some_and(|app| app.integrity == super::MEDIUM)
    }

    fn clicked(&mut self, point: Point) {
        let Some(window) = self.at(point).cloned() else {
            return;
        };
        if !self.reaches(&window) {
            return;
        }
        self.come(window.id);
        let is_there = |element: &&usize| {
            let raw = &self.elements[**element].raw;
            extents(raw).is_some_and(|bounds: Rect| bounds.contains(point)) && !raw.offscreen
        };
        let hit = self.below(window.root);
        let Some(&hit) = hit.iter().rfind(is_there) else {
            return;
        };
        let raw = &mut self.elements[hit].raw;
        let name = raw.name.clone();
        if raw.patterns.contains(Patterns::TOGGLE) {
            raw.toggle = (raw.toggle + 1) % 2;
        }
        if raw.control_type == EDIT {
            for element in self.below(window.root) {
                self.elements[element].raw.focused = element == hit;
            }
        }
        self.log.push(format!("click {name}"));
        if let Some(react) = self.pressed.get(&hit).cloned() {
            react(self);
        }
    }

    fn typed(&mut self, text: &str) {
        self.log.push(format!("sent {text}"));
        let Some(window) = self.front.and_then(|front| self.win(front)).cloned() else {
            return;
        };
        if !self.reaches(&window) {
            return;
        }
        let mut fields = self.below(window.root).into_iter();
        if let Some(field) = fields.find(|field| self.elements[*field].raw.focused) {
            self.elements[field].raw.value.push_str(text);
        }
        self.log.push(format!("type {text}"));
    }
}

fn send(event: impl FnOnce(&mut World)) -> Result<()> {
    let fake = current();
    let mut world = fake.world();
    world.sent_last = true;
    event(&mut world);
    Ok(())
}

pub(crate) fn key(code: u16, _: bool, down: bool) -> Result<()> {
    send(|world| {
        if down {
            world.log.push(format!("key {code:#x}"));
        }
    })
}

pub(crate) fn text(units: &[u16], down: bool) -> Result<()> {
    send(|world| {
        if down {
            world.typed(&String::from_utf16_lossy(units));
        }
    })
}

pub(crate) fn motion(to: Point) -> Result<()> {
    send(|world| world.pointer = to)
}

pub(crate) fn button(_: Button, down: bool) -> Result<()> {
    send(|world| {
        if !down {
            world.clicked(world.pointer);
        }
    })
}

pub(crate) fn wheel(right: i32, down: i32) -> Result<()> {
    send(|world| world.log.push(format!("wheel {right} {down}")))
}

pub(crate) fn nothing() -> Result<()> {
    send(|_| {})
}

pub(crate) fn by_layout(c: char) -> Option<(u16, Modifiers)> {
    let code = c
        .is_ascii_lowercase()
        .then(|| c.to_ascii_uppercase() as u16);
    code.map(|code| (code, Modifiers::empty()))
}

pub(crate) fn is_down(_: u16) -> bool {
    false
}
