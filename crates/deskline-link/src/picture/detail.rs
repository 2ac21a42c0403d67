//! Decides whether an area of a picture shows content, or only lines, frames and plain colour.

use deskline_core::Rect;

use crate::display::Picture;

/// Side length of the blocks that an area is divided into, in pixels.
const BLOCK: usize = 16;

/// An area shows content if at least this many blocks have edges in both directions. A frame has
/// four: its corners.
const BLOCKS: usize = 6;

/// Neighbouring pixels have an edge between them if red, green or blue differs by more than this.
const EDGE: u8 = 24;

/// Bytes per pixel.
const PIXEL: usize = 3;

/// A part of a picture, in pixels: from and to (exclusive).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) from: (usize, usize),
    pub(crate) to: (usize, usize),
}

impl Area {
    /// The part of the picture that shows these screen bounds. `None` if the picture does not
    /// overlap them.
    pub(crate) fn new(picture: &Picture, place: Rect) -> Option<Self> {
        let pixel = |v: i32, origin: i32, most: u32| {
            let pixel = f64::from(v.saturating_sub(origin)) * scale(picture);
            pixel.round().clamp(0.0, f64::from(most)) as usize
        };
        let at = |x: i32, y: i32| {
            (
                pixel(x, picture.origin.x, picture.width),
                pixel(y, picture.origin.y, picture.height),
            )
        };
        let (from, to) = (
            at(place.x, place.y),
            at(
                place.x.saturating_add(place.w),
                place.y.saturating_add(place.h),
            ),
        );
        (from.0 < to.0 && from.1 < to.1).then_some(Self { from, to })
    }

    fn meets(&self, other: &Self) -> bool {
        self.from.0 < other.to.0
            && other.from.0 < self.to.0
            && self.from.1 < other.to.1
            && other.from.1 < self.to.1
    }

    /// Whether enough blocks have edges in both directions. Blocks that touch `described`
    /// parts do not count. If those are more than half of all blocks, the result is `false`.
    pub(crate) fn is_detailed(&self, picture: &Picture, described: &[Self]) -> bool {
        let columns = (self.to.0 - self.from.0).div_ceil(BLOCK);
        let rows = (self.to.1 - self.from.1).div_ceil(BLOCK);
        let open: Vec<bool> = (0..rows * columns)
            .map(|i| {
                let block = self.block(i % columns, i / columns);
                !described.iter().any(|part| part.meets(&block))
            })
            .collect();
        if 2 * open.iter().filter(|open| **open).count() < open.len() {
            return false;
        }
        let mut detailed = 0;
        for (row, open) in open.chunks(columns).enumerate() {
            let blocks = self.detailed_blocks(picture, row);
            detailed += blocks
                .zip(open)
                .filter(|(detailed, open)| *detailed && **open)
                .count();
            if detailed >= BLOCKS {
                return true;
            }
        }
        false
    }

    fn block(&self, column: usize, row: usize) -> Self {
        let from = (self.from.0 + column * BLOCK, self.from.1 + row * BLOCK);
        Self {
            from,
            to: (
                (from.0 + BLOCK).min(self.to.0),
                (from.1 + BLOCK).min(self.to.1),
            ),
        }
    }

    /// For each block in a row of blocks, whether it has edges in both directions.
    fn detailed_blocks(&self, picture: &Picture, row: usize) -> impl Iterator<Item = bool> + use<> {
        let columns = (self.to.0 - self.from.0).div_ceil(BLOCK);
        let mut edges = vec![Edges::default(); columns];
        let top = self.from.1 + row * BLOCK;
        let mut above: Option<&[u8]> = None;
        for y in top..(top + BLOCK).min(self.to.1) {
            let line = (y * picture.width as usize + self.from.0) * PIXEL;
            let length = (self.to.0 - self.from.0) * PIXEL;
            let Some(line) = picture.rgb.get(line..line + length) else {
                break;
            };
            // Most pixel rows equal the one above, and so have the same edges.
            let same = above == Some(line);
            for (column, edges) in edges.iter_mut().enumerate() {
                let from = column * BLOCK * PIXEL;
                let to = (from + BLOCK * PIXEL).min(length);
                if !same {
                    edges.in_line = has_edge(&line[from..to]);
                    if let Some(above) = above {
                        edges.columns |= differing(&above[from..to], &line[from..to]);
                    }
                }
                edges.rows += u32::from(edges.in_line);
            }
            above = Some(line);
        }
        edges.into_iter().map(|edges| edges.are_both())
    }
}

/// The edges in one block.
#[derive(Debug, Clone, Copy, Default)]
struct Edges {
    /// Whether the current pixel row has an edge between two of its pixels.
    in_line: bool,
    /// The number of pixel rows that have such an edge.
    rows: u32,
    /// The columns in which a pixel differs from the one above it, one bit each.
    columns: u32,
}

impl Edges {
    /// Whether there are edges in both directions. A dashed line has them too, but in only one row
    /// or column of pixels, so several of each are required.
    fn are_both(&self) -> bool {
        const LEAST: u32 = 3;
        self.rows >= LEAST && self.columns.count_ones() >= LEAST
    }
}

/// The largest difference between two bytes at the same index.
fn most(a: &[u8], b: &[u8]) -> u8 {
    let differences = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
    differences.fold(0, u8::max)
}

/// Whether two neighbouring pixels of a row differ.
fn has_edge(line: &[u8]) -> bool {
    most(line, line.get(PIXEL..).unwrap_or_default()) > EDGE
}

/// The pixels in which two rows of a block differ, one bit each.
fn differing(above: &[u8], line: &[u8]) -> u32 {
    if most(above, line) <= EDGE {
        return 0;
    }
    let pairs = above.chunks_exact(PIXEL).zip(line.chunks_exact(PIXEL));
    let differ = pairs.enumerate().filter(|(_, (a, b))| most(a, b) > EDGE);
    differ.fold(0, |bits, (x, _)| bits | 1 << x)
}

/// The place on the screen of an area of a picture in pixels: its left top corner and its size.
pub(crate) fn on_screen(picture: &Picture, (x, y): (usize, usize), (w, h): (usize, usize)) -> Rect {
    let units = |pixels: usize| (pixels as f64 / scale(picture)).round() as i32;
    Rect {
        x: picture.origin.x.saturating_add(units(x)),
        y: picture.origin.y.saturating_add(units(y)),
        w: units(w),
        h: units(h),
    }
}

/// Pixels per screen unit, never zero.
pub(crate) fn scale(picture: &Picture) -> f64 {
    picture.scale.max(0.1)
}
