//! Checks judged by effects on the screen, not by summaries: the scroll bar, a moved window, an
//! app's count of clicks, an opened menu.

use std::time::{Duration, Instant};

use deskline_contract::Cancel;
use deskline_core::{Line, Point};
use deskline_input::Click;
use deskline_link::call::{Input, Typing};
use deskline_link::selftest::{Found, Miss, field, judge, said, skip, tree_of, within};
use deskline_link::{Action, Target};

use super::guard::{grew, length};
use super::test::Test;
use super::tools::{reference, visible};
use crate::os::{NewValue, Os, Value};
use crate::{MacDesktop, activate, front, windows};

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

    /// The first window of an app.
    pub(super) fn window(&self, pid: u32) -> Result<deskline_contract::Window, Miss> {
        let first = windows::of_app(self.os, pid).into_iter().next();
        Ok(first.ok_or_else(|| skip("there is no window"))?.0)
    }

    /// The wheel: judged by the scroll bar, with the pointer elsewhere beforehand.
    pub(super) fn wheel(&mut self, pid: u32, at: Point) -> Found {
        let turn = |delta_y| {
            Action::Input(Input::Scroll {
                at: Target::Point(at),
                delta_x: 0,
                delta_y,
                until: None,
            })
        };
        // Start at the top: typing has scrolled to the end of the text.
        self.call(Some(pid), turn(-500));
        let before = self.scrolled(pid);
        self.call(Some(pid), turn(40));
        let moved = until(SHOWS, || self.scrolled(pid) > before);
        let now = self.scrolled(pid);
        let seen = format!("the scroll bar went from {before:?} to {now:?}");
        judge(moved && before.is_some(), seen)
    }

    /// A drag of the window by its title bar: judged by the window's position.
    pub(super) fn drag_window(&mut self, pid: u32) -> Found {
        let before = self.window(pid)?.extents.ok_or("the window has no place")?;
        let grip = Point::at(before.x + before.w / 2, before.y + 8);
        let to = Point::at(grip.x + 70, grip.y + 50);
        let drag = Action::drag(Target::Point(grip), Target::Point(to));
        self.call(Some(pid), drag);
        let mut now = None;
        let moved = until(SHOWS, || {
            now = self.window(pid).ok().and_then(|window| window.extents);
            now.is_some_and(|now| now.x.abs_diff(before.x) > 20)
        });
        judge(moved, format!("{before:?} → {now:?}"))
    }

    /// Fifty clicks on Calculator's =, which repeats the last addition: judged by the sum.
    pub(super) fn count_clicks(&mut self, pid: u32) -> Found {
        // Clears the entry, then all.
        for _ in 0..2 {
            self.press(pid, "Escape", &[]);
        }
        self.call(Some(pid), Action::type_text(Typing::text("0+1")));
        let tree = self.tree(pid);
        let names = EQUALS.map(|name| format!("\"{name}\""));
        let is = |line: &&str| {
            line.contains("[AXButton") && names.iter().any(|name| line.contains(name))
        };
        let line = tree
            .lines()
            .find(is)
            .and_then(|l| l.trim().parse::<Line>().ok());
        let at = line
            .and_then(|line| line.extents)
            .ok_or("there is no button =")?;
        self.show(pid)
            .ok_or("Calculator did not come to the front")?;
        let mut desktop = MacDesktop::new(self.os.clone());
        let start = Instant::now();
        for _ in 0..CLICKS {
            deskline_input::click(
                &mut desktop,
                Click::left(at.center()),
                &mut || None,
                &Cancel::new(),
            )?;
        }
        let ms = start.elapsed().as_millis() / u128::from(CLICKS);
        let mut shown = String::new();
        let good = until(SHOWS, || {
            shown = sum(&self.tree(pid)).unwrap_or_default();
            shown == CLICKS.to_string()
        });
        judge(
            good,
            format!("Calculator shows {shown} after {CLICKS} clicks, {ms} ms each"),
        )
    }

    /// Opens a menu of an app that is behind, and closes it.
    pub(super) fn menu_bar(&mut self, pid: u32) -> Found {
        let tree = self.tree(pid);
        let titles = tree.lines().filter(|l| l.contains("[AXMenuBarItem"));
        // The menu after the Apple menu and the app's own menu.
        let target = titles.filter_map(reference).nth(2);
        let target = Target::Ref(target.ok_or("the tree has no menu bar")?);
        let answer = self.call(Some(pid), Action::click(target, Typing::default()));
        let items = |tree: &str| {
            visible(tree)
                .filter(|l| l.starts_with(" [AXMenuItem"))
                .count()
        };
        let opened = items(&tree_of(&answer).unwrap_or_default());
        self.press(pid, "Escape", &[]);
        let closed = items(&self.tree(pid));
        let said = said(&answer);
        let seen = format!("{opened} items showed, {closed} after Escape: {said}");
        judge(opened > 0 && closed == 0, seen)
    }

    /// Text for a window that is in full screen, while another app is in front on the first Space.
    pub(super) fn another_space(&mut self, pid: u32, other: u32) -> Found {
        const AFAR: &str = "from afar";
        let all = windows::of_app(self.os, pid).into_iter();
        let mut all = all.filter_map(|(_, ax)| Some(ax?.element));
        let window = all.next().ok_or("there is no window")?;
        for other in all {
            self.close(&other);
        }
        let os = self.os.clone();
        let full = |on: bool| os.set(&window, "AXFullScreen", &NewValue::Bool(on));
        let is_full = || os.attribute(&window, "AXFullScreen") == Ok(Value::Bool(true));
        self.show(pid);
        if full(true).is_err() || !until(TRAVELS, is_full) {
            return Err(skip("the window does not go to full screen"));
        }
        // The attribute changes before the end of the animation.
        deskline_contract::wait::pause(Duration::from_secs(1));
        let before = length(&os, pid);
        self.show(other);
        if !until(TRAVELS, || windows::all_away(&os, pid)) {
            self.show(pid);
            let _ = full(false);
            return Err(skip("a window stays on the first Space"));
        }
        let typing = Typing::text(AFAR);
        let start = Instant::now();
        let answer = self.call(Some(pid), Action::type_text(typing));
        let ms = start.elapsed().as_millis();
        let arrived = grew(before, length(&os, pid), AFAR);
        let back = until(TRAVELS, || front::is(&os, other));
        self.show(pid);
        let name = "back to a window in full screen";
        self.row(name, |test| test.back_to_full_screen(pid, other));
        until(TRAVELS, || full(false).is_ok() && !is_full());
        deskline_contract::wait::pause(Duration::from_secs(1));
        let said = field(&answer, "error").unwrap_or_default();
        judge(
            arrived && back,
            format!("arrived: {arrived}, back: {back}, {ms} ms {said}"),
        )
    }

    /// The person's window is in full screen, and the agent's app is on the first Space.
    fn back_to_full_screen(&mut self, pid: u32, other: u32) -> Found {
        let start = Instant::now();
        let answer = self.press(other, "Escape", &[]);
        let back = until(TRAVELS, || {
            front::is(self.os, pid) && !windows::all_away(self.os, pid)
        });
        let ms = start.elapsed().as_millis();
        let said = field(&answer, "error").unwrap_or_default();
        judge(
            back && !answer.is_error,
            format!("back: {back}, {ms} ms {said}"),
        )
    }

    /// Finder usually runs without a window: Cmd+N makes one, Cmd+W closes it.
    pub(super) fn windowless(&mut self) -> Found {
        let pid = self.finder()?;
        if !windows::of_app(self.os, pid).is_empty() {
            return Err(skip("Finder has a window"));
        }
        let answer = self.press(pid, "n", &["Command"]);
        if !until(SHOWS, || !windows::of_app(self.os, pid).is_empty()) {
            return Err(answer.text.into());
        }
        self.press(pid, "w", &["Command"]);
        Ok("Cmd+N made a window".into())
    }

    /// The first tree of a browser, and of an app that contains Chromium, has the page.
    pub(super) fn chromium(&mut self, apps: &[&str]) -> Found {
        let name = apps.iter().find(|name| self.is_installed(name));
        let name = name.ok_or_else(|| skip("none is installed"))?;
        let start = Instant::now();
        let answer = self.call(None, Action::open(*name));
        let ms = start.elapsed().as_millis();
        self.opened(&answer);
        let tree = tree_of(&answer).unwrap_or_default();
        let page = has_contents(&tree);
        // VS Code asks whether to turn on support for screen readers.
        let asks = tree.to_lowercase().contains("screen reader");
        let said = said(&answer);
        let seen =
            format!("{name}: a page: {page}, it speaks of a screen reader: {asks}, {ms} ms {said}");
        judge(page, seen)
    }

    /// Over twenty switches of the front app, compares Deskline's answer with each app's own report
    /// and with the list of windows.
    pub(super) fn fronts(&mut self, one_app: u32, other: u32) -> Found {
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
        if wrong.is_empty() {
            return Ok(format!("{SWITCHES} of {SWITCHES}"));
        }
        Err(wrong.join("; ").into())
    }

    /// Ends the apps that the test has opened.
    pub(super) fn close_all(&mut self) -> Found {
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
        if left.is_empty() {
            return Ok("nothing is left open".into());
        }
        Err(format!("still open: {}", left.join(", ")).into())
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
    let texts = visible(tree).filter(|l| !l.contains("[AXButton"));
    let quoted = texts.filter_map(|l| l.split('"').nth(1));
    // Calculator marks the direction of digits by an invisible character.
    let mut plain = quoted.map(|t| t.chars().filter(char::is_ascii).collect::<String>());
    plain.rfind(|t| !t.is_empty() && t.chars().all(|c| c.is_ascii_digit()))
}
