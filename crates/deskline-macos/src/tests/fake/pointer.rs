//! The pointer: its position, and the effects of clicks, drags and the wheel.

use std::sync::Arc;
use std::time::Duration;

use super::{Id, World, text};
use crate::os::{Event, MouseButton, Value};
use deskline_input::clock::Instant;

/// A mouse-up that comes sooner after its mouse-down is lost.
const DWELL: Duration = Duration::from_millis(40);

/// A drag that begins sooner after its mouse-down does not count.
const THRESHOLD: Duration = Duration::from_millis(45);

/// A drop that comes sooner after the last motion is not taken.
const DROP: Duration = Duration::from_millis(250);

/// A button that is down.
#[derive(Clone, Copy)]
pub(super) struct Pressed {
    on: Id,
    at: (f64, f64),
    since: Instant,
    number: i64,
    button: MouseButton,
    /// The motions that count.
    dragged: bool,
    moved: Instant,
}

impl World {
    /// The node under a point, of all apps.
    fn under(&self, at: (f64, f64)) -> Option<Id> {
        let inside =
            |[x, y, w, h]: [f64; 4]| at.0 >= x && at.1 >= y && at.0 < x + w && at.1 < y + h;
        if let Some((root, _)) = self.covers.iter().find(|(_, place)| inside(*place)) {
            return Some(*root);
        }
        if let Some(item) = self.in_menu_bar(at) {
            return Some(item);
        }
        let is_menu = |id: &&Id| {
            let node = &self.nodes[id];
            node.parent == 0 && node.attributes.get("AXRole") == Some(&text("AXMenu"))
        };
        if let Some(item) = self
            .nodes
            .keys()
            .filter(is_menu)
            .find_map(|m| self.hit(*m, at))
        {
            return Some(item);
        }
        let mut top = self.stack.iter().copied();
        let window = top.find(|w| self.shown(*w) && self.has(*w, at) && !self.flying.contains(w));
        let window = window.or(self.desktop);
        window.and_then(|w| self.hit(w, at))
    }

    /// The element that Accessibility finds at a point. Windows of services count too, but take no
    /// clicks here.
    pub(super) fn seen_at(&self, at: (f64, f64)) -> Option<Id> {
        let mut extra = self.extra.iter();
        let over = extra
            .find(|(_, [x, y, w, h], _)| at.0 >= *x && at.1 >= *y && at.0 < x + w && at.1 < y + h);
        match over {
            Some((pid, ..)) => self.apps.get(pid).map(|app| app.root),
            None => self.under(at),
        }
    }

    pub(super) fn point(&mut self, event: &Event) {
        match event {
            Event::Move {
                to, dragging: None, ..
            } => {
                self.travel(*to);
                let under = self.under(*to);
                if let Some(does) = under.and_then(|node| self.hovers.get(&node).cloned()) {
                    does(self);
                }
            }
            Event::Move {
                to,
                delta,
                number,
                clicks,
                ..
            } => {
                self.pointer = *to;
                let strict = self.quirks.strict_drags;
                if let Some(pressed) = &mut self.pressed {
                    pressed.moved = Instant::now();
                    let counts = *delta != (0, 0)
                        && *clicks == 1
                        && *number == pressed.number
                        && *number > self.presses_before
                        && pressed.since.elapsed() >= THRESHOLD;
                    pressed.dragged |= counts || !strict;
                }
            }
            Event::Button {
                at,
                down: true,
                number,
                button,
                ..
            } => self.down(*at, *number, *button),
            Event::Button {
                at,
                down: false,
                number,
                ..
            } => self.up(*at, *number),
            Event::Scroll {
                at,
                vertical,
                horizontal,
            } => {
                if let Some(node) = self.under(*at) {
                    let pid = self.nodes[&node].pid;
                    self.scrolled.push((pid, *vertical, *horizontal));
                    self.roll(node, *vertical);
                }
            }
            _ => {}
        }
    }

    /// Moves a node and its descendants.
    fn shift(&mut self, id: Id, by: (f64, f64)) {
        if let Some([x, y, ..]) = self.extents(id) {
            self.set(id, "AXPosition", Value::Point(x + by.0, y + by.1));
        }
        for child in self.node(id).children.clone() {
            self.shift(child, by);
        }
    }

    /// Turns the wheel over a node: the scroll bar of the area that it is in.
    fn roll(&mut self, mut id: Id, lines: i32) {
        while let Some(node) = self.nodes.get(&id) {
            if self.rolls.contains(&id) {
                for child in node.children.clone() {
                    self.shift(child, (0.0, 20.0 * f64::from(lines)));
                }
                return;
            }
            if let Some(Value::Element(bar)) = node.attributes.get("AXVerticalScrollBar").cloned() {
                let was = self.nodes[&bar].attributes.get("AXValue").cloned();
                let Some(Value::Number(was)) = was else {
                    return;
                };
                let now = (was - f64::from(lines) / 100.0).clamp(0.0, 1.0);
                return self.set(bar, "AXValue", Value::Number(now));
            }
            id = node.parent;
        }
    }

    fn travel(&mut self, to: (f64, f64)) {
        let late = self.quirks.late_pointer;
        if late.is_zero() {
            self.pointer = to;
            return;
        }
        let due = Instant::now() + late;
        self.later.push((due, Arc::new(move |w| w.pointer = to)));
    }

    fn down(&mut self, at: (f64, f64), number: i64, button: MouseButton) {
        if !self.quirks.late_pointer.is_zero() && self.pointer != at {
            return;
        }
        self.pointer = at;
        let in_bar = self.in_menu_bar(at).is_some();
        if in_bar
            && self.quirks.hides_menu_bar
            && !std::mem::replace(&mut self.menu_bar_shows, true)
        {
            return;
        }
        let Some(target) = self.under(at) else {
            return;
        };
        self.pressed = Some(Pressed {
            on: target,
            at,
            since: Instant::now(),
            number,
            button,
            dragged: false,
            moved: Instant::now(),
        });
        let pid = self.node(target).pid;
        if !in_bar {
            self.bring_forward(pid);
        }
        let role = self.node(target).attributes.get("AXRole").cloned();
        let texts = [text("AXTextField"), text("AXTextArea")].map(Some);
        if texts.contains(&role) {
            self.focus(pid, target);
        }
    }

    fn up(&mut self, at: (f64, f64), number: i64) {
        let Some(pressed) = self.pressed else {
            return;
        };
        if self.quirks.loses_quick_ups && pressed.since.elapsed() < DWELL {
            // The app goes on waiting for the mouse-up.
            return;
        }
        self.pressed = None;
        self.pointer = at;
        if self.quirks.strict_drags && pressed.dragged && pressed.moved.elapsed() < DROP {
            return;
        }
        if self.draggable.contains(&pressed.on) && pressed.dragged && number == pressed.number {
            let onto = self.under(at);
            self.dropped.push((pressed.on, onto));
            self.shift(pressed.on, (at.0 - pressed.at.0, at.1 - pressed.at.1));
            return;
        }
        let does = self.nodes.get(&pressed.on).and_then(|n| n.pressed.clone());
        let right = self.right_clicks.get(&pressed.on).cloned();
        let right = right.filter(|_| pressed.button == MouseButton::Right);
        if let Some(does) = right.or(does) {
            does(self);
        }
    }
}
