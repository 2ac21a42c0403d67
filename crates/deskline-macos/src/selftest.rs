//! `deskline selftest`: checks what only a real Mac can show. Opens `TextEdit` and Calculator,
//! tries each tool and each guarantee of the guard, and prints one line for each finding, to be
//! sent back.

mod effects;
mod guard;
mod tools;

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_journal::Journal;
use deskline_link::doctor::{Check, Status};
use deskline_link::{Action, Answer, Call, Cancel, Links, Policy, Tool};

use crate::doctor;
use crate::os::Os;
use crate::permissions::Holder;
use crate::platform::MacPlatform;
use crate::{activate, windows};

/// The role of a process in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The test itself.
    #[default]
    Test,
    /// Closes the guard until it is killed.
    HoldGuard,
    /// Prints the ids of an app's elements.
    Ids(u32),
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "test" => Ok(Self::Test),
            None if text == "hold-guard" => Ok(Self::HoldGuard),
            Some(("ids", pid)) => pid.parse().map(Self::Ids).map_err(|_| "no pid".into()),
            _ => Err("test, hold-guard or ids=PID".into()),
        }
    }
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was checked.
    pub name: String,
    /// Whether it is as it should be.
    pub good: bool,
    /// What was seen.
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

    fn bad(&self) -> usize {
        self.findings.iter().filter(|f| !f.good).count()
    }

    /// The report for programs.
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
fn system() -> String {
    let sw_vers = std::process::Command::new("/usr/bin/sw_vers")
        .arg("-productVersion")
        .output();
    let version = sw_vers.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|_| "of an unknown version".into());
    format!("macOS {version}, {}", std::env::consts::ARCH)
}

/// The name of the finding about whose permission applies.
const PERMISSION: &str = "permission under the launching app";

/// A finding: what was seen, as a success or a failure.
type Found = Result<String, String>;

/// The test in progress.
struct Test<'t, O: Os> {
    os: &'t O,
    links: Links,
    journal: Journal,
    /// This executable, for starting the other roles.
    program: Option<&'t Path>,
    report: Report,
    /// The processes that there were before.
    before: HashSet<u32>,
    /// The apps that the test has opened.
    started: Vec<(u32, String)>,
    say: &'t mut dyn FnMut(&str),
}

/// Runs a role. `program` is this executable; if `None`, the checks that need a second process are
/// skipped.
pub fn run<O: Os>(
    os: &O,
    journal: Journal,
    role: Role,
    program: Option<&Path>,
    mut say: impl FnMut(&str),
) -> Report {
    let say: &mut dyn FnMut(&str) = &mut say;
    match role {
        Role::HoldGuard => {
            guard::hold(os, say);
            return Report::default();
        }
        Role::Ids(pid) => {
            for id in tools::ids(os, pid) {
                say(&id);
            }
            return Report::default();
        }
        Role::Test => {}
    }
    let platform = Arc::new(MacPlatform::new(os.clone()));
    let mut test = Test {
        os,
        links: Links::new(platform, journal.clone(), Policy::default()),
        journal,
        program,
        report: Report::default(),
        before: os.apps().into_iter().map(|app| app.pid).collect(),
        started: Vec::new(),
        say,
    };
    test.run();
    test.report
}

impl<O: Os> Test<'_, O> {
    fn run(&mut self) {
        let (version, system) = (env!("CARGO_PKG_VERSION"), system());
        (self.say)(&format!("deskline {version} selftest on {system}"));
        (self.say)(&format!("journal: {}", self.journal.path().display()));
        for check in doctor::examine(self.os, std::process::id()) {
            self.check(&check);
        }
        if !self.os.trusted() {
            self.os.ask_for_trust();
            (self.say)("Allow Accessibility as said above, then run this again.");
            return;
        }
        let start = Instant::now();
        let front = windows::front(self.os);
        self.permission(front.as_ref().and_then(|window| window.pid));
        if let Some(editor) = self.tools() {
            // Bring it to the front for the guard's checks, which send keys without a link. A link
            // would restore the old front window.
            let window = windows::of_app(self.os, editor).first().map(|(w, _)| w.id);
            if let Some(window) = window {
                let _ = activate::window(self.os, window, &Cancel::new());
            }
            self.guard(editor);
        }
        self.windowless();
        self.chromium();
        self.close_all();
        if let Some(front) = front {
            let _ = activate::window(self.os, front.id, &Cancel::new());
        }
        self.report.seconds = start.elapsed().as_secs();
        let bad = self.report.bad();
        (self.say)(&format!(
            "{} as they should be, {bad} not, in {} s. Please send all of this back.",
            self.report.findings.len() - bad,
            self.report.seconds
        ));
    }

    /// Whose permission applies here, judged by whether the front app answers: a stale grant is trusted
    /// and refused.
    fn permission(&mut self, front: Option<u32>) {
        let holder = Holder::of(self.os, std::process::id());
        let Some(pid) = front else {
            return self.note(PERMISSION, Ok("skipped: no app is in front".into()));
        };
        let app = self.os.application(pid);
        let answer = match self.os.attributes(&app, &["AXRole"]) {
            Ok(_) => Ok("answers"),
            Err(e) => Err(e.to_string()),
        };
        let (name, path) = (&holder.name, holder.path.display());
        let seen = |how: &str| format!("of {name} ({path}): pid {pid} {how}");
        self.note(
            PERMISSION,
            match answer {
                Ok(how) => Ok(seen(how)),
                Err(e) => Err(seen(&format!("does not answer: {e}"))),
            },
        );
    }

    fn check(&mut self, check: &Check) {
        let finding = match check.status {
            Status::Fail => Err(format!("{} → {}", check.finding, check.remedy)),
            Status::Ok | Status::Warn => Ok(format!("{} {}", check.finding, check.remedy)),
        };
        self.note(check.name, finding);
    }

    /// Counts a finding and prints it on one line.
    fn note(&mut self, name: &str, found: Found) {
        let (mark, good, text) = match found {
            Ok(text) => ('✓', true, text),
            Err(text) => ('✗', false, text),
        };
        let seen = deskline_core::escape::short(text.trim(), 700);
        (self.say)(&format!("{mark} {name}: {seen}"));
        let name = name.to_owned();
        self.report.findings.push(Finding { name, good, seen });
    }

    /// One tool call, as an agent would make it.
    fn call(&mut self, tool: Tool, pid: Option<u32>, action: Action) -> Answer {
        let call = Call::new(tool, pid, action);
        self.links.run(&call, &Cancel::new())
    }

    /// Calls a tool and checks that its answer, or the tree that it wrote, contains this text.
    fn expect(
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
fn field<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer
        .text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Reads the tree file of an answer.
fn tree_of(answer: &Answer) -> Option<String> {
    std::fs::read_to_string(field(answer, "file")?).ok()
}
