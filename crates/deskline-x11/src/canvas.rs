//! The picture under construction, in root coordinates.

use deskline_contract::Picture;
use deskline_core::{Point, Rect};

use super::shared_image::PIXEL;

/// The grey level around the window and its pop-ups: other apps' windows are not shown.
const BACKDROP: u8 = 0x80;

/// The meaning of a pixel's fourth byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alpha {
    /// The fourth byte is padding.
    Opaque,
    /// The fourth byte is alpha, with which the colours are premultiplied.
    Premultiplied,
}

/// RGB rows of an area of the screen.
pub(super) struct Canvas {
    area: Rect,
    rgb: Vec<u8>,
}

impl Canvas {
    /// `area` is not empty and lies on the screen.
    pub(super) fn new(area: Rect) -> Self {
        let pixels = area.w.max(0) as usize * area.h.max(0) as usize;
        Self {
            area,
            rgb: vec![BACKDROP; pixels * 3],
        }
    }

    /// Draws whole rows of a part of the area, from the part's row `first` on. The part must lie
    /// within the canvas.
    pub(super) fn put(&mut self, part: Rect, first: usize, bgrx: &[u8], alpha: Alpha) {
        let stride = self.area.w.max(0) as usize * 3;
        let left = (part.x - self.area.x).max(0) as usize * 3;
        let top = (part.y - self.area.y).max(0) as usize + first;
        let width = part.w.max(0) as usize;
        if width == 0 || left + width * 3 > stride {
            return;
        }
        let rows = self.rgb.chunks_exact_mut(stride).skip(top);
        for (row, source) in rows.zip(bgrx.chunks_exact(width * PIXEL)) {
            let row = &mut row[left..left + width * 3];
            match alpha {
                Alpha::Opaque => to_rgb(source, row),
                Alpha::Premultiplied => blend(source, row),
            }
        }
    }

    pub(super) fn picture(self) -> Picture {
        Picture {
            width: self.area.w.max(0) as u32,
            height: self.area.h.max(0) as u32,
            rgb: self.rgb,
            origin: Point::at(self.area.x, self.area.y),
            scale: 1.0,
        }
    }
}

/// Converts BGRX to RGB, four pixels at a time in whole words: twice as fast as byte by byte.
fn to_rgb(bgrx: &[u8], rgb: &mut [u8]) {
    let (quads, rest) = bgrx.as_chunks::<16>();
    let (out, out_rest) = rgb.as_chunks_mut::<12>();
    for (quad, out) in quads.iter().zip(out) {
        // The low three bytes are R, G, B in memory order.
        let pixel = |i: usize| {
            let bgrx = u32::from_le_bytes([quad[i], quad[i + 1], quad[i + 2], quad[i + 3]]);
            bgrx.swap_bytes() >> 8
        };
        let [a, b, c, d] = [pixel(0), pixel(4), pixel(8), pixel(12)];
        out[..4].copy_from_slice(&(a | b << 24).to_le_bytes());
        out[4..8].copy_from_slice(&(b >> 8 | c << 16).to_le_bytes());
        out[8..].copy_from_slice(&(c >> 16 | d << 8).to_le_bytes());
    }
    for (pixel, out) in rest.chunks_exact(PIXEL).zip(out_rest.chunks_exact_mut(3)) {
        out.copy_from_slice(&[pixel[2], pixel[1], pixel[0]]);
    }
}

/// Blends premultiplied pixels over the existing ones.
fn blend(bgra: &[u8], rgb: &mut [u8]) {
    for (source, under) in bgra.chunks_exact(PIXEL).zip(rgb.chunks_exact_mut(3)) {
        let shine = 255 - u16::from(source[3]);
        for (channel, under) in under.iter_mut().enumerate() {
            let sum = u16::from(source[2 - channel]) + (u16::from(*under) * shine + 127) / 255;
            *under = sum.min(255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Alpha, Canvas, Rect, blend, to_rgb};

    #[test]
    fn pixels_of_every_width_convert_as_they_do_byte_by_byte() {
        for pixels in 0..20u8 {
            let bgrx: Vec<u8> = (0..pixels * 4).map(|b| b.wrapping_mul(37)).collect();
            let mut rgb = vec![0; usize::from(pixels) * 3];
            to_rgb(&bgrx, &mut rgb);
            let expected: Vec<u8> = bgrx.chunks(4).flat_map(|p| [p[2], p[1], p[0]]).collect();
            assert_eq!(rgb, expected);
        }
    }

    #[test]
    fn transparent_pixels_let_the_pixels_below_show() {
        let mut rgb = vec![200; 9];
        blend(&[1, 2, 3, 255, 0, 0, 0, 0, 100, 50, 0, 128], &mut rgb);
        assert_eq!(rgb, [3, 2, 1, 200, 200, 200, 100, 150, 200]);
    }

    #[test]
    fn a_part_is_drawn_at_its_place_in_the_picture() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let mut canvas = Canvas::new(rect(10, 20, 3, 2));
        canvas.put(rect(11, 21, 1, 1), 0, &[1, 2, 3, 0], Alpha::Opaque);
        let mut expected = vec![0x80; 18];
        expected[12..15].copy_from_slice(&[3, 2, 1]);
        assert_eq!(canvas.picture().rgb, expected);
    }
}
