//! What sends clicks, drags, text and keys, for a display: a [`Sender`] of single events, and
//! wlroots' devices.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point, Rect};
use deskline_link::{Button, Cancel, Clicks, Result};

use crate::compositor::{Hands, plus};
use crate::sender::{Port, Sender};
use crate::wlroots::client::Client;
use crate::wlroots::input::Input;

impl<P: Port> Hands for Sender<P> {
    fn go(&mut self, (x, y): (f64, f64)) -> Result<()> {
        Sender::go(self, x, y)
    }

    fn click(&mut self, button: Button, clicks: Clicks, cancel: &Cancel) -> Result<()> {
        Sender::click(self, button, clicks, cancel)
    }

    fn drag(
        &mut self,
        ends: [Point; 2],
        offset: (f64, f64),
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        Sender::drag(self, ends, modifiers, |at| plus(at, offset), cancel)
    }

    fn scroll(&mut self, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        Sender::scroll(self, right, down, cancel)
    }

    fn type_part(&mut self, part: &[char], at_once: bool, cancel: &Cancel) -> Result<Duration> {
        let strokes = self.strokes(part)?;
        if at_once {
            return self.burst(&strokes);
        }
        self.strike(&strokes, cancel).map(|()| Duration::ZERO)
    }

    fn press(&mut self, press: KeyPress) -> Result<()> {
        Sender::press(self, press)
    }
}

/// wlroots' virtual devices.
pub(crate) struct Devices<'a> {
    pub(crate) input: &'a mut Input,
    pub(crate) client: &'a mut Client,
    /// The bounds of all outputs.
    pub(crate) layout: Rect,
}

/// A place as these devices take it.
#[allow(clippy::cast_possible_truncation)]
fn whole((x, y): (f64, f64)) -> Point {
    Point {
        x: x as i32,
        y: y as i32,
    }
}

impl Hands for Devices<'_> {
    fn go(&mut self, to: (f64, f64)) -> Result<()> {
        self.input.go(self.client, self.layout, whole(to))
    }

    fn click(&mut self, button: Button, clicks: Clicks, cancel: &Cancel) -> Result<()> {
        self.input.click(self.client, button, clicks, cancel)
    }

    fn drag(
        &mut self,
        ends: [Point; 2],
        offset: (f64, f64),
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        let ends = ends.map(|at| whole(plus(at, offset)));
        self.input
            .drag(self.client, self.layout, ends, modifiers, cancel)
    }

    fn scroll(&mut self, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        self.input.scroll(self.client, right, down, cancel)
    }

    fn type_part(&mut self, part: &[char], _at_once: bool, cancel: &Cancel) -> Result<Duration> {
        let typed = self.input.type_part(self.client, part, cancel);
        typed.map(|()| Duration::ZERO)
    }

    fn press(&mut self, press: KeyPress) -> Result<()> {
        self.input.press(self.client, press)
    }
}
