//! The overlay: the guard's banner and the outline of a target, in `AppKit`'s coordinates.

use deskline_contract::guard::banner_place;
use deskline_core::Rect;

use crate::os::{Display, Panel};

/// Converts bounds to `AppKit`'s coordinates, whose origin is the bottom left of the main display.
pub(crate) fn to_appkit(displays: &[Display], place: Rect) -> [f64; 4] {
    let main = displays.iter().find(|d| d.main);
    let height = main.map_or(0.0, |d| d.bounds[3]);
    let bottom = f64::from(place.y) + f64::from(place.h);
    [
        f64::from(place.x),
        height - bottom,
        f64::from(place.w),
        f64::from(place.h),
    ]
}

/// The display that contains most of `place`, or the main display if none contains any of it.
pub(crate) fn display_of(displays: &[Display], place: Rect) -> Option<&Display> {
    let area = |d: &&Display| {
        let [x, y, w, h] = d.bounds;
        let shared = Rect::around(x, y, w, h).map(|d| d.intersect(&place));
        shared.map_or(0, |r| i64::from(r.w) * i64::from(r.h))
    };
    let best = displays.iter().max_by_key(area);
    best.filter(|d| area(d) > 0)
        .or_else(|| displays.iter().find(|d| d.main))
}

/// The panels for the guard's banner and for the outline of the target.
pub(crate) fn panels(
    displays: &[Display],
    place: Option<Rect>,
    caption: &str,
    outline: bool,
) -> Vec<Panel> {
    /// The banner's height in points: a line of text with padding.
    const HEIGHT: i32 = 36;
    /// Scales the banner's margin from 12 to 48 points, so that the banner is below the menu bar.
    const EDGE: f64 = 4.0;
    /// In points: the maximum width of a character in the banner's font, and the total padding left
    /// and right of the text.
    const CHARACTER: i32 = 9;
    const BESIDE: i32 = 48;
    /// The distance between the outline and the target.
    const AROUND: i32 = 3;

    let mut panels = Vec::new();
    if let Some(place) = place.filter(|_| outline) {
        panels.push(Panel {
            frame: to_appkit(displays, place.grown(AROUND)),
            text: String::new(),
            outline: true,
        });
    }
    let on = match place {
        Some(place) => display_of(displays, place),
        None => displays.iter().find(|d| d.main),
    };
    let screen = on.and_then(
        |Display {
             bounds: [x, y, w, h],
             ..
         }| Rect::around(*x, *y, *w, *h),
    );
    if let Some(screen) = screen.filter(|_| !caption.is_empty()) {
        let width = (caption.chars().count() as i32)
            .saturating_mul(CHARACTER)
            .saturating_add(BESIDE)
            .min(screen.w);
        let banner = banner_place(screen, EDGE, (width, HEIGHT), place);
        panels.push(Panel {
            frame: to_appkit(displays, banner),
            text: caption.to_owned(),
            outline: false,
        });
    }
    panels
}
