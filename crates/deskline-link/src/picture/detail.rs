//! Decides whether an area of a picture shows content, or only lines, frames and plain colour.

use super::area::Area;
use crate::display::Picture;

/// Side length of the blocks that an area is divided into, in pixels.
const BLOCK: usize = 16;

/// An area shows content if at least this many blocks have edges in both directions. A frame has
/// such edges only in its corners: four blocks.
const BLOCKS: usize = 6;

/// Neighbouring pixels have an edge between them if red, green or blue differs by more than this.
const EDGE: u8 = 24;

/// Bytes per pixel.
const PIXEL: usize = 3;

impl Area {
    /// Whether enough blocks have edges in both directions. Blocks that touch `described` parts do
    /// not count. If more than half of all blocks touch such parts, the result is `false`.
    pub(crate) fn is_detailed(&self, picture: &Picture, described: &[Self]) -> bool {
        let columns = self.w.div_ceil(BLOCK);
        let rows = self.h.div_ceil(BLOCK);
        let open: Vec<bool> = (0..rows * columns)
            .map(|i| {
                let block = self.block(i % columns, i / columns);
                !described.iter().any(|part| part.meets(block))
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
        let (x, y) = (column * BLOCK, row * BLOCK);
        Self {
            x: self.x + x,
            y: self.y + y,
            w: BLOCK.min(self.w - x),
            h: BLOCK.min(self.h - y),
        }
    }

    /// For each block in a row of blocks, whether it has edges in both directions.
    fn detailed_blocks(&self, picture: &Picture, row: usize) -> impl Iterator<Item = bool> + use<> {
        let columns = self.w.div_ceil(BLOCK);
        let mut edges = vec![Edges::default(); columns];
        let top = self.y + row * BLOCK;
        let mut above: Option<&[u8]> = None;
        for y in top..(top + BLOCK).min(self.y + self.h) {
            let line = (y * picture.width as usize + self.x) * PIXEL;
            let length = self.w * PIXEL;
            let Some(line) = picture.rgb.get(line..line + length) else {
                break;
            };
            // Most rows of pixels are equal to the row above, and so have the same edges.
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
    /// The number of pixel rows with an edge between two of their pixels.
    rows: u32,
    /// The columns in which a pixel differs from the one above it, one bit each.
    columns: u32,
}

impl Edges {
    /// Whether there are both horizontal and vertical edges. A dashed line has both, but one kind
    /// lies in a single row or column of pixels: so at least `LEAST` of each are required.
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
