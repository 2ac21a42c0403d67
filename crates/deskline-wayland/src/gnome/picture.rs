//! The picture of a window's content, from a frame of its stream.

use deskline_contract::Picture;
use deskline_core::Point;

use super::place::Content;
use crate::pipewire::Frame;

/// Cuts the content out of a frame. `size` is the content's size. Blends translucent pixels with
/// white.
pub(crate) fn content(frame: &Frame, content: Content, size: (i32, i32)) -> Option<Picture> {
    let pixels = |value: f64| {
        let value = (value * content.scale).round();
        (value >= 0.0).then_some(value as usize)
    };
    let (left, top) = (pixels(content.offset.0)?, pixels(content.offset.1)?);
    // Mutter may have cut off a part of a scaled window, or half a pixel.
    let part = |size: i32, from: usize, whole: usize| {
        let wanted = pixels(f64::from(size))?;
        let there = whole.checked_sub(from)?;
        (wanted <= there || content.scale > 1.0).then_some(wanted.min(there))
    };
    let width = part(size.0, left, frame.width).filter(|width| *width > 0)?;
    let height = part(size.1, top, frame.height)?;
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in frame
        .bgra
        .chunks_exact(frame.width * 4)
        .skip(top)
        .take(height)
    {
        for pixel in row[left * 4..(left + width) * 4].chunks_exact(4) {
            let over_white = |colour: u8| colour.saturating_add(u8::MAX - pixel[3]);
            rgb.extend([2, 1, 0].map(|channel| over_white(pixel[channel])));
        }
    }
    Some(Picture {
        width: u32::try_from(width).ok()?,
        height: u32::try_from(height).ok()?,
        rgb,
        origin: Point { x: 0, y: 0 },
        scale: content.scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shadow_is_cut_off_and_the_content_is_drawn_over_white() {
        let mut frame = Frame {
            width: 3,
            height: 2,
            bgra: vec![0; 24],
        };
        frame.bgra[16..24].copy_from_slice(&[10, 20, 30, 255, 10, 20, 30, 155]);
        let cut = |x, y, scale, size| {
            let offset = (x, y);
            content(&frame, Content { offset, scale }, size)
        };
        let picture = cut(1.0, 1.0, 1.0, (2, 1)).unwrap();
        assert_eq!(picture.rgb, [30, 20, 10, 130, 120, 110]);
        assert_eq!(cut(2.0, 1.0, 1.0, (2, 1)), None);
        assert_eq!(cut(-1.0, 0.0, 1.0, (2, 1)), None);
        // A unit is 1.5 pixels, and the frame has only one of the last unit's pixels.
        let picture = cut(1.0, 0.0, 1.5, (1, 1)).unwrap();
        assert_eq!((picture.width, picture.height, picture.scale), (1, 2, 1.5));
    }
}
