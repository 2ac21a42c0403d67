//! The visible cells of a spreadsheet, whose objects are kept alive between readings.
//!
//! For each request for a cell, LibreOffice 7.4 creates an object of 7 kB
//! (`ScAccessibleSpreadsheet::GetAccessibleCellAt`). It never frees that object, because the cell
//! listens to its sheet, which holds its listeners. But an object can be had again: at-spi2-atk
//! keeps it for 15 s after each reply that names it, and `Collection.GetTree` names the object that
//! it is called on. So the cells that were read are asked for their trees from time to time, and
//! each object is created only once.
//!
//! When a cell is emptied, its object goes on reporting the old text: LibreOffice 7.4 puts the
//! defaults into its edit engine, but no empty text. An object that is created after that reports
//! no text. So if the text is the same as before, the object is replaced if the cell may have been
//! emptied. That may be so if the cell is or was selected, or if another cell has changed that was
//! not selected. The active cell is always the same object, so it counts as empty if the input line
//! is empty.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::{Rect, Text};

use super::table::{self, Range, Table};
use crate::bus::{Message, Result};
use crate::decode;
use crate::engine::{Engine, Found, Node};
use crate::names::{StateSet, role};
use crate::request::Request;

/// How long an object is assumed to live after a reply that named it: less than at-spi2-atk's 15 s.
const ALIVE: Duration = Duration::from_secs(13);

/// The age at which cells are renewed between readings (`DUE`). If there was no time for that, the
/// next reading renews them at the age `OVERDUE`.
const DUE: Duration = Duration::from_secs(8);
const OVERDUE: Duration = Duration::from_secs(10);

/// How many cells are renewed at a time between readings. That takes 10 ms, so the next reading
/// hardly waits.
const SLICE: usize = 256;

/// How long the cells are kept alive after the last reading: longer than an agent usually thinks.
const REMEMBERED: Duration = Duration::from_secs(120);

/// The cells that one reading has found, by row and column.
#[derive(Debug)]
pub(crate) struct Spreadsheet {
    /// Each of the cells' objects has been named in a reply since this time.
    renewed: Instant,
    /// When the spreadsheet was last read.
    read: Instant,
    /// How many rows and columns the spreadsheet has in all.
    size: (i32, i32),
    /// The visible part.
    clip: Rect,
    cells: HashMap<(i32, i32), Cell>,
    /// A renewal in progress: when it began, and the cells that are left.
    renewal: Option<(Instant, Vec<(i32, i32)>)>,
}

#[derive(Debug)]
struct Cell {
    path: Arc<str>,
    /// The address, such as `B7`. It does not change while the object lives.
    name: String,
    /// The text that the cell's object reported.
    text: String,
    /// Whether the cell was selected or active.
    watched: bool,
    /// The extents, if the cell is at the border of the visible part. While all border cells keep
    /// their extents, the same rows and columns are visible.
    border: Option<Rect>,
}

/// The spreadsheets of one app, by their paths.
pub(crate) type Spreadsheets = HashMap<Arc<str>, Spreadsheet>;

/// Reads the showing cells of a spreadsheet.
pub fn read(
    engine: &mut Engine<'_>,
    container: usize,
    table: Table,
    spreadsheets: &mut Spreadsheets,
) -> Result {
    spreadsheets.retain(|_, sheet| sheet.renewed.elapsed() < ALIVE);
    if let Some(mut sheet) = spreadsheets.remove(&table.path) {
        if sheet.renewed.elapsed() > OVERDUE {
            sheet.renew(engine, usize::MAX)?;
        }
        if sheet.read_again(engine, container, &table)? {
            spreadsheets.insert(table.path, sheet);
            return Ok(());
        }
    }
    let renewed = Instant::now();
    let start = engine.nodes.len();
    let shown = table::read(engine, container, &table, &|_, _| None)?;
    let sheet = Spreadsheet::new(&engine.nodes[start..], renewed, &table, &shown);
    if !engine.is_late() {
        spreadsheets.extend(sheet.map(|sheet| (table.path, sheet)));
    }
    Ok(())
}

/// The time until cells are due for renewal; `None` if there are no cells to keep alive. Drops the
/// spreadsheets that are too old.
pub(crate) fn next_due(spreadsheets: &mut Spreadsheets) -> Option<Duration> {
    spreadsheets
        .retain(|_, sheet| sheet.renewed.elapsed() < ALIVE && sheet.read.elapsed() < REMEMBERED);
    spreadsheets.values().map(Spreadsheet::due).min()
}

/// Renews the next cells of a spreadsheet that is due.
pub(crate) fn renew_due(engine: &mut Engine<'_>, spreadsheets: &mut Spreadsheets) -> Result {
    match spreadsheets
        .values_mut()
        .find(|sheet| sheet.due().is_zero())
    {
        Some(sheet) => sheet.renew(engine, SLICE),
        None => Ok(()),
    }
}

