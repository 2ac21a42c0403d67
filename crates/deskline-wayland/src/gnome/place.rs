//! Finds the origin of a window's content in its buffer. Trees use the coordinates that the app
//! reports. A stream's pointer is relative to the buffer's corner, and the buffer includes the
//! shadow that the toolkit draws around its window.

use crate::pipewire::Frame;

/// By how many pixels a window's opaque part may exceed its reported size on each side, because of
/// rounding or a border.
const NEAR: f64 = 4.0;

/// The least height of a title bar, in the app's units.
const TITLE_BAR: f64 = 16.0;

/// A window's content within its buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Content {
    /// The content's origin in the buffer, in the app's units.
    pub(crate) offset: (f64, f64),
    /// Pixels of the buffer per unit of the app.
    pub(crate) scale: f64,
}

/// The content of a buffer, on a desktop whose screens have these scales. `size` is the size that
/// the app reports.
///
/// - GTK 3 coordinates are relative to the buffer's corner: the reported size is the buffer's. The
///   same goes for every window without a shadow.
/// - GTK 4 coordinates are relative to the corner of the content, which is the opaque part.
/// - Qt coordinates start below the title bar: the reported area ends with the opaque part, but
///   begins further down.
///
/// `None` if none of these fits: the window is translucent.
pub(crate) fn content(frame: &Frame, size: (i32, i32), screens: &[f64]) -> Option<Content> {
    let size = [size.0, size.1].map(f64::from);
    // An app without support for fractional scales draws at the next whole scale.
    let drawn = screens.iter().flat_map(|scale| [*scale, scale.ceil()]);
    let scales: Vec<f64> = [1.0].into_iter().chain(drawn).collect();
    let fills = |scale: &&f64| {
        // A buffer has whole pixels, so nothing is rounded at scale 1.
        let is = |pixels: usize, wanted: f64| (pixels as f64 - wanted * **scale).abs() < 1.0;
        is(frame.width, size[0]) && is(frame.height, size[1])
    };
    if let Some(scale) = scales.iter().find(fills) {
        return Some(Content {
            offset: (0.0, 0.0),
            // Mutter cuts off frames drawn for a fractional scale: see `cut_off`.
            scale: scale.ceil(),
        });
    }
    let opaque = frame.opaque()?;
    let cut = screens
        .iter()
        .find_map(|screen| cut_off(frame, opaque, size, *screen));
    cut.or_else(|| scales.iter().find_map(|scale| within(opaque, size, *scale)))
}

/// The content of a frame that has a shadow around its opaque part.
fn within(opaque: [usize; 4], size: [f64; 2], scale: f64) -> Option<Content> {
    let [left, top, right, bottom] = opaque.map(|v| v as f64);
    let [width, height] = size.map(|v| v * scale);
    let (wider, higher) = (right - left - width, bottom - top - height);
    if wider <= -1.0 || wider > 2.0 * NEAR || higher <= -1.0 {
        return None;
    }
    // A border is as wide below as at the sides.
    let border = (wider / 2.0).floor().max(0.0);
    let offset = [left + border, top + (higher - border).max(0.0)];
    let [x, y] = offset.map(|v| v / scale);
    Some(Content {
        offset: (x, y),
        scale,
    })
}

/// The content of a frame that Mutter has cut off. If a window was drawn for a fractional scale,
/// Mutter paints its frame for the next whole scale and keeps only as many pixels as the buffer
/// has. The frame shows the upper left part, but not the end of the opaque part.
fn cut_off(frame: &Frame, opaque: [usize; 4], size: [f64; 2], screen: f64) -> Option<Content> {
    let scale = screen.ceil();
    if screen.fract() <= 0.0 || opaque[2] != frame.width || opaque[3] != frame.height {
        return None;
    }
    let [left, top] = [opaque[0], opaque[1]].map(|v| (v as f64 / scale).floor());
    let [width, height] = [frame.width, frame.height].map(|v| (v as f64 / screen).round());
    // Shadow and border have the same width at the right as at the left.
    let x = ((width - size[0]) / 2.0).floor();
    if x < left || x > left + NEAR {
        return None;
    }
    // With a title bar, shadow and border are as wide below as at the sides. Without one, they are
    // not.
    let below_title_bar = height - size[1] - x;
    let y = if below_title_bar >= top + TITLE_BAR {
        below_title_bar
    } else {
        top
    };
    Some(Content {
        offset: (x, y),
        scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with this opaque part: left, top, width, height.
    fn frame(width: usize, height: usize, opaque: [usize; 4]) -> Frame {
        let [left, top, w, h] = opaque;
        let mut frame = Frame {
            width,
            height,
            bgra: vec![7; width * height * 4],
        };
        for y in top..top + h {
            for x in left..left + w {
                frame.bgra[(y * width + x) * 4 + 3] = 255;
            }
        }
        frame
    }

    #[test]
    fn the_content_begins_at_the_corner_that_each_toolkit_counts_from() {
        let at = |frame, size| content(&frame, size, &[]).map(|content| content.offset);
        let gtk3 = frame(472, 349, [26, 23, 420, 297]);
        assert_eq!(at(gtk3, (472, 349)), Some((0.0, 0.0)));
        let gtk4 = frame(448, 290, [14, 12, 420, 260]);
        assert_eq!(at(gtk4, (420, 260)), Some((14.0, 12.0)));
        let qt6 = frame(442, 304, [10, 10, 422, 284]);
        assert_eq!(at(qt6, (420, 260)), Some((11.0, 33.0)));
    }

    #[test]
    fn scaled_windows_are_placed_in_the_units_that_they_report() {
        let at = |frame, size, screen| {
            let content = content(&frame, size, &[screen])?;
            Some((content.offset, content.scale))
        };
        let gtk3 = || frame(1686, 1258, [52, 46, 1582, 1154]);
        assert_eq!(at(gtk3(), (843, 629), 1.5), Some(((0.0, 0.0), 2.0)));
        let gtk4 = frame(1646, 1138, [28, 24, 1590, 1080]);
        assert_eq!(at(gtk4, (795, 540), 2.0), Some(((14.0, 12.0), 2.0)));
        let qt6 = frame(1772, 1200, [21, 21, 1730, 1158]);
        assert_eq!(at(qt6, (864, 540), 2.0), Some(((11.0, 49.0), 2.0)));
        // The frame is cut off.
        let gtk4 = || frame(1235, 854, [29, 25, 1206, 829]);
        assert_eq!(at(gtk4(), (795, 540), 1.5), Some(((14.0, 12.0), 2.0)));
        assert_eq!(at(gtk4(), (795, 540), 2.0), None);
        let maximised = frame(1500, 900, [0, 0, 1500, 900]);
        assert_eq!(at(maximised, (1000, 600), 1.5), Some(((0.0, 0.0), 2.0)));
        let qt6 = frame(1329, 900, [21, 21, 1308, 879]);
        assert_eq!(at(qt6, (864, 540), 1.5), Some(((11.0, 49.0), 2.0)));
        let translucent = frame(1235, 854, [29, 25, 1206, 40]);
        assert_eq!(at(translucent, (795, 540), 1.5), None);
    }

    #[test]
    fn a_translucent_window_has_no_known_content() {
        let at = |frame| content(&frame, (440, 340), &[1.5, 2.0]);
        assert_eq!(at(frame(500, 400, [0, 0, 0, 0])), None);
        // Only its title bar is opaque.
        let terminal = frame(500, 400, [30, 30, 440, 40]);
        assert_eq!(at(terminal), None);
    }
}
