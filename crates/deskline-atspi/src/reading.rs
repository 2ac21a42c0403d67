//! One traversal of an app: which strategy reads which part, in which order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use deskline_link::Scope;

use crate::bus::Error;
use crate::engine::{Engine, Node};
use crate::names::ROOT;
use crate::partial::Partial;
use crate::strategies::large_list::LargeLists;
use crate::strategies::reuse::{KnownList, LastReading};
use crate::strategies::spreadsheet::{self, Spreadsheets};
use crate::strategies::{bulk_cache, hidden, managed, stacked};
use crate::toolkits::Prose;

/// What one traversal has read.
pub struct Reading {
    /// All objects that were found, the root first.
    pub nodes: Vec<Node>,
    /// What is missing.
    pub partial: Partial,
    /// Objects of other processes: their container, bus name and path.
    pub foreign: Vec<(usize, String, String)>,
    /// Its large lists, by their paths.
    pub lists: HashMap<Arc<str>, KnownList>,
    /// How many nodes are those of an earlier reading.
    pub reused: usize,
    /// Whether the app's cache had most of the tree, and not much else.
    pub cache_was_worth_it: bool,
}

/// Reads an app. What shows is read first and completely; what does not is read after it, as far as
/// the scope's budget goes, or taken from `last`.
pub fn read(
    mut engine: Engine<'_>,
    scope: Scope,
    fetch_cache: bool,
    last: Option<&LastReading>,
    spreadsheets: &mut Spreadsheets,
) -> Result<Reading, Error> {
    let engine = &mut engine;
    let mut lists = LargeLists::default();
    if fetch_cache {
        bulk_cache::fetch(engine, last)?;
    }
    engine.start(ROOT, None)?;
    stacked::hide(engine)?;
    lists.read_showing(engine)?;
    engine.details(0, None)?;
    // What tables create on request is in no cache, and is not held against it.
    let mut cache_was_worth_it = bulk_cache::is_complete(engine);
    managed::read(engine, &mut lists, spreadsheets)?;
    if let Scope::Whole { budget } | Scope::Again { budget } = scope {
        let until = engine.end().min(Instant::now() + budget);
        read_hidden(engine, &mut lists, last, until)?;
        spreadsheet::empty_active(engine);
        // What else is in the tree is not known of a reading that lacked the time.
        let read_all = Instant::now() < until;
        cache_was_worth_it &= !read_all || bulk_cache::is_used(engine);
    }
    let (crowded, lists) = lists.finish(engine);
    // Where only what shows was asked for, what does not is not missing.
    if engine.unread.cut || scope != Scope::Showing {
        engine.count_unread();
    }
    Ok(Reading {
        nodes: std::mem::take(&mut engine.nodes),
        partial: Partial {
            unread: std::mem::take(&mut engine.unread),
            crowded,
            silent: 0,
        },
        foreign: std::mem::take(&mut engine.foreign),
        lists,
        reused: engine.reused,
        cache_was_worth_it,
    })
}

/// Reads what does not show, until `until`.
fn read_hidden(
    engine: &mut Engine<'_>,
    lists: &mut LargeLists,
    last: Option<&LastReading>,
    until: Instant,
) -> Result<(), Error> {
    hidden::read(engine, last, until)?;
    lists.read_hidden(engine, last, until)?;
    engine.drop_queue();
    let until = Some(until).filter(|_| engine.toolkit.prose() == Prose::InParents);
    engine.details(0, until)?;
    engine.drop_queue();
    Ok(())
}
