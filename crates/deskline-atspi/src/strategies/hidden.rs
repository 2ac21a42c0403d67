//! Reads hidden nodes, level by level.

use std::time::Instant;

use super::reuse::{self, LastReading};
use crate::bus::Result;
use crate::engine::Engine;
use crate::toolkits::Prose;

/// Reads the hidden nodes that were found and their descendants, a level at a time, until `until`.
/// Reuses the nodes that are still valid in `last`.
pub fn read(engine: &mut Engine<'_>, last: Option<&LastReading>, until: Instant) -> Result {
    let mut hidden = engine.take_hidden();
    while !hidden.is_empty() && Instant::now() < until {
        for node in reuse::recall(engine, last, hidden)? {
            engine.ask_facts(node);
        }
        engine.pump(Some(until))?;
        // If most elements have text, the texts get a share of the time, so that both elements and
        // texts are read.
        if engine.toolkit.prose() == Prose::InParents {
            engine.details(0, Some(until))?;
        }
        hidden = engine.take_hidden();
    }
    engine.leave_hidden(hidden);
    Ok(())
}