impl Spreadsheet {
    /// The time until the spreadsheet's cells are to be renewed.
    fn due(&self) -> Duration {
        DUE.saturating_sub(self.renewed.elapsed())
    }

    /// The spreadsheet of these nodes; `None` if they are not plain cells.
    pub(super) fn new(
        nodes: &[Node],
        renewed: Instant,
        table: &Table,
        (rows, columns): &(Range, Range),
    ) -> Option<Self> {
        let ends = |range: &Range, at| at == *range.start() || at == *range.end();
        let cell = |node: &Node| {
            let plain = node.role == Some(role::TABLE_CELL) && node.children.is_empty();
            let (row, column) = node.cell.filter(|_| plain)?;
            let border = ends(rows, row) || ends(columns, column);
            let cell = Cell {
                path: node.path.clone(),
                name: node.name.clone(),
                text: node.value.shown.clone(),
                watched: is_watched(node),
                border: node.extents.filter(|_| border),
            };
            Some(((row, column), cell))
        };
        Some(Self {
            renewed,
            read: Instant::now(),
            size: (table.rows, table.columns),
            clip: table.clip,
            cells: nodes.iter().map(cell).collect::<Option<_>>()?,
            renewal: None,
        })
    }

    /// The cell at a row and column, if it is known.
    fn cell(&self, table: &str, row: i32, column: i32) -> Option<Found> {
        let cell = self.cells.get(&(row, column))?;
        Some(Found {
            path: cell.path.clone(),
            id: Some(table::cell_id(table, row, column)),
            name: cell.name.clone(),
            cell: Some((row, column)),
        })
    }

    /// Renews the next `most` cells, so that their objects live on. Which objects are gone, the
    /// next reading finds out.
    fn renew(&mut self, engine: &mut Engine<'_>, most: usize) -> Result {
        let all = || (Instant::now(), self.cells.keys().copied().collect());
        let (since, mut left) = self.renewal.take().unwrap_or_else(all);
        let next = left.split_off(left.len().saturating_sub(most));
        let cells = next.iter().filter_map(|at| self.cells.get(at));
        engine.ask_each(cells.map(|cell| (cell.path.clone(), Request::Tree)))?;
        if left.is_empty() {
            self.renewed = since;
        } else {
            self.renewal = Some((since, left));
        }
        Ok(())
    }

    /// Reads the visible cells, known ones without a request to the table. If the known objects are
    /// gone, returns `false` and adds no node.
    fn read_again(
        &mut self,
        engine: &mut Engine<'_>,
        container: usize,
        table: &Table,
    ) -> Result<bool> {
        if self.size != (table.rows, table.columns) {
            return Ok(false);
        }
        let start = engine.nodes.len();
        if self.clip == table.clip && self.is_in_place(engine)? {
            let mut positions: Vec<(i32, i32)> = self.cells.keys().copied().collect();
            positions.sort_unstable();
            let cells = positions.into_iter();
            let cells = cells.filter_map(|(row, column)| self.cell(&table.path, row, column));
            engine.read_leaves(container, cells.collect(), role::TABLE_CELL)?;
            self.read = Instant::now();
            if !all_live(engine, start, self.cells.len()) {
                return Ok(false);
            }
            self.ask_doubtful(engine, table, start)?;
            for node in &engine.nodes[start..] {
                if let Some(cell) = node.cell.and_then(|at| self.cells.get_mut(&at)) {
                    cell.path.clone_from(&node.path);
                    cell.text.clone_from(&node.value.shown);
                    cell.watched = is_watched(node);
                }
            }
            return Ok(true);
        }
        let shown = table::read(engine, container, table, &|row, column| {
            self.cell(&table.path, row, column)
        })?;
        if !all_live(engine, start, 0) {
            return Ok(false);
        }
        self.ask_doubtful(engine, table, start)?;
        if let Some(sheet) = Self::new(&engine.nodes[start..], self.renewed, table, &shown) {
            *self = sheet;
        }
        Ok(true)
    }

