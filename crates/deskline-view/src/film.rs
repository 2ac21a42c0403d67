//! A run as a film, an animated GIF. It shows each picture where the window was on the screen, with
//! the pointer that the picture contains. Below the picture, it shows the call, its time and its
//! outcome.

use std::io::{self, Error, Write};

use deskline_core::escape::short;
use deskline_journal::{Outcome, Place, Record, pixels};
use gif::{Encoder, Frame, Repeat};

use crate::run::Run;
use crate::words::words;

/// An image: pixels a row, and three bytes a pixel.
#[derive(Clone, Default)]
pub struct Image {
    pub width: usize,
    pub rgb: Vec<u8>,
}

/// Draws lines of text, at most as many pixels wide as the number says; `None` without a font.
pub type Draw<'d> = &'d mut dyn FnMut(&str, usize) -> Option<Image>;

/// How long a call shows before its picture, and how long the picture shows at least and at most,
/// in hundredths of a second.
const CALL: u64 = 60;
const LEAST: u64 = 100;
const MOST: u64 = 250;

/// The largest side of a film, in pixels: no screen is larger.
const SIDE: i64 = 8192;

pub(crate) fn write(out: &mut impl Write, run: &Run, draw: Draw<'_>) -> io::Result<()> {
    let records: Vec<_> = (0..run.len()).filter_map(|n| run.record(n)).collect();
    let place = |n| bounds(&Place::from_png(&run.picture(n)?)?);
    let join =
        |[a, b, c, d]: [i64; 4], [l, t, r, e]: [i64; 4]| [a.min(l), b.min(t), c.max(r), d.max(e)];
    let whole = (0..run.len()).filter_map(place).reduce(join);
    let whole = whole.filter(|[l, t, r, b]| r - l <= SIDE && b - t <= SIDE);
    let none = || Error::other("its calls have no screenshots that fit on a screen");
    let [left, top, right, bottom] = whole.ok_or_else(none)?;
    let width = (right - left) as usize;
    let captions = records.iter().map(|record| captions(record));
    let drawn = captions.map(|all| all.map(|text| draw(&text, width)));
    let captions: Vec<_> = drawn.collect();
    let bars = captions.iter().flatten().flatten();
    let bar = bars.map(Image::height).max().unwrap_or_default();
    let height = (bottom - top) as usize + bar;
    let (w, h) = (width as u16, height as u16);
    let mut film = Encoder::new(out, w, h, &[]).map_err(Error::other)?;
    film.set_repeat(Repeat::Infinite).map_err(Error::other)?;
    let mut screen = Image::black(width, height);
    for (n, captions) in captions.iter().enumerate() {
        let next = records.get(n + 1).map_or(u64::MAX, |next| next.ms);
        let shown = next.saturating_sub(records[n].ms) / 10;
        for (caption, delay) in captions.iter().zip([CALL, shown.clamp(LEAST, MOST)]) {
            // The picture comes after the call.
            if delay != CALL
                && let Some(shot) = run.picture(n).as_deref().and_then(pixels)
            {
                let (place, rgb) = shot;
                screen = Image::black(width, height);
                let [x, y, ..] = bounds(&place).unwrap_or_default();
                let width = place.width as usize;
                let shot = Image { width, rgb };
                screen.paint(&shot, (x - left) as usize, (y - top) as usize);
            }
            screen.paint(&Image::black(width, bar), 0, height - bar);
            if let Some(text) = caption {
                screen.paint(text, 0, height - bar);
            }
            let mut frame = Frame::from_rgb_speed(w, h, &screen.rgb, 10);
            frame.delay = delay as u16;
            film.write_frame(&frame).map_err(Error::other)?;
        }
    }
    Ok(())
}

/// Left, top, right and bottom of a picture on the screen, in pixels.
fn bounds(place: &Place) -> Option<[i64; 4]> {
    let origin = place.origin?;
    let at = |v: i32| (f64::from(v) * place.scale).round() as i64;
    let (x, y) = (at(origin.x), at(origin.y));
    let (right, bottom) = (x + i64::from(place.width), y + i64::from(place.height));
    Some([x, y, right, bottom])
}

/// Two captions: the call alone, and the call with its time and its outcome.
fn captions(record: &Record) -> [String; 2] {
    let answer = record.answer.as_deref();
    let call = format!("▸ {}", words(&record.tool, &record.arguments, answer));
    let mut lines = answer.unwrap_or_default().lines();
    let summary = lines.find_map(|line| line.strip_prefix("summary: "));
    let came = match &record.outcome {
        Outcome::Ok => summary.unwrap_or_default(),
        Outcome::Cancelled => "cancelled: Esc, or the client",
        Outcome::Error(why) => why.as_str(),
    };
    let time = record.time.get(11..19).unwrap_or_default();
    let came = format!("{call}\n{time}  {}", short(came, 120));
    [format!("{call}\n "), came]
}

impl Image {
    fn black(width: usize, height: usize) -> Self {
        let rgb = vec![0; width * height * 3];
        Self { width, rgb }
    }

    fn height(&self) -> usize {
        self.rgb.len() / 3 / self.width.max(1)
    }

    /// Paints an image at `x` and `y`, as far as it fits.
    fn paint(&mut self, image: &Self, x: usize, y: usize) {
        let fits = image.width.min(self.width.saturating_sub(x)) * 3;
        let rows = self.rgb.chunks_exact_mut(self.width.max(1) * 3).skip(y);
        for (row, new) in rows.zip(image.rgb.chunks_exact(image.width.max(1) * 3)) {
            row[x * 3..x * 3 + fits].copy_from_slice(&new[..fits]);
        }
    }
}
