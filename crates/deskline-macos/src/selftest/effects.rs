//! Checks judged by effects on the screen, not by summaries: the scroll bar, a moved window, an
//! app's count of clicks, an opened menu.

use std::time::{Duration, Instant};

use deskline_contract::Cancel;
use deskline_core::{Line, Point};
use deskline_input::Click;
use deskline_link::call::{Input, Typing};
use deskline_link::selftest::{Found, field, judge, said, tree_of, within};
use deskline_link::{Action, Target};

use super::guard::length;
use super::test::Test;
use super::tools::reference;
use crate::MacDesktop;
use crate::os::{NewValue, Os, Value};
use crate::{activate, front, windows};

/// How often a button is clicked for the count.
const CLICKS: u32 = 50;

/// How long an effect may take to show.
pub(super) const SHOWS: Duration = Duration::from_secs(2);

/// How long a switch to or from full screen may take.
const TRAVELS: Duration = Duration::from_secs(4);

/// How many documents an app may ask to save when it quits.
const DOCUMENTS: usize = 3;

/// How often the front app is switched.
const SWITCHES: usize = 20;

/// The names of Calculator's button = in different versions of macOS.
const EQUALS: [&str; 3] = ["=", "equals", "Equals"];

/// Apps that contain Chromium, by their names in the Applications folder.
const CHROMIUM: [(&str, [&str; 4]); 2] = [
    (
        "a page of Chromium",
        [
            "Google Chrome",
            "Microsoft Edge",
            "Brave Browser",
            "Chromium",
        ],
    ),
    (
        "a page of Electron",
        ["Visual Studio Code", "Slack", "Discord", "Claude"],
    ),
];

/// Repeats the check until it holds, for at most `time`.
pub(super) fn until(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    within(time, || holds().then_some(())).is_some()
}

