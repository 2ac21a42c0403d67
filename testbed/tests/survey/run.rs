//! Surveys one app: open, read, compare, one click, one text.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use deskline_core::{Rect, States};
use deskline_testbed::web::Page;
use deskline_testbed::{Answer, Bed, Client};
use serde_json::{Value, json};

use crate::compare::{Missing, missing, texts};
use crate::shown::{self, Screenful, Shown};

/// The time limit for an app to start, or to show an effect.
const PATIENCE: Duration = Duration::from_secs(40);
/// The time limit of a call.
const CALL: Duration = Duration::from_secs(60);
/// A text counts as missing after this many readings: content of apps may blink, or still be
/// loading.
const ROUNDS: usize = 3;

/// The outcome of a step; the error describes the observation.
pub type Outcome = Result<(), String>;

/// A visible text that cannot be in our tree.
#[derive(Debug)]
pub struct Gap {
    /// The native role; empty for any.
    pub role: &'static str,
    /// A part of the text.
    pub text: &'static str,
    pub reason: &'static str,
}

/// How to start an app.
#[derive(Debug, Default)]
pub struct Opening {
    /// The argument of `open_application_and_traverse`.
    pub command: String,
    pub page: Option<Page>,
}

impl From<String> for Opening {
    fn from(command: String) -> Self {
        Self {
            command,
            page: None,
        }
    }
}

/// An app, its content, and the steps in it.
#[derive(Debug)]
pub struct Subject {
    pub name: &'static str,
    pub toolkit: &'static str,
    /// Creates the content.
    pub open: fn(&Bed) -> Opening,
    /// Words that show when the content is loaded.
    pub ready: &'static str,
    /// Clicks, and checks the effect that the app shows.
    pub click: fn(&Run<'_>) -> Outcome,
    /// Types, and checks the text that the app shows or saves.
    pub text: fn(&Run<'_>) -> Outcome,
    pub gaps: &'static [Gap],
}

/// A running app on a bed.
pub struct Run<'b> {
    bed: &'b Bed,
    server: Client,
    pub pid: u32,
    page: Option<Page>,
    /// Whether its texts are known only from the picture.
    treeless: bool,
}

impl Run<'_> {
    /// Calls a tool with the app's pid. An error answer is an error.
    pub fn call(&self, tool: &str, mut arguments: Value) -> Result<Answer, String> {
        arguments["pid"] = self.pid.into();
        let answer = self.server.call_timeout(tool, arguments.clone(), CALL);
        let answer = answer.ok_or_else(|| format!("{tool} {arguments}: no answer"))?;
        if answer.is_error {
            return Err(format!("{tool} {arguments}: {}", answer.error()));
        }
        Ok(answer)
    }

    pub fn click(&self, role: &str, element: &str) -> Result<Answer, String> {
        let target = json!({"role": role, "element": element});
        self.call("click_and_traverse", target)
    }

    /// Types, then presses a key if one is given.
    pub fn types(&self, text: &str, key: Option<&str>) -> Result<Answer, String> {
        let mut arguments = json!({"text": text});
        if let Some(key) = key {
            arguments["pressKey"] = key.into();
        }
        self.call("type_and_traverse", arguments)
    }

    /// Presses a key with modifiers.
    pub fn key(&self, key: &str, modifiers: &[&str]) -> Result<Answer, String> {
        let arguments = json!({"keyName": key, "modifierFlags": modifiers});
        self.call("press_key_and_traverse", arguments)
    }

    /// Waits until libatspi reports such an element as showing.
    pub fn shows(&self, what: &str, like: impl Fn(&Shown) -> bool) -> Outcome {
        wait(what, || self.screenful().shown.iter().any(&like))
    }

    /// Waits until a text field with exactly this text shows.
    pub fn shows_text(&self, what: &str, text: &str) -> Outcome {
        self.shows(what, |shown| shown.role == "text" && shown.text == text)
    }

    /// Waits until the button or box with this name is on.
    pub fn shows_checked(&self, name: &str) -> Outcome {
        let is_on = |shown: &Shown| shown.name == name && shown.is("checked");
        self.shows(&format!("{name} on"), is_on)
    }

    /// Waits until libatspi reports no such element as showing.
    pub fn hides(&self, what: &str, like: impl Fn(&Shown) -> bool) -> Outcome {
        wait(&format!("an end of {what}"), || {
            !self.screenful().shown.iter().any(&like)
        })
    }

    /// Whether the app shows these words now.
    pub fn has(&self, words: &str) -> bool {
        self.screenful().shown.iter().any(|shown| shown.says(words))
    }

