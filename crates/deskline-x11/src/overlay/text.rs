//! Draws the banner: white text on near black, in a frame of the accent colour.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use ab_glyph::{Font as _, FontVec, PxScale, ScaleFont as _, point};

use deskline_contract::guard::Image;
use deskline_unix::spawn;

/// The size of the text, its padding and the width of the frame, at 96 dpi.
const SIZE: f64 = 16.0;
const PAD: f64 = 12.0;
const RIM: f64 = 2.0;

const GROUND: [u8; 3] = [0x1c, 0x1e, 0x21];
const INK: [u8; 3] = [0xff, 0xff, 0xff];
const ACCENT: [u8; 3] = [0xff, 0x8a, 0x00];

/// Paths of sans-serif fonts on common distributions, because fontconfig takes 30 ms to find one.
const KNOWN: [&str; 6] = [
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
    "/usr/share/fonts/google-noto-vf/NotoSans[wght].ttf",
    "/usr/share/fonts/truetype/ubuntu/Ubuntu-R.ttf",
];

/// The maximum number of fonts to search for: the first font, and fonts for characters that it
/// lacks.
const MOST_FONTS: usize = 3;

/// How long the banner waits for fontconfig. That usually takes 30 ms, but minutes if it has to
/// build its cache. A font that is found later is used for the next banner.
const AT_ONCE: Duration = Duration::from_millis(150);
/// How long fontconfig may run.
const FOUND: Duration = Duration::from_secs(60);

/// The fonts found so far.
#[derive(Default)]
pub struct Fonts {
    found: Vec<FontVec>,
    looked: usize,
    /// Searches in progress.
    sought: Vec<Receiver<FontVec>>,
}

impl Fonts {
    pub(super) fn warm(&mut self) {
        if self.found.is_empty() && self.looked == 0 {
            self.looked = 1;
            let known = KNOWN.iter().find_map(|path| open(Path::new(path), 0));
            match known {
                Some(font) => self.found.push(font),
                None => self.seek("sans".to_owned()),
            }
        }
    }

    /// Searches for a font on another thread.
    fn seek(&mut self, pattern: String) {
        let (sender, sought) = mpsc::sync_channel(1);
        // If there is no room for a thread, there is no room for another font either.
        let _ =
            thread::Builder::new().spawn(move || matching(&pattern).map(|font| sender.send(font)));
        match sought.recv_timeout(AT_ONCE) {
            Ok(font) => self.found.push(font),
            Err(mpsc::RecvTimeoutError::Timeout) => self.sought.push(sought),
            Err(mpsc::RecvTimeoutError::Disconnected) => {}
        }
    }

    /// Adds fonts whose search has ended.
    fn take_in(&mut self) {
        let fonts = &mut self.found;
        self.sought.retain(|sought| match sought.try_recv() {
            Ok(font) => {
                fonts.push(font);
                false
            }
            Err(mpsc::TryRecvError::Empty) => true,
            Err(mpsc::TryRecvError::Disconnected) => false,
        });
    }

    /// The index of a font that has the character, else of the first font.
    fn font_for(&mut self, c: char) -> Option<usize> {
        self.warm();
        self.take_in();
        let has = |fonts: &[FontVec]| fonts.iter().position(|font| font.glyph_id(c).0 != 0);
        if let Some(at) = has(&self.found) {
            return Some(at);
        }
        if self.looked < MOST_FONTS && !c.is_whitespace() {
            self.looked += 1;
            self.seek(format!("sans:charset={:x}", u32::from(c)));
            if let Some(at) = has(&self.found) {
                return Some(at);
            }
        }
        (!self.found.is_empty()).then_some(0)
    }
}

fn open(path: &Path, index: u32) -> Option<FontVec> {
    FontVec::try_from_vec_and_index(std::fs::read(path).ok()?, index).ok()
}

/// fontconfig's font for a pattern.
fn matching(pattern: &str) -> Option<FontVec> {
    let mut ask = Command::new("fc-match");
    ask.args(["--format=%{file}\n%{index}", pattern]);
    let found = spawn::output(&mut ask, FOUND).ok()?;
    let found = String::from_utf8(found).ok()?;
    let (path, index) = found.split_once('\n')?;
    open(Path::new(path), index.trim().parse().unwrap_or(0))
}

