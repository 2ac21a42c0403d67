//! Finds a window on the screen by pieces of its picture: exactly, or not at all.
//!
//! A mark is a small piece of the picture of an element, at a corner of the element. If the same
//! pixels occur in another picture, their position there is a vote for a position of the window's
//! corner. The window is where the votes of several elements agree, if they agree nowhere else.

use std::collections::{BTreeMap, HashMap, HashSet};

use deskline_core::{Point, Rect};

use crate::described::Part;

/// The size of a piece at a corner of an element, in pixels.
const PIECE: (usize, usize) = (24, 12);

/// An element up to this size, in pixels, is also a piece as a whole, which distinguishes the
/// element from similar ones.
const WHOLE: (usize, usize) = (160, 48);

/// How many adjacent pixels to compare first.
const RUN: usize = 8;

/// Ignore a piece that is found more often than this.
const COMMON: usize = 256;

/// The most elements to take pieces of.
const MOST: usize = 200;

/// How many elements must be found, and their least total weight: a corner weighs 1, a whole
/// element 4.
const ELEMENTS: usize = 3;
const WEIGHT: usize = 8;

/// The least correlation of two pieces of the same shape.
const SAME_SHAPE: f64 = 0.75;

/// A picture of a screen.
#[derive(Debug)]
pub(super) struct Shot {
    /// The screen's bounds, in logical pixels of the layout.
    pub(super) place: Rect,
    width: usize,
    height: usize,
    pixels: Vec<u32>,
}

impl Shot {
    /// From RGB rows without padding, which begin at the corner of `place`.
    pub(super) fn new(place: Rect, width: u32, height: u32, rgb: &[u8]) -> Self {
        let pixel = |rgb: &[u8]| u32::from_be_bytes([0, rgb[0], rgb[1], rgb[2]]);
        Self {
            place,
            width: width as usize,
            height: height as usize,
            pixels: rgb.chunks_exact(3).map(pixel).collect(),
        }
    }

    /// Pixels per logical pixel.
    fn scale(&self) -> f64 {
        self.width as f64 / f64::from(self.place.w.max(1))
    }

    /// Part of a row; `None` if it is not completely in the picture.
    fn run(&self, x: i64, y: i64, length: usize) -> Option<&[u32]> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let inside = y < self.height && x.checked_add(length)? <= self.width;
        let start = y * self.width + x;
        inside
            .then(|| self.pixels.get(start..start + length))
            .flatten()
    }

    fn piece(&self, (x, y): (i64, i64), (w, h): (usize, usize)) -> Option<Vec<u32>> {
        let rows = (0..h as i64).map(|row| self.run(x, y + row, w));
        let rows: Option<Vec<&[u32]>> = rows.collect();
        Some(rows?.concat())
    }

    /// Converts a point of the layout to pixels of the picture.
    fn pixels_of(&self, corner: Point) -> (i64, i64) {
        let scale = self.scale();
        let of = |at: i32, start: i32| (f64::from(at - start) * scale).round() as i64;
        (of(corner.x, self.place.x), of(corner.y, self.place.y))
    }

    /// Converts pixels of the picture to a point of the layout; `None` if no point is exactly
    /// there.
    fn layout_of(&self, (x, y): (i64, i64)) -> Option<Point> {
        let scale = self.scale();
        let of = |at: i64, start: i32| (at as f64 / scale).round() as i32 + start;
        let corner = Point::at(of(x, self.place.x), of(y, self.place.y));
        (self.pixels_of(corner) == (x, y)).then_some(corner)
    }
}

/// The part of an element that a piece shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Piece {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
    /// The whole element, whose size must not have changed.
    Whole,
}

#[rustfmt::skip]
const CORNERS: [Piece; 4] =
    [Piece::TopLeft, Piece::TopRight, Piece::BottomLeft, Piece::BottomRight];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    size: (usize, usize),
    pixels: Vec<u32>,
    /// Where in the piece the run starts that is compared first.
    run: (usize, usize),
    /// The screen and the position in its picture that the piece was taken from.
    taken: (Rect, (i64, i64)),
    /// Whether the piece was found again at the window's position later. Otherwise the picture may
    /// be older or newer than the elements' positions.
    sure: bool,
}

/// The marks of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    all: BTreeMap<(String, Piece), Mark>,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    At(Point),
    /// At this point, but the pieces there have the same shapes in other colours, because the
    /// window or its menu has just got the keyboard.
    Recoloured(Point),
    Nowhere,
    /// At several points, or only some marks are at the last known position.
    Unclear,
}