    /// The name that this version of the app shows: the old one or the new one.
    pub fn either(&self, old: &'static str, new: &'static str) -> &'static str {
        if self.has(old) { old } else { new }
    }

    /// Waits until the app shows these words.
    pub fn says(&self, words: &str) -> Outcome {
        if self.treeless {
            let read = || self.call("refresh_traversal", json!({}));
            let has = |answer: Answer| {
                let mut texts = answer.lines().into_iter().filter_map(|line| line.text);
                texts.any(|text| text.shown.contains(words))
            };
            return wait(words, || read().is_ok_and(has));
        }
        self.shows(words, |shown| shown.says(words))
    }

    /// The place of its window.
    pub fn window(&self) -> Result<Rect, String> {
        let read = self.call("refresh_traversal", json!({}))?;
        let mut windows = read
            .lines()
            .into_iter()
            .filter(|line| line.role.ax() == "AXWindow");
        let window = windows.next().and_then(|line| line.extents);
        window.ok_or_else(|| "no window".to_owned())
    }

    /// Types into the visible password field, which has no name to find it by.
    pub fn types_password(&self, password: &str) -> Result<Answer, String> {
        let read = self.call("refresh_traversal", json!({}))?;
        let lines = read.lines();
        let field = lines
            .iter()
            .find(|line| line.visible && line.states.contains(States::SECURE))
            .and_then(|line| line.extents)
            .ok_or("no password field shows")?;
        let (x, y) = (field.x + 20, field.y + field.h / 2);
        let place = json!({"x": x, "y": y, "text": password, "pressKey": "Return"});
        self.call("click_and_traverse", place)
    }

    /// Waits until a file of the bed contains these words.
    pub fn file_has(&self, name: &str, words: &str) -> Outcome {
        let path = self.bed.path(name);
        wait(&format!("{words:?} in {name}"), || {
            fs::read(&path).is_ok_and(|c| String::from_utf8_lossy(&c).contains(words))
        })
    }

    /// Waits until the page has reported this line.
    pub fn page_says(&self, line: &str) -> Outcome {
        let page = self.page.as_ref().ok_or("no page")?;
        wait(&format!("{line:?} from the page"), || {
            page.log().iter().any(|l| l == line)
        })
    }

    /// How many such elements the app shows.
    pub fn count(&self, like: impl Fn(&Shown) -> bool) -> usize {
        self.screenful()
            .shown
            .iter()
            .filter(|shown| like(shown))
            .count()
    }

    /// The path of a file of the app's content.
    pub fn path(&self, name: &str) -> PathBuf {
        self.bed.path(name)
    }

    fn screenful(&self) -> Screenful {
        shown::read(self.bed, self.pid)
    }
}

