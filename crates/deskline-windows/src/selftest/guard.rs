//! The guard's checks on Windows. Sends events without this program's mark, in place of the person.
//! Checks that the banner is visible, takes no clicks, and is in no picture of the screen.

use std::time::Duration;

use deskline_contract::guard::Guards;
use deskline_contract::{Cancel, KeyInput as _};
use deskline_core::{KeyPress, Rect, WindowId};
use deskline_link::selftest::guard::{Key, Keyboard, Who};
use deskline_link::selftest::{Found, Helper, Miss, judge, within};
use windows::Win32::UI::WindowsAndMessaging::FindWindowW;
use windows::core::PCWSTR;

use super::SHOWS;
use crate::display::windows::bounds;
use crate::display::{WinDisplay, picture};
use crate::guard::CLASS;
use crate::input::keys::ESCAPE;
use crate::input::send;
use crate::os::{at, id, is_visible, screen as bounds_of_screen};

const LETTER: u16 = 0x58;

pub(super) struct Keys<'t> {
    pub(super) display: &'t mut WinDisplay,
    /// The process whose window has the keyboard focus.
    pub(super) own: &'t Helper,
    /// A picture of the screen without the banner.
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
            return Some(seen(&self.screen));
        }
        let gone = within(SHOWS, || self::shown().is_none().then_some(()));
        let gone = gone.map(|()| "with the guard".into());
        Some(gone.ok_or("still there".into()))
    }
}

/// The banner's window, if it is visible.
fn shown() -> Option<WindowId> {
    // SAFETY: the text is a constant.
    let window = id(unsafe { FindWindowW(CLASS, PCWSTR::null()) }.ok()?);
    is_visible(window).then_some(window)
}

/// The pixels of the whole screen.
pub(super) fn screen() -> Vec<u8> {
    picture::of_screen(bounds_of_screen()).map_or_else(Vec::new, |picture| picture.rgb)
}

/// Checks the visible banner. `before`: the screen without it.
fn seen(before: &[u8]) -> Found {
    let window = within(SHOWS, shown).ok_or("it does not show")?;
    let place = bounds(window).ok_or("it is gone")?;
    let takes_clicks = at(place.center()) == Some(window);
    let whole = bounds_of_screen();
    let row = whole.w as usize * 3;
    let pixel = |rgb: &[u8], x: i32, y: i32| {
        let at = (y - whole.y) as usize * row + (x - whole.x) as usize * 3;
        rgb.get(at..at + 3).map(<[u8]>::to_vec)
    };
    let now = screen();
    let Rect { x, y, w, h } = place;
    // If the banner is in the picture, its rim in the accent colour differs from the screen before.
    let hidden = (0..h).all(|i| pixel(before, x, y + i) == pixel(&now, x, y + i));
    let seen = format!(
        "{w}×{h}, takes clicks: {takes_clicks}, in pictures of the screen: {}",
        !hidden
    );
    judge(!takes_clicks && hidden, seen)
}