impl Marks {
    /// Takes the marks of these parts from a picture in which the window's corner is at this point
    /// of the layout.
    pub(super) fn take(parts: &[Part], corner: Point, shot: &Shot) -> Self {
        let mut all = BTreeMap::new();
        let start = shot.pixels_of(corner);
        for part in parts.iter().take(MOST) {
            for of in pieces_of(part, shot.scale()) {
                let Some((at, size)) = expected(part, of, None, shot.scale()) else {
                    continue;
                };
                let at = (start.0 + at.0, start.1 + at.1);
                let pixels = shot.piece(at, size).filter(|p| is_distinctive(p, size.0));
                if let Some(pixels) = pixels {
                    let mark = Mark {
                        run: distinctive_run(&pixels, size),
                        size,
                        pixels,
                        taken: (shot.place, at),
                        sure: false,
                    };
                    all.insert((part.id.clone(), of), mark);
                }
            }
        }
        Self { all }
    }

    /// The marks that have the same pixels at the same position in `other`.
    pub(super) fn same_as(&self, other: &Self) -> Self {
        let same = self.all.iter().filter(|(key, mark)| {
            let same = other.all.get(key);
            same.is_some_and(|same| same.pixels == mark.pixels && same.taken == mark.taken)
        });
        Self {
            all: same
                .map(|(key, mark)| (key.clone(), mark.clone()))
                .collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are marks of enough elements.
    pub(super) fn suffice(&self) -> bool {
        let elements: HashSet<&str> = self.all.keys().map(|(id, _)| id.as_str()).collect();
        elements.len() >= ELEMENTS
    }

    /// Drops marks whose pixels are still where they were taken: they do not show that the window
    /// is elsewhere now.
    pub(super) fn drop_unmoved(&mut self, shots: &[Shot]) {
        self.all.retain(|_, mark| {
            let (place, at) = mark.taken;
            let now = shots.iter().find(|shot| shot.place == place);
            now.and_then(|shot| shot.piece(at, mark.size)).as_ref() != Some(&mark.pixels)
        });
    }

    /// Takes the marks anew from a window at a known position. Marks that have not changed become
    /// `sure`.
    pub(super) fn renew(&mut self, parts: &[Part], corner: Point, shot: &Shot) {
        let mut now = Self::take(parts, corner, shot);
        for (key, mark) in &mut now.all {
            let before = self.all.get(key);
            mark.sure = before.is_some_and(|before| before.pixels == mark.pixels);
        }
        *self = now;
    }

    /// Finds the window by its present `parts`. `last` is the window's last known position.
    pub(super) fn find(&self, parts: &[Part], shots: &[Shot], last: Option<Point>) -> Found {
        if let Some(last) = last {
            let (there, of) = self.support(parts, shots, last, |a, b, _| a == b);
            if there.elements() >= ELEMENTS && 2 * there.elements() >= of {
                return Found::At(last);
            }
            let (alike, of) = self.support(parts, shots, last, resembles);
            if alike.elements() >= ELEMENTS && 2 * alike.elements() >= of {
                return Found::Recoloured(last);
            }
            if there.elements() >= 2 {
                return Found::Unclear;
            }
        }
        let votes = self.votes(parts, shots, last.is_some());
        let mut best: Vec<(usize, Point, usize)> = votes
            .into_iter()
            .map(|(corner, votes)| (votes.weight(), corner, votes.elements()))
            .collect();
        best.sort_unstable_by_key(|(weight, corner, _)| (usize::MAX - weight, corner.x, corner.y));
        let next = best.get(1).map_or(0, |(weight, ..)| *weight);
        tracing::debug!(
            "a window's marks: {}; votes {:?}",
            self.all.len(),
            &best[..best.len().min(3)]
        );
        match best.first() {
            Some(&(weight, corner, elements)) if elements >= ELEMENTS && weight >= WEIGHT => {
                if 3 * next <= 2 * weight {
                    Found::At(corner)
                } else {
                    Found::Unclear
                }
            }
            _ => Found::Nowhere,
        }
    }

    /// The votes for this corner, and how many elements could have voted for it. `same` compares
    /// two pieces of the same width.
    fn support(
        &self,
        parts: &[Part],
        shots: &[Shot],
        corner: Point,
        same: impl Fn(&[u32], &[u32], usize) -> bool,
    ) -> (Votes, usize) {
        let (mut votes, mut able) = (Votes::default(), HashSet::new());
        for shot in shots {
            let start = shot.pixels_of(corner);
            for (part, of, mark, at) in self.expected(parts, shot.scale()) {
                let at = (start.0 + at.0, start.1 + at.1);
                let Some(now) = shot.piece(at, mark.size) else {
                    continue;
                };
                if mark.sure {
                    able.insert(part);
                }
                if same(&now, &mark.pixels, mark.size.0) {
                    votes.add(part, of);
                }
            }
        }
        (votes, able.len())
    }

    /// The marks that the parts should show, and their positions relative to the window's corner,
    /// in pixels.
    fn expected<'m>(
        &'m self,
        parts: &'m [Part],
        scale: f64,
    ) -> impl Iterator<Item = (usize, Piece, &'m Mark, (i64, i64))> {
        parts.iter().enumerate().flat_map(move |(n, part)| {
            let pieces = CORNERS.into_iter().chain([Piece::Whole]);
            pieces.filter_map(move |of| {
                let mark = self.all.get(&(part.id.clone(), of))?;
                let (at, _) = expected(part, of, Some(mark.size), scale)?;
                Some((n, of, mark, at))
            })
        })
    }

    /// The votes for each corner.
    fn votes(&self, parts: &[Part], shots: &[Shot], only_sure: bool) -> HashMap<Point, Votes> {
        let mut votes: HashMap<Point, Votes> = HashMap::new();
        for shot in shots {
            let wanted = self.expected(parts, shot.scale());
            let wanted: Vec<_> = wanted
                .filter(|(_, _, mark, _)| mark.sure || !only_sure)
                .collect();
            let mut runs: HashMap<u64, Vec<usize>> = HashMap::new();
            for (index, (_, _, mark, _)) in wanted.iter().enumerate() {
                let (x, y) = mark.run;
                let start = y * mark.size.0 + x;
                let run = &mark.pixels[start..start + RUN];
                let hash = run.iter().fold(0, |hash, pixel| rolled(hash, *pixel));
                runs.entry(hash).or_default().push(index);
            }
            let mut hits: Vec<Vec<(i64, i64)>> = vec![Vec::new(); wanted.len()];
            each_run(shot, &runs, |index, x, y| {
                let (_, _, mark, _) = wanted[index];
                let at = (x - mark.run.0 as i64, y - mark.run.1 as i64);
                if hits[index].len() <= COMMON && mark.is_at(shot, at) {
                    hits[index].push(at);
                }
            });
            for ((part, of, _, at), hits) in wanted.iter().zip(hits) {
                if hits.len() > COMMON {
                    continue;
                }
                for hit in hits {
                    if let Some(corner) = shot.layout_of((hit.0 - at.0, hit.1 - at.1)) {
                        votes.entry(corner).or_default().add(*part, *of);
                    }
                }
            }
        }
        votes
    }
}

impl Mark {
    fn is_at(&self, shot: &Shot, (x, y): (i64, i64)) -> bool {
        let (w, _) = self.size;
        let mut rows = self.pixels.chunks_exact(w).enumerate();
        rows.all(|(row, pixels)| shot.run(x, y + row as i64, w) == Some(pixels))
    }
}

/// The votes for a position.
#[derive(Debug, Default)]
struct Votes {
    pieces: HashSet<(usize, Piece)>,
}

impl Votes {
    fn add(&mut self, part: usize, of: Piece) {
        self.pieces.insert((part, of));
    }

