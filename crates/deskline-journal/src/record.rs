//! One line of `journal.jsonl`: what a link did, to whom, and what came of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time;

/// One link, as the audit log tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When the link ended, in milliseconds since the epoch.
    pub ms: u64,
    /// The same in RFC 3339, UTC.
    pub time: String,
    /// The tool, by its listed name.
    pub tool: String,
    /// The arguments as they came, secrets taken out by the caller.
    pub arguments: Value,
    /// The app's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The app's own name for itself. Hostile data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<DiffCounts>,
    /// How long each step took, in milliseconds and in the order of the steps.
    #[serde(default)]
    pub steps_ms: Map<String, Value>,
    /// How long the person's input was kept out, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard_held_ms: Option<f64>,
    /// What was written.
    #[serde(default)]
    pub files: Files,
}

impl Record {
    /// A record of a link that ends now, with nothing but its tool, arguments and outcome.
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>, outcome: Outcome) -> Self {
        let ms = time::now_ms();
        Self {
            ms,
            time: time::rfc3339(ms),
            tool: tool.into(),
            arguments: Value::Object(arguments),
            pid: None,
            app: None,
            outcome,
            diff: None,
            steps_ms: Map::new(),
            guard_held_ms: None,
            files: Files::default(),
        }
    }

    /// Adds the duration of a step; a step that came twice counts both.
    pub fn step(&mut self, name: &str, took: Duration) {
        let before = self.steps_ms.get(name).and_then(Value::as_f64);
        let sum = milliseconds(took) + before.unwrap_or(0.0);
        self.steps_ms.insert(name.to_owned(), sum.into());
    }

    /// Says how long the guard held.
    pub fn guard_held(&mut self, held: Duration) {
        self.guard_held_ms = Some(milliseconds(held));
    }
}

/// Milliseconds, to the microsecond.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1_000.0
}

/// How a link ended: `"ok"`, `"cancelled"` or `"error: …"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Outcome {
    /// It did what was asked.
    Ok,
    /// The person or the client stopped it.
    Cancelled,
    /// It failed, and why.
    Error(String),
}

impl From<Outcome> for String {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Cancelled => "cancelled".to_owned(),
            Outcome::Error(why) => format!("error: {why}"),
        }
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        match text.as_str() {
            "ok" => Self::Ok,
            "cancelled" => Self::Cancelled,
            _ => Self::Error(text.strip_prefix("error: ").unwrap_or(&text).to_owned()),
        }
    }
}

/// How many elements a diff has of each sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffCounts {
    /// Elements that came.
    pub added: usize,
    /// Elements that went.
    pub removed: usize,
    /// Elements that changed.
    pub modified: usize,
}

/// The files of a link, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The tree or diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The window's picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}
