//! One traversal of an app: the strategies, and their order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use deskline_contract::Scope;

use crate::bus::Result;
use crate::engine::{Engine, Node, Questions};
use crate::names::ROOT;
use crate::partial::Partial;
use crate::strategies::large_list::LargeLists;
use crate::strategies::reuse::{KnownList, LastReading};
use crate::strategies::spreadsheet::{self, Spreadsheets};
use crate::strategies::{bulk_cache, gaps, managed, recycled, reuse, stacked};
use crate::toolkits::Prose;

/// The result of one traversal.
pub struct Reading {
    /// All objects that were found, the root first.
    pub nodes: Vec<Node>,
    /// The missing parts.
    pub partial: Partial,
    /// Objects of other processes: the index of the container, the bus name and the path of each.
    pub foreign: Vec<(usize, String, String)>,
    /// The large lists, by path.
    pub lists: HashMap<Arc<str>, KnownList>,
    /// The indexes of the frames that were not read, as nobody sees them.
    pub set_aside: Vec<usize>,
    /// How many nodes were reused from an earlier reading.
    pub reused: usize,
    /// Whether the app's cache had most of the tree, and little else.
    pub cache_was_worth_it: bool,
    /// Whether a stack may still have been fading to another page during the reading.
    pub may_fade: bool,
}

/// Reads an app: visible nodes first and completely, then hidden ones within the scope's budget.
/// Hidden nodes may be reused from `last`. `questions` has the requests of the previous reading,
/// and after the call those of this one.
pub fn read(
    mut engine: Engine<'_>,
    scope: Scope,
    fetch_cache: bool,
    last: Option<&LastReading>,
    (questions, spreadsheets): (&mut Questions, &mut Spreadsheets),
) -> Result<Reading> {
    let engine = &mut engine;
    let mut lists = LargeLists::default();
    if fetch_cache {
        bulk_cache::fetch(engine, last)?;
    }
    let hides_by_size = engine.toolkit.hides_by_size();
    if hides_by_size {
        engine.ask_ahead(std::mem::take(questions), scope != Scope::Showing)?;
    }
    engine.start(ROOT, None)?;
    let may_fade = hides_by_size && stacked::hide(engine)?;
    if hides_by_size {
        recycled::hide(engine)?;
        gaps::fill(engine)?;
    }
    lists.read_showing(engine)?;
    engine.details(0, None)?;
    // This is judged before the tables are read, because the objects that tables create on request
    // are in no cache.
    let mut cache_was_worth_it = bulk_cache::is_complete(engine);
    managed::read(engine, &mut lists, spreadsheets)?;
    engine.showing_is_read();
    if let Scope::Whole { budget } | Scope::Again { budget } = scope {
        let until = engine.end.min(Instant::now() + budget);
        read_hidden(engine, &mut lists, last, until)?;
        spreadsheet::empty_active(engine);
        // If time ran out, the rest of the tree is unknown. So it is also unknown how much of the
        // cache is in the tree.
        let read_all = Instant::now() < until;
        cache_was_worth_it &= !read_all || bulk_cache::is_used(engine);
    }
    *questions = engine.take_questions();
    let (crowded, lists) = lists.finish(engine);
    // Hidden nodes are missing only if they were asked for.
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
        set_aside: std::mem::take(&mut engine.set_aside),
        reused: engine.reused,
        cache_was_worth_it,
        may_fade,
    })
}

/// Reads hidden nodes, until `until`.
fn read_hidden(
    engine: &mut Engine<'_>,
    lists: &mut LargeLists,
    last: Option<&LastReading>,
    until: Instant,
) -> Result {
    reuse::read_hidden(engine, last, until)?;
    lists.read_hidden(engine, last, until)?;
    engine.drop_queue();
    let until = Some(until).filter(|_| engine.toolkit.prose() == Prose::InParents);
    engine.details(0, until)?;
    engine.drop_queue();
    Ok(())
}
