//! Encodes pictures of windows as PNG, with a red crosshair at the click.

use deskline_core::Point;

use crate::JournalError;

/// The radius, in pixels, that stays free around the click.
const GAP: i64 = 4;
/// The distance, in pixels, from the centre to the ends of the cross.
const ARM: i64 = 20;
/// The ring's radius.
const RING: i64 = 11;
const RED: [u8; 3] = [255, 0, 0];
/// The outline of the red, visible on a red background too.
const EDGE: [u8; 3] = [255, 255, 255];

/// A picture to write.
#[derive(Debug, Clone, Copy)]
pub struct Shot<'a> {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Three bytes a pixel, row by row from the top.
    pub rgb: &'a [u8],
    /// The screen coordinates of its first pixel. Stored in the file as text `origin`: `x,y`.
    pub origin: Point,
    /// Pixels per screen unit. Stored in the file as text `scale`.
    pub scale: f64,
    /// The click, in pixels from the picture's top left. Not drawn if it is outside.
    pub crosshair: Option<(u32, u32)>,
}

/// The size of a picture, and its position on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The screen coordinates of its first pixel; `None` if the file does not have them.
    pub origin: Option<Point>,
    /// Pixels per screen unit.
    pub scale: f64,
}

impl Place {
    /// Reads them from a PNG of the journal, without its pixels. `None` if it is no PNG.
    pub fn of(png: &[u8]) -> Option<Self> {
        let reader = png::Decoder::new(std::io::Cursor::new(png))
            .read_info()
            .ok()?;
        let info = reader.info();
        let note = |keyword| {
            let notes = &info.uncompressed_latin1_text;
            notes.iter().find(|note| note.keyword == keyword)
        };
        let origin = note("origin").and_then(|note| {
            let (x, y) = note.text.split_once(',')?;
            let (x, y) = (x.parse().ok()?, y.parse().ok()?);
            Some(Point { x, y })
        });
        let scale = note("scale").and_then(|note| note.text.parse().ok());
        Some(Self {
            width: info.width,
            height: info.height,
            origin,
            scale: scale
                .filter(|scale| (0.1..=10.0).contains(scale))
                .unwrap_or(1.0),
        })
    }
}

/// Encodes the shot as PNG.
pub(crate) fn encode(shot: &Shot<'_>) -> Result<Vec<u8>, JournalError> {
    let Shot {
        width, height, rgb, ..
    } = *shot;
    let fail = |error: png::EncodingError| JournalError::Picture(error.to_string());
    let size = (u64::from(width) * u64::from(height)).saturating_mul(3);
    if size == 0 || size != rgb.len() as u64 {
        return Err(JournalError::Picture(format!(
            "{width}×{height} pixels are {size} bytes, {} were given",
            rgb.len()
        )));
    }
    let marked = shot
        .crosshair
        .filter(|&(x, y)| x < width && y < height)
        .map(|at| {
            let mut marked = rgb.to_vec();
            draw_crosshair(&mut marked, i64::from(width), at);
            marked
        });
    let mut file = Vec::with_capacity(rgb.len() / 8);
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // `Fast` is up to a third smaller than `Fastest`, and half the size for plain windows, for a few
    // milliseconds more.
    encoder.set_compression(png::Compression::Fast);
    let origin = format!("{},{}", shot.origin.x, shot.origin.y);
    for (key, text) in [("origin", origin), ("scale", shot.scale.to_string())] {
        encoder.add_text_chunk(key.to_owned(), text).map_err(fail)?;
    }
    let mut writer = encoder.write_header().map_err(fail)?;
    writer
        .write_image_data(marked.as_deref().unwrap_or(rgb))
        .map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(file)
}

fn draw_crosshair(rgb: &mut [u8], width: i64, (x, y): (u32, u32)) {
    let reach = ARM + 1;
    for dy in -reach..=reach {
        for dx in -reach..=reach {
            let color = if is_red(dx, dy) {
                RED
            } else if (-1..=1).any(|j| (-1..=1).any(|i| is_red(dx + i, dy + j))) {
                EDGE
            } else {
                continue;
            };
            let (px, py) = (i64::from(x) + dx, i64::from(y) + dy);
            if !(0..width).contains(&px) {
                continue;
            }
            // Rows above the picture give no index, rows below it one past the end.
            let start = usize::try_from((py * width + px) * 3);
            if let Some(pixel) = start.ok().and_then(|at| rgb.get_mut(at..at + 3)) {
                pixel.copy_from_slice(&color);
            }
        }
    }
}

