//! The pointer and the keyboard: Quartz events at the HID level.
//!
//! Quartz keeps the order of a process's events, and loses some that are posted back to back. The
//! pauses follow measurements of other projects.

use deskline_contract::{Cancel, Error, Result, wait};
use std::collections::HashMap;
use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_input::{Button, Gap, Pace, Part, Port, Rhythm, Stroke, Tempo};

use crate::front;
use crate::keys::{self, HELD, MacKey};
use crate::os::{Event, MouseButton, NewValue, Os, TAG, Value};

/// How long the pointer may take to arrive where it was moved.
const ARRIVES: Duration = Duration::from_millis(200);

/// How often to check whether the pointer has arrived, or the input method is off.
const LOOK: Duration = Duration::from_millis(2);

/// How long the pointer rests before a button or the wheel: some apps ignore an event in the same
/// turn of their loop as the motion (`SwiftAutoGUI` #115; macos-use rests 15 ms after each event).
const RESTS: Duration = Duration::from_millis(15);

/// How long a button is down, and how long it is up between two clicks. `AppKit` drops a mouse-up
/// in the same turn of the event loop as its mouse-down: of 15 mouse-ups, none arrived after 0 ms,
/// 14 after 20 ms, all after 40 ms (callstack/agent-device #2716).
const DWELLS: Duration = Duration::from_millis(50);

/// How long an app may take to learn that an input method is off. A guess.
const SWITCHES: Duration = Duration::from_millis(50);

/// Setting this attribute replaces the selection of a field.
const INSERTS: &str = "AXSelectedText";

/// The most UTF-16 units that `CGEventKeyboardSetUnicodeString` takes.
const CHUNK: usize = 20;

/// A text with more characters than this is typed in chunks, to be complete before the guard opens
/// after 30 s.
const LONG: usize = 4_000;

pub(crate) const RHYTHM: Rhythm = Rhythm {
    part: Part {
        least: CHUNK,
        most: CHUNK,
    },
    // Chromium drops the second of two texts that come in one turn of its event loop.
    keys: Tempo::Each(Duration::from_millis(4)),
    // A guess from macos-use, which rests 15 ms after each event.
    chord: Duration::from_millis(10),
    dwell: DWELLS,
    between: DWELLS,
    // Views do not scroll by more lines per event than a real wheel sends.
    notches: 10,
    // Each step takes one display frame. A motion less than a frame after the press begins no drag
    // (open-codex-computer-use #63), and the target accepts a drop only after a turn of its event
    // loop.
    drag: Pace {
        steps: 12,
        pause: Duration::from_millis(16),
        // If the release follows the last motion sooner, apps see the release first (codex #43047:
        // 60 of 60 drops arrived after 300 ms).
        dwell: Duration::from_millis(300),
    },
    counted: true,
};

/// The pointer and the keyboard.
pub struct Input<O: Os> {
    os: O,
    /// Where the pointer was sent last.
    at: Point,
    /// The button that is down.
    held: Option<MouseButton>,
    /// The flags of the modifiers that are down.
    flags: u64,
    /// `kCGMouseEventNumber` of the last press.
    number: i64,
    /// The key code and flags for each character.
    codes: HashMap<char, (u16, u64)>,
    /// The most UTF-16 units in one event of a text; 1 to type character by character.
    chunk: usize,
    /// Whether a key was posted since the guard was last told about posted keys.
    pub(crate) posted: bool,
    /// The id of the person's input method, while another input source replaces it.
    method: Option<String>,
    /// Whether the front app stays in front, as the link has raised no other window.
    pub(crate) stays: bool,
    /// The field that gets the text through Accessibility instead of keys.
    field: Option<O::Element>,
}

