//! An agent without a model: it makes the calls that it was written to make, and counts what they
//! cost.

use std::fmt::Write as _;
use std::ops::AddAssign;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use deskline_testbed::{Answer, Client, PATIENCE, deskline};
use serde_json::{Value, json};

/// The cost of calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) calls: usize,
    /// Bytes of the answers, which the model reads.
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
    /// Pictures that were looked at.
    pub(crate) pictures: usize,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.time += other.time;
        self.pictures += other.pictures;
    }
}

/// A client on a private desktop of its own.
#[derive(Debug)]
pub(crate) struct Agent {
    server: Client,
    cost: Cost,
    transcript: String,
}

/// Why a task failed: an answer, or the state that was found instead of the wanted one.
pub(crate) type Failed = String;

impl Agent {
    /// An agent whose server keeps its journal here.
    pub(crate) fn new(journal: &Path) -> Self {
        let mut serve = Command::new(deskline());
        serve
            .args(["serve", "--desktop", "private=1280x800", "--dir"])
            .arg(journal);
        Self {
            server: Client::start(serve),
            cost: Cost::default(),
            transcript: String::new(),
        }
    }

    /// The bytes of the tool list, which every session pays for.
    pub(crate) fn tool_list(&self) -> usize {
        json!({"tools": self.server.tools()}).to_string().len()
    }

    /// The cost since the last time.
    pub(crate) fn spent(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }

    /// All calls and their answers.
    pub(crate) fn transcript(&self) -> &str {
        &self.transcript
    }

    /// Starts an app.
    pub(crate) fn open(&mut self, identifier: &str) -> Result<Answer, Failed> {
        self.call(
            "open_application_and_traverse",
            json!({"identifier": identifier}),
        )
    }

    /// Several steps in one call.
    pub(crate) fn chain(&mut self, pid: u32, steps: Value) -> Result<Answer, Failed> {
        let mut arguments = json!({"pid": pid});
        arguments["steps"] = steps;
        self.call("chain_and_traverse", arguments)
    }

    /// [`Agent::chain`] in one of the app's windows.
    pub(crate) fn chain_in(
        &mut self,
        pid: u32,
        window: &str,
        steps: Value,
    ) -> Result<Answer, Failed> {
        let mut arguments = json!({"pid": pid, "window": window});
        arguments["steps"] = steps;
        self.call("chain_and_traverse", arguments)
    }

    /// The lines of the newest tree that match a pattern.
    pub(crate) fn search(&mut self, pattern: &str) -> Result<Answer, Failed> {
        self.call("search_tree", json!({"pattern": pattern}))
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, Failed> {
        let _ = writeln!(self.transcript, "▸ {tool} {arguments}");
        let start = Instant::now();
        let answer = self.server.call_timeout(tool, arguments, PATIENCE);
        self.cost.time += start.elapsed();
        self.cost.calls += 1;
        self.cost.pictures += usize::from(tool == "view_screenshot");
        let Some(answer) = answer else {
            return Err(format!("{tool} was not answered within {PATIENCE:?}"));
        };
        self.cost.bytes += answer.text.len();
        for line in answer.text.lines() {
            let _ = writeln!(self.transcript, "  {line}");
        }
        self.transcript.push('\n');
        if answer.is_error {
            Err(answer.text)
        } else {
            Ok(answer)
        }
    }

    /// The judge's own look at a file in an app. It is not part of the task.
    pub(crate) fn judge(&self, identifier: &str) -> Result<String, Failed> {
        let open = json!({"identifier": identifier});
        let answer = self.server.call("open_application_and_traverse", open);
        if answer.is_error {
            Err(answer.text)
        } else {
            Ok(answer.file())
        }
    }
}
