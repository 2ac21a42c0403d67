//! Encodes pictures of windows as PNG, with a red crosshair at the click: a ring around the clicked
//! element, and arms outside of it that point at the click. The pixels inside the ring stay as they
//! are.

use deskline_core::{Point, Rect};

use crate::{JournalError, Result};

/// The length of an arm, in pixels.
const ARM: i64 = 12;
/// The distance between the clicked element and the ring.
const GAP: i64 = 3;
/// The minimum distance of the ring from the click. A check box is at most twice this wide.
const LEAST: i64 = 12;
/// An element that is wider or higher than this gets a ring around the click instead.
const MOST: (i64, i64) = (600, 200);
const RED: [u8; 3] = [255, 0, 0];
/// The colour of the outline around the red, which makes the red visible on a red background.
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
    /// The screen coordinates of the picture's first pixel. Stored in the PNG as the text `origin`,
    /// in the form `x,y`.
    pub origin: Point,
    /// Pixels per screen unit. Stored in the PNG as the text `scale`.
    pub scale: f64,
    /// The click, in pixels from the picture's top left. Not drawn if it is outside.
    pub crosshair: Option<(u32, u32)>,
    /// The bounds of the clicked element, in pixels from the picture's top left.
    pub clicked: Option<Rect>,
}

impl<'a> Shot<'a> {
    /// A picture at the top left corner of the screen, without a click.
    pub fn new(width: u32, height: u32, rgb: &'a [u8]) -> Self {
        Self {
            width,
            height,
            rgb,
            origin: Point::at(0, 0),
            scale: 1.0,
            crosshair: None,
            clicked: None,
        }
    }
}

/// The size of a picture, and its position on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The screen coordinates of the picture's first pixel; `None` if the file does not have them.
    pub origin: Option<Point>,
    /// Pixels per screen unit.
    pub scale: f64,
}

impl Place {
    /// Reads size and position from a PNG of the journal, without decoding its pixels. `None` if it
    /// is no PNG.
    pub fn from_png(png: &[u8]) -> Option<Self> {
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

/// How many bytes of pixels are read at most. A picture of 16k × 8k pixels fits.
const LARGEST: usize = 400 << 20;

/// The place and the pixels of a PNG of the journal, three bytes a pixel.
pub fn pixels(png: &[u8]) -> Option<(Place, Vec<u8>)> {
    let place = Place::from_png(png)?;
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .ok()?;
    let size = place.width as usize * place.height as usize * 3;
    let is_sound = |bytes: &usize| *bytes == size && size <= LARGEST;
    let mut rgb = vec![0; reader.output_buffer_size().filter(is_sound)?];
    reader.next_frame(&mut rgb).ok()?;
    Some((place, rgb))
}

/// Encodes the shot as PNG.
pub fn encode(shot: &Shot<'_>) -> Result<Vec<u8>> {
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
            let cross = Crosshair::around(at, shot.clicked);
            cross.draw(&mut marked, i64::from(width));
            marked
        });
    let mut file = Vec::with_capacity(rgb.len() / 8);
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // `Fast` makes files up to a third smaller than `Fastest`, half as large for plain windows, and
    // takes a few milliseconds more.
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

/// A crosshair, in pixels.
struct Crosshair {
    /// The click.
    x: i64,
    y: i64,
    /// The coordinates of the ring's four sides.
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

impl Crosshair {
    fn around((x, y): (u32, u32), clicked: Option<Rect>) -> Self {
        let (x, y) = (i64::from(x), i64::from(y));
        let sides = |r: Rect| {
            let (left, top) = (i64::from(r.x), i64::from(r.y));
            (
                left,
                top,
                left + i64::from(r.w) - 1,
                top + i64::from(r.h) - 1,
            )
        };
        let fits = |&(left, top, right, bottom): &(i64, i64, i64, i64)| {
            let small = right - left < MOST.0 && bottom - top < MOST.1;
            small && (left..=right).contains(&x) && (top..=bottom).contains(&y)
        };
        let (left, top, right, bottom) = clicked.map(sides).filter(fits).unwrap_or((x, y, x, y));
        Self {
            x,
            y,
            left: (left - GAP).min(x - LEAST),
            top: (top - GAP).min(y - LEAST),
            right: (right + GAP).max(x + LEAST),
            bottom: (bottom + GAP).max(y + LEAST),
        }
    }

    fn draw(&self, rgb: &mut [u8], width: i64) {
        let reach = ARM + 1;
        for py in self.top - reach..=self.bottom + reach {
            for px in self.left - reach..=self.right + reach {
                let color = if self.is_red(px, py) {
                    RED
                } else if self.is_edge(px, py) {
                    EDGE
                } else {
                    continue;
                };
                if !(0..width).contains(&px) {
                    continue;
                }
                // A pixel above the picture has no index; one below it has an index past the end.
                let start = usize::try_from((py * width + px) * 3);
                if let Some(pixel) = start.ok().and_then(|at| rgb.get_mut(at..at + 3)) {
                    pixel.copy_from_slice(&color);
                }
            }
        }
    }

