//! A self-test of the program on a real system: calls, and the findings of its report.

pub mod guard;
mod helper;
pub mod tools;

use std::fmt::{self, Debug, Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::{KeyPress, escape};
use deskline_journal::Journal;
use serde::Serialize;

use crate::doctor::{Check, Status};
use crate::{Action, Answer, Call, Cancel, Links, Platform, Policy};
pub use helper::Helper;

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// The observation.
    pub seen: String,
}

/// The report, to be sent back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    pub deskline: &'static str,
    /// The version of the operating system and the processor.
    pub system: String,
    pub passed: bool,
    /// How long the whole test took.
    pub seconds: u64,
    /// One finding for each check, in their order.
    pub findings: Vec<Finding>,
}

/// Why a check did not pass.
pub enum Miss {
    Failed(String),
    /// The check could not be made on this system, which does not count as a failure.
    Skipped(String),
}

impl Debug for Miss {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (Self::Failed(why) | Self::Skipped(why)) = self;
        f.write_str(why)
    }
}

impl<E: Display> From<E> for Miss {
    fn from(why: E) -> Self {
        Self::Failed(why.to_string())
    }
}

/// An observation, as a success or a failure.
pub type Found = Result<String, Miss>;

pub fn judge(good: bool, seen: impl Into<String>) -> Found {
    let seen = seen.into();
    if good {
        Ok(seen)
    } else {
        Err(Miss::Failed(seen))
    }
}

pub fn skip(why: impl Display) -> Miss {
    Miss::Skipped(why.to_string())
}

/// Calls `look` until it finds something, for at most `time`.
pub fn within<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let every = Duration::from_millis(10);
    let found = crate::wait::until(&Cancel::new(), time, every, || Ok(look()));
    found.unwrap_or_default()
}

/// The role of a process in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The test itself.
    #[default]
    Test,
    /// Closes the guard until this process is killed.
    HoldGuard,
    /// Shows the guard's banner until the system asks it to quit.
    Banner,
    /// A window that prints the input that reaches it.
    Window,
    /// Prints the ids of an app's elements.
    Ids(u32),
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "test" => Ok(Self::Test),
            None if text == "hold-guard" => Ok(Self::HoldGuard),
            None if text == "banner" => Ok(Self::Banner),
            None if text == "window" => Ok(Self::Window),
            Some(("ids", pid)) => pid.parse().map(Self::Ids).map_err(|_| "no pid".into()),
            _ => Err("test, hold-guard, banner, window or ids=PID".into()),
        }
    }
}

/// The test in progress.
pub struct Sheet<'t> {
    pub links: Links,
    report: Report,
    start: Instant,
    say: &'t mut dyn FnMut(&str),
    /// Names the app in front.
    front: Box<dyn Fn() -> String + 't>,
}

impl<'t> Sheet<'t> {
    pub fn new(
        platform: Arc<dyn Platform>,
        journal: Journal,
        system: String,
        say: &'t mut dyn FnMut(&str),
        front: impl Fn() -> String + 't,
    ) -> Self {
        let deskline = env!("CARGO_PKG_VERSION");
        say(&format!("deskline {deskline} selftest on {system}"));
        say(&format!("journal: {}", journal.path().display()));
        Self {
            links: Links::new(platform, journal, Policy::default()),
            report: Report {
                deskline,
                system,
                passed: true,
                ..Report::default()
            },
            start: Instant::now(),
            say,
            front: Box::new(front),
        }
    }

    pub fn say(&mut self, line: &str) {
        (self.say)(line);
    }

    /// Adds a finding and prints it on one line. A failed check names the app in front, which may
    /// be a dialog of the system.
    pub fn note(&mut self, name: &str, found: Found) {
        let (mark, ok, text) = match found {
            Ok(text) => ('✓', true, text),
            Err(Miss::Skipped(why)) => ('✓', true, format!("skipped: {why}")),
            Err(Miss::Failed(text)) => {
                ('✗', false, format!("{text} (in front: {})", (self.front)()))
            }
        };
        let seen = escape::short(text.trim(), 700);
        (self.say)(&format!("{mark} {name}: {seen}"));
        let name = name.to_owned();
        self.report.passed &= ok;
        self.report.findings.push(Finding { name, ok, seen });
    }

