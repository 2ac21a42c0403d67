//! A link's second traversal reuses hidden nodes of its first, and the next link's first traversal
//! reuses those of the second. They must give the same tree as a complete traversal through a fresh
//! connection: on every toolkit, while the app changes, and on a loaded machine.
//!
//! `DESKLINE_REUSE_RUNS` sets the number of runs for each app.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use deskline_atspi::{AtSpi, Windows};
use deskline_core::{Diff, Tree};
use deskline_link::{Deed, Scope};
use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, Toolkit, until};

const BUDGET: Duration = Duration::from_secs(3);
const WHOLE: Scope = Scope::Whole { budget: BUDGET };
const AGAIN: Scope = Scope::Again { budget: BUDGET };

/// A budget that is not enough for a large list.
const SHORT: Duration = Duration::from_millis(40);
const CUT: Scope = Scope::Whole { budget: SHORT };

/// A budget that is enough for a large list only if most of it was read before.
const CUT_AGAIN: Scope = Scope::Again {
    budget: Duration::from_millis(400),
};

/// An app that takes longer than this to answer counts as hung, even on a loaded machine.
const HANGS: Duration = Duration::from_millis(700);

/// A shorter pause than this means that more nodes are to be read.
const BETWEEN_BATCHES: Duration = Duration::from_millis(100);

