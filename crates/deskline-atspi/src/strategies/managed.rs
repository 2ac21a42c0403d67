//! Containers that manage their descendants (`MANAGES_DESCENDANTS`). They may create each child on
//! request, so the engine never lists them.
//!
//! Tables are read by their cells ([`table`]), and LibreOffice's sheets with cells that are kept
//! alive ([`spreadsheet`]). A list that is not a table (GTK 3's list box) is listed if it is short.
//! If not, the app is asked which object is at some points of its visible part.

use std::sync::Arc;

use deskline_core::Rect;

use super::large_list::LargeLists;
use super::spreadsheet::{self, Spreadsheets};
use super::table::{self, Table};
use crate::bus::Result;
use crate::engine::{self, Engine, Found};
use crate::names::{StateSet, role};
use crate::request::Request;
use crate::toolkits::qt;

/// A list of more children than this is not listed: GTK 3 takes 5 s for 10,000.
const MOST_CHILDREN: i32 = 1_000;

/// The distance in pixels between the points at which a list's rows are searched, and the maximum
/// number of these points.
const STEP: usize = 12;
const MOST_POINTS: usize = 300;

/// The maximum number of levels from a row down to the object at a point.
const NESTED: usize = 16;

/// Reads the showing children of every showing container that manages its descendants.
pub fn read(
    engine: &mut Engine<'_>,
    lists: &mut LargeLists,
    spreadsheets: &mut Spreadsheets,
) -> Result {
    let mut next = 0;
    while next < engine.nodes.len() {
        let container = next;
        next += 1;
        let node = &engine.nodes[container];
        if !node.showing || !node.states.has(StateSet::MANAGES_DESCENDANTS) {
            continue;
        }
        if engine.is_late() {
            engine.unread.cut = true;
            break;
        }
        match engine::clip(&engine.nodes, container).filter(|clip| !clip.is_empty()) {
            Some(clip) => read_one(engine, lists, spreadsheets, container, clip)?,
            None => read_closed_list(engine, container)?,
        }
    }
    Ok(())
}

fn read_one(
    engine: &mut Engine<'_>,
    lists: &mut LargeLists,
    spreadsheets: &mut Spreadsheets,
    container: usize,
    clip: Rect,
) -> Result {
    let path = engine.nodes[container].path.clone();
    let rows = engine.number(&path, Request::Table("NRows"))?;
    let columns = engine.number(&path, Request::Table("NColumns"))?;
    if rows == Some(0) {
        // Without rows, the children of a table are its headers. Dolphin is different: its views
        // have no rows, and their children are the files.
        let count = engine.number(&path, Request::ChildCount)?.unwrap_or(0);
        if (1..=MOST_CHILDREN).contains(&count) {
            return engine.read_children(container);
        }
    }
    if let (Some(rows), Some(columns)) = (rows, columns) {
        let table = Table {
            path,
            rows,
            columns,
            clip,
        };
        if table.is_spreadsheet() {
            return spreadsheet::read(engine, container, table, spreadsheets);
        }
        return table::read(engine, container, &table, &|_, _| None).map(drop);
    }
    let kind = engine.nodes[container].role;
    if kind.is_some_and(role::is_list) {
        return read_list(engine, container, &path, clip);
    }
    let count = engine.number(&path, Request::ChildCount)?.unwrap_or(0);
    if !kind.is_some_and(role::is_table) {
        // A container that is neither a table nor a list is a text document, a slide or a status
        // bar.
        return lists.read_counted(engine, container, count);
    }
    // A sheet that is closing reports no size as a table. Its 10⁹ cells are its children, a number
    // that overflows to 0 or less.
    if (1..=MOST_CHILDREN).contains(&count) {
        engine.read_children(container)?;
    }
    Ok(())
}

/// Reads a closed list, which has no extents, as hidden.
fn read_closed_list(engine: &mut Engine<'_>, container: usize) -> Result {
    if !qt::is_closed_list(engine.nodes[container].role) {
        return Ok(());
    }
    let path = engine.nodes[container].path.clone();
    let count = engine.number(&path, Request::ChildCount)?.unwrap_or(0);
    if (1..=MOST_CHILDREN).contains(&count) {
        engine.nodes[container].hide();
        engine.read_children(container)?;
    }
    Ok(())
}

/// Reads a list that is not a table: all children of a short list, else the rows that show.
fn read_list(engine: &mut Engine<'_>, node: usize, path: &str, clip: Rect) -> Result {
    let count = engine.number(path, Request::ChildCount)?.unwrap_or(0);
    if (1..=MOST_CHILDREN).contains(&count) {
        return engine.read_children(node);
    }
    let mut found: Vec<Found> = Vec::new();
    let ys = clip.y + 2..clip.y + clip.h;
    for y in ys.step_by(STEP).take(MOST_POINTS) {
        let point = Request::AtPoint(clip.x + clip.w / 2, y);
        let Some(at) = engine.object(path, point)? else {
            continue;
        };
        if let Some(row) = row_of(engine, path, at)?
            && found.last().is_none_or(|last| last.path != row)
        {
            found.push(Found::at(row));
        }
    }
    engine.read_found(node, found)
}

/// The list's child that is the object `at`, or that contains it.
pub(super) fn row_of(
    engine: &mut Engine<'_>,
    list: &str,
    mut at: Arc<str>,
) -> Result<Option<Arc<str>>> {
    for _ in 0..NESTED {
        match engine.object(&at, Request::Parent)? {
            Some(parent) if *parent == *list => return Ok(Some(at)),
            Some(parent) => at = parent,
            None => break,
        }
    }
    Ok(None)
}