/// A banner with the lines of `caption`, at most `widest` pixels wide; `None` if there is no font.
pub fn banner(fonts: &mut Fonts, caption: &str, scale: f64, widest: usize) -> Option<Image> {
    let size = PxScale::from((SIZE * scale) as f32);
    let pad = (PAD * scale).round() as usize;
    let rim = (RIM * scale).round().max(1.0) as usize;
    let chosen: Vec<Vec<(char, usize)>> = caption
        .lines()
        .map(|line| {
            line.chars()
                .map(|c| Some((c, fonts.font_for(c)?)))
                .collect()
        })
        .collect::<Option<_>>()?;
    let first = fonts.found.first()?.as_scaled(size);
    let room = widest.saturating_sub(2 * pad) as f32;
    let (mut width, mut baseline) = (0.0_f32, pad as f32 + first.ascent());
    let height = (first.height() * chosen.len() as f32).ceil() as usize + 2 * pad;
    let mut glyphs = vec![];
    for line in chosen {
        let mut x = pad as f32;
        for (c, at) in line {
            let Some(font) = fonts.found.get(at) else {
                continue;
            };
            let glyph = font.glyph_id(c);
            let advance = font.as_scaled(size).h_advance(glyph);
            if x - pad as f32 + advance > room {
                break;
            }
            glyphs.push((at, glyph.with_scale_and_position(size, point(x, baseline))));
            x += advance;
        }
        width = width.max(x);
        baseline += first.height();
    }
    // The size of a Wayland buffer must be a multiple of its scale.
    let whole = |pixels: usize| pixels.next_multiple_of(scale.ceil().max(1.0) as usize);
    let (width, height) = (whole(width.ceil() as usize + pad), whole(height));
    let mut image = Image {
        width,
        height,
        bgrx: ground(width, height, rim),
    };
    for (at, glyph) in glyphs {
        let Some(outline) = fonts
            .found
            .get(at)
            .and_then(|font| font.outline_glyph(glyph))
        else {
            continue;
        };
        let bounds = outline.px_bounds();
        outline.draw(|x, y, coverage| {
            let x = bounds.min.x as i64 + i64::from(x);
            let y = bounds.min.y as i64 + i64::from(y);
            blend(&mut image, x, y, coverage);
        });
    }
    Some(image)
}

fn ground(width: usize, height: usize, rim: usize) -> Vec<u8> {
    let pixels = |[r, g, b]: [u8; 3], n: usize| [b, g, r, 0xff].repeat(n);
    let edge = pixels(ACCENT, width);
    let side = pixels(ACCENT, rim);
    let inside = pixels(GROUND, width.saturating_sub(2 * rim));
    let row = [&side[..], &inside, &side].concat();
    let mut bgrx = Vec::with_capacity(width * height * 4);
    for y in 0..height {
        let on_edge = y < rim || y + rim >= height;
        bgrx.extend_from_slice(if on_edge { &edge } else { &row });
    }
    bgrx
}

fn blend(image: &mut Image, x: i64, y: i64, coverage: f32) {
    let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
        return;
    };
    if x >= image.width || y >= image.height {
        return;
    }
    let at = (y * image.width + x) * 4;
    let [red, green, blue] = INK;
    for (under, ink) in image.bgrx[at..at + 3].iter_mut().zip([blue, green, red]) {
        let mixed = f32::from(*under) + (f32::from(ink) - f32::from(*under)) * coverage.min(1.0);
        *under = mixed.round() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_is_as_wide_as_its_text_and_never_wider_than_the_screen() {
        let mut fonts = Fonts::default();
        let Some(short) = banner(&mut fonts, "AI: clicking", 1.0, 800) else {
            return;
        };
        let long = banner(&mut fonts, &"wide ".repeat(500), 1.0, 800).unwrap();
        let twice = banner(&mut fonts, "AI: clicking", 2.0, 800).unwrap();
        assert!(short.width < 200 && long.width <= 800);
        assert!(twice.height >= short.height * 2 - 2);
        let inked = |image: &Image| image.bgrx.chunks(4).filter(|p| p[0] > 0xa0).count();
        assert!(inked(&short) > 50);
        assert!(inked(&twice) > 2 * inked(&short));
    }
}
