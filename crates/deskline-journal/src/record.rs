//! A line of `journal.jsonl`: the action of a link, its app, and the outcome.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use deskline_core::escape::is_hostile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{FileKind, time};

/// One link in the audit log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When the link ended, in milliseconds since the epoch.
    pub ms: u64,
    /// `ms` in RFC 3339, UTC.
    pub time: String,
    /// The tool, by its listed name.
    pub tool: String,
    /// The arguments as given, with secrets removed by the caller.
    pub arguments: Value,
    /// The app's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The name that the app gives itself. Untrusted data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The apps whose elements the files show, the link's own app first. Empty in lines that
    /// version 0.1.0 wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_as: Vec<KnownAs>,
    pub outcome: Outcome,
    /// The size of the link's diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<DiffCounts>,
    /// The duration of each step in milliseconds, in the order of the steps.
    #[serde(default)]
    pub steps_ms: Map<String, Value>,
    /// How long the guard kept the person's input out, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard_held_ms: Option<f64>,
    /// The files that were written.
    #[serde(default)]
    pub files: Files,
    /// The answer, as the model read it. `None` if the answer may contain a secret that was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// The names of an app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownAs {
    /// The system's names for the app: its executable, its desktop file or bundle.
    pub names: Vec<String>,
    /// The names that the app gives itself. Untrusted data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
}

impl Record {
    /// A record of a link that ends now, with only its tool, arguments and outcome set.
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>, outcome: Outcome) -> Self {
        let ms = time::now_ms();
        Self {
            ms,
            time: time::rfc3339(ms),
            tool: tool.into(),
            arguments: Value::Object(arguments),
            outcome,
            ..Self::default()
        }
    }

    /// The record as JSON in one line, safe to print in a terminal.
    ///
    /// # Errors
    /// No record causes an error.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|json| plain(&json))
    }

    /// The name of a file of the link, without its folder: a journal may have been moved.
    pub fn file_name(&self, kind: FileKind) -> Option<&str> {
        let path = match kind {
            FileKind::Text => self.files.text.as_deref(),
            FileKind::Picture => self.files.picture.as_deref(),
        };
        Path::new(path?).file_name()?.to_str()
    }

    /// Adds the duration of a step. Durations of a repeated step add up.
    pub fn step(&mut self, name: &str, took: Duration) {
        let before = self.steps_ms.get(name).and_then(Value::as_f64);
        let sum = milliseconds(took) + before.unwrap_or(0.0);
        self.steps_ms.insert(name.to_owned(), sum.into());
    }

    /// Sets how long the guard kept the person's input out.
    pub fn guard_held(&mut self, held: Duration) {
        self.guard_held_ms = Some(milliseconds(held));
    }
}

/// `duration` in milliseconds, with microsecond precision.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1_000.0
}

/// How a link ended: `"ok"`, `"cancelled"` or `"error: …"`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Outcome {
    #[default]
    Ok,
    /// The person or the client stopped the link.
    Cancelled,
    /// The link failed with this error.
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffCounts {
    /// Added elements.
    pub added: usize,
    /// Removed elements.
    pub removed: usize,
    /// Modified elements.
    pub modified: usize,
}

/// The paths of a link's files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The tree or diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The window's picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

/// JSON with escapes for the characters that control a terminal or reorder text.
pub(crate) fn plain(json: &str) -> String {
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if is_hostile(c) {
            // Writing to a String cannot fail.
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line
}
