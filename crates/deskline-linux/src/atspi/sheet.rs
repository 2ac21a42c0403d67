//! The visible cells of a spreadsheet that was read lately, which are asked themselves the next
//! time.
//!
//! `LibreOffice` makes an object of 7 kB for each question for a cell and never gives it back: the
//! cell listens to its sheet, which holds its listeners. What can be had is the same object again:
//! at-spi2-atk keeps it for 15 s after each answer that tells of it, and `Collection.GetTree` is
//! answered with the object that is asked. So the cells are asked for their trees as long as calls
//! come, and each object is made once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::Rect;

use crate::bus::{Error, Message};

use super::cells::{self, Places, Table};
use super::names::{StateSet, role};
use super::peer::Question;
use super::walk::{Found, Node, Walk};

/// How long after it was told of a cell is asked itself: less than at-spi2-atk's 15 s.
const KEPT: Duration = Duration::from_secs(13);

/// When the cells are asked for their trees: between calls, and in one where there was no time.
const DUE: Duration = Duration::from_secs(8);
const OVERDUE: Duration = Duration::from_secs(10);

/// How many cells are asked for their trees at a time between calls: 10 ms, so that the next call
/// does not wait.
const SLICE: usize = 256;

/// How long the cells are kept after the last reading: longer than an agent thinks.
const REMEMBERED: Duration = Duration::from_secs(120);

/// The cells of one reading.
#[derive(Debug)]
pub struct Sheet {
    /// When the first of its objects was last told of.
    told: Instant,
    read: Instant,
    /// Its rows and columns in all, and what showed of it.
    size: (i32, i32),
    clip: Rect,
    cells: HashMap<(i32, i32), Cell>,
    /// Where they are being asked for their trees: since when, and which are left.
    renewal: Option<(Instant, Vec<(i32, i32)>)>,
}

/// A cell of a [`Sheet`].
#[derive(Debug)]
struct Cell {
    path: String,
    /// Its address: an object's is always the same.
    name: String,
    /// Where it was, of a cell at the border of what shows: as long as those are where they were
    /// the same rows and columns show.
    border: Option<Rect>,
}

/// The sheets of one app, by their paths.
pub type Sheets = HashMap<String, Sheet>;

/// Reads the showing cells of a spreadsheet.
pub fn read(
    walk: &mut Walk<'_>,
    container: usize,
    table: Table,
    sheets: &mut Sheets,
) -> Result<(), Error> {
    sheets.retain(|_, sheet| sheet.told.elapsed() < KEPT);
    if let Some(mut sheet) = sheets.remove(&table.path) {
        if sheet.told.elapsed() > OVERDUE {
            sheet.renew(walk, usize::MAX)?;
        }
        if sheet.read_again(walk, container, &table)? {
            sheets.insert(table.path, sheet);
            return Ok(());
        }
    }
    let told = Instant::now();
    let start = walk.nodes.len();
    let shown = cells::read_table(walk, container, &table, None)?;
    if !walk.is_late() {
        let sheet = Sheet::of(&walk.nodes[start..], told, &table, &shown);
        sheets.extend(sheet.map(|sheet| (table.path, sheet)));
    }
    Ok(())
}

/// Keeps the cells that were read lately; the time until it is to be called again, if ever.
pub fn keep(walk: &mut Walk<'_>, sheets: &mut Sheets) -> Result<Option<Duration>, Error> {
    sheets.retain(|_, sheet| sheet.told.elapsed() < KEPT && sheet.read.elapsed() < REMEMBERED);
    let due = |sheet: &Sheet| DUE.saturating_sub(sheet.told.elapsed());
    if let Some(sheet) = sheets.values_mut().find(|sheet| due(sheet).is_zero()) {
        sheet.renew(walk, SLICE)?;
    }
    Ok(sheets.values().map(due).min())
}

