//! The visible cells of a spreadsheet that was read lately, which are asked themselves the next
//! time.
//!
//! `LibreOffice` makes an object of 7 kB for each question for a cell and never gives it back: the
//! cell listens to its sheet, which holds its listeners. What can be had is the same object again:
//! at-spi2-atk keeps it for 15 s after each answer that tells of it, and `Collection.GetTree` is
//! answered with the object that is asked. So the cells are asked for their trees as long as calls
//! come, and each object is made once.
//!
//! An object whose cell is emptied goes on saying the text that it had (`LibreOffice` 7.4 puts the
//! defaults, but no empty text, into its edit engine); one that is made then says nothing. So a cell
//! that says what it said is asked for again where it may have been emptied: where it is or was
//! selected, or where another cell changed that was not. The active cell is always the same object:
//! it is empty where the input line is.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use deskline_core::{Rect, Text};

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
    /// What its object said.
    text: String,
    /// Whether it was selected or active.
    watched: bool,
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
    let sheet = Sheet::of(&walk.nodes[start..], told, &table, &shown);
    if !walk.is_late() {
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
                text: node.value.shown.clone(),
                watched: is_watched(node),
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
            if !all_live(walk, start, self.cells.len()) {
                return Ok(false);
            }
            self.ask_doubtful(walk, table, start)?;
            for node in &walk.nodes[start..] {
                let place = node.place.as_deref().and_then(cells::parse_place);
                let cell = place.and_then(|(_, row, column)| self.cells.get_mut(&(row, column)));
                if let Some(cell) = cell {
                    cell.path.clone_from(&node.path);
                    cell.text.clone_from(&node.value.shown);
                    cell.watched = is_watched(node);
                }
            }
            return Ok(true);
        }
        let shown = cells::read_table(walk, container, table, Some(self))?;
        if !all_live(walk, start, 0) {
            return Ok(false);
        }
        self.ask_doubtful(walk, table, start)?;
        if let Some(sheet) = Self::of(&walk.nodes[start..], self.told, table, &shown) {
            *self = sheet;
        }
        Ok(true)
    }

    /// Asks the table again for the cells from node `start` on that say what they said and may have
    /// been emptied; one that was has the new object from now on.
    fn ask_doubtful(&self, walk: &mut Walk<'_>, table: &Table, start: usize) -> Result<(), Error> {
        let mut doubtful = Vec::new();
        let (mut all, mut changed) = (false, Vec::new());
        for (index, node) in walk.nodes.iter().enumerate().skip(start) {
            let place = node.place.as_deref().and_then(cells::parse_place);
            let Some((_, row, column)) = place else {
                continue;
            };
            let known = self.cells.get(&(row, column));
            let Some(known) = known.filter(|known| known.path == node.path) else {
                continue;
            };
            let watched = known.watched || is_watched(node);
            if node.value.shown != known.text {
                all |= !watched;
                changed.push(node.value.shown.as_str());
            } else if !known.text.is_empty() {
                doubtful.push((index, watched, Question::CellAt(row, column)));
            }
        }
        // Rows or columns may have moved, from where a text is still said to be.
        let says_it = |&(index, ..): &(usize, bool, Question)| {
            changed.contains(&walk.nodes[index].value.shown.as_str())
        };
        all |= changed.len() > 1 || doubtful.iter().any(says_it);
        doubtful.retain(|(_, watched, _)| all || *watched);
        let questions: Vec<Question> = doubtful.iter().map(|(.., question)| *question).collect();
        let objects = walk.ask_all(&table.path, questions)?;
        let objects: Vec<(usize, String)> = doubtful
            .iter()
            .zip(&objects)
            .filter_map(|((index, ..), object)| Some((*index, cells::object(object.as_ref()?)?)))
            .filter(|(index, path)| walk.nodes[*index].path != *path)
            .collect();
        let asked = |(_, path): &(usize, String)| (Rc::from(path.as_str()), Question::Text(0, -1));
        let texts: Vec<(Rc<str>, Question)> = objects.iter().map(asked).collect();
        let texts = walk.ask_each(texts)?;
        for ((index, path), text) in objects.into_iter().zip(texts) {
            let Some(text) = text.as_ref().and_then(|m| m.reader().str().ok()) else {
                continue;
            };
            let node = &mut walk.nodes[index];
            if node.value.shown != text {
                node.value = Text::new(text);
                node.path = path;
            }
        }
        Ok(())
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

/// Selected or active: what is emptied is, or was at the last reading.
fn is_watched(node: &Node) -> bool {
    node.states.has(StateSet::SELECTED) || node.states.has(StateSet::FOCUSED)
}

/// Empties the active cell where the input line is empty: the one editable paragraph of the window
/// that is in no document. `LibreOffice` says of it that it does not show, so it is known only when
/// that has been read too.
pub fn empty_active(walk: &mut Walk<'_>) {
    let path = |index: usize| {
        std::iter::successors(Some(index), |&at| walk.nodes.get(at).and_then(|n| n.parent))
    };
    let toplevel = |index: usize| path(index).find(|&i| walk.nodes[i].parent == Some(0));
    let is_active = |node: &Node| {
        let focused = node.states.has(StateSet::FOCUSED);
        focused && node.place.is_some() && !node.value.is_blank()
    };
    let Some(active) = walk.nodes.iter().position(is_active) else {
        return;
    };
    let is_input = |index: &usize| {
        let node = &walk.nodes[*index];
        let in_document = || {
            let mut roles = path(*index).skip(1).filter_map(|i| walk.nodes[i].role);
            roles.any(|kind| role::is_table(kind) || role::is_prose(kind) && kind != role::PANEL)
        };
        node.role == Some(role::PARAGRAPH)
            && node.states.has(StateSet::EDITABLE)
            && toplevel(*index) == toplevel(active)
            && !in_document()
    };
    let mut inputs = (0..walk.nodes.len()).filter(is_input);
    if let (Some(input), None) = (inputs.next(), inputs.next())
        && walk.nodes[input].value.shown.is_empty()
    {
        walk.nodes[active].value = Text::default();
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
