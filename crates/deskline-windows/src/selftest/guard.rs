//! What the guard's checks need of Windows: the person's events have no mark.

use std::time::Duration;

use deskline_contract::guard::Guards;
use deskline_contract::{Cancel, KeyInput as _};
use deskline_core::KeyPress;
use deskline_link::selftest::guard::{Key, Keyboard, Who};
use deskline_link::selftest::{Found, Helper, Miss, within};

use super::{SHOWS, banner};
use crate::display::WinDisplay;
use crate::input::keys::ESCAPE;
use crate::input::send;

const LETTER: u16 = 0x58;

pub(super) struct Keys<'t> {
    pub(super) display: &'t mut WinDisplay,
    /// Has the window with the keyboard.
    pub(super) own: &'t Helper,
    /// The screen without the banner.
    pub(super) screen: Vec<u8>,
}

impl Keyboard for Keys<'_> {
    fn guards(&mut self) -> &mut dyn Guards {
        &mut self.display.guard
    }

    fn press(&mut self, who: Who, key: Key) -> Result<(), Miss> {
        let cancel = Cancel::new();
        match (who, key) {
            (Who::Person, Key::Letter) => send::persons_key(LETTER)?,
            (Who::Person, Key::Escape) => send::persons_key(ESCAPE)?,
            (Who::Ours, Key::Letter) => self.display.type_text("x", &cancel)?,
            (Who::Ours, Key::Escape) => {
                let key = KeyPress::parse("Escape", &[])?;
                self.display.press_key(key, Duration::ZERO, &cancel)?;
            }
        }
        Ok(())
    }

    fn forget(&mut self) -> Result<(), Miss> {
        self.own.forget();
        Ok(())
    }

    fn hears(&mut self, time: Duration) -> Result<bool, Miss> {
        Ok(self.own.hears("text", time).is_some())
    }

    fn banner(&mut self, shown: bool) -> Option<Found> {
        if shown {
            return Some(banner::seen(&self.screen));
        }
        let gone = within(SHOWS, || banner::shown().is_none().then_some(()));
        Some(
            gone.map(|()| "with the guard".into())
                .ok_or("still there".into()),
        )
    }
}
