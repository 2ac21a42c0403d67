//! The guard's banner: that it shows, takes no clicks, and is in no picture of the screen.

use deskline_core::Rect;
use deskline_link::selftest::{Found, judge};
use windows::Win32::Foundation::HWND;
use windows::Win32::UI::WindowsAndMessaging::FindWindowW;
use windows::core::PCWSTR;

use super::test::{SHOWS, within};
use crate::display::windows::{at, bounds, is_visible, to_rect};
use crate::display::{picture, screen as bounds_of_screen};
use crate::guard::CLASS;

/// The banner's window.
pub(super) fn shown() -> Option<HWND> {
    // SAFETY: the text is a constant.
    let window = unsafe { FindWindowW(CLASS, PCWSTR::null()) }.ok()?;
    is_visible(window).then_some(window)
}

/// A picture of the screen from before it shows.
pub(super) fn screen() -> Vec<u8> {
    picture::of_screen(bounds_of_screen()).map_or_else(Vec::new, |picture| picture.rgb)
}

/// Compares with that picture.
pub(super) fn seen(before: &[u8]) -> Found {
    let window = within(SHOWS, shown).ok_or("it does not show")?;
    let place = to_rect(bounds(window).ok_or("it is gone")?);
    let takes_clicks = at(place.center()) == Some(window);
    let whole = bounds_of_screen();
    let row = (whole.right - whole.left) as usize * 3;
    let pixel = |rgb: &[u8], x: i32, y: i32| {
        let at = (y - whole.top) as usize * row + (x - whole.left) as usize * 3;
        rgb.get(at..at + 3).map(<[u8]>::to_vec)
    };
    let now = screen();
    let Rect { x, y, w, h } = place;
    // Its rim, in the accent colour.
    let hidden = (0..h).all(|i| pixel(before, x, y + i) == pixel(&now, x, y + i));
    let seen = format!(
        "{w}×{h}, takes clicks: {takes_clicks}, in pictures of the screen: {}",
        !hidden
    );
    judge(!takes_clicks && hidden, seen)
}
