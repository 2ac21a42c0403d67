//! Synthetic input: clicks, drags, the wheel, keys and text, as Quartz events at the HID level.
//!
//! Quartz keeps the order of a process's events, and loses some that are posted back to back. The
//! pauses are what others have measured.

use std::time::{Duration, Instant};

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::{Button, Cancel, Clicks, DragPort, Error, Pace, Result, drag};

use crate::keys::{self, HELD, Press};
use crate::os::{Event, MouseButton, Os, TAG};

/// The most time that the pointer may take to get where it was moved.
const ARRIVES: Duration = Duration::from_millis(200);

/// The polling interval meanwhile.
const LOOK: Duration = Duration::from_millis(2);

/// How long the pointer rests before a button or the wheel: what follows in the same turn is ignored by
/// some apps (`SwiftAutoGUI` #115; macos-use rests 15 ms after each event).
const RESTS: Duration = Duration::from_millis(15);

/// How long a button is down, and up between two clicks. `AppKit` drops a mouse-up in the turn of its
/// mouse-down: of 15 none arrived after 0 ms, 14 after 20 ms, all after 40 ms
/// (callstack/agent-device #2716).
const DWELLS: Duration = Duration::from_millis(50);

/// The pause around a key with modifiers. A guess from macos-use, which rests 15 ms after each event.
const KEY_PAUSE: Duration = Duration::from_millis(10);

/// The most UTF-16 units that `CGEventKeyboardSetUnicodeString` takes.
const CHUNK: usize = 20;

/// The pause between two texts: Chromium drops the second of two strings in one turn.
const TEXT_PAUSE: Duration = Duration::from_millis(4);

/// A text longer than this is for a text view, which takes it in chunks. The guard opens after 30 s.
const LONG: usize = 500;

/// The speed of a drag: each step takes one display frame. A motion that comes sooner after the press
/// begins no drag (open-codex-computer-use #63), and the target accepts a drop only after a turn of its
/// event loop.
const PACE: Pace = Pace {
    steps: 12,
    pause: Duration::from_millis(16),
    dwell: DWELLS,
};

/// The maximum number of lines in one event: views ignore more than a real wheel sends at once.
const LINES: i32 = 10;

/// Sends input, and tracks which keys and buttons it holds down.
pub(crate) struct Input<O: Os> {
    os: O,
    keys: Vec<u16>,
    buttons: Vec<MouseButton>,
    /// `kCGMouseEventNumber` of the last press.
    number: i64,
}

