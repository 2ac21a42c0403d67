//! Checks behaviour that the issue trackers of other programs report about real Macs, and lists
//! checks that only a person can make.

use std::time::{Duration, Instant};

use deskline_link::call::Typing;
use deskline_link::selftest::{Found, judge, said, skip};
use deskline_link::{Action, Target};

use super::guard::{grew, length};
use super::test::Test;
use super::tools::AREA;
use crate::os::{Os, Value};
use crate::{facts, picture, windows};

const PANEL_TEXT: &str = "under a panel";

/// How many pictures are taken for their times.
const PICTURES: usize = 10;

/// The checks that only the person can make.
pub(super) const BY_HAND: [&str; 10] = [
    "Have your agent list the running applications, from each client that you use (Claude Desktop \
     above all), and say which app an error names.",
    "Run `deskline selftest --role hold-guard` in a terminal, turn that terminal off under \
     Accessibility within 30 s, and send what it prints: after how long mouse and keys worked again.",
    "Turn Stage Manager on (Control Center), and run this again.",
    "Turn an input method on (Pinyin, or US International for its dead keys), and run this again.",
    "Turn on Secure Keyboard Entry in Terminal, and run this from there.",
    "Open System Settings › Privacy & Security, and have your agent call refresh_traversal on it: \
     it must be refused.",
    "Open two windows of Firefox and another app before them, and have your agent click and type in \
     the rear one.",
    "Have your agent type `it's \"x\" ^` and 600 characters into Chrome and Zed.",
    "Update Deskline by the way that you installed it, run `deskline install CLIENT` again, and \
     say whether the permission is still there.",
    "Run `leaks` and `footprint` on a server (deskline serve) that has made some hundred links.",
];

impl<O: Os> Test<'_, O> {
    /// Lists the alternatives that work on this Mac. No result counts as a fault.
    pub(super) fn ways(&mut self) {
        let system = self.os.system();
        let live = self.os.attribute(&system, "AXFocusedApplication");
        let way = match live {
            Ok(Value::Element(_)) => "AXFocusedApplication".to_owned(),
            Ok(other) => format!("each app's AXFrontmost ({other:?})"),
            Err(e) => format!("each app's AXFrontmost ({e})"),
        };
        self.note("how the front app is known", Ok(way));
        let (source, set) = (facts::input_source(self.os), facts::settings(self.os));
        self.note("input source", Ok(source));
        let holder = self.os.secure_holder();
        self.note("secure input", Ok(format!("held by {holder:?}")));
        self.note("settings", Ok(set));
    }

    /// Compares the two lists of windows, and Accessibility's window numbers with the first list.
    pub(super) fn lists(&mut self, pid: u32) {
        let start = Instant::now();
        let shown = self.os.windows();
        let short = start.elapsed();
        let start = Instant::now();
        let mut all = self.os.all_windows();
        let long = start.elapsed();
        let (few, many) = (shown.len(), all.len());
        all.retain(|window| shown.iter().any(|w| w.number == window.number));
        let same = all
            .iter()
            .map(|w| w.number)
            .eq(shown.iter().map(|w| w.number));
        let seen = format!(
            "{few} on the screen in {short:?}, {many} in all in {long:?}, in the same order: {same}"
        );
        self.note("lists of windows", Ok(seen));
        let known = windows::matched_of(self.os, pid);
        let numbered = known.iter().filter_map(|(w, ax)| Some((w, ax.as_ref()?)));
        let agree: Vec<bool> = numbered
            .map(|(w, ax)| ax.number == Some(w.number) && ax.extents == Some(windows::extents(w)))
            .collect();
        let good = !agree.is_empty() && agree.iter().all(|agrees| *agrees);
        let seen = format!("numbers and bounds agree: {agree:?}");
        self.note("windows in both lists", judge(good, seen));
    }

    /// A click and text under a floating panel (Fonts): judged by the text's length.
    pub(super) fn under_a_panel(&mut self, pid: u32) -> Found {
        self.press(pid, "t", &["Command"]);
        let windows = self.os.windows();
        if !windows.iter().any(|w| w.pid == pid && w.layer == 3) {
            return Err(skip("Cmd+T opened none"));
        }
        let before = length(self.os, pid);
        let click = Action::click(Target::titled("", AREA), Typing::text(PANEL_TEXT));
        let answer = self.call(Some(pid), click);
        let now = length(self.os, pid);
        self.press(pid, "t", &["Command"]);
        judge(grew(before, now, PANEL_TEXT), said(&answer))
    }

    pub(super) fn picture_times(&mut self, pid: u32) -> Found {
        let window = self.window(pid)?;
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..PICTURES {
            let start = Instant::now();
            picture::take(self.os, window.id).map_err(skip)?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let (middle, last) = (times[PICTURES / 2], times[PICTURES - 1]);
        Ok(format!("{middle:?}, at most {last:?}"))
    }
}