/// Whether the cross or the ring covers the pixel at `(dx, dy)` from the centre.
fn is_red(dx: i64, dy: i64) -> bool {
    let on_arm = |along: i64, across: i64| across == 0 && (GAP..=ARM).contains(&along.abs());
    let square = dx * dx + dy * dy;
    on_arm(dx, dy) || on_arm(dy, dx) || (RING * RING - RING..=RING * RING + RING).contains(&square)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn encode(
        width: u32,
        height: u32,
        rgb: &[u8],
        crosshair: Option<(u32, u32)>,
    ) -> Result<Vec<u8>, JournalError> {
        let origin = Point { x: -40, y: 60 };
        let scale = 2.0;
        super::encode(&Shot {
            width,
            height,
            rgb,
            origin,
            scale,
            crosshair,
        })
    }

    #[test]
    fn the_file_says_where_on_the_screen_it_was() {
        let png = encode(3, 2, &plain(3, 2, RED), None).unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(png))
            .read_info()
            .unwrap();
        let texts = &reader.info().uncompressed_latin1_text;
        let notes: Vec<_> = texts
            .iter()
            .map(|t| (t.keyword.as_str(), t.text.as_str()))
            .collect();
        assert_eq!(notes, [("origin", "-40,60"), ("scale", "2")]);
    }

    fn decode(png: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png))
            .read_info()
            .unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        (info.width, info.height, rgb)
    }

    fn plain(width: u32, height: u32, color: [u8; 3]) -> Vec<u8> {
        color.repeat((width * height) as usize)
    }

    #[test]
    fn what_goes_in_comes_out() {
        let rgb: Vec<u8> = (0..37 * 23 * 3).map(|i: u32| (i * i % 251) as u8).collect();
        for crosshair in [
            None,
            Some((37, 5)),
            Some((5, 23)),
            Some((u32::MAX, u32::MAX)),
        ] {
            let png = encode(37, 23, &rgb, crosshair).unwrap();
            assert_eq!(decode(&png), (37, 23, rgb.clone()));
        }
    }

    #[test]
    fn the_crosshair_stands_out_on_any_color_and_leaves_its_centre() {
        for color in [[255, 0, 0], [255, 255, 255], [0, 0, 0]] {
            let png = encode(100, 80, &plain(100, 80, color), Some((40, 30))).unwrap();
            let (_, _, rgb) = decode(&png);
            let at =
                |x: usize, y: usize| <[u8; 3]>::try_from(&rgb[(y * 100 + x) * 3..][..3]).unwrap();
            assert_eq!(at(40, 30), color);
            for (x, y) in [(40, 20), (40, 50), (20, 30), (60, 30), (51, 30), (40, 41)] {
                assert_eq!(at(x, y), RED, "{x},{y}");
            }
            for (x, y) in [(41, 45), (39, 45), (40, 51), (61, 30)] {
                assert_eq!(at(x, y), EDGE, "{x},{y}");
            }
            assert_eq!(at(70, 30), color);
            assert_eq!(at(60, 60), color);
        }
    }

    #[test]
    fn the_edges_of_the_picture_cut_the_crosshair() {
        let (width, height) = (30, 26);
        for (x, y) in [(0, 0), (29, 0), (0, 25), (29, 25), (15, 1)] {
            let white = plain(width, height, EDGE);
            let (_, _, rgb) = decode(&encode(width, height, &white, Some((x, y))).unwrap());
            for (index, pixel) in rgb.as_chunks::<3>().0.iter().enumerate() {
                let dx = index as i64 % i64::from(width) - i64::from(x);
                let dy = index as i64 / i64::from(width) - i64::from(y);
                assert_eq!(*pixel == RED, is_red(dx, dy), "{x},{y}: {dx},{dy}");
            }
        }
    }

    #[test]
    fn pixels_that_make_no_picture_are_an_error() {
        for (width, height, bytes) in [
            (0, 0, 0),
            (0, 5, 0),
            (2, 2, 11),
            (2, 2, 16),
            (u32::MAX, u32::MAX, 3),
        ] {
            let error = encode(width, height, &vec![0; bytes], None).unwrap_err();
            assert!(matches!(error, JournalError::Picture(_)));
        }
    }
}