impl<O: Os> Input<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            keys: Vec::new(),
            buttons: Vec::new(),
            number: 0,
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

    /// Moves the pointer and waits until it is there.
    fn move_to(&self, to: Point, cancel: &Cancel) -> Result<()> {
        self.post(&Event::Move {
            to: at(to),
            delta: (0, 0),
            number: 0,
            dragging: None,
            flags: 0,
        })?;
        let start = Instant::now();
        let near = |at: Point| at.x.abs_diff(to.x) <= 1 && at.y.abs_diff(to.y) <= 1;
        while !near(self.pointer()) && start.elapsed() < ARRIVES {
            cancel.wait(LOOK)?;
        }
        Ok(cancel.wait(RESTS)?)
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
            self.number = self.number.max(self.os.presses()) + 1;
            self.buttons.push(button);
        } else {
            self.buttons.retain(|b| *b != button);
        }
        self.post(&Event::Button {
            at: at(place),
            button,
            down,
            clicks,
            number: self.number,
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
            // The port of the hands will have the middle one.
            Button::Right | Button::Middle => MouseButton::Right,
        };
        let clicks = match clicks {
            Clicks::Single => 1,
            Clicks::Double => 2,
        };
        self.move_to(place, cancel)?;
        for nth in 1..=clicks {
            if nth > 1 {
                cancel.wait(DWELLS)?;
            }
            self.button(place, button, true, nth, 0)?;
            cancel.wait(DWELLS)?;
            self.button(place, button, false, nth, 0)?;
        }
        Ok(())
    }

    /// Drags from `from` to `to` with the modifiers held, see [`drag`].
    pub(crate) fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        let mut dragging = Dragging {
            input: self,
            modifiers,
            flags: 0,
            at: from,
            pressed: false,
            cancel,
        };
        drag(&mut dragging, [from, to], PACE, cancel)
    }

    /// Turns the wheel by lines. Positive is right and down.
    pub(crate) fn scroll(&self, place: Point, dx: i32, dy: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.move_to(place, cancel)?;
        let (mut dx, mut dy) = (dx, dy);
        while dx != 0 || dy != 0 {
            cancel.check()?;
            let (x, y) = (dx.clamp(-LINES, LINES), dy.clamp(-LINES, LINES));
            self.post(&Event::Scroll {
                at: at(place),
                vertical: -y,
                horizontal: -x,
            })?;
            dx -= x;
            dy -= y;
        }
        Ok(())
    }

    /// Types text into the focused element. Line ends and tabs are keys. Other characters come one by
    /// one with the key that gives them: text views go by the characters, but Calculator, type-select,
    /// web pages and remote desktops by the keys.
    pub(crate) fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        let most = if text.len() > LONG { CHUNK } else { 1 };
        let codes = keys::by_character(&self.os);
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
            if key.is_some() || units.len() + c.len_utf16() > most {
                self.text(&mut units, (0, 0), cancel)?;
            }
            match key {
                Some(code) => {
                    cancel.check()?;
                    self.key(code, true, 0)?;
                    self.key(code, false, 0)?;
                    cancel.wait(TEXT_PAUSE)?;
                }
                None => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
            if most == 1 {
                let key = codes.get(&c).copied().unwrap_or_default();
                self.text(&mut units, key, cancel)?;
            }
        }
        self.text(&mut units, (0, 0), cancel)
    }

    /// Types a text as one key press: its code and flags.
    fn text(&self, units: &mut Vec<u16>, key: (u16, u64), cancel: &Cancel) -> Result<()> {
        if units.is_empty() {
            return Ok(());
        }
        cancel.check()?;
        for down in [true, false] {
            let (code, flags) = key;
            self.post(&Event::Text {
                code,
                flags,
                units: units.clone(),
                down,
            })?;
        }
        units.clear();
        Ok(cancel.wait(TEXT_PAUSE)?)
    }

    /// Presses one key.
    pub(crate) fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        match keys::find(&self.os, press)? {
            Press::Text(c) => {
                let mut units = c.encode_utf16(&mut [0; 2]).to_vec();
                self.text(&mut units, (0, 0), cancel)
            }
            Press::Code {
                code,
                modifiers,
                flags,
            } => {
                let held = self.hold(modifiers)?;
                if held != 0 {
                    cancel.wait(KEY_PAUSE)?;
                }
                self.key(code, true, held | flags)?;
                cancel.wait(KEY_PAUSE)?;
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

/// The single events of a drag.
struct Dragging<'a, O: Os> {
    input: &'a mut Input<O>,
    modifiers: Modifiers,
    /// The flags of the modifiers that are down.
    flags: u64,
    /// Where the pointer is, while the button is down.
    at: Point,
    pressed: bool,
    cancel: &'a Cancel,
}

impl<O: Os> DragPort for Dragging<'_, O> {
    type Error = Error;

    fn go(&mut self, to: Point) -> Result<()> {
        let from = std::mem::replace(&mut self.at, to);
        if !self.pressed {
            return self.input.move_to(to, self.cancel);
        }
        let way = |a: i32, b: i32| i64::from(b) - i64::from(a);
        // macOS takes the motion from the deltas, not from the places (open-codex-computer-use #63).
        self.input.post(&Event::Move {
            to: at(to),
            delta: (way(from.x, to.x), way(from.y, to.y)),
            number: self.input.number,
            dragging: Some(MouseButton::Left),
            flags: self.flags,
        })
    }

    fn press(&mut self) -> Result<()> {
        self.flags = self.input.hold(self.modifiers)?;
        self.pressed = true;
        let Self { at, flags, .. } = *self;
        self.input.button(at, MouseButton::Left, true, 1, flags)
    }

    fn release(&mut self) -> Result<()> {
        let Self { at, flags, .. } = *self;
        if std::mem::take(&mut self.pressed) {
            self.input.button(at, MouseButton::Left, false, 1, flags)?;
        }
        self.input.let_go(self.modifiers)
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