    /// Adds the doctor's findings.
    pub fn examined(&mut self, checks: &[Check]) {
        for Check {
            name,
            status,
            finding,
            remedy,
            ..
        } in checks
        {
            let arrow = if *status == Status::Fail { "→ " } else { "" };
            let seen = format!("{finding} {arrow}{remedy}");
            self.note(name, judge(*status != Status::Fail, seen));
        }
    }

    /// Lists the checks that only the person can make.
    pub fn by_hand(&mut self, checks: &[&str]) {
        for check in checks {
            self.say(&format!("By hand: {check}"));
        }
    }

    /// One tool call, as an agent would make it.
    pub fn call(&mut self, pid: Option<u32>, action: Action) -> Answer {
        self.links.run(&Call::new(pid, action), &Cancel::new())
    }

    /// Presses a key in an app.
    pub fn press(&mut self, pid: u32, key: &str, modifiers: &[&str]) -> Answer {
        match press(key, modifiers) {
            Ok(action) => self.call(Some(pid), action),
            Err(why) => crate::error_answer(&why),
        }
    }

    /// Opens an app, a file or an address. Returns the pid that the answer names.
    pub fn open(&mut self, identifier: &str) -> (Answer, Option<u32>) {
        let answer = self.call(None, Action::open(identifier));
        let pid = field(&answer, "pid").and_then(|pid| pid.parse().ok());
        (answer, pid)
    }

    /// The tree file of an app, read now.
    pub fn tree(&mut self, pid: u32) -> String {
        let answer = self.call(Some(pid), Action::Refresh);
        tree_of(&answer).unwrap_or_default()
    }

    /// Calls a tool and checks that its answer, or the tree that it wrote, contains `wanted`.
    pub fn expect(
        &mut self,
        name: &str,
        pid: Option<u32>,
        action: Action,
        wanted: &str,
    ) -> Option<Answer> {
        let start = Instant::now();
        let answer = self.call(pid, action);
        let ms = start.elapsed().as_millis();
        let tree = tree_of(&answer).unwrap_or_default();
        let good = !answer.is_error && (answer.text.contains(wanted) || tree.contains(wanted));
        let said = field(&answer, "summary").or_else(|| field(&answer, "error"));
        let said = said.unwrap_or_default();
        let seen = if good {
            format!("{said} ({ms} ms)")
        } else {
            format!("no '{wanted}' in the answer or the tree: {said} ({ms} ms)")
        };
        self.note(name, judge(good, seen));
        good.then_some(answer)
    }

    /// Prints the result.
    pub fn end(mut self) -> Report {
        let seconds = self.start.elapsed().as_secs();
        self.report.seconds = seconds;
        let good = self.report.findings.iter().filter(|f| f.ok).count();
        let bad = self.report.findings.len() - good;
        self.say(&format!(
            "{good} as they should be, {bad} not, in {seconds} s. Please send all of this back."
        ));
        self.report
    }
}

pub fn press(key: &str, modifiers: &[&str]) -> Result<Action, String> {
    let press = KeyPress::parse(key, modifiers).map_err(|e| e.to_string())?;
    Ok(Action::press_key(press))
}

/// The error or the summary of an answer.
pub fn said(answer: &Answer) -> &str {
    let said = field(answer, "error").or_else(|| field(answer, "summary"));
    said.unwrap_or_default()
}

/// The value of a line in a summary.
pub fn field<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let mut lines = answer.text.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Reads the tree file of an answer.
pub fn tree_of(answer: &Answer) -> Option<String> {
    std::fs::read_to_string(field(answer, "file")?).ok()
}