    fn elements(&self) -> usize {
        let parts: HashSet<_> = self.pieces.iter().map(|(part, _)| part).collect();
        parts.len()
    }

    fn weight(&self) -> usize {
        let weight = |(_, of): &(usize, Piece)| if *of == Piece::Whole { 4 } else { 1 };
        self.pieces.iter().map(weight).sum()
    }
}

/// The bounds of a part in pixels; `None` if its edges are not at whole pixels.
fn pixels(part: &Part, scale: f64) -> Option<[i64; 4]> {
    let Rect { x, y, w, h } = part.place;
    let of = |at: i32| {
        let at = f64::from(at) * scale;
        ((at - at.round()).abs() < 1e-6).then_some(at.round() as i64)
    };
    Some([of(x)?, of(y)?, of(w)?, of(h)?])
}

/// The pieces to take of a part: its corners, which stay when the part's size changes, and the
/// whole part if it is small.
fn pieces_of(part: &Part, scale: f64) -> Vec<Piece> {
    let Some([_, _, w, h]) = pixels(part, scale) else {
        return Vec::new();
    };
    let small = w <= WHOLE.0 as i64 && h <= WHOLE.1 as i64;
    CORNERS
        .into_iter()
        .chain(small.then_some(Piece::Whole))
        .collect()
}

/// The position of a piece relative to the window's corner, and its size, in pixels. `size` is the
/// size of the piece if it was taken already.
fn expected(
    part: &Part,
    of: Piece,
    size: Option<(usize, usize)>,
    scale: f64,
) -> Option<((i64, i64), (usize, usize))> {
    let [x, y, w, h] = pixels(part, scale)?;
    let room = (usize::try_from(w).ok()?, usize::try_from(h).ok()?);
    let size = match (of, size) {
        (Piece::Whole, Some(size)) if size != room => return None,
        (Piece::Whole, _) => room,
        (_, Some(size)) if size.0 > room.0 || size.1 > room.1 => return None,
        (_, Some(size)) => size,
        (_, None) => (room.0.min(PIECE.0), room.1.min(PIECE.1)),
    };
    if size.0 < RUN || size.1 < 4 {
        return None;
    }
    let (right, bottom) = (x + w - size.0 as i64, y + h - size.1 as i64);
    let at = match of {
        Piece::TopLeft | Piece::Whole => (x, y),
        Piece::TopRight => (right, y),
        Piece::BottomLeft => (x, bottom),
        Piece::BottomRight => (right, bottom),
    };
    Some((at, size))
}

/// Whether a piece determines a position in both directions: neither its rows nor its columns are
/// all the same.
fn is_distinctive(pixels: &[u32], width: usize) -> bool {
    let mut rows = pixels.chunks_exact(width);
    let first = rows.next().unwrap_or_default();
    let rows_differ = rows.any(|row| row != first);
    let columns_differ = pixels
        .chunks_exact(width)
        .any(|row| row.iter().any(|pixel| *pixel != row[0]));
    rows_differ && columns_differ
}

/// Whether two pieces have the same shapes: correlates the colour changes within their rows. A
/// shift by one pixel removes most of the correlation.
fn resembles(a: &[u32], b: &[u32], width: usize) -> bool {
    let mut counts = [[0_u32; 2]; 2];
    for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
        for x in 1..width {
            let (a, b) = (a[x] != a[x - 1], b[x] != b[x - 1]);
            counts[usize::from(a)][usize::from(b)] += 1;
        }
    }
    let [[neither, only_b], [only_a, both]] = counts.map(|row| row.map(f64::from));
    let together = both * neither - only_a * only_b;
    let apart = (both + only_a) * (both + only_b) * (neither + only_a) * (neither + only_b);
    together > SAME_SHAPE * apart.sqrt() && apart > 0.0
}

