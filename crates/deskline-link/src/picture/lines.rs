//! Finds the lines of text in a picture, and prints each line in dark on white, whatever its
//! colours: an OCR engine separates text from background by one threshold for the whole picture.
//!
//! The commonest colour of an area is called paper. The ink of a pixel is how far its colour is
//! from the paper; its share is that distance in relation to the largest one, from 0 to 255.

use std::collections::{BTreeMap, HashMap};

use super::area::Area;
use crate::display::Picture;
use crate::ocr::Print;

/// Two shares are the same if they differ by at most this, because colours are rounded.
const ALIKE: u32 = 48;

/// A pixel with less ink than this counts as paper. The text of a disabled button in an inactive
/// window has little more.
const FAINTEST: u8 = 12;

/// There is an edge between neighbours that differ by this much in red, green or blue.
const CONTRAST: u8 = 40;

/// Pixels along a straight edge differ by less than this.
const FLAT: u8 = 8;

/// A straight edge of this length belongs to a frame or a rule: letters have none.
const STRAIGHT: usize = 24;

/// A gap between letters separates two texts if it is wider than this and wider than 5/4 of the
/// line's height. Gaps between words of fixed-width fonts are wider than the line is high.
const APART: usize = 12;

/// Rows of pixels with a smaller gap than this may belong to one letter, as in `i`.
const DOT: usize = 3;

/// The least and the greatest height of a line.
const HEIGHTS: (usize, usize) = (5, 48);

const NARROWEST: usize = 3;

/// An area with more pixels than this is larger than any line.
const LARGE: usize = 100_000;

/// The maximum number of lines. A picture with more shows no text, but noise or a photograph.
const MOST: usize = 1_000;

/// The maximum number of words and parts of lines.
const PIECES: usize = 4_000;

type Colour = [u8; 3];

struct Image<'p> {
    width: usize,
    height: usize,
    pixels: &'p [Colour],
}

/// The lines of text, top down.
pub(crate) fn lines(picture: &Picture) -> Vec<Area> {
    let Some(image) = Image::new(picture) else {
        return Vec::new();
    };
    let edges = image.edges();
    let mut found = Vec::new();
    for block in blocks(&edges, image.width) {
        if block.h >= HEIGHTS.0 && block.w >= NARROWEST {
            image.split(block, &mut found);
        }
    }
    found.truncate(PIECES);
    let mut found = image.join(found);
    found.sort_by_key(|line| (line.y, line.x));
    found.truncate(MOST);
    found
}

/// The greatest gap between two words of a line of this height.
fn widest_gap(height: usize) -> usize {
    APART.max(height * 5 / 4)
}

/// The shape of a line, whatever its colours: each pixel's share of the ink, row by row.
#[derive(Hash)]
pub(crate) struct Look {
    width: usize,
    grey: Vec<u8>,
}

/// The shape of a line.
pub(crate) fn look(picture: &Picture, line: Area) -> Option<Look> {
    let mut grey = Image::new(picture)?.ink(line);
    let most = u32::from(grey.iter().copied().max().unwrap_or(0)).max(1);
    for ink in &mut grey {
        *ink = 255 - (u32::from(*ink) * 255 / most) as u8;
    }
    Some(Look {
        width: line.w,
        grey,
    })
}

/// The line, enlarged to the size that engines are made for, with a margin.
pub(crate) fn print(picture: &Picture, line: Area) -> Option<Print> {
    const MARGIN: usize = 4;
    let Look {
        grey: line_grey, ..
    } = look(picture, line)?;
    let scale = match line.h {
        0..=13 => 3,
        14..=26 => 2,
        _ => 1,
    };
    let (width, height) = ((line.w + 2 * MARGIN) * scale, (line.h + 2 * MARGIN) * scale);
    // A row of pixels, enlarged across. The rows above and below the line are white.
    let across = |y: usize| -> Vec<u16> {
        let mut row = vec![255; line.w + 2 * MARGIN + 1];
        if (MARGIN..MARGIN + line.h).contains(&y) {
            let from = (y - MARGIN) * line.w;
            let pixels = &line_grey[from..from + line.w];
            let inside = row[MARGIN..].iter_mut().zip(pixels);
            inside.for_each(|(to, pixel)| *to = u16::from(*pixel));
        }
        let mut wide = Vec::with_capacity(width);
        for pair in row.windows(2) {
            let shares = (0..scale).map(|right| (scale - right, right));
            wide.extend(shares.map(|(l, r)| pair[0] * l as u16 + pair[1] * r as u16));
        }
        wide
    };
    let mut grey = Vec::with_capacity(width * height);
    let mut upper = across(0);
    for y in 0..height / scale {
        let lower = across(y + 1);
        for down in 0..scale {
            let (up, down) = ((scale - down) as u16, down as u16);
            let both = upper.iter().zip(&lower);
            let area = (scale * scale) as u16;
            grey.extend(both.map(|(u, l)| ((u * up + l * down) / area) as u8));
        }
        upper = lower;
    }
    Some(Print {
        width: u32::try_from(width).ok()?,
        height: u32::try_from(height).ok()?,
        grey,
    })
}