impl Sheet {
    /// Of these nodes; `None` where they are not plain cells.
    fn of(
        nodes: &[Node],
        told: Instant,
        table: &Table,
        (rows, columns): &(Places, Places),
    ) -> Option<Self> {
        let ends = |places: &Places, at| at == *places.start() || at == *places.end();
        let cell = |node: &Node| {
            let plain = node.role == Some(role::TABLE_CELL) && node.children.is_empty();
            let (_, row, column) = cells::parse_place(node.place.as_deref().filter(|_| plain)?)?;
            let border = ends(rows, row) || ends(columns, column);
            let cell = Cell {
                path: node.path.clone(),
                name: node.name.clone(),
                border: node.extents.filter(|_| border),
            };
            Some(((row, column), cell))
        };
        Some(Self {
            told,
            read: Instant::now(),
            size: (table.rows, table.columns),
            clip: table.clip,
            cells: nodes.iter().map(cell).collect::<Option<_>>()?,
            renewal: None,
        })
    }

    /// The cell at this place of the table, where it is known.
    pub fn cell(&self, table: &str, row: i32, column: i32) -> Option<Found> {
        let cell = self.cells.get(&(row, column))?;
        Some(Found {
            path: cell.path.clone(),
            place: Some(cells::place_id(table, row, column)),
            name: cell.name.clone(),
        })
    }

    /// Has the next so many cells told of. One that has gone is found by the next reading.
    fn renew(&mut self, walk: &mut Walk<'_>, most: usize) -> Result<(), Error> {
        let all = || (Instant::now(), self.cells.keys().copied().collect());
        let (since, mut left) = self.renewal.take().unwrap_or_else(all);
        let next = left.split_off(left.len().saturating_sub(most));
        let cells = next.iter().filter_map(|place| self.cells.get(place));
        walk.ask_each(cells.map(|cell| (cell.path.as_str().into(), Question::Tree)))?;
        if left.is_empty() {
            self.told = since;
        } else {
            self.renewal = Some((since, left));
        }
        Ok(())
    }

    /// Reads the cells that show, those that are known without asking the table for them; `false`
    /// where they are not what they were, and then none was read.
    fn read_again(
        &mut self,
        walk: &mut Walk<'_>,
        container: usize,
        table: &Table,
    ) -> Result<bool, Error> {
        if self.size != (table.rows, table.columns) {
            return Ok(false);
        }
        let start = walk.nodes.len();
        if self.clip == table.clip && self.is_in_place(walk)? {
            let mut places: Vec<(i32, i32)> = self.cells.keys().copied().collect();
            places.sort_unstable();
            let cells = places.into_iter();
            let cells = cells.filter_map(|(row, column)| self.cell(&table.path, row, column));
            walk.read_leaves(container, cells.collect(), role::TABLE_CELL)?;
            self.read = Instant::now();
            return Ok(all_live(walk, start, self.cells.len()));
        }
        let shown = cells::read_table(walk, container, table, Some(self))?;
        if !all_live(walk, start, 0) {
            return Ok(false);
        }
        if let Some(sheet) = Self::of(&walk.nodes[start..], self.told, table, &shown) {
            *self = sheet;
        }
        Ok(true)
    }

    /// Whether the cells at the border of what showed are where they were.
    fn is_in_place(&self, walk: &mut Walk<'_>) -> Result<bool, Error> {
        let borders = self
            .cells
            .values()
            .filter_map(|cell| Some((cell.path.as_str(), cell.border?)));
        let questions = borders
            .clone()
            .map(|(path, _)| (path.into(), Question::Extents));
        let now = walk.ask_each(questions)?;
        let there = |((_, at), now): ((&str, Rect), &Option<Message>)| {
            now.as_ref().and_then(cells::read_extents) == Some(at)
        };
        Ok(borders.zip(&now).all(there))
    }
}

/// Whether the nodes from `start` on, at least so many, are of objects that live; forgets them where
/// not.
fn all_live(walk: &mut Walk<'_>, start: usize, least: usize) -> bool {
    let lives =
        |node: &Node| node.states != StateSet::default() && !node.states.has(StateSet::DEFUNCT);
    let nodes = &walk.nodes[start..];
    // Where there was no time for all of them they are not proven to be gone.
    let all = nodes.len() >= least && nodes.iter().all(lives);
    if !all && !walk.is_late() {
        walk.forget_from(start);
    }
    all || walk.is_late()
}
