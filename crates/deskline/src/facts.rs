//! `deskline facts`: one page about this desktop for a report of a bug. It only reads, and it
//! blanks titles and names.

use std::env::{self, consts};
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_journal::Journal;
use deskline_link::doctor::Check;
use deskline_link::facts::at_first_trouble;
use deskline_link::{Application, Desktop, Platform, Scope};

use crate::cli::Settings;
use crate::output::{Done, print};
use crate::platform;

/// After this time, no further app is examined. One app takes up to 6 s.
const LASTS: Duration = Duration::from_secs(20);

const MOST_APPS: usize = 12;

/// How long to count an app's events.
const LISTENS: Duration = Duration::from_millis(300);

/// Variables that every program of the system has. Some clients do not pass all of them on.
#[cfg(windows)]
#[rustfmt::skip]
const STANDARD: [&str; 8] = [
    "APPDATA", "ComSpec", "LOCALAPPDATA", "ProgramData", "ProgramFiles(x86)", "SystemRoot",
    "USERPROFILE", "windir",
];
#[cfg(not(windows))]
const STANDARD: [&str; 5] = ["HOME", "LANG", "PATH", "TMPDIR", "USER"];

/// The length of a process's name on Linux (`TASK_COMM_LEN`).
const COMM: usize = 15;