/// The position of the run with the most colour changes.
fn distinctive_run(pixels: &[u32], (width, height): (usize, usize)) -> (usize, usize) {
    let changes = |(x, y): &(usize, usize)| {
        let start = y * width + x;
        let run = &pixels[start..start + RUN];
        run.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    let starts = (0..height).flat_map(|y| (0..=width - RUN).map(move |x| (x, y)));
    starts.max_by_key(changes).unwrap_or((0, 0))
}

/// The base of the hash of a run, an odd number whose multiples spread over all bits.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash with one more pixel.
fn rolled(hash: u64, pixel: u32) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(u64::from(pixel) + 1)
}

/// Calls `found` with the index and position of each run that occurs in the picture.
fn each_run(shot: &Shot, runs: &HashMap<u64, Vec<usize>>, mut found: impl FnMut(usize, i64, i64)) {
    // A table of bits excludes most positions quickly.
    const BITS: usize = 1 << 16;
    let bit = |hash: u64| (hash >> 48) as usize % BITS;
    let mut some = vec![false; BITS];
    for hash in runs.keys() {
        some[bit(*hash)] = true;
    }
    let leaving = (0..RUN).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    for (y, row) in shot.pixels.chunks_exact(shot.width.max(1)).enumerate() {
        let mut hash = 0;
        for (end, pixel) in row.iter().enumerate() {
            hash = rolled(hash, *pixel);
            if let Some(start) = end.checked_sub(RUN) {
                let left = leaving.wrapping_mul(u64::from(row[start]) + 1);
                hash = hash.wrapping_sub(left);
            }
            if end + 1 < RUN || !some[bit(hash)] {
                continue;
            }
            for index in runs.get(&hash).map_or(&[][..], Vec::as_slice) {
                found(*index, (end + 1 - RUN) as i64, y as i64);
            }
        }
    }
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
