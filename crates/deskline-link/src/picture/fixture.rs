//! Pictures for tests.

use deskline_core::Point;

use crate::display::Picture;

/// A picture of one colour.
pub(super) fn plain(width: u32, height: u32, colour: [u8; 3]) -> Picture {
    Picture {
        width,
        height,
        rgb: colour.repeat((width * height) as usize),
        origin: Point { x: 100, y: 50 },
        scale: 1.0,
    }
}

/// Paints a rectangle of pixels: left, top, width, height.
pub(super) fn paint(
    picture: &mut Picture,
    (x, y, w, h): (usize, usize, usize, usize),
    colour: [u8; 3],
) {
    let width = picture.width as usize;
    for row in y..y + h {
        let at = (row * width + x) * 3;
        picture.rgb[at..at + w * 3].copy_from_slice(&colour.repeat(w));
    }
}
