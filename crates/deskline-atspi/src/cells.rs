//! Containers that make their children as they are asked for them.
//!
//! A spreadsheet has 10⁹ cells and says `MANAGES_DESCENDANTS`: its children are never listed. The
//! cells that show are found by their places: which cell is under a corner of what shows of the
//! table, and from there by row and column as far as they show. A list that says the same and is no
//! table (GTK 3's list box) is listed where it is short, and found by places where it is not.

use std::ops::RangeInclusive;

use deskline_core::Rect;

use crate::bus::{Error, Message};

use super::names::{NULL, StateSet, role};
use super::peer::{Headers, Question};
use super::sheet::{self, Sheet, Sheets};
use super::walk::{Found, Walk};

/// The most rows and columns of one table that are read: more do not fit on a screen.
const MOST_ROWS: i32 = 300;
const MOST_COLUMNS: i32 = 100;

/// A table of no more cells than this is read whole, seen or not: to search for those that show
/// costs more (5 ms of gtk3-widget-factory's 16).
const MOST_SMALL: i64 = 128;

/// A list of more children than this is not listed: GTK 3 takes 5 s for 10,000.
const MOST_CHILDREN: i32 = 1_000;

/// How far apart the places are at which a cell is looked for, in pixels, and how many are tried.
const STEP: i32 = 12;
const TRIES: i32 = 60;

/// Reads the showing children of every such container that shows.
pub fn read(walk: &mut Walk<'_>, sheets: &mut Sheets) -> Result<(), Error> {
    let mut next = 0;
    while next < walk.nodes.len() {
        let container = next;
        next += 1;
        let node = &walk.nodes[container];
        if !node.showing || !node.states.has(StateSet::MANAGES_DESCENDANTS) {
            continue;
        }
        if walk.is_late() {
            walk.cut = true;
            break;
        }
        let Some(clip) = clip(walk, container).filter(|clip| !clip.is_empty()) else {
            read_closed_list(walk, container)?;
            continue;
        };
        let path = walk.nodes[container].path.clone();
        let rows = property(walk, &path, Question::Table("NRows"))?;
        let columns = property(walk, &path, Question::Table("NColumns"))?;
        match (rows, columns) {
            (Some(rows), Some(columns)) => {
                let table = Table {
                    path,
                    rows,
                    columns,
                    clip,
                };
                if table.is_boundless() {
                    sheet::read(walk, container, table, sheets)?;
                } else {
                    read_table(walk, container, &table, None)?;
                }
            }
            // A table that does not answer as one is a sheet that is going: to list its children
            // would be to ask for 10⁹ cells.
            _ if walk.nodes[container].role.is_some_and(role::is_table) => {
                let count = property(walk, &path, Question::ChildCount)?.unwrap_or(0);
                // The number of a sheet's cells is more than fits: it comes as 0 or less.
                if (1..=MOST_CHILDREN).contains(&count) {
                    walk.read_children(container)?;
                }
            }
            _ if walk.nodes[container].role.is_some_and(role::is_list) => {
                read_list(walk, container, &path, clip)?;
            }
            // A text document, a slide, a status bar.
            _ => {
                let count = property(walk, &path, Question::ChildCount)?.unwrap_or(0);
                walk.read_counted(container, count)?;
            }
        }
    }
    Ok(())
}

/// What shows of a container: its extents cut by those of all that scrolls it.
pub fn clip(walk: &Walk<'_>, container: usize) -> Option<Rect> {
    let mut clip = walk.nodes[container].extents?;
    let mut at = walk.nodes[container].parent;
    while let Some(index) = at {
        let node = &walk.nodes[index];
        // The list of a combo box, and a menu, open outside what they are in.
        if matches!(
            node.role,
            Some(role::COMBO_BOX | role::MENU | role::POPUP_MENU)
        ) {
            break;
        }
        // GTK 3's page tab, which has the page in it, has the extents of its label.
        let tab = node.role == Some(role::PAGE_TAB);
        if let Some(extents) = node.extents.filter(|e| !e.is_empty() && !tab) {
            clip = clip.intersect(&extents);
        }
        at = node.parent;
    }
    Some(clip)
}

/// A table on the bus.
pub struct Table {
    pub path: String,
    pub rows: i32,
    pub columns: i32,
    /// What shows of it, as the toolkit says it.
    pub clip: Rect,
}

