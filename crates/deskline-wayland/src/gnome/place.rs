//! Where a window's content begins in its buffer. Coordinates in trees are those of the app's own
//! report; a stream's pointer counts from the buffer's corner, and the buffer has the shadow that the
//! toolkit draws around its window.

use crate::pipewire::Frame;

/// How many pixels a window's opaque part and its report may differ by: rounding, or a border.
const NEAR: usize = 4;

/// The offset of the content in the buffer. `size` is the app's report.
///
/// - GTK 3 counts from the buffer's corner: its report is as large as the buffer. So is that of any window
///   without a shadow.
/// - GTK 4 counts from the corner of its content, which is what is opaque.
/// - Qt counts from below its title bar: the report ends with the opaque part, but begins further down.
///
/// `None` where the frame shows neither: a window that is translucent.
pub(crate) fn content(frame: &Frame, size: (i32, i32)) -> Option<(i32, i32)> {
    let (width, height) = (usize::try_from(size.0).ok()?, usize::try_from(size.1).ok()?);
    if (width, height) == (frame.width, frame.height) {
        return Some((0, 0));
    }
    let [left, top, right, bottom] = frame.opaque()?;
    let (wider, higher) = (
        (right - left).checked_sub(width)?,
        (bottom - top).checked_sub(height)?,
    );
    if wider > 2 * NEAR {
        return None;
    }
    // A border is as wide below as at the sides.
    let border = wider / 2;
    let y = top + higher.saturating_sub(border);
    Some((i32::try_from(left + border).ok()?, i32::try_from(y).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame whose opaque part is this: left, top, width, height.
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
    fn each_toolkit_counts_from_its_own_corner() {
        let gtk3 = frame(472, 349, [26, 23, 420, 297]);
        assert_eq!(content(&gtk3, (472, 349)), Some((0, 0)));
        let gtk4 = frame(448, 290, [14, 12, 420, 260]);
        assert_eq!(content(&gtk4, (420, 260)), Some((14, 12)));
        let qt6 = frame(442, 304, [10, 10, 422, 284]);
        assert_eq!(content(&qt6, (420, 260)), Some((11, 33)));
    }

    #[test]
    fn a_translucent_window_has_no_known_content() {
        assert_eq!(content(&frame(500, 400, [0, 0, 0, 0]), (440, 340)), None);
        // Only its title bar is opaque.
        let terminal = frame(500, 400, [30, 30, 440, 40]);
        assert_eq!(content(&terminal, (440, 340)), None);
    }
}