impl<O: Os> Input<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            at: Point { x: 0, y: 0 },
            held: None,
            flags: 0,
            number: 0,
            codes: HashMap::new(),
            chunk: 1,
            posted: false,
            method: None,
            stays: false,
            field: None,
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
        Point::at(x.floor() as i32, y.floor() as i32)
    }

    /// Moves the pointer without sending events to the apps that it passes.
    pub(crate) fn move_pointer(&self, to: Point) {
        self.os.warp((f64::from(to.x), f64::from(to.y)));
    }

    /// Turns off the person's input method: it would take letters for the start of a word to
    /// compose (midscene #2015), and Return for the choice of a word.
    pub(crate) fn leave_method(&mut self) -> Result<()> {
        let Some(method) = self.os.input_source().filter(|source| !source.layout) else {
            return Ok(());
        };
        self.os.select_source(None);
        let is_off = || Ok(self.os.input_source().is_none_or(|source| source.layout));
        if !wait::holds(&Cancel::new(), ARRIVES, LOOK, is_off)? {
            let name = method.name;
            return Err(Error::system("turning off the input method")(format!(
                "{name} stays on, and would change what is typed. Paste the text, or set the value"
            )));
        }
        self.method = Some(method.id);
        // Apps are notified of the change in a turn of their event loop.
        wait::pause(SWITCHES);
        Ok(())
    }

    /// The focused field of the front app, if an input method is on and Accessibility can insert
    /// text there. An input method that was turned off and on again works only once the focus has
    /// moved (Karabiner-Elements #1602), but here the focus stays. `None` for a text with line
    /// ends: line ends are sent as keys, and would arrive in another order than the inserted text.
    fn field_for(&self, text: &[char]) -> Option<O::Element> {
        let method = self.os.input_source().filter(|source| !source.layout);
        method.filter(|_| self.stays && !text.iter().any(|c| c.is_control()))?;
        let field = self.focus()?;
        (self.os.settable(&field, INSERTS) == Ok(true)).then_some(field)
    }

    fn focus(&self) -> Option<O::Element> {
        let app = self.os.application(front::pid(&self.os)?);
        self.os.element(&app, "AXFocusedUIElement")
    }

    /// Whether the front app draws its fields itself, so that Accessibility reports at most the
    /// app's window as focused. An app of this kind may read key codes only, as Zed does.
    fn may_read_codes(&self) -> bool {
        self.focus().is_none_or(|focus| {
            let role = self.os.attribute(&focus, "AXRole");
            matches!(role, Ok(Value::Text { start, .. }) if start == "AXWindow")
        })
    }

    /// Turns the person's input method on again.
    pub(crate) fn return_method(&mut self) {
        if let Some(method) = self.method.take()
            && !self.os.select_source(Some(&method))
        {
            tracing::warn!("the input method {method} was not turned on again");
        }
    }

    /// Releases keys that the person holds, so that they do not modify the input.
    pub(crate) fn release_the_persons(&self) {
        // Caps Lock is a state, not a held key.
        let held = self.os.held_keys().into_iter();
        for code in held.filter(|code| *code != keys::CAPS_LOCK) {
            let (down, flags) = (false, 0);
            // If this fails, the calls that follow fail too and report the error.
            let _ = self.post(&Event::Key { code, down, flags });
        }
    }
}

impl<O: Os> Port for Input<O> {
    type Error = Error;
    type Key = MacKey;

    /// After a motion without a button, the pointer rests for 15 ms.
    fn go(&mut self, to: Point) -> Result<()> {
        let from = std::mem::replace(&mut self.at, to);
        let way = |a: i32, b: i32| i64::from(b) - i64::from(a);
        // macOS takes the motion of a drag from the deltas, not from the positions
        // (open-codex-computer-use #63).
        let (delta, number, flags) = match self.held {
            Some(_) => {
                let delta = (way(from.x, to.x), way(from.y, to.y));
                (delta, self.number, self.flags)
            }
            None => ((0, 0), 0, 0),
        };
        self.post(&Event::Move {
            to: middle(to),
            delta,
            number,
            clicks: self.held.is_some().into(),
            dragging: self.held,
            flags,
        })?;
        if self.held.is_some() {
            return Ok(());
        }
        let near = |at: Point| at.x.abs_diff(to.x) <= 1 && at.y.abs_diff(to.y) <= 1;
        wait::holds(&Cancel::new(), ARRIVES, LOOK, || Ok(near(self.pointer())))?;
        wait::pause(RESTS);
        Ok(())
    }

    fn button(&mut self, button: Button, down: bool, nth: u8) -> Result<()> {
        let button = match button {
            Button::Left => MouseButton::Left,
            Button::Middle => MouseButton::Middle,
            Button::Right => MouseButton::Right,
        };
        if down {
            self.number = self.number.max(self.os.presses()) + 1;
        }
        self.held = down.then_some(button);
        self.post(&Event::Button {
            at: middle(self.at),
            button,
            down,
            clicks: nth.into(),
            number: self.number,
            flags: self.flags,
        })
    }