    /// Whether the ring or an arm covers the pixel.
    fn is_red(&self, px: i64, py: i64) -> bool {
        let (across, along) = (self.left..=self.right, self.top..=self.bottom);
        let on_side = (px == self.left || px == self.right) && along.contains(&py)
            || (py == self.top || py == self.bottom) && across.contains(&px);
        let beyond = |v: i64, low: i64, high: i64| (low - v).max(v - high);
        let on_arm = px == self.x && (1..=ARM).contains(&beyond(py, self.top, self.bottom))
            || py == self.y && (1..=ARM).contains(&beyond(px, self.left, self.right));
        on_side || on_arm
    }

    /// Whether the white line along the red line covers the pixel. The white line is narrower than
    /// [`GAP`].
    fn is_edge(&self, px: i64, py: i64) -> bool {
        (-1..=1).any(|j| (-1..=1).any(|i| self.is_red(px + i, py + j)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(
        width: u32,
        height: u32,
        rgb: &[u8],
        crosshair: Option<(u32, u32)>,
    ) -> Result<Vec<u8>> {
        super::encode(&Shot {
            origin: Point::at(-40, 60),
            scale: 2.0,
            crosshair,
            ..Shot::new(width, height, rgb)
        })
    }

    #[test]
    fn a_picture_file_contains_its_position_on_the_screen() {
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
    fn a_picture_is_decoded_as_it_was_encoded() {
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

    /// A picture of one colour with a mark on it, and how to read its pixels.
    fn marked(
        (width, height): (u32, u32),
        color: [u8; 3],
        at: (u32, u32),
        clicked: Option<Rect>,
    ) -> impl Fn(usize, usize) -> [u8; 3] {
        let png = super::encode(&Shot {
            crosshair: Some(at),
            clicked,
            ..Shot::new(width, height, &plain(width, height, color))
        });
        let (_, _, rgb) = decode(&png.unwrap());
        move |x, y| <[u8; 3]>::try_from(&rgb[(y * width as usize + x) * 3..][..3]).unwrap()
    }

    #[test]
    fn the_crosshair_stands_out_on_any_color_and_hides_nothing_inside() {
        for color in [[255, 0, 0], [255, 255, 255], [0, 0, 0]] {
            let at = marked((100, 80), color, (40, 30), None);
            for (x, y) in [(40, 30), (40, 20), (49, 39), (31, 21), (70, 30), (60, 60)] {
                assert_eq!(at(x, y), color, "{x},{y}");
            }
            for (x, y) in [(28, 18), (52, 42), (40, 18), (40, 7), (64, 30), (17, 30)] {
                assert_eq!(at(x, y), RED, "{x},{y}");
            }
            for (x, y) in [(41, 45), (39, 45), (40, 55), (65, 30)] {
                assert_eq!(at(x, y), EDGE, "{x},{y}");
            }
        }
    }

    #[test]
    fn the_ring_leaves_the_clicked_element_visible() {
        let grey = [120, 120, 120];
        let button = Rect::new(60, 40, 80, 30).unwrap();
        let at = marked((200, 120), grey, (100, 55), Some(button));
        for y in 40..70 {
            for x in 60..140 {
                assert_eq!(at(x, y), grey, "{x},{y}");
            }
        }
        for (x, y) in [
            (57, 40),
            (142, 69),
            (100, 37),
            (100, 72),
            (100, 27),
            (150, 55),
        ] {
            assert_eq!(at(x, y), RED, "{x},{y}");
        }
        let huge = Rect::new(0, 0, 190, 300).unwrap();
        let at = marked((200, 120), grey, (100, 55), Some(huge));
        assert_eq!((at(88, 43), at(100, 55)), (RED, grey), "a small ring");
    }

    #[test]
    fn the_edges_of_the_picture_cut_the_crosshair() {
        let (width, height) = (30, 26);
        for (x, y) in [(0, 0), (29, 0), (0, 25), (29, 25), (15, 1)] {
            let cross = Crosshair::around((x, y), None);
            let at = marked((width, height), EDGE, (x, y), None);
            for py in 0..height as usize {
                for px in 0..width as usize {
                    let red = cross.is_red(px as i64, py as i64);
                    assert_eq!(at(px, py) == RED, red, "{x},{y}: {px},{py}");
                }
            }
        }
    }

    #[test]
    fn pixels_of_the_wrong_length_are_an_error() {
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
