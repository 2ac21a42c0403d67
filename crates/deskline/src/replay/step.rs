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
    /// The answer differs, as described.
    Differs(String),
    /// The call could not be made, for this reason.
    Impossible(String),
    /// The call was not made, because an earlier one differed or was cancelled.
    Skipped,
}
