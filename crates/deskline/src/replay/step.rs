//! The result of a link in this replay.

use std::time::Duration;

/// The result of one link in this replay.
#[derive(Debug)]
pub(super) struct Step {
    /// Its number in the run, from 1.
    pub(super) number: usize,
    pub(super) words: String,
    pub(super) took: Duration,
    pub(super) end: End,
}

#[derive(Debug, PartialEq)]
pub(super) enum End {
    Same,
    /// The answer differs: how.
    Differs(String),
    /// It could not be done: why.
    Impossible(String),
    /// Not done, because an earlier one differed, or because it had been cancelled.
    Skipped,
}
