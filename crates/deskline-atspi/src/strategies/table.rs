//! Tables that create their cells on request.
//!
//! Their children are never listed: a spreadsheet has 10⁹. The search for the visible cells starts
//! under two corners of the table's visible part, and goes on by row and column as long as cells
//! are visible. A small table is read whole.

use std::ops::RangeInclusive;
use std::sync::Arc;

use deskline_core::Rect;

use crate::bus::{Message, Result};
use crate::decode;
use crate::engine::{Engine, Found, Node};
use crate::names::role;
use crate::request::Request;
use crate::toolkits::{Headers, vcl};

/// The maximum number of rows and columns to read of one table: more do not fit on a screen.
const MOST_ROWS: i32 = 300;
const MOST_COLUMNS: i32 = 100;

/// A table of at most this many cells is read whole. A search for its visible cells would cost
/// more: 5 of the 16 ms of a reading of gtk3-widget-factory.
const MOST_SMALL: i64 = 128;

/// The distance in pixels between the points at which a cell is searched, and the maximum number of
/// these points.
const STEP: i32 = 12;
const TRIES: i32 = 60;

/// A table, as it describes itself.
pub struct Table {
    pub path: Arc<str>,
    pub rows: i32,
    pub columns: i32,
    /// The visible part, in the toolkit's coordinates.
    pub clip: Rect,
}

/// A range of rows, or of columns.
pub type Range = RangeInclusive<i32>;

/// Returns the cell at a row and column, if it is known without a request to the table.
pub(crate) type KnownCell<'k> = &'k dyn Fn(i32, i32) -> Option<Found>;

/// Reads the visible headers and cells. Returns the ranges of the rows and of the columns that were
/// read.
pub fn read(
    engine: &mut Engine<'_>,
    node: usize,
    table: &Table,
    known: KnownCell<'_>,
) -> Result<(Range, Range)> {
    // An empty range (start > end).
    #[allow(clippy::reversed_empty_ranges)]
    const NONE: Range = 1..=0;
    let is_empty = table.rows <= 0 || table.columns <= 0;
    let seen = if is_empty {
        None
    } else if i64::from(table.rows) * i64::from(table.columns) <= MOST_SMALL {
        Some((0..=table.rows - 1, 0..=table.columns - 1))
    } else {
        table.showing(engine)?
    };
    let Some((rows, columns)) = seen else {
        table.read_headers(engine, node, None)?;
        engine.nodes[node].children_read |= is_empty;
        return Ok((NONE, NONE));
    };
    table.read_headers(engine, node, Some(&columns))?;
    let top = *rows.start();
    let first = table.cells(engine, top..=top, &columns, known)?;
    let rest = table.cells(engine, top + 1..=*rows.end(), &columns, known)?;
    let whole = rows == (0..=table.rows - 1) && columns == (0..=table.columns - 1);
    engine.nodes[node].children_read = whole;
    let start = engine.nodes.len();
    let whole_row = first.len() == columns.clone().count();
    engine.read_found(node, first)?;
    // The cells of a column are alike. If the one in the first row has no children, none has.
    let is_plain =
        |n: &Node| n.role == Some(role::TABLE_CELL) && n.children_read && n.children.is_empty();
    if whole_row && engine.nodes[start..].iter().all(is_plain) {
        engine.read_leaves(node, rest, role::TABLE_CELL)?;
    } else {
        engine.read_found(node, rest)?;
    }
    Ok((rows, columns))
}

/// The identity of a cell that has no object of its own.
pub(crate) fn cell_id(table: &str, row: i32, column: i32) -> String {
    format!("{table}#{row},{column}")
}

/// Splits an identity made by [`cell_id`] into table, row and column.
pub(crate) fn parse_cell_id(id: &str) -> Option<(&str, i32, i32)> {
    let (table, cell) = id.split_once('#')?;
    let (row, column) = cell.split_once(',')?;
    Some((table, row.parse().ok()?, column.parse().ok()?))
}

/// The objects that these answers name.
fn objects(answers: &[Option<Message>]) -> impl Iterator<Item = Arc<str>> {
    answers.iter().flatten().filter_map(decode::object)
}

