//! Synthetic input: clicks, drags, the wheel, keys and text, as Quartz events at the HID level.
//!
//! Quartz keeps the order of a process's events, and apps queue them, so fast posting loses
//! nothing. The pauses are for receivers that depend on time: gesture recognisers during a drag,
//! and apps that read only one synthetic string in each turn of their event loop.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::{Button, Cancel, Clicks, Error, Result};

use crate::keys::{self, HELD, Press};
use crate::os::{Event, MouseButton, Os, TAG};

/// The most UTF-16 units that `CGEventKeyboardSetUnicodeString` takes.
const CHUNK: usize = 20;

/// The pause between two chunks of text: Chromium drops the second of two strings in one turn.
const CHUNK_PAUSE: Duration = Duration::from_millis(4);

/// The number of steps of a drag. Each step takes one display frame.
const DRAG_STEPS: i32 = 12;
const DRAG_PAUSE: Duration = Duration::from_millis(16);

/// The maximum number of lines in one event: views ignore more than a real wheel sends at once.
const LINES: i32 = 10;

/// Sends input, and tracks which keys and buttons it holds down.
pub(crate) struct Input<O: Os> {
    os: O,
    keys: Vec<u16>,
    buttons: Vec<MouseButton>,
}

impl<O: Os> Input<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            keys: Vec::new(),
            buttons: Vec::new(),
        }
    }

    fn post(&self, event: &Event) -> Result<()> {
        self.os
            .post(event, TAG)
            .map_err(Error::system("posting an input event"))
    }

    /// The pointer's position.
    pub(crate) fn pointer(&self) -> Point {
        let (x, y) = self.os.pointer();
        // On Retina displays the pointer may be at fractions of a point.
        Point {
            x: x.floor() as i32,
            y: y.floor() as i32,
        }
    }

    /// Moves the pointer without events for the apps on its way.
    pub(crate) fn move_pointer(&self, to: Point) {
        self.os.warp((f64::from(to.x), f64::from(to.y)));
    }

    fn move_to(&self, to: Point, dragging: Option<MouseButton>, flags: u64) -> Result<()> {
        self.post(&Event::Move {
            to: at(to),
            dragging,
            flags,
        })
    }

    fn button(
        &mut self,
        place: Point,
        button: MouseButton,
        down: bool,
        clicks: i64,
        flags: u64,
    ) -> Result<()> {
        if down {
            self.buttons.push(button);
        } else {
            self.buttons.retain(|b| *b != button);
        }
        self.post(&Event::Button {
            at: at(place),
            button,
            down,
            clicks,
            flags,
        })
    }

    /// Moves the pointer and clicks.
    pub(crate) fn click(
        &mut self,
        place: Point,
        button: Button,
        clicks: Clicks,
        cancel: &Cancel,
    ) -> Result<()> {
        cancel.check()?;
        let button = match button {
            Button::Left => MouseButton::Left,
            Button::Right => MouseButton::Right,
        };
        let clicks = match clicks {
            Clicks::Single => 1,
            Clicks::Double => 2,
        };
        self.move_to(place, None, 0)?;
        for nth in 1..=clicks {
            cancel.check()?;
            self.button(place, button, true, nth, 0)?;
            self.button(place, button, false, nth, 0)?;
        }
        Ok(())
    }

    /// Presses the button at `from`, moves to `to`, and releases it.
    pub(crate) fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        cancel.check()?;
        self.move_to(from, None, 0)?;
        let flags = self.hold(modifiers)?;
        self.button(from, MouseButton::Left, true, 1, flags)?;
        for step in 1..=DRAG_STEPS {
            cancel.wait(DRAG_PAUSE)?;
            let part = |a: i32, b: i32| {
                let way = i64::from(b) - i64::from(a);
                (i64::from(a) + way * i64::from(step) / i64::from(DRAG_STEPS)) as i32
            };
            let place = Point {
                x: part(from.x, to.x),
                y: part(from.y, to.y),
            };
            self.move_to(place, Some(MouseButton::Left), flags)?;
        }
        // The target accepts a drop only after a turn of its event loop.
        cancel.wait(DRAG_PAUSE)?;
        self.button(to, MouseButton::Left, false, 1, flags)?;
        self.let_go(modifiers)
    }

    /// Turns the wheel by lines. Positive is right and down.
    pub(crate) fn scroll(&self, place: Point, dx: i32, dy: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.move_to(place, None, 0)?;
        let (mut dx, mut dy) = (dx, dy);
        while dx != 0 || dy != 0 {
            cancel.check()?;
            let (x, y) = (dx.clamp(-LINES, LINES), dy.clamp(-LINES, LINES));
            self.post(&Event::Scroll {
                vertical: -y,
                horizontal: -x,
            })?;
            dx -= x;
            dy -= y;
        }
        Ok(())
    }

    /// Types text into the focused element. Line ends and tabs are keys.
    pub(crate) fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        let mut units: Vec<u16> = Vec::with_capacity(CHUNK);
        let mut after_return = false;
        for c in text.chars() {
            let key = match c {
                // The second half of CR LF.
                '\n' if after_return => {
                    after_return = false;
                    continue;
                }
                '\n' | '\r' => Some(keys::RETURN),
                '\t' => Some(keys::TAB),
                _ => None,
            };
            after_return = c == '\r';
            if key.is_some() || units.len() + c.len_utf16() > CHUNK {
                self.chunk(&mut units, cancel)?;
            }
            match key {
                Some(code) => {
                    cancel.check()?;
                    self.key(code, true, 0)?;
                    self.key(code, false, 0)?;
                }
                None => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
        }
        self.chunk(&mut units, cancel)
    }

    fn chunk(&self, units: &mut Vec<u16>, cancel: &Cancel) -> Result<()> {
        if units.is_empty() {
            return Ok(());
        }
        cancel.check()?;
        for down in [true, false] {
            let units = units.clone();
            self.post(&Event::Text { units, down })?;
        }
        units.clear();
        cancel.wait(CHUNK_PAUSE)
    }

    /// Presses one key.
    pub(crate) fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        match keys::find(&self.os, press)? {
            Press::Text(c) => {
                let mut units = c.encode_utf16(&mut [0; 2]).to_vec();
                self.chunk(&mut units, cancel)
            }
            Press::Code {
                code,
                modifiers,
                flags,
            } => {
                let held = self.hold(modifiers)?;
                self.key(code, true, held | flags)?;
                self.key(code, false, held | flags)?;
                self.let_go(modifiers)
            }
        }
    }

    fn key(&mut self, code: u16, down: bool, flags: u64) -> Result<()> {
        if down {
            self.keys.push(code);
        } else {
            self.keys.retain(|k| *k != code);
        }
        self.post(&Event::Key { code, down, flags })
    }

    /// Presses the keys of modifiers; returns the flags for the events that follow.
    fn hold(&mut self, modifiers: Modifiers) -> Result<u64> {
        let mut flags = 0;
        for (modifier, flag, code) in HELD {
            if modifiers.contains(modifier) {
                flags |= flag;
                self.key(code, true, flags)?;
            }
        }
        Ok(flags)
    }

    fn let_go(&mut self, modifiers: Modifiers) -> Result<()> {
        let mut flags = flags_of(modifiers);
        for (modifier, flag, code) in HELD.into_iter().rev() {
            if modifiers.contains(modifier) {
                flags &= !flag;
                self.key(code, false, flags)?;
            }
        }
        Ok(())
    }

    /// Releases keys that the person holds, so that they do not modify the input.
    pub(crate) fn release_the_persons(&mut self) {
        // Caps Lock is a state, not a held key.
        let held = self.os.held_keys().into_iter();
        for code in held.filter(|code| *code != keys::CAPS_LOCK) {
            // If this fails, the calls that follow fail too and report the error.
            let _ = self.key(code, false, 0);
        }
    }

    /// Releases everything that this program holds pressed.
    pub(crate) fn release_all(&mut self) {
        let place = self.pointer();
        for button in std::mem::take(&mut self.buttons) {
            if let Err(e) = self.button(place, button, false, 1, 0) {
                tracing::warn!("a mouse button was not released: {e}");
            }
        }
        for code in std::mem::take(&mut self.keys).into_iter().rev() {
            if let Err(e) = self.key(code, false, 0) {
                tracing::warn!("a key was not released: {e}");
            }
        }
    }
}

fn flags_of(modifiers: Modifiers) -> u64 {
    let held = HELD.iter().filter(|(m, ..)| modifiers.contains(*m));
    held.fold(0, |flags, (_, flag, _)| flags | flag)
}

fn at(point: Point) -> (f64, f64) {
    // The centre of the point. On Retina displays a point is four pixels.
    (f64::from(point.x) + 0.5, f64::from(point.y) + 0.5)
}
