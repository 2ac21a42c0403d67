//! The picture of a window's content, from a frame of its stream.

use deskline_core::Point;
use deskline_link::Picture;

use crate::pipewire::Frame;

/// Cuts the content out of a frame. What is translucent is laid over white.
pub(crate) fn content(frame: &Frame, offset: (i32, i32), size: (i32, i32)) -> Option<Picture> {
    let number = |value: i32| usize::try_from(value).ok();
    let (left, top) = (number(offset.0)?, number(offset.1)?);
    let (width, height) = (number(size.0)?, number(size.1)?);
    if left + width > frame.width || top + height > frame.height || width == 0 {
        return None;
    }
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
        scale: 1.0,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_shadow_is_cut_off_and_the_rest_lies_over_white() {
        let mut frame = Frame {
            width: 3,
            height: 2,
            bgra: vec![0; 24],
        };
        frame.bgra[16..24].copy_from_slice(&[10, 20, 30, 255, 10, 20, 30, 155]);
        let picture = content(&frame, (1, 1), (2, 1)).unwrap();
        assert_eq!(picture.rgb, [30, 20, 10, 130, 120, 110]);
        assert_eq!(content(&frame, (2, 1), (2, 1)), None);
        assert_eq!(content(&frame, (-1, 0), (2, 1)), None);
    }
}