impl Table {
    /// Whether each request for a cell creates a new object. A cell is then identified by its row
    /// and column.
    pub(crate) fn is_spreadsheet(&self) -> bool {
        vcl::is_spreadsheet(self.rows, self.columns)
    }

    /// The rows and columns that show; `None` where no cell was found.
    fn showing(&self, engine: &mut Engine<'_>) -> Result<Option<(Range, Range)>> {
        let Some((mut top, mut left)) = self.corner(engine, true)? else {
            return Ok(None);
        };
        let (mut bottom, mut right) = self.corner(engine, false)?.unwrap_or((top, left));
        // The outermost cells may have been missed, because a header or an empty end was at the
        // corner.
        while top > 0 && self.shows(engine, top - 1, left)? {
            top -= 1;
        }
        while left > 0 && self.shows(engine, top, left - 1)? {
            left -= 1;
        }
        (bottom, right) = (bottom.max(top), right.max(left));
        while bottom < (top + MOST_ROWS).min(self.rows - 1)
            && self.shows(engine, bottom + 1, left)?
        {
            bottom += 1;
        }
        while right < (left + MOST_COLUMNS).min(self.columns - 1)
            && self.shows(engine, top, right + 1)?
        {
            right += 1;
        }
        let rows = top..=bottom.min(top + MOST_ROWS);
        Ok(Some((rows, left..=right.min(left + MOST_COLUMNS))))
    }

    /// Reads the headers of these columns, or of all columns if no cell is visible: an empty table
    /// has headers too.
    fn read_headers(
        &self,
        engine: &mut Engine<'_>,
        node: usize,
        columns: Option<&Range>,
    ) -> Result {
        if self.columns <= 0 || self.is_spreadsheet() {
            return Ok(());
        }
        let all = 0..=self.columns.min(MOST_COLUMNS) - 1;
        let headers = self.headers(engine, columns.unwrap_or(&all))?;
        engine.read_found(node, headers)
    }

    /// The headers of these columns, each once. A click on a header sorts the table.
    fn headers(&self, engine: &mut Engine<'_>, columns: &Range) -> Result<Vec<Found>> {
        let mut paths: Vec<Arc<str>> = match engine.toolkit.headers() {
            Headers::Nowhere => Vec::new(),
            Headers::OfColumns => {
                let requests = columns.clone().map(Request::ColumnHeader);
                objects(&engine.ask_all(&self.path, requests)?).collect()
            }
            Headers::FirstChildren => {
                // If the rows have headers, the first child is the corner: request one child more.
                let requests = (0..=*columns.end() + 1).map(Request::ChildAt);
                let answers = engine.ask_all(&self.path, requests)?;
                let children: Vec<Arc<str>> = objects(&answers).collect();
                let requests = children.iter().map(|c| (c.clone(), Request::Role));
                let roles = engine.ask_each(requests)?;
                let is_header = |answer: &Option<Message>| {
                    let number = answer.as_ref().and_then(|m| m.reader().u32().ok());
                    number.is_some_and(role::is_column_header)
                };
                let headers = children.into_iter().zip(&roles);
                headers
                    .filter(|(_, role)| is_header(role))
                    .map(|(path, _)| path)
                    .collect()
            }
        };
        paths.retain(|path| *path != self.path);
        paths.dedup();
        Ok(paths.into_iter().map(Found::at).collect())
    }

