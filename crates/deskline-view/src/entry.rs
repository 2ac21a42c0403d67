//! A link as a row of the page.

use deskline_journal::{DiffCounts, FileKind, Outcome, Record};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::words::words;

/// An error in a row has at most this many characters. The link's own view shows all of the error.
const ERROR: usize = 300;

/// A row.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    /// The link's index in the run.
    n: usize,
    ms: u64,
    tool: String,
    app: Option<String>,
    pub(crate) pid: Option<u32>,
    words: String,
    outcome: &'static str,
    error: Option<String>,
    diff: Option<DiffCounts>,
    steps: Map<String, Value>,
    guard: Option<f64>,
    pub(crate) text: bool,
    pub(crate) picture: bool,
}

impl Entry {
    pub(crate) fn new(n: usize, record: &Record) -> Self {
        let (outcome, error) = match &record.outcome {
            Outcome::Ok => ("ok", None),
            Outcome::Cancelled => ("cancelled", None),
            Outcome::Error(why) => ("error", Some(deskline_core::escape::short(why, ERROR))),
        };
        Self {
            n,
            ms: record.ms,
            tool: record.tool.clone(),
            app: record.app.clone(),
            pid: record.pid,
            words: words(&record.tool, &record.arguments, record.answer.as_deref()),
            outcome,
            error,
            diff: record.diff,
            steps: record.steps_ms.clone(),
            guard: record.guard_held_ms,
            text: record.file_name(FileKind::Text).is_some(),
            picture: record.file_name(FileKind::Picture).is_some(),
        }
    }
}
