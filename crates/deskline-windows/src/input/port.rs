//! Implements the port of `deskline-input`.

use deskline_contract::{Error, Result, wait};
use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_input::{
    BETWEEN_CLICKS, Button, Cancel, InputError, Pace, Part, Port, Rhythm, Stroke, Tempo,
};

use super::keys::{self, RETURN, TAB, WinKey};
use super::send;
use crate::os::{pointer, screen};

/// How long the pointer may take to arrive.
const ARRIVES: Duration = Duration::from_millis(200);

const LOOK: Duration = Duration::from_millis(1);

/// The timing of input. Values without a reason are estimates, which the self-test checks.
pub const RHYTHM: Rhythm = Rhythm {
    // Check the front window after this many characters.
    part: Part {
        least: 50,
        most: 100,
    },
    keys: Tempo::Burst(Duration::from_micros(200)),
    chord: Duration::ZERO,
    // Buttons that draw a pressed state (WPF, browsers) miss a press of no duration.
    dwell: Duration::from_millis(10),
    between: BETWEEN_CLICKS,
    notches: 10,
    // A drag begins after a few pixels of motion, and OLE reads the pointer once per iteration of
    // the app's message loop.
    drag: Pace {
        steps: 16,
        pause: Duration::from_millis(10),
        dwell: Duration::from_millis(30),
    },
    counted: false,
};

#[derive(Debug, Default)]
pub struct Input {}

impl Port for Input {
    type Error = Error;
    type Key = WinKey;

    fn go(&mut self, to: Point) -> Result<()> {
        let screen = screen();
        if !screen.contains(to) {
            let screen = (screen.w, screen.h);
            return Err(InputError::OffScreen { at: to, screen }.into());
        }
        send::motion(to)?;
        if wait::holds(&Cancel::new(), ARRIVES, LOOK, || Ok(pointer()? == to))? {
            return Ok(());
        }
        let at = pointer()?;
        Err(InputError::Confined { to, at }.into())
    }

    fn button(&mut self, button: Button, down: bool, _nth: u8) -> Result<()> {
        send::button(button, down)
    }

    fn key(&mut self, key: &WinKey, down: bool) -> Result<()> {
        match key {
            WinKey::Code { code, extended } => send::key(*code, *extended, down),
            WinKey::Text(units) => send::text(units, down),
        }
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        send::wheel(right, down)
    }

    /// Line ends and tabs are sent as keys. Other characters are sent without a key, in every
    /// layout.
    fn stroke(&mut self, text: &[char], _: &Cancel) -> Result<Option<(Stroke<WinKey>, usize)>> {
        let key = match text {
            [] => return Ok(None),
            ['\n', ..] => WinKey::code(RETURN),
            ['\t', ..] => WinKey::code(TAB),
            [char, ..] => WinKey::text(*char),
        };
        let held = vec![];
        Ok(Some((Stroke { key, held }, 1)))
    }

    fn press(&mut self, press: KeyPress, _: &Cancel) -> Result<Stroke<WinKey>> {
        let (key, modifiers) = keys::find(press, &send::by_layout)?;
        let held = keys::holding(modifiers);
        Ok(Stroke { key, held })
    }

    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<WinKey>> {
        Ok(keys::holding(modifiers))
    }
}
