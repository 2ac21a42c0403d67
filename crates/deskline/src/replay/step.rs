//! How a link of the run went this time.

use std::time::Duration;

/// How one link of the run went this time.
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
