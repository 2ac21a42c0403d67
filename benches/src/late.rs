//! Late changes: the changes of an app after the answer to a link and before the next link.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use deskline_testbed::{Bed, deskline};
use serde_json::{Value, json};

use crate::driver::file;
use crate::mcp::{Mcp, serve};
use crate::subject::{self, Subject};

/// An app may change this long after an answer for the change to count as the link's.
const LATE: Duration = Duration::from_millis(500);

/// Differences between two readings this far apart are changes that the app makes by itself.
const AFTERWARDS: Duration = Duration::from_millis(300);

/// The late changes that were found.
#[derive(Debug, Default)]
pub struct Late {
    /// The links after whose answers something visible changed.
    pub changed: usize,
    /// The links after whose answers only texts changed that the app updates on a timer.
    pub timed: usize,
    /// The links that were answered.
    pub links: usize,
}

impl Late {
    /// Makes a link, and compares the visible elements some time after its answer. A link that is
    /// refused is not counted: its element or window is missing at that moment.
    pub fn link(
        &mut self,
        name: &str,
        server: &mut Mcp,
        pid: u32,
        link: &(&str, &str),
        timers: &[&str],
    ) {
        let (tool, arguments) = link;
        let mut arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        arguments["pid"] = json!(pid);
        let answered = match server.call(tool, arguments) {
            Ok(answered) => answered,
            Err(why) => {
                eprintln!("  {name} refused {tool} {}: {why:.300}", link.1);
                return;
            }
        };
        let Ok(first) = file(&answered.text) else {
            return;
        };
        let mut reading = |after| {
            sleep(after);
            let read = server.call("refresh_traversal", json!({"pid": pid}));
            read.and_then(|read| file(&read.text))
        };
        let (Ok(later), Ok(last)) = (reading(LATE), reading(AFTERWARDS)) else {
            return;
        };
        // An element that still changes then changes by itself: a spinner, a clock.
        let restless = differences(&later, &last);
        let restless: BTreeSet<&str> = restless.iter().map(|line| element(line)).collect();
        let mut changed = differences(&first, &later);
        changed.retain(|line| !restless.contains(element(line)));
        self.links += 1;
        let timed = |line: &&String| timers.iter().any(|timer| line.contains(timer));
        let by_timer: Vec<_> = changed
            .iter()
            .filter(timed)
            .map(|line| element(line))
            .collect();
        let all_timed = changed.iter().all(|line| by_timer.contains(&element(line)));
        if !changed.is_empty() && all_timed {
            self.timed += 1;
        } else if !changed.is_empty() {
            self.changed += 1;
            eprintln!(
                "  {name} late after {tool} {}: {:.300}",
                link.1,
                changed.join(" | ")
            );
        }
    }
}

/// A table of the late changes in `count` links on each of ten apps, next to those of another
/// build. Another app's window is in front before each link, unless the measured app is to be in
/// front.
pub fn markdown(
    bed: &Bed,
    only: &str,
    count: usize,
    in_front: bool,
    beside: Option<&Path>,
) -> String {
    let mut out = String::from("| app | late changes | earlier |\n|---|---|---|\n");
    let mut sums = [Late::default(), Late::default()];
    let apps = subject::FURTHER.iter().chain(subject::ALL);
    let apps = apps.filter(|s| s.name.contains(only) && !subject::SAME_APPS.contains(&s.name));
    for subject in apps {
        eprintln!("{}: late changes", subject.name);
        let found = count_late(bed, subject, count, in_front, beside);
        row(&mut out, subject.name, &found);
        for (sum, of) in sums.iter_mut().zip(&found) {
            sum.changed += of.changed;
            sum.timed += of.timed;
            sum.links += of.links;
        }
    }
    row(&mut out, "all", &sums);
    out
}

fn row(out: &mut String, app: &str, [this, earlier]: &[Late; 2]) {
    let cell = |of: &Late| match of.links {
        0 => "–".to_owned(),
        links if of.timed == 0 => format!("{} of {links}", of.changed),
        links => format!("{} of {links}, and {} by timers", of.changed, of.timed),
    };
    let _ = writeln!(out, "| {app} | {} | {} |", cell(this), cell(earlier));
}

/// The late changes of this build and of another one.
fn count_late(
    bed: &Bed,
    subject: &Subject,
    count: usize,
    in_front: bool,
    beside: Option<&Path>,
) -> [Late; 2] {
    let running = subject.start(bed);
    // Two windows of one editor may belong to one process.
    let person = (!in_front).then(|| match subject.name {
        "mousepad" => bed.featherpad("").0,
        _ => bed.mousepad("").0,
    });
    let person = person.map(|app| (bed.screen().windows_of(app.pid)[0].id, app));
    let own = deskline();
    let mut builds: Vec<(&str, Mcp, Late)> = vec![];
    for (name, binary) in [("this", Some(Path::new(&own))), ("earlier", beside)] {
        let server = binary.and_then(|binary| serve(bed, binary, &bed.path(name)).ok());
        builds.extend(server.map(|server| (name, server, Late::default())));
    }
    // Further links replace refused ones, up to a limit.
    for round in 0..count * 3 / 2 {
        let at = round % subject.varied.len();
        // Each link restores the person's window, except one that leaves a menu open.
        if let (0, Some((window, _))) = (at, &person) {
            bed.screen().bring_to_front(*window);
        }
        for (name, server, late) in &mut builds {
            if late.links < count {
                late.link(
                    name,
                    server,
                    running.app.pid,
                    &subject.varied[at],
                    subject.timers,
                );
            }
        }
        // One build may close a window that the other has opened, so they take turns in going
        // first.
        if at + 1 == subject.varied.len() {
            builds.reverse();
        }
    }
    let mut found = [Late::default(), Late::default()];
    for (name, _, late) in builds {
        found[usize::from(name != "this")] = late;
    }
    found
}

/// The visible lines that are in only one of two tree files, without focus and progress.
fn differences(first: &str, later: &str) -> Vec<String> {
    let showing = |text: &str| {
        let tree = text
            .split_once("\n# tree:\n")
            .map_or(text, |(_, tree)| tree);
        let mut lines: BTreeMap<String, i32> = BTreeMap::new();
        let shown = tree
            .lines()
            .filter(|l| l.starts_with(' ') && l.contains(" visible"));
        // A link does not read the pictures that a refresh reads.
        let passing = ["AXProgress", "AXBusy", "(ocr)"];
        for line in shown.filter(|l| !passing.iter().any(|of| l.contains(of))) {
            *lines.entry(line.replace(" focused", "")).or_default() += 1;
        }
        lines
    };
    let (first, later) = (showing(first), showing(later));
    let count = |lines: &BTreeMap<String, i32>, line| lines.get(line).copied().unwrap_or(0);
    let mut all: Vec<&String> = first.keys().chain(later.keys()).collect();
    all.sort();
    all.dedup();
    let differs = all
        .into_iter()
        .filter(|line| count(&first, *line) != count(&later, *line));
    let sign = |line: &String| if first.contains_key(line) { '-' } else { '+' };
    differs
        .map(|line| format!("{}{}", sign(line), line.trim()))
        .collect()
}

/// The ref of a changed line's element.
fn element(line: &str) -> &str {
    let own = line.rsplit_once(" in #").map_or(line, |(own, _)| own);
    let mut words = own.split_whitespace();
    words.rfind(|word| word.starts_with("#e")).unwrap_or(line)
}