    /// Requests new objects for the cells from node `start` on that report the same text as before
    /// and may have been emptied. If the new object reports another text, the cell has that object
    /// from now on.
    fn ask_doubtful(&self, engine: &mut Engine<'_>, table: &Table, start: usize) -> Result {
        let mut doubtful = Vec::new();
        let (mut all, mut changed) = (false, Vec::new());
        for (index, node) in engine.nodes.iter().enumerate().skip(start) {
            let known = node.cell.and_then(|at| Some((at, self.cells.get(&at)?)));
            let Some(((row, column), known)) = known.filter(|(_, it)| it.path == node.path) else {
                continue;
            };
            let watched = known.watched || is_watched(node);
            if node.value.shown != known.text {
                all |= !watched;
                changed.push(node.value.shown.as_str());
            } else if !known.text.is_empty() {
                doubtful.push((index, watched, Request::CellAt(row, column)));
            }
        }
        // Rows or columns may have moved. That is so if several texts have changed, or if an
        // unchanged cell also reports a changed text.
        let says_it = |&(index, ..): &(usize, bool, Request)| {
            changed.contains(&engine.nodes[index].value.shown.as_str())
        };
        all |= changed.len() > 1 || doubtful.iter().any(says_it);
        doubtful.retain(|(_, watched, _)| all || *watched);
        let requests: Vec<Request> = doubtful.iter().map(|(.., request)| *request).collect();
        let objects = engine.ask_all(&table.path, requests)?;
        let objects: Vec<(usize, Arc<str>)> = doubtful
            .iter()
            .zip(&objects)
            .filter_map(|((index, ..), object)| Some((*index, decode::object(object.as_ref()?)?)))
            .filter(|(index, path)| engine.nodes[*index].path != *path)
            .collect();
        let asked = |(_, path): &(usize, Arc<str>)| (path.clone(), Request::Text(0, -1));
        let texts: Vec<(Arc<str>, Request)> = objects.iter().map(asked).collect();
        let texts = engine.ask_each(texts)?;
        for ((index, path), text) in objects.into_iter().zip(texts) {
            let Some(text) = text.as_ref().and_then(|m| m.reader().str().ok()) else {
                continue;
            };
            let node = &mut engine.nodes[index];
            if node.value.shown != text {
                node.value = Text::new(text);
                node.path = path;
            }
        }
        Ok(())
    }

    /// Whether the cells at the border of the visible part have kept their places.
    fn is_in_place(&self, engine: &mut Engine<'_>) -> Result<bool> {
        let borders = self
            .cells
            .values()
            .filter_map(|cell| Some((&cell.path, cell.border?)));
        let requests = borders
            .clone()
            .map(|(path, _)| (Arc::clone(path), Request::Extents));
        let now = engine.ask_each(requests)?;
        let there = |((_, at), now): ((&Arc<str>, Rect), &Option<Message>)| {
            now.as_ref().and_then(decode::extents) == Some(at)
        };
        Ok(borders.zip(&now).all(there))
    }
}

/// Whether a cell is selected or active: if it is, or was at the last reading, it may have been
/// emptied.
fn is_watched(node: &Node) -> bool {
    node.states.has(StateSet::SELECTED) || node.states.has(StateSet::FOCUSED)
}

/// Empties the active cell if the input line is empty. The input line is the window's only editable
/// paragraph outside of documents. LibreOffice does not report it as showing, so its text is known
/// only once the hidden nodes are read.
pub(crate) fn empty_active(engine: &mut Engine<'_>) {
    let path = |index: usize| {
        std::iter::successors(Some(index), |&at| {
            engine.nodes.get(at).and_then(|n| n.parent)
        })
    };
    let toplevel = |index: usize| path(index).find(|&i| engine.nodes[i].parent == Some(0));
    let is_active = |node: &Node| {
        let focused = node.states.has(StateSet::FOCUSED);
        focused && node.id.is_some() && !node.value.is_blank()
    };
    let Some(active) = engine.nodes.iter().position(is_active) else {
        return;
    };
    let is_input = |index: &usize| {
        let node = &engine.nodes[*index];
        let in_document = || {
            let mut roles = path(*index).skip(1).filter_map(|i| engine.nodes[i].role);
            roles.any(|kind| role::is_table(kind) || role::is_prose(kind) && kind != role::PANEL)
        };
        node.role == Some(role::PARAGRAPH)
            && node.states.has(StateSet::EDITABLE)
            && toplevel(*index) == toplevel(active)
            && !in_document()
    };
    let mut inputs = (0..engine.nodes.len()).filter(is_input);
    if let (Some(input), None) = (inputs.next(), inputs.next())
        && engine.nodes[input].detailed
        && engine.nodes[input].value == Text::default()
    {
        engine.nodes[active].value = Text::default();
    }
}

/// Whether all objects of the nodes from `start` on are alive, and there are at least `least` of
/// them. Removes the nodes if not.
fn all_live(engine: &mut Engine<'_>, start: usize, least: usize) -> bool {
    let lives =
        |node: &Node| node.states != StateSet::default() && !node.states.has(StateSet::DEFUNCT);
    let nodes = &engine.nodes[start..];
    // If time ran out, a missing answer does not mean that the object is gone.
    let all = nodes.len() >= least && nodes.iter().all(lives);
    if !all && !engine.is_late() {
        engine.forget_from(start);
    }
    all || engine.is_late()
}