/// Rows, or columns.
pub type Places = RangeInclusive<i32>;

/// The rows and columns that it read; the cells of `known` are not asked for.
pub fn read_table(
    walk: &mut Walk<'_>,
    node: usize,
    table: &Table,
    known: Option<&Sheet>,
) -> Result<(Places, Places), Error> {
    // Its start is behind its end.
    #[allow(clippy::reversed_empty_ranges)]
    const NONE: Places = 1..=0;
    if table.rows <= 0 || table.columns <= 0 {
        walk.nodes[node].children_read = true;
        return Ok((NONE, NONE));
    }
    let seen = if table.cell_count() <= MOST_SMALL {
        Some((0..=table.rows - 1, 0..=table.columns - 1))
    } else {
        table.showing(walk)?
    };
    let Some((rows, columns)) = seen else {
        return Ok((NONE, NONE));
    };
    if !table.is_boundless() {
        let headers = table.headers(walk, &columns)?;
        walk.read_found(node, headers)?;
    }
    let top = *rows.start();
    let mut first = table.cells(walk, top..=top, &columns, known)?;
    let rest = table.cells(walk, top + 1..=*rows.end(), &columns, known)?;
    let whole = rows == (0..=table.rows - 1) && columns == (0..=table.columns - 1);
    walk.nodes[node].children_read = whole;
    let start = walk.nodes.len();
    let whole_row = first.len() == columns.clone().count();
    if !whole_row {
        first.extend(rest);
        walk.read_found(node, first)?;
        return Ok((rows, columns));
    }
    walk.read_found(node, first)?;
    // The cells of a column are made alike: where the first row's have nothing in them, none has.
    let plain = walk.nodes[start..]
        .iter()
        .all(|n| n.role == Some(role::TABLE_CELL) && n.children_read && n.children.is_empty());
    if plain {
        walk.read_leaves(node, rest, role::TABLE_CELL)?;
    } else {
        walk.read_found(node, rest)?;
    }
    Ok((rows, columns))
}

/// The identity of a cell that has no object of its own.
pub fn place_id(table: &str, row: i32, column: i32) -> String {
    format!("{table}#{row},{column}")
}

/// The table, row and column of such an identity.
pub fn parse_place(id: &str) -> Option<(&str, i32, i32)> {
    let (table, place) = id.split_once('#')?;
    let (row, column) = place.split_once(',')?;
    Some((table, row.parse().ok()?, column.parse().ok()?))
}

impl Table {
    /// Whether it has more cells than there can be objects for, so that each question for a cell
    /// makes another: a spreadsheet. Its cells are the same where their places are.
    pub fn is_boundless(&self) -> bool {
        self.cell_count() > 1_000_000
    }

    fn cell_count(&self) -> i64 {
        i64::from(self.rows) * i64::from(self.columns)
    }

    /// The rows and columns that show; `None` where no cell was found.
    fn showing(&self, walk: &mut Walk<'_>) -> Result<Option<(Places, Places)>, Error> {
        let Some((mut top, mut left)) = self.corner(walk, true)? else {
            return Ok(None);
        };
        let (mut bottom, mut right) = self.corner(walk, false)?.unwrap_or((top, left));
        // A header or an empty end may have hidden the outermost cells from the search.
        while top > 0 && self.shows(walk, top - 1, left)? {
            top -= 1;
        }
        while left > 0 && self.shows(walk, top, left - 1)? {
            left -= 1;
        }
        (bottom, right) = (bottom.max(top), right.max(left));
        while bottom < (top + MOST_ROWS).min(self.rows - 1) && self.shows(walk, bottom + 1, left)? {
            bottom += 1;
        }
        while right < (left + MOST_COLUMNS).min(self.columns - 1)
            && self.shows(walk, top, right + 1)?
        {
            right += 1;
        }
        let rows = top..=bottom.min(top + MOST_ROWS);
        Ok(Some((rows, left..=right.min(left + MOST_COLUMNS))))
    }

