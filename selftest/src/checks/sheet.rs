//! The sheet of the test: tool calls, and the findings of its report.

use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::{KeyPress, escape};
use deskline_journal::Journal;
use deskline_link::doctor::{Check, Status};
use deskline_link::{
    Action, Answer, Call, Cancel, Desktop, Links, Picture, Platform, Policy, Window, WindowId, wait,
};
use serde::Serialize;

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
    let found = wait::until(&Cancel::new(), time, every, || Ok(look()));
    found.unwrap_or_default()
}

/// The test in progress.
pub struct Sheet<'t> {
    pub links: Links,
    pub platform: Arc<dyn Platform>,
    /// Sees and does what no tool does. `None` until the doctor's findings are on the sheet.
    desktop: Option<Box<dyn Desktop>>,
    report: Report,
    start: Instant,
    say: &'t mut dyn FnMut(&str),
}

impl<'t> Sheet<'t> {
    fn new(platform: Arc<dyn Platform>, journal: Journal, say: &'t mut dyn FnMut(&str)) -> Self {
        let deskline = env!("CARGO_PKG_VERSION");
        // The first fact is the version of the system.
        let system = platform.facts().into_iter().next().unwrap_or_default();
        say(&format!("deskline {deskline} selftest on {system}"));
        say(&format!("journal: {}", journal.path().display()));
        Self {
            links: Links::new(Arc::clone(&platform), journal, Policy::default()),
            platform,
            desktop: None,
            report: Report {
                deskline,
                system,
                passed: true,
                ..Report::default()
            },
            start: Instant::now(),
            say,
        }
    }

    pub fn desktop(&mut self) -> Result<&mut dyn Desktop, Miss> {
        Ok(self.desktop.as_mut().ok_or("there is no desktop")?.as_mut())
    }

    /// The pid of the app in front.
    pub fn front(&mut self) -> Option<u32> {
        self.desktop().ok()?.front().ok()??.pid
    }

    /// Its name.
    fn named(&mut self) -> Option<String> {
        let apps = self.desktop().ok()?.applications().ok()?;
        Some(apps.into_iter().find(|app| app.front)?.app.name)
    }

    /// Brings a window to the front without a link: a link would restore the old front window.
    pub fn raise(&mut self, window: &Window) -> Result<(), Miss> {
        let desktop = self.desktop()?;
        // What the last window covered stays as it is.
        desktop.begin_link(true);
        let raising = desktop.raising().map_err(|missing| missing.0)?;
        Ok(raising.activate(window.id, &Cancel::new())?)
    }

    /// Brings the first window of an app to the front.
    pub fn show(&mut self, pid: u32) -> Option<Window> {
        let window = self.window(pid).ok()?;
        self.raise(&window).ok()?;
        Some(window)
    }

    /// The first window of an app.
    pub fn window(&mut self, pid: u32) -> Result<Window, Miss> {
        let windows = self.desktop()?.windows_of(pid)?;
        windows
            .into_iter()
            .next()
            .ok_or_else(|| skip("there is no window"))
    }

    pub fn picture(&mut self, window: WindowId) -> Result<Picture, Miss> {
        let pictures = self.desktop()?.pictures().map_err(|missing| missing.0)?;
        Ok(pictures.picture(window)?)
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
                let front = self.named().unwrap_or_else(|| "no app".into());
                ('✗', false, format!("{text} (in front: {front})"))
            }
        };
        let seen = escape::short(text.trim(), 700);
        (self.say)(&format!("{mark} {name}: {seen}"));
        let name = name.to_owned();
        self.report.passed &= ok;
        self.report.findings.push(Finding { name, ok, seen });
    }

    /// Adds the doctor's findings.
    fn examined(&mut self, checks: &[Check]) {
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
            Err(why) => deskline_link::error_answer(&why),
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
    fn end(mut self) -> Report {
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

/// Notes what the doctor found, makes the checks if there is a desktop, and says what only the
/// person can check.
pub fn run(
    platform: &Arc<dyn Platform>,
    journal: Journal,
    examined: &[Check],
    by_hand: &[&str],
    say: &mut dyn FnMut(&str),
    checks: impl FnOnce(&mut Sheet),
) -> Report {
    let mut sheet = Sheet::new(Arc::clone(platform), journal, say);
    sheet.examined(examined);
    match platform.connect() {
        Ok(desktop) => {
            sheet.desktop = Some(desktop);
            checks(&mut sheet);
            sheet.by_hand(by_hand);
        }
        Err(error) => sheet.note("desktop", Err(error.into())),
    }
    sheet.end()
}