impl<O: Os> Test<'_, O> {
    /// Brings an app to the front without a link, which would put the old one back.
    pub(super) fn show(&self, pid: u32) -> Option<deskline_contract::Window> {
        let (window, _) = windows::of_app(self.os, pid).into_iter().next()?;
        activate::window(self.os, window.id, None, &Cancel::new()).ok()?;
        Some(window)
    }

    /// Where the vertical scroll bar of the focused text is, from 0 to 1.
    fn scrolled(&self, pid: u32) -> Option<f64> {
        let os = self.os;
        let focused = os.element(&os.application(pid), "AXFocusedUIElement")?;
        let area = os.element(&focused, "AXParent")?;
        let bar = os.element(&area, "AXVerticalScrollBar")?;
        match os.attribute(&bar, "AXValue").ok()? {
            Value::Number(at) => Some(at),
            _ => None,
        }
    }

    /// The wheel: judged by the scroll bar, with the pointer elsewhere beforehand.
    pub(super) fn wheel(&mut self, pid: u32, at: Point) {
        // Start at the top: typing has scrolled to the end of the text.
        let up = |delta_y| Input::Scroll {
            at: Target::Point(at),
            delta_x: 0,
            delta_y,
            until: None,
        };
        self.call(Some(pid), Action::Input(up(-500)));
        let before = self.scrolled(pid);
        self.call(Some(pid), Action::Input(up(40)));
        let moved = until(SHOWS, || self.scrolled(pid) > before);
        let seen = format!(
            "the scroll bar went from {before:?} to {:?}",
            self.scrolled(pid)
        );
        self.note(
            "scroll, by the scroll bar",
            judge(moved && before.is_some(), seen),
        );
    }

    /// A drag of the window by its title bar: judged by the window's position.
    pub(super) fn drag_window(&mut self, pid: u32) {
        let place = |test: &Self| {
            let (window, _) = windows::of_app(test.os, pid).into_iter().next()?;
            window.extents
        };
        let Some(before) = place(self) else {
            return self.note(
                "drag, by the window's place",
                Err("there is no window".into()),
            );
        };
        let grip = Point::at(before.x + before.w / 2, before.y + 8);
        let to = Point::at(grip.x + 70, grip.y + 50);
        let drag = Action::drag(Target::Point(grip), Target::Point(to));
        self.call(Some(pid), drag);
        let moved = until(SHOWS, || {
            place(self).is_some_and(|now| now.x.abs_diff(before.x) > 20)
        });
        let seen = format!("{before:?} → {:?}", place(self));
        self.note("drag, by the window's place", judge(moved, seen));
    }

    /// Fifty clicks on Calculator's =, which repeats the last addition: judged by the sum.
    pub(super) fn count_clicks(&mut self, pid: u32) {
        // Clears the entry, then all.
        for _ in 0..2 {
            self.press(pid, "Escape", &[]);
        }
        let typing = Typing::text("0+1");
        self.call(Some(pid), Action::type_text(typing));
        let tree = self.tree(pid);
        let is = |line: &&str| {
            line.contains("[AXButton")
                && EQUALS
                    .iter()
                    .any(|name| line.contains(&format!("\"{name}\"")))
        };
        let line = tree
            .lines()
            .find(is)
            .and_then(|l| l.trim().parse::<Line>().ok());
        let Some(at) = line.and_then(|line| line.extents) else {
            return self.note("50 clicks", Err("there is no button =".into()));
        };
        if self.show(pid).is_none() {
            return self.note(
                "50 clicks",
                Err("Calculator did not come to the front".into()),
            );
        }
        let mut desktop = MacDesktop::new(self.os.clone());
        let start = Instant::now();
        for _ in 0..CLICKS {
            let clicked =
                deskline_input::click(&mut desktop, Click::left(at.center()), &Cancel::new());
            if let Err(e) = clicked {
                return self.note("50 clicks", Err(e.to_string()));
            }
        }
        let ms = start.elapsed().as_millis() / u128::from(CLICKS);
        let mut shown = String::new();
        until(SHOWS, || {
            let answer = self.call(Some(pid), Action::Refresh);
            shown = sum(&tree_of(&answer).unwrap_or_default()).unwrap_or_default();
            shown == CLICKS.to_string()
        });
        let seen = format!("Calculator shows {shown} after {CLICKS} clicks, {ms} ms each");
        self.note("50 clicks", judge(shown == CLICKS.to_string(), seen));
    }

    /// Opens a menu of an app that is behind, and closes it.
    pub(super) fn menu_bar(&mut self, pid: u32) {
        let tree = self.tree(pid);
        let titles = tree.lines().filter(|l| l.contains("[AXMenuBarItem"));
        // The menu after the Apple menu and the app's own menu.
        let Some(target) = titles.filter_map(reference).nth(2).map(Target::Ref) else {
            return self.note("menu bar", Err("the tree has no menu bar".into()));
        };
        let answer = self.call(Some(pid), Action::click(target, Typing::default()));
        let items = |answer| {
            let tree = tree_of(answer).unwrap_or_default();
            let shown = tree
                .lines()
                .filter(|l| l.starts_with(" [AXMenuItem") && l.contains(" visible"));
            shown.count()
        };
        let opened = items(&answer);
        self.press(pid, "Escape", &[]);
        let closed = items(&self.call(Some(pid), Action::Refresh));
        let said = said(&answer);
        let seen = format!("{opened} items showed, {closed} after Escape: {said}");
        self.note("menu bar", judge(opened > 0 && closed == 0, seen));
    }

    /// Text for a window that is in full screen, while another app is in front on the first Space.
    pub(super) fn another_space(&mut self, pid: u32, other: u32) {
        const NAME: &str = "another Space";
        const AFAR: &str = "from afar";
        let mut all = windows::of_app(self.os, pid)
            .into_iter()
            .filter_map(|(_, ax)| ax);
        let Some(window) = all.next() else {
            return self.note(NAME, Err("there is no window".into()));
        };
        let os = self.os.clone();
        for other in all {
            if let Some(close) = os.element(&other.element, "AXCloseButton") {
                let _ = os.perform(&close, "AXPress");
            }
        }
        let full = |on: bool| os.set(&window.element, "AXFullScreen", &NewValue::Bool(on));
        let is_full = || os.attribute(&window.element, "AXFullScreen") == Ok(Value::Bool(true));
        self.show(pid);
        if full(true).is_err() || !until(TRAVELS, is_full) {
            return self.skip(NAME, "the window does not go to full screen");
        }
        // The attribute changes before the end of the animation.
        deskline_contract::wait::pause(Duration::from_secs(1));
        let before = length(&os, pid);
        self.show(other);
        if !until(TRAVELS, || windows::all_away(&os, pid)) {
            self.show(pid);
            let _ = full(false);
            return self.skip(NAME, "a window stays on the first Space");
        }
        let typing = Typing::text(AFAR);
        let start = Instant::now();
        let answer = self.call(Some(pid), Action::type_text(typing));
        let ms = start.elapsed().as_millis();
        let arrived = before.is_ok_and(|n| length(&os, pid) == Ok(n + AFAR.len()));
        let back = until(TRAVELS, || front::is(&os, other));
        self.show(pid);
        self.back_to_full_screen(pid, other);
        until(TRAVELS, || full(false).is_ok() && !is_full());
        deskline_contract::wait::pause(Duration::from_secs(1));
        let said = field(&answer, "error").unwrap_or_default();
        let seen = format!("arrived: {arrived}, back: {back}, {ms} ms {said}");
        self.note(NAME, judge(arrived && back, seen));
    }

    /// The person's window is in full screen, and the agent's app is on the first Space.
    fn back_to_full_screen(&mut self, pid: u32, other: u32) {
        let start = Instant::now();
        let answer = self.press(other, "Escape", &[]);
        let back = until(TRAVELS, || {
            front::is(self.os, pid) && !windows::all_away(self.os, pid)
        });
        let ms = start.elapsed().as_millis();
        let said = field(&answer, "error").unwrap_or_default();
        let seen = format!("back: {back}, {ms} ms {said}");
        let good = back && !answer.is_error;
        self.note("back to a window in full screen", judge(good, seen));
    }

    /// Finder usually runs without a window: Cmd+N makes one, Cmd+W closes it.
    pub(super) fn windowless(&mut self) {
        const NAME: &str = "an app without windows";
        let Some(pid) = self.finder() else {
            return self.skip(NAME, "Finder does not run");
        };
        if !windows::of_app(self.os, pid).is_empty() {
            return self.skip(NAME, "Finder has a window");
        }
        let answer = self.press(pid, "n", &["Command"]);
        let came = until(SHOWS, || !windows::of_app(self.os, pid).is_empty());
        let found = if came {
            self.press(pid, "w", &["Command"]);
            Ok("Cmd+N made a window".into())
        } else {
            Err(answer.text)
        };
        self.note(NAME, found);
    }

    /// The first tree of a browser, and of an app that contains Chromium, has the page.
    pub(super) fn chromium(&mut self) {
        for (row, apps) in CHROMIUM {
            match apps.into_iter().find(|name| self.is_installed(name)) {
                Some(name) => self.page_of(row, name),
                None => self.skip(row, "none is installed"),
            }
        }
    }

    fn page_of(&mut self, row: &str, name: &str) {
        let start = Instant::now();
        let answer = self.call(None, Action::open(name));
        let ms = start.elapsed().as_millis();
        self.opened(&answer);
        let tree = tree_of(&answer).unwrap_or_default();
        let page = has_contents(&tree);
        // VS Code asks whether to turn on support for screen readers.
        let asks = tree.to_lowercase().contains("screen reader");
        let seen = format!(
            "{name}: a page: {page}, it speaks of a screen reader: {asks}, {ms} ms {}",
            said(&answer)
        );
        self.note(row, judge(page, seen));
    }

    /// Over twenty switches of the front app, compares Deskline's answer with each app's own report
    /// and with the list of windows.
    pub(super) fn fronts(&mut self, one_app: u32, other: u32) {
        let mut wrong = Vec::new();
        for nth in 0..SWITCHES {
            let wanted = if nth % 2 == 0 { other } else { one_app };
            self.show(wanted);
            let (said, own) = (front::pid(self.os), front::says_so(self.os, wanted));
            let top = windows::all(self.os).first().and_then(|w| w.pid);
            if said != Some(wanted) || !own || top != Some(wanted) {
                wrong.push(format!(
                    "wanted {wanted}, front {said:?}, AXFrontmost {own}, top {top:?}"
                ));
            }
        }
        let seen = if wrong.is_empty() {
            format!("{SWITCHES} of {SWITCHES}")
        } else {
            wrong.join("; ")
        };
        self.note(
            "front app beside AXFrontmost",
            judge(wrong.is_empty(), seen),
        );
    }

    /// Ends the apps that the test has opened.
    pub(super) fn close_all(&mut self) {
        let mut left = Vec::new();
        for (pid, name) in std::mem::take(&mut self.started) {
            let answer = self.press(pid, "q", &["Command"]);
            let mut asks = 0;
            while !until(SHOWS, || self.os.process(pid).is_none())
                && asks < DOCUMENTS
                && self.program.is_some()
            {
                asks += 1;
                // The app asks whether to save: Cmd+Delete presses "Delete", so that the app
                // restores nothing later.
                self.press(pid, "Delete", &["Command"]);
            }
            if self.os.process(pid).is_none() {
                continue;
            }
            // Only a real Mac has real pids.
            if self.program.is_some() {
                let pid = pid.to_string();
                let _ = std::process::Command::new("/bin/kill").arg(pid).status();
            }
            if !until(SHOWS, || self.os.process(pid).is_none()) {
                left.push(format!("{name}: {}", answer.text));
            }
        }
        let found: Found = if left.is_empty() {
            Ok("nothing is left open".into())
        } else {
            Err(format!("still open: {}", left.join(", ")))
        };
        self.note("closing what was opened", found);
    }
}

/// Whether a tree has a page with content: there is an empty page before the tree is built
/// (openstream #10).
fn has_contents(tree: &str) -> bool {
    let pages = tree.lines().filter(|l| l.contains("[AXWebArea"));
    let mut pages = pages.filter_map(reference);
    pages.any(|page| tree.lines().any(|l| l.ends_with(&format!(" in #{page}"))))
}

/// The number that Calculator shows: a text that is a number and not a button's.
fn sum(tree: &str) -> Option<String> {
    let texts = tree
        .lines()
        .filter(|l| !l.contains("[AXButton") && l.contains(" visible"));
    let quoted = texts.filter_map(|l| l.split('"').nth(1));
    // Calculator marks the direction of digits by an invisible character.
    let mut plain = quoted.map(|t| t.chars().filter(char::is_ascii).collect::<String>());
    plain.rfind(|t| !t.is_empty() && t.chars().all(|c| c.is_ascii_digit()))
}