    /// The headers of these columns, which are clicked to sort. Each is told once.
    fn headers(&self, walk: &mut Walk<'_>, columns: &Places) -> Result<Vec<Found>, Error> {
        let mut paths: Vec<String> = match walk.headers {
            Headers::Nowhere => Vec::new(),
            Headers::OfColumns => {
                let questions = columns.clone().map(Question::ColumnHeader);
                let answers = walk.ask_all(&self.path, questions)?;
                answers.iter().flatten().filter_map(object).collect()
            }
            Headers::FirstChildren => {
                // The corner comes before them where the rows have headers too.
                let questions = (0..=*columns.end() + 1).map(Question::ChildAt);
                let answers = walk.ask_all(&self.path, questions)?;
                let children: Vec<String> = answers.iter().flatten().filter_map(object).collect();
                let questions = children.iter().map(|c| (c.as_str().into(), Question::Role));
                let roles = walk.ask_each(questions)?;
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
        let found = paths.into_iter().map(|path| Found {
            path,
            place: None,
            name: String::new(),
        });
        Ok(found.collect())
    }

    /// The cells of these rows and columns, row by row, less those that the table refuses.
    fn cells(
        &self,
        walk: &mut Walk<'_>,
        rows: Places,
        columns: &Places,
        known: Option<&Sheet>,
    ) -> Result<Vec<Found>, Error> {
        let places = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        let places: Vec<(i32, i32)> = places.collect();
        let mut found: Vec<Option<Found>> = places
            .iter()
            .map(|&(row, column)| known?.cell(&self.path, row, column))
            .collect();
        let unknown: Vec<usize> = (0..places.len()).filter(|&i| found[i].is_none()).collect();
        let questions = unknown
            .iter()
            .map(|&i| Question::CellAt(places[i].0, places[i].1));
        let cells = walk.ask_all(&self.path, questions)?;
        for (i, cell) in unknown.into_iter().zip(cells) {
            walk.failed.elements += usize::from(cell.is_none() && !walk.is_late());
            let (row, column) = places[i];
            let place = self
                .is_boundless()
                .then(|| place_id(&self.path, row, column));
            let path = cell.as_ref().and_then(object);
            found[i] = path.map(|path| Found {
                path,
                place,
                name: String::new(),
            });
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Row and column of the first cell found from the top left inwards, or from the bottom right.
    fn corner(&self, walk: &mut Walk<'_>, from_top: bool) -> Result<Option<(i32, i32)>, Error> {
        let clip = self.clip;
        for i in 0..TRIES {
            let (dx, dy) = (
                (2 + i * STEP).min(clip.w - 1),
                (2 + i * STEP).min(clip.h - 1),
            );
            let place = if from_top {
                Question::AtPoint(clip.x + dx, clip.y + dy)
            } else {
                Question::AtPoint(clip.x + clip.w - 1 - dx, clip.y + clip.h - 1 - dy)
            };
            if let Some(cell) = ask(walk, &self.path, place)?.as_ref().and_then(object)
                && let Some(found) = self.row_and_column(walk, &cell)?
            {
                return Ok(Some(found));
            }
            if dx == clip.w - 1 && dy == clip.h - 1 {
                break;
            }
        }
        Ok(None)
    }

    /// Where a cell, or what is in one, is in the table; `None` for a header.
    fn row_and_column(&self, walk: &mut Walk<'_>, cell: &str) -> Result<Option<(i32, i32)>, Error> {
        // A cell of several parts (GTK 3) answers with the part under the place.
        const NESTED: usize = 3;
        let mut cell = cell.to_owned();
        for _ in 0..NESTED {
            if let Some(found) = self.place_of(walk, &cell)? {
                return Ok(Some(found));
            }
            let parent = ask(walk, &cell, Question::Parent)?;
            match parent
                .as_ref()
                .and_then(variant_object)
                .filter(|parent| *parent != self.path)
            {
                Some(parent) => cell = parent,
                None => break,
            }
        }
        Ok(None)
    }

    fn place_of(&self, walk: &mut Walk<'_>, cell: &str) -> Result<Option<(i32, i32)>, Error> {
        let number = |m: Option<Message>| m.and_then(|m| m.reader().i32().ok());
        let Some(index) = number(ask(walk, cell, Question::Index)?).filter(|&i| i >= 0) else {
            return Ok(None);
        };
        let row = number(ask(walk, &self.path, Question::RowAtIndex(index))?);
        let column = number(ask(walk, &self.path, Question::ColumnAtIndex(index))?);
        let (Some(row), Some(column)) = (row, column) else {
            return Ok(None);
        };
        if !(0..self.rows).contains(&row) || !(0..self.columns).contains(&column) {
            return Ok(None);
        }
        // A header's index can look like a cell's: only a cell is where it says. LibreOffice makes
        // another object for a cell each time it is asked, in the same place.
        let there = ask(walk, &self.path, Question::CellAt(row, column))?;
        let Some(there) = there.as_ref().and_then(object) else {
            return Ok(None);
        };
        let same = there == cell || extents(walk, &there)? == extents(walk, cell)?;
        Ok(same.then_some((row, column)))
    }

    /// Whether any of a cell can be seen.
    fn shows(&self, walk: &mut Walk<'_>, row: i32, column: i32) -> Result<bool, Error> {
        let cell = ask(walk, &self.path, Question::CellAt(row, column))?
            .as_ref()
            .and_then(object);
        let Some(cell) = cell else { return Ok(false) };
        let extents = extents(walk, &cell)?;
        Ok(extents.is_some_and(|e| !e.intersect(&self.clip).is_empty()))
    }
}

fn extents(walk: &mut Walk<'_>, path: &str) -> Result<Option<Rect>, Error> {
    Ok(ask(walk, path, Question::Extents)?.and_then(|m| read_extents(&m)))
}

/// The answer to a question for extents.
pub fn read_extents(message: &Message) -> Option<Rect> {
    let mut r = message.reader();
    Rect::new(r.i32().ok()?, r.i32().ok()?, r.i32().ok()?, r.i32().ok()?)
}

/// Qt 5 says of the list of a closed combo box that it shows, without a place: it is read with what
/// does not show.
fn read_closed_list(walk: &mut Walk<'_>, container: usize) -> Result<(), Error> {
    if !walk.nodes[container].role.is_some_and(role::is_list) {
        return Ok(());
    }
    let path = walk.nodes[container].path.clone();
    let count = property(walk, &path, Question::ChildCount)?.unwrap_or(0);
    if (1..=MOST_CHILDREN).contains(&count) {
        walk.nodes[container].showing = false;
        walk.read_children(container)?;
    }
    Ok(())
}

/// A list that is no table.
fn read_list(walk: &mut Walk<'_>, node: usize, path: &str, clip: Rect) -> Result<(), Error> {
    let count = property(walk, path, Question::ChildCount)?.unwrap_or(0);
    // The count of a sheet is 0 or less: it does not fit.
    if (1..=MOST_CHILDREN).contains(&count) {
        return walk.read_children(node);
    }
    let mut found: Vec<Found> = Vec::new();
    for y in (clip.y + 2..clip.y + clip.h)
        .step_by(STEP as usize)
        .take(MOST_ROWS as usize)
    {
        let place = Question::AtPoint(clip.x + clip.w / 2, y);
        let Some(mut at) = ask(walk, path, place)?.as_ref().and_then(object) else {
            continue;
        };
        // What is there may be a part of a row; the row is the list's own child.
        for _ in 0..8 {
            let Some(parent) = ask(walk, &at, Question::Parent)?
                .as_ref()
                .and_then(variant_object)
            else {
                break;
            };
            if parent == path {
                if found.last().is_none_or(|last| last.path != at) {
                    found.push(Found {
                        path: at,
                        place: None,
                        name: String::new(),
                    });
                }
                break;
            }
            at = parent;
        }
    }
    walk.read_found(node, found)
}

/// The path of the object that an answer names, if any.
pub fn object(message: &Message) -> Option<String> {
    let (_, path) = message.reader().object().ok()?;
    (path != NULL).then(|| path.to_owned())
}

fn variant_object(message: &Message) -> Option<String> {
    let mut reader = message.reader();
    reader.signature().ok().filter(|s| *s == "(so)")?;
    let (_, path) = reader.object().ok()?;
    (path != NULL).then(|| path.to_owned())
}

fn property(walk: &mut Walk<'_>, path: &str, question: Question) -> Result<Option<i32>, Error> {
    Ok(ask(walk, path, question)?.and_then(|m| m.reader().variant_i32().ok()))
}

/// What a toolkit does not know is `None`; a lost connection is an error.
fn ask(walk: &mut Walk<'_>, path: &str, question: Question) -> Result<Option<Message>, Error> {
    if walk.is_late() {
        return Ok(None);
    }
    match walk.ask(path, question) {
        Ok(message) => Ok(Some(message)),
        Err(Error::Remote { .. } | Error::Malformed(_)) => Ok(None),
        Err(e) => Err(e),
    }
}