/// Whether an area shows the same letters in both pictures, in whatever colours: each pixel has the
/// same share of ink. The letters of a line may differ in colour, so each is compared for itself.
pub(crate) fn alike(before: &Picture, now: &Picture, area: Area) -> bool {
    let ink = |picture| {
        let image = Image::new(picture)?;
        let is_in = area.x + area.w <= image.width && area.y + area.h <= image.height;
        is_in.then(|| image.ink(area))
    };
    let (Some(was), Some(is)) = (ink(before), ink(now)) else {
        return false;
    };
    let column = |ink: &[u8], x: usize| ink[x..].iter().step_by(area.w).copied().max();
    let has_ink = |x| column(&was, x).max(column(&is, x)) >= Some(FAINTEST);
    let is_same = |(from, to): (usize, usize)| {
        let letter = |ink: &[u8]| -> Vec<u32> {
            let rows = ink.chunks_exact(area.w).flat_map(|row| &row[from..=to]);
            rows.map(|ink| u32::from(*ink)).collect()
        };
        let (was, is) = (letter(&was), letter(&is));
        let most = |letter: &[u32]| letter.iter().copied().max().unwrap_or(0);
        let (most_before, most) = (most(&was), most(&is));
        let both = most_before.min(most) >= u32::from(FAINTEST);
        let is_near =
            |(was, is): (&u32, &u32)| (was * 255 / most_before).abs_diff(is * 255 / most) <= ALIKE;
        both && was.iter().zip(&is).all(is_near)
    };
    stretches(area.w, 1, has_ink).into_iter().all(is_same)
}

/// By how much two colours differ, in the channel that differs most.
fn contrast(a: Colour, b: Colour) -> u8 {
    let [r, g, b] = std::array::from_fn(|i| a[i].abs_diff(b[i]));
    r.max(g).max(b)
}

impl<'p> Image<'p> {
    fn new(picture: &'p Picture) -> Option<Self> {
        let (width, height) = (picture.width as usize, picture.height as usize);
        let pixels = picture.rgb.as_chunks().0;
        (width > 1 && height > 1 && pixels.len() == width * height).then_some(Self {
            width,
            height,
            pixels,
        })
    }

    fn row(&self, y: usize) -> &[Colour] {
        &self.pixels[y * self.width..(y + 1) * self.width]
    }

    /// Which pixels differ from their right or lower neighbour, apart from straight edges.
    fn edges(&self) -> Vec<bool> {
        let mut edges = vec![false; self.pixels.len()];
        let (w, h) = (self.width, self.height);
        for y in 0..h - 1 {
            self.mark(&mut edges, (y * w, w), (1, w));
        }
        for x in 0..w - 1 {
            self.mark(&mut edges, (x, h), (w, 1));
        }
        edges
    }

    /// Marks the edges along a row or a column of this many pixels. `along` is the distance from
    /// one pixel to the next, `across` the distance from each pixel to the one it is compared with.
    fn mark(
        &self,
        edges: &mut [bool],
        (first, length): (usize, usize),
        (along, across): (usize, usize),
    ) {
        let pixels = self.pixels;
        let mut clear = |from: usize, to: usize| {
            if to - from < STRAIGHT {
                (from..to).for_each(|i| edges[first + i * along] = true);
            }
        };
        // The first pixel of the straight edge that reaches to this pixel without a break.
        let mut start = None;
        for i in 0..length {
            let at = first + i * along;
            let is_edge = contrast(pixels[at], pixels[at + across]) >= CONTRAST;
            let goes_on = |_: &usize| {
                let flat = |at: usize| contrast(pixels[at - along], pixels[at]) < FLAT;
                is_edge && flat(at) && flat(at + across)
            };
            if let Some(from) = start.filter(|from| !goes_on(from)) {
                clear(from, i);
                start = None;
            }
            if is_edge {
                start.get_or_insert(i);
            }
        }
        if let Some(from) = start {
            clear(from, length);
        }
    }

    /// The commonest colour. In a large area only pixels that equal their neighbour are counted: a
    /// photograph has too many colours to count.
    fn background(&self, area: Area) -> Colour {
        let least = if area.w * area.h > LARGE { 2 } else { 1 };
        let mut counts: HashMap<Colour, usize> = HashMap::new();
        for y in area.y..area.y + area.h {
            let row = &self.row(y)[area.x..area.x + area.w];
            for run in row.chunk_by(|a, b| a == b).filter(|run| run.len() >= least) {
                *counts.entry(run[0]).or_default() += run.len();
            }
        }
        let commonest = counts.into_iter().max_by_key(|(colour, n)| (*n, *colour));
        let first = self.pixels.get(area.y * self.width + area.x).copied();
        let commonest = commonest.map(|(colour, _)| colour);
        commonest.or(first).unwrap_or_default()
    }

