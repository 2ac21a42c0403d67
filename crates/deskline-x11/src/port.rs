//! The pointer and the keyboard as a port: XTEST events, so that apps see the same events as from a
//! person's hand.
//!
//! Requests are buffered. A press and its release go out in one write, so that the process cannot
//! die in between.

use deskline_contract::{Error, Result};
use deskline_core::{KeyPress, Modifiers, Point};
use deskline_input::{Button, Cancel, Gap, InputError, Port, Stroke};
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, Keycode,
    MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::{During as _, X11, acting, typing};

impl Port for X11 {
    type Error = Error;
    type Key = Keycode;

    fn go(&mut self, to: Point) -> Result<()> {
        let (x, y) = self.on_screen(to)?;
        self.fake(MOTION_NOTIFY_EVENT, 0, x, y)?;
        self.await_arrival(to)
    }

    fn button(&mut self, button: Button, down: bool, _nth: u8) -> Result<()> {
        let number = self.acting.physical(button);
        self.fake_button(number, down)
    }

    fn key(&mut self, code: &Keycode, down: bool) -> Result<()> {
        let event = if down {
            self.acting.unread += 1;
            KEY_PRESS_EVENT
        } else {
            KEY_RELEASE_EVENT
        };
        self.fake(event, *code, 0, 0)
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        for (lines, back, forth) in [(down, 4, 5), (right, 6, 7)] {
            let button = if lines < 0 { back } else { forth };
            for _ in 0..lines.unsigned_abs() {
                self.fake_button(button, true)?;
                self.fake_button(button, false)?;
            }
            self.acting.unread += lines.unsigned_abs();
        }
        Ok(())
    }

    /// Waits for the server; adapts to a layout that was switched meanwhile.
    fn sync(&mut self) -> Result<()> {
        if self.acting.keys.is_some() {
            self.keep_up()
        } else {
            self.round_trip()
        }
    }

    fn lacks(&mut self, text: &[char]) -> Result<Option<(Vec<usize>, Gap)>> {
        let keys = self.keys()?;
        if !keys.spare.is_empty() {
            return Ok(None);
        }
        Ok(Gap::NoSpareKey.of(text, |char| keys.on_layout(char).is_some()))
    }

    fn stroke(
        &mut self,
        text: &[char],
        cancel: &Cancel,
    ) -> Result<Option<(Stroke<Keycode>, usize)>> {
        let Some(&char) = text.first() else {
            return Ok(None);
        };
        let keys = self.keys()?;
        if let Some(stroke) = keys.char(char) {
            return Ok(Some((stroke, 1)));
        }
        let missing = keys.to_bind(text);
        self.bind(&missing, cancel)?;
        Ok(self.keys()?.char(char).map(|stroke| (stroke, 1)))
    }

    /// `CAPS_LOCK` presses the key as if Caps Lock were on. `NUMERIC_PAD` presses the key of the
    /// same name on the keypad, if there is one. `FUNCTION` and `HELP` hold the keys of these names
    /// if the keyboard has them; otherwise they do nothing, as X has no such modifiers. A key that
    /// the layout lacks is bound to a spare key code meanwhile.
    fn press(&mut self, press: KeyPress, cancel: &Cancel) -> Result<Stroke<Keycode>> {
        let mut stroke = self.find(press, cancel)?;
        let held = self.modifiers(press.modifiers)?;
        stroke.held.retain(|code| !held.contains(code));
        stroke.held.splice(0..0, held);
        Ok(stroke)
    }

    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<Keycode>> {
        if modifiers.is_empty() {
            return Ok(vec![]);
        }
        typing::holding(self.keys()?, modifiers)
    }
}

impl X11 {
    fn fake(&self, event: u8, detail: u8, x: i16, y: i16) -> Result<()> {
        self.connection
            .xtest_fake_input(event, detail, 0, self.root, x, y, 0)
            .sent("sending input")
    }

    fn fake_button(&self, number: u8, down: bool) -> Result<()> {
        let event = if down {
            BUTTON_PRESS_EVENT
        } else {
            BUTTON_RELEASE_EVENT
        };
        self.fake(event, number, 0, 0)
    }

    /// The key of a press, without the press's modifiers.
    fn find(&mut self, press: KeyPress, cancel: &Cancel) -> Result<Stroke<Keycode>> {
        if let Some(stroke) = self.keys()?.on_keypad(press) {
            return Ok(stroke);
        }
        let lacks = |why| Error::from(InputError::NoKey { press, why });
        if let deskline_core::Key::Char(char) = press.key {
            if let Some(stroke) = self.keys()?.on_layout(char) {
                return Ok(stroke);
            }
            // A shortcut such as Ctrl+C on a layout without Latin letters uses the key that has the
            // letter in another group.
            let shortcut = Modifiers::CONTROL | Modifiers::ALT | Modifiers::COMMAND;
            if press.modifiers.intersects(shortcut)
                && let Some(stroke) = self.other_group(char)?
            {
                return Ok(stroke);
            }
        }
        let symbol = match press.key {
            deskline_core::Key::Char(char) => acting::symbol(char),
            key => key.symbol().ok_or_else(|| lacks(Gap::NoSuchKey))?,
        };
        if let Some(stroke) = self.keys()?.symbol(symbol) {
            return Ok(stroke);
        }
        self.bind(&[symbol], cancel)?;
        let bound = self.keys()?.bound(symbol);
        bound.ok_or_else(|| lacks(Gap::NoSpareKey))
    }
}