    /// The cells of these rows and columns, row by row, without those that the table refuses.
    fn cells(
        &self,
        engine: &mut Engine<'_>,
        rows: Range,
        columns: &Range,
        known: KnownCell<'_>,
    ) -> Result<Vec<Found>> {
        let cells = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        let wanted: Vec<(i32, i32)> = cells.collect();
        let mut found: Vec<Option<Found>> = wanted
            .iter()
            .map(|&(row, column)| known(row, column))
            .collect();
        let unknown: Vec<usize> = (0..wanted.len()).filter(|&i| found[i].is_none()).collect();
        let requests = unknown
            .iter()
            .map(|&i| Request::CellAt(wanted[i].0, wanted[i].1));
        let cells = engine.ask_all(&self.path, requests)?;
        for (i, cell) in unknown.into_iter().zip(cells) {
            engine.unread.failed.elements += usize::from(cell.is_none() && !engine.is_late());
            let (row, column) = wanted[i];
            let id = self
                .is_spreadsheet()
                .then(|| cell_id(&self.path, row, column));
            let path = cell.as_ref().and_then(decode::object);
            found[i] = path.map(|path| Found {
                path,
                id,
                name: String::new(),
                cell: Some((row, column)),
            });
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Row and column of the first cell found from the top left inwards, or from the bottom right
    /// if not `from_top`.
    fn corner(&self, engine: &mut Engine<'_>, from_top: bool) -> Result<Option<(i32, i32)>> {
        let clip = self.clip;
        for i in 0..TRIES {
            let (dx, dy) = (
                (2 + i * STEP).min(clip.w - 1),
                (2 + i * STEP).min(clip.h - 1),
            );
            let point = if from_top {
                Request::AtPoint(clip.x + dx, clip.y + dy)
            } else {
                Request::AtPoint(clip.x + clip.w - 1 - dx, clip.y + clip.h - 1 - dy)
            };
            if let Some(cell) = engine.object(&self.path, point)?
                && let Some(found) = self.row_and_column(engine, &cell)?
            {
                return Ok(Some(found));
            }
            if dx == clip.w - 1 && dy == clip.h - 1 {
                break;
            }
        }
        Ok(None)
    }

    /// The row and column of the cell that an object is, or is in; `None` for a header.
    fn row_and_column(&self, engine: &mut Engine<'_>, cell: &str) -> Result<Option<(i32, i32)>> {
        // If a GTK 3 cell has several parts, the object is the part under the point.
        const NESTED: usize = 3;
        let mut cell = Arc::<str>::from(cell);
        for _ in 0..NESTED {
            if let Some(found) = self.position_of(engine, &cell)? {
                return Ok(Some(found));
            }
            let parent = engine.object(&cell, Request::Parent)?;
            match parent.filter(|parent| *parent != self.path) {
                Some(parent) => cell = parent,
                None => break,
            }
        }
        Ok(None)
    }

    fn position_of(&self, engine: &mut Engine<'_>, cell: &str) -> Result<Option<(i32, i32)>> {
        let number = |m: Option<Message>| m.and_then(|m| m.reader().i32().ok());
        let Some(index) = number(engine.try_ask(cell, Request::Index)?).filter(|&i| i >= 0) else {
            return Ok(None);
        };
        let row = number(engine.try_ask(&self.path, Request::RowAtIndex(index))?);
        let column = number(engine.try_ask(&self.path, Request::ColumnAtIndex(index))?);
        let row = row.filter(|row| (0..self.rows).contains(row));
        let column = column.filter(|column| (0..self.columns).contains(column));
        let Some((row, column)) = row.zip(column) else {
            return Ok(None);
        };
        // A header's index can look like that of a cell, but only a cell is found at its own row
        // and column. LibreOffice creates a new object for each request, so an object with the
        // same extents counts as the same cell.
        let Some(there) = engine.object(&self.path, Request::CellAt(row, column))? else {
            return Ok(None);
        };
        let same = *there == *cell || extents(engine, &there)? == extents(engine, cell)?;
        Ok(same.then_some((row, column)))
    }

    /// Whether any part of a cell is visible.
    fn shows(&self, engine: &mut Engine<'_>, row: i32, column: i32) -> Result<bool> {
        let Some(cell) = engine.object(&self.path, Request::CellAt(row, column))? else {
            return Ok(false);
        };
        let extents = extents(engine, &cell)?;
        Ok(extents.is_some_and(|e| !e.intersect(&self.clip).is_empty()))
    }
}

fn extents(engine: &mut Engine<'_>, path: &str) -> Result<Option<Rect>> {
    let reply = engine.try_ask(path, Request::Extents)?;
    Ok(reply.as_ref().and_then(decode::extents))
}
