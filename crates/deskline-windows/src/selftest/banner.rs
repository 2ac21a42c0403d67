//! Checks that the guard's banner is visible, takes no clicks, and is in no picture of the screen.

use deskline_core::{Rect, WindowId};
use deskline_link::selftest::{Found, judge, within};
use windows::Win32::UI::WindowsAndMessaging::FindWindowW;
use windows::core::PCWSTR;

use super::SHOWS;
use crate::display::picture;
use crate::display::windows::bounds;
use crate::guard::CLASS;
use crate::os::{at, id, is_visible, screen as bounds_of_screen};

/// The banner's window.
pub(super) fn shown() -> Option<WindowId> {
    // SAFETY: the text is a constant.
    let window = id(unsafe { FindWindowW(CLASS, PCWSTR::null()) }.ok()?);
    is_visible(window).then_some(window)
}

/// A picture of the screen before the banner is shown.
pub(super) fn screen() -> Vec<u8> {
    picture::of_screen(bounds_of_screen()).map_or_else(Vec::new, |picture| picture.rgb)
}

/// Compares with that picture.
pub(super) fn seen(before: &[u8]) -> Found {
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
    // The banner's rim has the accent colour.
    let hidden = (0..h).all(|i| pixel(before, x, y + i) == pixel(&now, x, y + i));
    let seen = format!(
        "{w}×{h}, takes clicks: {takes_clicks}, in pictures of the screen: {}",
        !hidden
    );
    judge(!takes_clicks && hidden, seen)
}