fn runs() -> usize {
    let asked = std::env::var("DESKLINE_REUSE_RUNS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(3)
}

/// Processes that keep all cores busy, and end with the test's own, even if it is killed.
struct Load(Vec<Child>);

impl Load {
    fn new() -> Self {
        let spin = || {
            Command::new("sh")
                .args(["-c", "while kill -0 $PPID; do :; done"])
                .spawn()
        };
        Self((0..2).map(|_| spin().unwrap()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn connect(bed: &Bed) -> AtSpi {
    AtSpi::connect(&bed.accessibility()).unwrap()
}

/// Waits until no event comes for as long as a link waits.
fn await_silence(app: &mut AtSpi) {
    while app
        .wait_for_change(Duration::from_millis(60))
        .unwrap()
        .is_some()
    {}
}

/// The differences between two trees, one line an element.
fn differences(a: &Tree, b: &Tree) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    if a.elements.len() != b.elements.len() {
        lines.push(format!(
            "{} and {} elements",
            a.elements.len(),
            b.elements.len()
        ));
        let diff = Diff::between(a, b);
        lines.push(format!("{:?}", diff.changed_ids(a, b)));
    }
    for (a, b) in a.elements.iter().zip(&b.elements) {
        let (mut a, mut b) = (a.clone(), b.clone());
        // A traversal assigns no refs.
        a.reference = None;
        b.reference = None;
        if a != b {
            lines.push(format!("{a:?}\n  {b:?}"));
        }
        if lines.len() > 5 {
            break;
        }
    }
    lines
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Checks all the time whether an app answers.
struct Pings {
    stopped: Arc<AtomicBool>,
    latencies: JoinHandle<Vec<Duration>>,
}

impl Pings {
    fn start(bed: &Bed, pid: u32) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let mut atspi = connect(bed);
        let stop = stopped.clone();
        let latencies = std::thread::spawn(move || {
            let mut latencies = vec![];
            while !stop.load(Ordering::Relaxed) {
                let start = Instant::now();
                assert!(atspi.answers(pid).unwrap());
                latencies.push(start.elapsed());
            }
            latencies
        });
        Self { stopped, latencies }
    }

    fn stop(self) -> Vec<Duration> {
        self.stopped.store(true, Ordering::Relaxed);
        self.latencies.join().unwrap()
    }
}

/// When the app is changed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// By a link, which listens to the app.
    InLink,
    /// By the user, between two links.
    BetweenLinks,
    /// By the user, while the rest of the first link's reading is read.
    WhileReadOn,
}

/// Presses or selects something in the app, and compares the traversals, in a link and across two.
/// Returns whether the app stayed subscribed between them.
fn agree(bed: &Bed, app: &App<'_>, targets: &[&str]) -> bool {
    agrees(bed, app, targets, When::InLink);
    agrees(bed, app, targets, When::BetweenLinks)
}

fn agrees(bed: &Bed, app: &App<'_>, targets: &[&str], when: When) -> bool {
    let _load = Load::new();
    // Without the windows of the X server, GTK 4's extents are not known on the screen, and would
    // not be compared.
    let windows = Windows {
        unplaced: true,
        ..Windows::default()
    };
    let mut mirror = connect(bed);
    let mut fresh = connect(bed);
    let mut hand = connect(bed);
    mirror.listen(app.pid).unwrap();
    fresh.listen(app.pid).unwrap();
    let mut before = mirror.read(app.pid, WHOLE, &windows).unwrap();
    let (mut compared, mut changes, mut kept, mut cut) = (0, 0, false, 0);
    let scope = match when {
        When::WhileReadOn => CUT_AGAIN,
        _ => AGAIN,
    };
    let (mut whole, mut reused, mut latencies) = (vec![], vec![], vec![]);
    for run in 0..runs() {
        let target = &targets[run % targets.len()];
        let of = |tree: &Tree| {
            let mut all = tree.elements.iter();
            all.find(|e| e.title.shown == *target).map(|e| e.id.clone())
        };
        let id = of(&before).unwrap_or_else(|| panic!("no {target}"));
        let between = when != When::InLink;
        if when == When::WhileReadOn {
            mirror.stop_listening();
            mirror.listen(app.pid).unwrap();
            let first = mirror.read(app.pid, CUT, &windows).unwrap();
            assert!(!first.partial.is_empty(), "nothing is left to be read on");
        }
        if between {
            mirror.rest();
            mirror.idle();
        }
        hand.act(&id, Deed::Press)
            .or_else(|pressed| hand.act(&id, Deed::SetSelected(true)).map_err(|_| pressed))
            .unwrap();
        await_silence(if between { &mut fresh } else { &mut mirror });
        if between {
            let start = Instant::now();
            let pings = Pings::start(bed, app.pid);
            // Repeat until nothing more is due at once.
            while let Some(pause) = mirror.idle().filter(|pause| *pause < BETWEEN_BATCHES) {
                std::thread::sleep(pause);
                assert!(start.elapsed() < Duration::from_secs(20), "it never ends");
            }
            latencies.extend(pings.stop());
            kept |= mirror.idle().is_some();
            mirror.listen(app.pid).unwrap();
        }
        // If two complete traversals differ, the app is still changing.
        let settled = (0..10).find_map(|_| {
            let first = fresh.read(app.pid, WHOLE, &windows).unwrap();
            let start = Instant::now();
            let again = mirror.read(app.pid, scope, &windows).unwrap();
            reused.push(start.elapsed());
            let start = Instant::now();
            let last = fresh.read(app.pid, WHOLE, &windows).unwrap();
            whole.push(start.elapsed());
            differences(&first, &last)
                .is_empty()
                .then_some((again, last))
        });
        let Some((again, last)) = settled else {
            continue;
        };
        compared += 1;
        if when == When::WhileReadOn && !again.partial.is_empty() {
            // Change the list, so that earlier indexes are not valid any more.
            cut += 1;
            continue;
        }
        if again.partial != last.partial {
            // The budget was not enough for one of the traversals.
            cut += 1;
            continue;
        }
        let wrong = differences(&again, &last);
        assert!(
            wrong.is_empty(),
            "after {target}, run {run}:\n{}",
            wrong.join("\n")
        );
        changes += usize::from(!differences(&before, &last).is_empty());
        before = again;
    }
    if when == When::WhileReadOn {
        let worst = latencies.into_iter().max().unwrap();
        println!("while it is read on, the app answers after {worst:?} at the latest");
        assert!(worst < HANGS, "the app hangs while it is read on");
    }
    let [whole, reused] = [whole, reused].map(median);
    println!(
        "{when:?}: {compared} readings agree, {cut} of them cut, {changes} of them changed; \
        whole {whole:?}, again {reused:?}"
    );
    assert!(
        compared * 10 >= runs() * 9,
        "the app never settled: {compared}"
    );
    assert!(changes > 0, "nothing ever changed");
    assert!(cut * 2 < compared, "{cut} of {compared} were cut");
    kept
}

#[test]
fn a_reused_tree_equals_a_fresh_one_in_gtk_3_gtk_4_and_qt_5() {
    for toolkit in Toolkit::ALL {
        let bed = Bed::new();
        let app = bed.widgets(toolkit);
        println!("{toolkit:?}");
        let targets: &[&str] = match toolkit {
            // Its check boxes have no action.
            Toolkit::Gtk4 => &["Bold", "OK", "Second", "First", "Row 3"],
            _ => &["Wrap", "Bold", "Blue", "Red", "OK"],
        };
        agree(&bed, &app, targets);
    }
}

#[test]
fn a_reused_tree_equals_a_fresh_one_with_hidden_elements_in_gtk_3() {
    let bed = Bed::new();
    let app = bed.hidden();
    let targets = [
        "Longer",
        "Check behind",
        "More",
        "Fill behind",
        "Dim",
        "Less",
        "Longer behind",
        "Check",
        "More behind",
        "Fill",
        "Dim behind",
        "Less behind",
    ];
    agree(&bed, &app, &targets);
}

#[test]
fn a_reused_tree_equals_a_fresh_one_with_unsized_elements_in_gtk_4() {
    let bed = Bed::new();
    let app = bed.pages();
    let changes = [
        "Longer", "Check", "Fill", "More", "Dim", "Unsee", "Level", "Less",
    ];
    let mut targets = vec![];
    for change in changes {
        targets.extend([
            format!("{change} Back"),
            format!("{change} Front"),
            "Turn".to_owned(),
        ]);
    }
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    agree(&bed, &app, &targets);
}

#[test]
fn a_reused_tree_equals_a_fresh_one_in_chromium() {
    let bed = Bed::new();
    let (app, _page) = page(&bed, 300, "");
    assert!(agree(&bed, &app, &PAGE_TARGETS));
}

/// The body is a large list, of which only visible children are requested.
#[test]
fn a_reused_tree_equals_a_fresh_one_of_a_large_list_in_chromium() {
    let bed = Bed::new();
    let (app, _page) = page(&bed, 600, "");
    assert!(agree(&bed, &app, &PAGE_TARGETS));
}

#[test]
fn a_reused_tree_equals_a_fresh_one_of_a_large_list_with_texts() {
    let bed = Bed::new();
    let (app, _page) = page(&bed, 600, "and then");
    assert!(agrees(&bed, &app, &PAGE_TARGETS, When::BetweenLinks));
}

#[test]
fn a_reused_tree_equals_a_fresh_one_in_firefox() {
    let bed = Bed::new();
    // Its `Button 150` and `Button 200` have to be there for the page's buttons.
    let app = bed.firefox(&html(210, ""));
    await_element(&bed, &app, Scope::Showing, "Longer");
    // Some seconds after its start, Firefox creates a hidden page for the next tab, without an
    // event.
    agree(&bed, &app, &PAGE_TARGETS);
}

/// Nodes beyond the budget are read while no link runs, so that the next one has them.
#[test]
fn a_tree_that_is_read_on_between_links_equals_a_fresh_one_in_chromium() {
    let bed = Bed::new();
    let (app, _page) = page(&bed, 600, "");
    assert!(agrees(&bed, &app, &PAGE_TARGETS, When::WhileReadOn));
}

/// The readings of the apps of earlier links are also kept, but of not more than three apps.
#[test]
fn the_trees_of_three_apps_used_in_turn_are_kept() {
    let bed = Bed::new();
    let pages = [0, 1, 2, 3].map(|n| {
        let (app, page) = page(&bed, 150, "");
        // The windows must not cover each other: Chromium does not update a covered page.
        (app.at(60 * n, 40 * n), page)
    });
    let pids = pages.each_ref().map(|(app, _)| app.pid);
    let windows = Windows::default();
    let (mut mirror, mut fresh, mut hand) = (connect(&bed), connect(&bed), connect(&bed));
    // Waits until the app's tree differs from `other` and a link reads the same tree. Returns that
    // tree, and the apps whose readings are kept.
    let mut link = |pid: u32, other: Option<&Tree>| {
        let tree = until("a link in a settled app", || {
            let first = fresh.read(pid, WHOLE, &windows).unwrap();
            let changed = other.is_none_or(|other| !differences(other, &first).is_empty());
            if !changed {
                return None;
            }
            mirror.idle();
            mirror.listen(pid).unwrap();
            let again = mirror.read(pid, AGAIN, &windows).unwrap();
            mirror.rest();
            let last = fresh.read(pid, WHOLE, &windows).unwrap();
            let settled = differences(&first, &last).is_empty();
            let wrong = differences(&again, &last);
            assert!(!settled || wrong.is_empty(), "{pid}:\n{}", wrong.join("\n"));
            settled.then_some(again)
        });
        let kept = pids.iter().enumerate();
        let kept = kept.filter(|(_, pid)| mirror.kept().contains(pid));
        (tree, kept.map(|(at, _)| at).collect::<Vec<_>>())
    };
    let (mut trees, kept): (Vec<Tree>, Vec<_>) =
        pids[..3].iter().map(|pid| link(*pid, None)).unzip();
    assert_eq!(kept, [vec![0], vec![0, 1], vec![0, 1, 2]]);
    // In each app, something hidden changes while links act in the others.
    for target in ["Longer", "Check", "More", "Rename", "Less"] {
        for tree in &trees {
            let mut all = tree.elements.iter();
            let button = all.find(|e| e.title.shown == target).unwrap();
            hand.act(&button.id, Deed::Press).unwrap();
        }
        for (pid, tree) in pids.iter().zip(&mut trees) {
            let (changed, kept) = link(*pid, Some(tree));
            assert_eq!(kept, [0, 1, 2], "after {target}");
            *tree = changed;
        }
    }
    assert_eq!(link(pids[3], None).1, [1, 2, 3]);
    assert_eq!(link(pids[0], None).1, [0, 2, 3]);
}

/// The page's buttons.
const PAGE_TARGETS: [&str; 10] = [
    "Longer", "Widen", "Check", "More", "Fill", "Scroll", "Less", "Rename", "Grow", "Insert",
];

/// A page of rows with `between` after each. If `between` is text, not every child of the body has
/// a hyperlink.
fn html(rows: usize, between: &str) -> String {
    // Most of the page is below the viewport. The buttons change hidden elements: their text, their
    // state, and whether they exist.
    let mut html = String::from(
        "<button onclick=\"t.textContent += 'x'\">Longer</button>\
         <button onclick=\"style.width = style.width ? '' : '120px'\">Widen</button>\
         <button onclick=\"c.checked = !c.checked\">Check</button>\
         <button onclick=\"l.append(document.createElement('hr'))\">More</button>\
         <button onclick=\"l.lastElementChild?.remove()\">Less</button>\
         <button onclick=\"f.value = f.value ? '' : 'filled'\">Fill</button>\
         <button onclick=\"scrollBy(0, scrollY ? -40 : 40)\">Scroll</button>\
         <button onclick=\"b120.textContent += '!'\">Rename</button>\
         <button onclick=\"b200.style.height = b200.style.height ? '' : '90px'\">Grow</button>\
         <button onclick=\"b150.parentNode.after(b150.parentNode.cloneNode(true))\">Insert</button>",
    );
    for i in 0..rows {
        let _ = write!(
            html,
            "<div><button id=b{i}>Button {i}</button><p>Paragraph {i}</p></div>{between}"
        );
    }
    html +=
        "<p id=t>text</p><label><input id=c type=checkbox>Far</label><div id=l></div><input id=f>";
    html
}

/// The same in Chromium.
fn page<'b>(bed: &'b Bed, rows: usize, between: &str) -> (App<'b>, Page) {
    let (app, page) = bed.chromium(&html(rows, between));
    await_element(bed, &app, Scope::Showing, "Longer");
    (app, page)
}

/// A browser exposes a long page some time after it has shown the page.
fn await_element(bed: &Bed, app: &App<'_>, scope: Scope, title: &str) {
    let mut atspi = connect(bed);
    until(title, || {
        let tree = atspi.read(app.pid, scope, &Windows::default());
        let is_there = |tree: &Tree| tree.elements.iter().any(|e| e.title.shown == title);
        tree.is_ok_and(|tree| is_there(&tree)).then_some(())
    });
}

#[test]
fn a_reused_tree_equals_a_fresh_one_in_calc() {
    let bed = Bed::new();
    let (app, _file) = bed.calc(&[&["1", "two", "3"], &["4", "5", "six"]]);
    agree(&bed, &app, &["Bold", "Italic", "Underline"]);
}
