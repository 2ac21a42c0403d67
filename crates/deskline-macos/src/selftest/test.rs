//! The test in progress, and its report.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use deskline_journal::Journal;
use deskline_link::{Action, Answer, Call, Cancel, Links, Tool};

use crate::front;
use crate::os::{Os, name_of};

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub name: String,
    /// Whether the check passed.
    pub good: bool,
    /// The observation.
    pub seen: String,
}

/// The findings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// In the order of the checks.
    pub findings: Vec<Finding>,
    /// How long all of it took, in seconds.
    pub seconds: u64,
}

impl Report {
    /// Whether all findings passed.
    pub fn passed(&self) -> bool {
        self.bad() == 0
    }

    pub(super) fn bad(&self) -> usize {
        self.findings.iter().filter(|f| !f.good).count()
    }

    pub fn to_json(&self) -> serde_json::Value {
        let finding =
            |f: &Finding| serde_json::json!({"name": f.name, "ok": f.good, "seen": f.seen});
        serde_json::json!({
            "deskline": env!("CARGO_PKG_VERSION"),
            "system": system(),
            "passed": self.passed(),
            "seconds": self.seconds,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

/// The version of macOS and the processor.
pub(super) fn system() -> String {
    let sw_vers = std::process::Command::new("/usr/bin/sw_vers")
        .arg("-productVersion")
        .output();
    let version = sw_vers.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|_| "of an unknown version".into());
    format!("macOS {version}, {}", std::env::consts::ARCH)
}

/// A finding: the observation, as a success or a failure.
pub(super) type Found = Result<String, String>;

/// The test in progress.
pub(super) struct Test<'t, O: Os> {
    pub(super) os: &'t O,
    pub(super) links: Links,
    pub(super) journal: Journal,
    /// This executable, for starting the other roles.
    pub(super) program: Option<&'t Path>,
    pub(super) report: Report,
    /// The processes that there were before.
    pub(super) before: HashSet<u32>,
    /// The apps that the test has opened.
    pub(super) started: Vec<(u32, String)>,
    pub(super) say: &'t mut dyn FnMut(&str),
}

impl<O: Os> Test<'_, O> {
    /// Counts a finding and prints it on one line. One that is not as it should be names the app in
    /// front, which may be a dialog of the system's.
    pub(super) fn note(&mut self, name: &str, found: Found) {
        let (mark, good, text) = match found {
            Ok(text) => ('✓', true, text),
            Err(text) => {
                let front = front::pid(self.os).and_then(|pid| name_of(self.os, pid));
                let front = front.unwrap_or_else(|| "no app".into());
                ('✗', false, format!("{text} (in front: {front})"))
            }
        };
        let seen = deskline_core::escape::short(text.trim(), 700);
        (self.say)(&format!("{mark} {name}: {seen}"));
        let name = name.to_owned();
        self.report.findings.push(Finding { name, good, seen });
    }

    /// One tool call, as an agent would make it.
    pub(super) fn call(&mut self, tool: Tool, pid: Option<u32>, action: Action) -> Answer {
        let call = Call::new(tool, pid, action);
        self.links.run(&call, &Cancel::new())
    }

    /// Calls a tool and checks that its answer, or the tree that it wrote, contains this text.
    pub(super) fn expect(
        &mut self,
        name: &str,
        tool: Tool,
        pid: Option<u32>,
        action: Action,
        wanted: &str,
    ) -> Option<Answer> {
        let start = Instant::now();
        let answer = self.call(tool, pid, action);
        let time = start.elapsed();
        let tree = tree_of(&answer).unwrap_or_default();
        let good = !answer.is_error && (answer.text.contains(wanted) || tree.contains(wanted));
        self.note(name, judged(&answer, good, wanted, time));
        good.then_some(answer)
    }
}

fn judged(answer: &Answer, good: bool, wanted: &str, took: Duration) -> Found {
    let said = field(answer, "summary").or_else(|| field(answer, "error"));
    let said = said.unwrap_or_default();
    let ms = took.as_millis();
    if good {
        Ok(format!("{said} ({ms} ms)"))
    } else {
        Err(format!(
            "no '{wanted}' in the answer or the tree: {said} ({ms} ms)"
        ))
    }
}

/// The value of a line in a summary.
pub(super) fn field<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer
        .text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Reads the tree file of an answer.
pub(super) fn tree_of(answer: &Answer) -> Option<String> {
    std::fs::read_to_string(field(answer, "file")?).ok()
}