    /// By how much each pixel differs from the background.
    fn ink(&self, area: Area) -> Vec<u8> {
        let background = self.background(area);
        let rows = (area.y..area.y + area.h).map(|y| &self.row(y)[area.x..area.x + area.w]);
        let pixels = rows.flatten();
        pixels.map(|pixel| contrast(*pixel, background)).collect()
    }

    /// Splits a block of text on one background into lines, and splits the lines at wide gaps.
    fn split(&self, block: Area, found: &mut Vec<Area>) {
        let background = self.background(block);
        let ink = |x: usize, y: usize| {
            contrast(self.row(block.y + y)[block.x + x], background) >= CONTRAST
        };
        for (top, bottom) in stretches(block.h, 1, |y| (0..block.w).any(|x| ink(x, y))) {
            let h = bottom + 1 - top;
            if !(HEIGHTS.0..=HEIGHTS.1).contains(&h) {
                continue;
            }
            let inked = |x| (top..=bottom).any(|y| ink(x, y));
            for (left, right) in stretches(block.w, widest_gap(h), inked) {
                let w = right + 1 - left;
                if w >= NARROWEST {
                    let (x, y) = (block.x + left, block.y + top);
                    found.push(Area { x, y, w, h });
                }
            }
        }
    }

    /// Joins the words of a line that were found in separate blocks.
    fn join(&self, mut pieces: Vec<Area>) -> Vec<Area> {
        pieces.sort_by_key(|piece| piece.x);
        let mut joined: Vec<Area> = Vec::new();
        for piece in pieces {
            let before = joined.iter().position(|line| self.goes_on(*line, piece));
            match before {
                Some(at) => joined[at] = joined[at].around(piece),
                None => joined.push(piece),
            }
        }
        joined
    }

    /// Whether `word`, to the right of `line`, continues it, with nothing between the two.
    fn goes_on(&self, line: Area, word: Area) -> bool {
        let from = line.x + line.w;
        let gap = word.x.checked_sub(from);
        let near = gap.is_some_and(|gap| gap <= widest_gap(line.h.max(word.h)));
        let both = line.around(word);
        let beside = (line.h + word.h).saturating_sub(both.h);
        if !near || 2 * beside < line.h.min(word.h) || both.h > HEIGHTS.1 {
            return false;
        }
        let paper = self.background(line);
        let mut between = (both.y..both.y + both.h).flat_map(|y| &self.row(y)[from..word.x]);
        between.all(|pixel| contrast(*pixel, paper) < CONTRAST)
    }
}

/// The inclusive ranges of numbers below `n` for which `inked` is true. Numbers that are at most
/// `gap` apart are in one range.
fn stretches(n: usize, gap: usize, inked: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for i in (0..n).filter(|&i| inked(i)) {
        match found.last_mut() {
            Some(last) if i - last.1 <= gap => last.1 = i,
            _ => found.push((i, i)),
        }
    }
    found
}

/// The bounds of edges that are near each other.
fn blocks(edges: &[bool], width: usize) -> Vec<Area> {
    let height = edges.len() / width;
    // All ranges, row by row. Each has the index of the range that it is joined to: at first its
    // own.
    let mut all: Vec<(usize, usize, usize)> = Vec::new();
    let mut joined: Vec<usize> = Vec::new();
    let mut starts = vec![0];
    for (y, row) in edges.chunks_exact(width).enumerate() {
        let above = starts[y.saturating_sub(DOT)]..all.len();
        for (left, right) in stretches(width, APART, |x| row[x]) {
            let own = all.len();
            all.push((y, left, right));
            joined.push(own);
            for other in above.clone() {
                let (_, l, r) = all[other];
                if l <= right && left <= r {
                    let (a, b) = (root(&mut joined, other), root(&mut joined, own));
                    joined[a] = b;
                }
            }
        }
        starts.push(all.len());
    }
    // The left, top, right and bottom of each block, inclusive.
    let mut bounds: BTreeMap<usize, [usize; 4]> = BTreeMap::new();
    for (i, &(y, left, right)) in all.iter().enumerate() {
        let block = root(&mut joined, i);
        let [x0, y0, x1, y1] = bounds.entry(block).or_insert([left, y, right, y]);
        (*x0, *y0) = ((*x0).min(left), (*y0).min(y));
        (*x1, *y1) = ((*x1).max(right), (*y1).max(y));
    }
    // An edge lies between its pixel and the next pixel.
    let block = |[x, y, x1, y1]: [usize; 4]| Area {
        x,
        y,
        w: (x1 + 2).min(width) - x,
        h: (y1 + 2).min(height) - y,
    };
    bounds.into_values().map(block).collect()
}

fn root(joined: &mut [usize], mut at: usize) -> usize {
    while joined[at] != at {
        joined[at] = joined[joined[at]];
        at = joined[at];
    }
    at
}

#[cfg(test)]
mod tests;
