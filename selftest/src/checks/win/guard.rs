//! The guard's checks on Windows. Sends events without this program's mark, in place of the person.
//! Checks that the banner is visible, takes no clicks, and is in no picture of the screen.

use std::time::Duration;

use deskline_core::KeyPress;
use deskline_link::{Cancel, Desktop};
use deskline_windows::display::picture::of_screen;
use deskline_windows::guard::CLASS;
use windows::Win32::Foundation::{HWND, POINT, RECT};
use windows::Win32::UI::Input::KeyboardAndMouse::{
    INPUT, INPUT_0, INPUT_KEYBOARD, KEYBD_EVENT_FLAGS, KEYBDINPUT, KEYEVENTF_KEYUP, SendInput,
    VIRTUAL_KEY,
};
use windows::Win32::UI::WindowsAndMessaging::{
    FindWindowW, GetWindowRect, IsWindowVisible, WindowFromPoint,
};
use windows::core::PCWSTR;

use super::SHOWS;
use crate::checks::guard::{Key, Keyboard, Who};
use crate::checks::helper::Helper;
use crate::checks::sheet::{Found, Miss, judge, within};

/// The virtual keys of X and Esc.
const LETTER: VIRTUAL_KEY = VIRTUAL_KEY(0x58);
const ESCAPE: VIRTUAL_KEY = VIRTUAL_KEY(0x1B);

pub(super) struct Keys<'t> {
    pub(super) desktop: Box<dyn Desktop>,
    /// The process whose window has the keyboard focus.
    pub(super) own: &'t Helper,
    /// A picture of the screen without the banner.
    pub(super) screen: Vec<u8>,
}

/// Presses and releases a key as if the person did, without Deskline's mark.
fn persons(key: VIRTUAL_KEY) -> Result<(), Miss> {
    let event = |flags| INPUT {
        r#type: INPUT_KEYBOARD,
        Anonymous: INPUT_0 {
            ki: KEYBDINPUT {
                wVk: key,
                dwFlags: flags,
                ..KEYBDINPUT::default()
            },
        },
    };
    let events = [event(KEYBD_EVENT_FLAGS(0)), event(KEYEVENTF_KEYUP)];
    // SAFETY: the call is given the size of an event.
    let sent = unsafe { SendInput(&events, size_of::<INPUT>() as i32) };
    (sent == 2)
        .then_some(())
        .ok_or("Windows refuses the key".into())
}

impl Keyboard for Keys<'_> {
    fn desktop(&mut self) -> &mut dyn Desktop {
        &mut *self.desktop
    }

    fn press(&mut self, who: Who, key: Key) -> Result<(), Miss> {
        if who == Who::Person {
            return persons(if key == Key::Letter { LETTER } else { ESCAPE });
        }
        let (cancel, keys) = (Cancel::new(), self.desktop.key_input());
        let keys = keys.map_err(|missing| missing.0)?;
        match key {
            Key::Letter => keys.type_text("x", &cancel)?,
            Key::Escape => {
                let key = KeyPress::parse("Escape", &[])?;
                keys.press_key(key, Duration::ZERO, &cancel)?;
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
fn shown() -> Option<HWND> {
    // SAFETY: the text is a constant, and the call allows the handle of a window that is gone.
    unsafe {
        let window = FindWindowW(CLASS, PCWSTR::null()).ok()?;
        IsWindowVisible(window).as_bool().then_some(window)
    }
}

/// The pixels of the whole screen.
pub(super) fn screen() -> Vec<u8> {
    of_screen().map_or_else(Vec::new, |picture| picture.rgb)
}

/// Checks the visible banner. `before`: the screen without it.
fn seen(before: &[u8]) -> Found {
    let window = within(SHOWS, shown).ok_or("it does not show")?;
    let mut place = RECT::default();
    // SAFETY: the rectangle outlives the call, and a window that is gone is an error.
    unsafe { GetWindowRect(window, &raw mut place) }?;
    let (x, y) = (place.left, place.top);
    let (w, h) = (place.right - x, place.bottom - y);
    let (across, down) = (x + w / 2, y + h / 2);
    // SAFETY: takes numbers.
    let takes_clicks = unsafe { WindowFromPoint(POINT { x: across, y: down }) } == window;
    let now = of_screen().ok_or("there is no picture of the screen")?;
    let row = now.width as usize * 3;
    let pixel = |rgb: &[u8], x: i32, y: i32| {
        let at = (y - now.origin.y) as usize * row + (x - now.origin.x) as usize * 3;
        rgb.get(at..at + 3).map(<[u8]>::to_vec)
    };
    // If the banner is in the picture, its rim in the accent colour differs from the screen before.
    let hidden = (0..h).all(|i| pixel(before, x, y + i) == pixel(&now.rgb, x, y + i));
    let seen = format!(
        "{w}×{h}, takes clicks: {takes_clicks}, in pictures of the screen: {}",
        !hidden
    );
    judge(!takes_clicks && hidden, seen)
}