    fn key(&mut self, key: &MacKey, down: bool) -> Result<()> {
        self.posted |= !matches!(key, MacKey::Insert(_));
        match key {
            MacKey::Insert(text) => match self.field.as_ref().filter(|_| down) {
                Some(field) => {
                    let text = NewValue::Text(text.clone());
                    let set = self.os.set(field, INSERTS, &text);
                    set.map_err(Error::system("inserting the text"))
                }
                None => Ok(()),
            },
            MacKey::Code { code, flags } => {
                let code = *code;
                if let Some((_, flag, _)) = HELD.iter().find(|(.., held)| *held == code) {
                    self.flags = if down {
                        self.flags | flag
                    } else {
                        self.flags & !flag
                    };
                }
                let flags = self.flags | flags;
                self.post(&Event::Key { code, down, flags })
            }
            MacKey::Text { code, flags, units } => self.post(&Event::Text {
                code: *code,
                flags: *flags,
                units: units.clone(),
                down,
            }),
        }
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        self.post(&Event::Scroll {
            at: middle(self.at),
            vertical: -down,
            horizontal: -right,
        })
    }

    fn lacks(&mut self, text: &[char]) -> Result<Option<(Vec<usize>, Gap)>> {
        self.field = self.field_for(text);
        if self.field.is_none() {
            self.leave_method()?;
        }
        self.codes = keys::by_character(&self.os);
        self.chunk = 1;
        let has_key = |char: &char| char.is_control() || self.codes.contains_key(char);
        if text.len() <= LONG && text.iter().all(has_key) {
            return Ok(None);
        }
        if self.field.is_some() || !self.may_read_codes() {
            self.chunk = if text.len() > LONG { CHUNK } else { 1 };
            return Ok(None);
        }
        Ok(Gap::NoSpareKey.of(text, |char| has_key(&char)))
    }

    /// Types line ends and tabs as keys, and each other character as a text with the code of the
    /// key that gives it: text views read the text, but Calculator, type-select, web pages, remote
    /// desktops and Zed read the code. A chunk has the code 0, which the readers of codes take for
    /// the key A (Quicksilver #1827, tty7 #132).
    fn stroke(&mut self, text: &[char], _: &Cancel) -> Result<Option<(Stroke<MacKey>, usize)>> {
        let code = |code| (MacKey::Code { code, flags: 0 }, 1);
        let (key, length) = match text {
            [] => return Ok(None),
            _ if self.field.is_some() => {
                let part = &text[..text.len().min(CHUNK)];
                (MacKey::Insert(part.iter().collect()), part.len())
            }
            ['\n', ..] => code(keys::RETURN),
            ['\t', ..] => code(keys::TAB),
            [char, ..] if self.chunk == 1 => {
                let key = self.codes.get(char).copied().unwrap_or_default();
                (MacKey::text(&text[..1], key), 1)
            }
            _ => {
                let mut units = 0;
                let fits = |char: &&char| {
                    units += char.len_utf16();
                    !char.is_control() && units <= self.chunk
                };
                let length = text.iter().take_while(fits).count();
                (MacKey::text(&text[..length], (0, 0)), length)
            }
        };
        let held = vec![];
        Ok(Some((Stroke { key, held }, length)))
    }

    fn press(&mut self, press: KeyPress, _: &Cancel) -> Result<Stroke<MacKey>> {
        let (key, modifiers) = keys::find(&self.os, press)?;
        let held = self.modifiers(modifiers)?;
        Ok(Stroke { key, held })
    }

    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<MacKey>> {
        let mut wanted = modifiers;
        // Option has the role that AltGr has on other systems.
        wanted.set(
            Modifiers::ALT,
            modifiers.intersects(Modifiers::ALT | Modifiers::ALT_GR),
        );
        let held = HELD.iter().filter(|(m, ..)| wanted.contains(*m));
        let key = |(.., code): &(Modifiers, u64, u16)| MacKey::Code {
            code: *code,
            flags: 0,
        };
        Ok(held.map(key).collect())
    }
}

fn middle(point: Point) -> (f64, f64) {
    // On Retina displays a point is four pixels, so the pointer may be between points.
    (f64::from(point.x) + 0.5, f64::from(point.y) + 0.5)
}
