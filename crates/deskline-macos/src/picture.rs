//! Pictures of windows, with their scale.

use std::time::Duration;

use deskline_contract::{Error, Picture, Result, WindowId};
use deskline_core::Point;
use deskline_input::clock::Instant;

use crate::os::{Image, Os, ServerWindow, Shot};
use crate::{panels, permissions, windows};

/// The time limit for both attempts at a picture together, and for the first alone: the system asks
/// another process, which may be starting, and which loses some pictures (screenpipe #5432,
/// Peekaboo #127).
pub(crate) const TAKES: Duration = Duration::from_secs(3);
const FIRST: Duration = Duration::from_secs(1);

/// No window has more pixels per side.
const MOST: f64 = 16_384.0;

/// A picture of the window, even if others cover it.
pub(crate) fn take<O: Os>(os: &O, window: WindowId) -> Result<Picture> {
    let Some(found) = windows::find(os, window) else {
        return Err(Error::NoPicture("the window is gone".into()));
    };
    let extents = windows::extents(&found);
    let displays = os.displays();
    let scale = panels::display_of(&displays, extents).map_or(1.0, |d| d.scale);
    let [_, _, w, h] = found.bounds;
    let pixels = |points: f64| (points * scale).round().clamp(1.0, MOST) as usize;
    let shot = Shot {
        window: found.number,
        over: over(os, &found),
        bounds: found.bounds,
        on_screen: found.on_screen,
        pixels: (pixels(w), pixels(h)),
    };
    let asked = Instant::now();
    let mut image = os.capture(&shot, FIRST);
    if image.is_err() && asked.elapsed() >= FIRST {
        image = os.capture(&shot, TAKES.saturating_sub(FIRST));
    }
    let image = image.map_err(|why| {
        if permissions::may_capture(os) {
            Error::system("taking a screenshot of the window")(why)
        } else {
            Error::NoPicture(permissions::no_capture(os))
        }
    })?;
    let rgb = rgb(&image).ok_or_else(|| Error::NoPicture("the window has no screenshot".into()))?;
    Ok(Picture {
        // Compute the scale from the size of the result: older systems ignore the requested size.
        scale: if w > 0.0 {
            image.width as f64 / w
        } else {
            scale
        },
        width: image.width as u32,
        height: image.height as u32,
        rgb,
        origin: Point::at(extents.x, extents.y),
    })
}

/// The sheets, popovers and menus over a window. To the `WindowServer` they are windows of the same
/// app; Accessibility does not list them among the app's windows.
fn over<O: Os>(os: &O, window: &ServerWindow) -> Vec<u32> {
    if !window.on_screen {
        return Vec::new();
    }
    let at = windows::extents(window);
    let known = windows::matched_of(os, window.pid);
    let is_listed = |w: &ServerWindow| {
        let same = |(k, ax): &windows::Both<O>| k.number == w.number && ax.is_some();
        known.iter().any(same)
    };
    let above = os.windows().into_iter();
    let above = above.take_while(|w| w.number != window.number);
    let its = above.filter(|w| w.pid == window.pid && w.alpha > 0.0);
    let its = its.filter(|w| w.layer <= windows::MENU_LAYER);
    let over = its.filter(|w| !windows::extents(w).intersect(&at).is_empty() && !is_listed(w));
    over.map(|w| w.number).collect()
}

/// Drops the fourth byte of each pixel; `None` if the image's data does not have the size of its
/// pixels.
fn rgb(image: &Image) -> Option<Vec<u8>> {
    let pixels = image.width.checked_mul(image.height)?;
    if pixels == 0 || image.rgbx.len() != pixels.checked_mul(4)? {
        return None;
    }
    let mut rgb = Vec::with_capacity(pixels * 3);
    for pixel in image.rgbx.chunks_exact(4) {
        rgb.extend_from_slice(&pixel[..3]);
    }
    Some(rgb)
}