/// The texts to blank, each with what replaces it.
type Blanks = Vec<(String, &'static str)>;

pub(crate) fn facts(settings: &Settings) -> Done {
    let open = platform::open(settings)?;
    print(&page(settings, &*open.platform, None))?;
    Ok(ExitCode::SUCCESS)
}

/// Has the server write the page beside its log when a call first goes wrong. That page is about
/// the app of the call only, because the agent may not be allowed to read other apps.
pub(crate) fn tell_of(settings: &Settings, platform: &Arc<dyn Platform>, journal: &Journal) {
    let (settings, platform) = (settings.clone(), Arc::clone(platform));
    let journal = journal.clone();
    at_first_trouble(move |pid| {
        let file = journal.facts_path();
        let write = move || {
            let page = page(&settings, &*platform, Some(pid.as_slice()));
            journal.write_facts(&page)
        };
        let thread = std::thread::Builder::new().name("facts".into());
        thread.spawn(write).ok().map(|_| file)
    });
}

/// The page about the apps with the pids `only`, or about all apps if that is `None`.
fn page(settings: &Settings, platform: &dyn Platform, only: Option<&[u32]>) -> String {
    let start = Instant::now();
    let version = env!("CARGO_PKG_VERSION");
    let mut lines = vec![format!(
        "deskline {version}, {} {}",
        consts::OS,
        consts::ARCH
    )];
    let mut blanks = Blanks::new();
    let owners = ["HOME", "USERPROFILE", "USER", "USERNAME", "COMPUTERNAME"].into_iter();
    blanks.extend(owners.filter_map(|name| Some((env::var(name).ok()?, "~"))));
    if let Ok(release) = fs::read_to_string("/etc/os-release") {
        let named = release
            .lines()
            .find(|line| line.starts_with("PRETTY_NAME="));
        lines.extend(named.map(str::to_owned));
    }
    let told = ["XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG"].into_iter();
    lines.extend(told.filter_map(|name| Some(format!("{name}={}", env::var(name).ok()?))));
    let lacking = STANDARD
        .into_iter()
        .filter(|name| env::var_os(name).is_none());
    let lacking: Vec<_> = lacking.collect();
    lines.push(format!("variables missing: {}", lacking.join(" ")));
    lines.extend(platform.facts());
    // Examining a private desktop would start another private desktop.
    if settings.desktop.is_none() {
        match platform::examine(settings) {
            Ok(mut checks) => {
                // The check of the apps names processes.
                checks.retain(|check| check.name != "apps");
                let line = |c: &Check| format!("{:?} {}: {}", c.status, c.name, c.finding);
                lines.extend(checks.iter().map(line));
            }
            Err(error) => lines.push(format!("not examined: {error}")),
        }
    }
    match platform.connect() {
        Ok(mut desktop) => apps(&mut *desktop, only, start, &mut lines, &mut blanks),
        Err(error) => lines.push(format!("no desktop: {error}")),
    }
    lines.push(format!("read in {:.1} s", start.elapsed().as_secs_f64()));
    blank(lines.join("\n"), blanks)
}

fn apps(
    desktop: &mut dyn Desktop,
    only: Option<&[u32]>,
    start: Instant,
    lines: &mut Vec<String>,
    blanks: &mut Blanks,
) {
    let asked = Instant::now();
    let listed = desktop.applications().unwrap_or_else(|error| {
        lines.push(format!("apps are not listed: {error}"));
        Vec::new()
    });
    let windows: usize = listed.iter().map(|app| app.windows.len()).sum();
    let (count, took) = (listed.len(), ms(asked));
    lines.push(format!(
        "{count} apps with {windows} windows, listed in {took} ms"
    ));
    for Application { app, windows, .. } in &listed {
        let known = desktop.known_as(app.pid);
        let names = known.names.into_iter().chain(known.claims);
        for name in names.chain([app.name.clone()]) {
            // Linux cuts a process's name.
            let cut = name.chars().take(COMM).collect();
            blanks.extend([(name, "(app)"), (cut, "(app)")]);
        }
        blanks.extend(windows.iter().map(|w| (w.title.clone(), "(title)")));
    }
    let pids = listed.iter().map(|app| app.app.pid);
    let pids = only.map_or_else(|| pids.take(MOST_APPS).collect(), <[u32]>::to_vec);
    for (n, pid) in (1..).zip(pids) {
        if start.elapsed() > LASTS {
            lines.push(format!("app {n} and later: no time left"));
            break;
        }
        let facts = app(desktop, pid, blanks);
        lines.push(format!("app {n}: {}", facts.join(", ")));
    }
}

fn app(desktop: &mut dyn Desktop, pid: u32, blanks: &mut Blanks) -> Vec<String> {
    let mut facts = Vec::new();
    for _ in 0..2 {
        let asked = Instant::now();
        let budget = Duration::from_millis(500);
        let read = desktop.read(pid, Scope::Whole { budget });
        let took = ms(asked);
        let tree = match read {
            Ok(tree) => tree,
            Err(error) => {
                facts.push(format!("after {took} ms: {error}"));
                return facts;
            }
        };
        blanks.push((tree.app.name.clone(), "(app)"));
        let visible = tree.elements.iter().filter(|e| e.visible).count();
        let count = tree.elements.len();
        facts.push(format!("{count} elements ({visible} visible) in {took} ms"));
        facts.extend(tree.partial);
        facts.extend(tree.no_tree);
    }
    let toolkit = desktop.toolkit(pid);
    facts.insert(0, toolkit.unwrap_or_else(|| "toolkit unknown".into()));
    if desktop.listen(pid).is_ok() {
        let until = Instant::now() + LISTENS;
        let mut signs = 0;
        let left = || until.saturating_duration_since(Instant::now());
        while let Ok(Some(_)) = desktop.wait_for_change(left()) {
            signs += 1;
            if left().is_zero() {
                break;
            }
        }
        facts.push(format!("{signs} events in {} ms", LISTENS.as_millis()));
        desktop.rest();
    }
    facts.push(picture(desktop, pid));
    facts
}

/// Size and colour of a picture of the app's first window.
fn picture(desktop: &mut dyn Desktop, pid: u32) -> String {
    let windows = desktop.screen().map(|screen| screen.windows_of(pid));
    let Ok(Ok(windows)) = windows else {
        return "its windows are not listed".to_owned();
    };
    let Some(window) = windows.first() else {
        return "no window in the list".to_owned();
    };
    let (w, h) = window.extents.map_or((0, 0), |at| (at.w, at.h));
    let asked = Instant::now();
    let taken = match desktop.pictures() {
        Ok(pictures) => pictures
            .picture(window.id)
            .map_err(|error| error.to_string()),
        Err(missing) => Err(missing.0.into_owned()),
    };
    let took = ms(asked);
    match taken {
        Ok(taken) => {
            let first = taken.rgb.get(..3).unwrap_or_default();
            let plain = taken.rgb.chunks_exact(3).all(|pixel| pixel == first);
            let plain = if plain { ", of one colour" } else { "" };
            let size = (taken.width, taken.height);
            format!(
                "screenshot {}×{} of {w}×{h} in {took} ms{plain}",
                size.0, size.1
            )
        }
        Err(why) => format!("no screenshot after {took} ms: {why}"),
    }
}

fn ms(since: Instant) -> u128 {
    since.elapsed().as_millis()
}

/// Blanks the longest names first, because a name may contain another one. Skips short names, which
/// may be part of other words.
fn blank(mut text: String, mut blanks: Blanks) -> String {
    const SHORTEST: usize = 3;
    blanks.retain(|(name, _)| name.trim().chars().count() >= SHORTEST);
    blanks.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for (name, by) in blanks {
        text = text.replace(&name, by);
    }
    text
}