/// Polls until the condition holds.
pub fn wait(what: &str, mut there: impl FnMut() -> bool) -> Outcome {
    let deadline = Instant::now() + PATIENCE;
    while !there() {
        if Instant::now() > deadline {
            return Err(format!("the app did not show {what}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// A row of the table.
#[derive(Debug)]
struct Findings {
    /// As the app reports it.
    toolkit: Option<String>,
    elements: String,
    milliseconds: u128,
    shown: usize,
    missing: Vec<Missing>,
    click: Outcome,
    text: Outcome,
}

/// Surveys an app and prints its row.
///
/// # Panics
/// If a text is missing without a reason, or a step had no effect.
pub fn survey(subject: &Subject) {
    let bed = Bed::new();
    let opening = (subject.open)(&bed);
    let server = bed.server(&["--guard", "input"]);
    let open = json!({"identifier": opening.command});
    let opened = server.call_timeout("open_application_and_traverse", open, CALL);
    let opened = opened.unwrap_or_else(|| panic!("{} did not open", subject.name));
    // On a busy machine an app may still be starting: the error then has its pid and advises to
    // wait.
    let starting = opened.is_error && opened.error().contains("does not answer");
    assert!(starting || !opened.is_error, "{opened}");
    let run = Run {
        pid: opened.pid(),
        bed: &bed,
        server,
        page: opening.page,
        treeless: opened.get("no_tree").is_some(),
    };
    let expected = subject.toolkit.ends_with("no tree");
    assert_eq!(run.treeless, expected, "{opened}");
    if let Err(e) = run.says(subject.ready) {
        keep(subject, &run, "never ready");
        panic!("{}: {e}", subject.name);
    }
    let mut findings = compare(&run);
    keep(subject, &run, "read");
    let person = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    let front = person.window.id;
    person.bring_to_front();
    findings.click = (subject.click)(&run);
    keep(subject, &run, "clicked");
    findings.text = (subject.text)(&run);
    keep(subject, &run, "typed");
    if findings.text.is_ok() {
        let back = || bed.screen().front() == front;
        findings.text = wait("the person's window in front again", back);
    }
    // Compare again, with what the steps have opened.
    let after = compare(&run);
    let new = after
        .missing
        .into_iter()
        .filter(|text| !findings.missing.contains(text));
    let new: Vec<Missing> = new.collect();
    findings.missing.extend(new);
    findings.shown = findings.shown.max(after.shown);
    report(subject, &findings);
}

/// Reads the app with libatspi and with Deskline, and compares.
fn compare(run: &Run<'_>) -> Findings {
    let mut findings = Findings {
        toolkit: None,
        elements: String::new(),
        milliseconds: 0,
        shown: 0,
        missing: Vec::new(),
        click: Ok(()),
        text: Ok(()),
    };
    for round in 0..ROUNDS {
        let begun = Instant::now();
        let answer = run.call("refresh_traversal", json!({})).unwrap();
        findings.milliseconds = begun.elapsed().as_millis();
        let size = answer.field("file_size");
        let count = size.split_once('(').map_or(size, |(_, rest)| rest);
        findings.elements = count.trim_end_matches(" elements)").to_owned();
        let screenful = run.screenful();
        assert!(screenful.whole, "libatspi did not read all of it in time");
        findings.toolkit = screenful.toolkit;
        findings.shown = texts(&screenful.shown).len();
        let scoped = answer.get("dialog").is_some();
        let mut now = missing(&screenful.shown, &answer.lines(), scoped);
        if round > 0 {
            now.retain(|text| findings.missing.contains(text));
        }
        findings.missing = now;
        if findings.missing.is_empty() {
            break;
        }
    }
    findings
}

fn report(subject: &Subject, findings: &Findings) {
    let mut unexplained = false;
    let mut notes = String::new();
    let fits = |gap: &Gap, text: &Missing| {
        (gap.role.is_empty() || gap.role == text.role) && text.text.contains(gap.text)
    };
    for text in &findings.missing {
        let gap = subject.gaps.iter().find(|gap| fits(gap, text));
        let how = if text.hidden {
            "not visible"
        } else {
            "missing"
        };
        let why = gap.map_or("?", |gap| gap.reason);
        let _ = writeln!(notes, "  {how}: [{}] {:?}: {why}", text.role, text.text);
        unexplained |= gap.is_none();
    }
    for gap in subject.gaps {
        if !findings.missing.iter().any(|text| fits(gap, text)) {
            let _ = writeln!(notes, "  not needed any more: {gap:?}");
        }
    }
    for (step, outcome) in [("click", &findings.click), ("text", &findings.text)] {
        if let Err(e) = outcome {
            let _ = writeln!(notes, "  {step}: {e}");
        }
    }
    let mark = |outcome: &Outcome| if outcome.is_ok() { "✓" } else { "✗" };
    let row = format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        subject.name,
        findings.toolkit.as_deref().unwrap_or(subject.toolkit),
        findings.elements,
        findings.milliseconds,
        findings.shown,
        findings.missing.len(),
        mark(&findings.click),
        mark(&findings.text),
    );
    println!("\n{row}\n{notes}");
    if let Some(folder) = kept() {
        let name = format!("{}.row", subject.name);
        fs::write(folder.join(name), format!("{row}\n{notes}")).unwrap();
    }
    let done = findings.click.is_ok() && findings.text.is_ok();
    assert!(done && !unexplained, "{}: see above", subject.name);
}

/// The folder for rows, trees and pictures, if one is set.
fn kept() -> Option<PathBuf> {
    std::env::var_os("DESKLINE_SURVEY_OUT").map(PathBuf::from)
}

/// Saves both readings of an app and its picture.
fn keep(subject: &Subject, run: &Run<'_>, when: &str) {
    let Some(folder) = kept() else { return };
    let base = folder.join(format!("{}, {when}", subject.name));
    let put = |end: &str, content: &[u8]| {
        fs::write(format!("{}.{end}", base.display()), content).unwrap();
    };
    put("shown", format!("{:#?}", run.screenful().shown).as_bytes());
    match run.call("refresh_traversal", json!({})) {
        Ok(answer) => {
            put("summary", answer.text.as_bytes());
            put("tree", answer.file().as_bytes());
            if let Some(Ok(picture)) = answer.get("screenshot").map(fs::read) {
                put("png", &picture);
            }
        }
        Err(e) => put("summary", e.as_bytes()),
    }
}
