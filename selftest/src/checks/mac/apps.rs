//! Checks on several apps, and on this program's own processes: a window behind another window of
//! its app, another Space, browsers, many links, the end of apps.

use std::time::{Duration, Instant};

use deskline_link::call::Typing;
use deskline_link::{Action, Button, Target, wait};
use deskline_macos::os::{NewValue, Os, Value};

use super::super::helper::Helper;
use super::super::sheet::{Found, field, judge, said, skip, tree_of, within};
use super::effects::{SHOWS, until};
use super::guard::{grew, length};
use super::tools::{AREA, reference};
use super::{BANNER, Test};

/// How long a switch to or from full screen may take.
const TRAVELS: Duration = Duration::from_secs(4);

/// For how many documents a quitting app may ask whether to save them.
const DOCUMENTS: usize = 3;

/// How many guarded links to make: on a Mac, and on a fake.
const LINKS: (usize, usize) = (500, 5);

/// How many windows and kilobytes of memory these links may leave behind.
const LEFT: (usize, usize) = (1, 30_000);

impl<O: Os> Test<'_, '_, O> {
    /// Presses Cmd+N in an app. Returns the element of the new window.
    fn new_window(&mut self, pid: u32) -> Option<O::Element> {
        let before = self.elements(pid);
        self.press(pid, "n", &["Command"]);
        let came = || self.elements(pid).into_iter().find(|w| !before.contains(w));
        within(SHOWS, came)
    }

    /// The windows of an app, as Accessibility lists them.
    fn elements(&self, pid: u32) -> Vec<O::Element> {
        match self.os.attribute(&self.os.application(pid), "AXWindows") {
            Ok(Value::Elements(windows)) => windows,
            _ => Vec::new(),
        }
    }

    /// Whether no window of an app is on the Space that shows.
    fn is_away(&self, pid: u32) -> bool {
        let shown = self.os.windows();
        !shown.iter().any(|w| w.pid == pid && w.layer == 0)
    }

    fn close(&self, window: &O::Element) {
        if let Some(button) = self.os.element(window, "AXCloseButton") {
            let _ = self.os.perform(&button, "AXPress");
        }
    }

    /// Clicks and types in the rear one of an app's two windows, while another app is in front:
    /// judged by which of the app's text areas have the text.
    pub(super) fn rear_window(&mut self, pid: u32, other: u32) -> Found {
        const TEXT: &str = "rear";
        let new = self.new_window(pid);
        let new = new.ok_or_else(|| skip("Cmd+N made no second window"))?;
        let tree = self.tree(pid);
        // Windows are in the tree front to back.
        let rear = tree.split(" [AXWindow").nth(2).unwrap_or_default();
        let is_text = |line: &&str| line.contains(&format!("[{AREA}"));
        let target = rear.lines().find(is_text).and_then(reference);
        let found = target.map(|target| {
            self.show(other);
            let answer = self.click_at(pid, Target::Ref(target), Button::Left, Some(TEXT));
            let now = self.tree(pid);
            let got = now.lines().filter(|l| is_text(l) && l.contains(TEXT));
            let got: Vec<_> = got.filter_map(reference).collect();
            judge(
                got == [target],
                format!("{got:?} got it: {}", said(&answer)),
            )
        });
        self.close(&new);
        found.ok_or("the tree has no text in a second window")?
    }

    /// Text for a window that is in full screen, while another app is in front on the first Space.
    pub(super) fn another_space(&mut self, pid: u32, other: u32) -> Found {
        const AFAR: &str = "from afar";
        let mut all = self.elements(pid).into_iter();
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
        // `AXFullScreen` changes before the end of the animation.
        wait::pause(Duration::from_secs(1));
        let before = length(&os, pid);
        self.show(other);
        if !until(TRAVELS, || self.is_away(pid)) {
            self.show(pid);
            let _ = full(false);
            return Err(skip("a window stays on the first Space"));
        }
        let start = Instant::now();
        let answer = self.call(Some(pid), Action::type_text(Typing::text(AFAR)));
        let ms = start.elapsed().as_millis();
        let arrived = grew(before, length(&os, pid), AFAR);
        let back = until(TRAVELS, || self.front() == Some(other));
        self.show(pid);
        let name = "back to a window in full screen";
        self.row(name, |test| test.back_to_full_screen(pid, other));
        until(TRAVELS, || full(false).is_ok() && !is_full());
        wait::pause(Duration::from_secs(1));
        let said = field(&answer, "error").unwrap_or_default();
        let seen = format!("arrived: {arrived}, back: {back}, {ms} ms {said}");
        judge(arrived && back, seen)
    }

    /// Input for an app on the first Space, while the person's window is in full screen: judged by
    /// whether that window comes back.
    fn back_to_full_screen(&mut self, pid: u32, other: u32) -> Found {
        let start = Instant::now();
        let answer = self.press(other, "Escape", &[]);
        let back = until(TRAVELS, || self.front() == Some(pid) && !self.is_away(pid));
        let ms = start.elapsed().as_millis();
        let said = field(&answer, "error").unwrap_or_default();
        let good = back && !answer.is_error;
        judge(good, format!("back: {back}, {ms} ms {said}"))
    }

    /// Whether the first tree of a browser or of an Electron app has the page.
    pub(super) fn chromium(&mut self, apps: &[&str]) -> Found {
        let folders = self.os.app_folders();
        let is_there = |name: &&&str| {
            let app = format!("{name}.app");
            folders.iter().any(|folder| folder.join(&app).exists())
        };
        let name = apps.iter().find(is_there);
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

    /// This process's windows, and its memory in kilobytes.
    fn own(&self) -> (usize, Option<usize>) {
        let own = std::process::id();
        let windows = self.os.all_windows();
        let windows = windows.iter().filter(|w| w.pid == own).count();
        let pid = own.to_string();
        let resident = self.os.tool("/bin/ps", &["-o", "rss=", "-p", &pid]);
        (windows, resident.and_then(|kb| kb.trim().parse().ok()))
    }

    /// Makes many links with guard and banner, each of which presses one arrow key: they must leave
    /// little behind.
    pub(super) fn many_links(&mut self, pid: u32) -> Found {
        let links = self.program.map_or(LINKS.1, |_| LINKS.0);
        // The first links create what stays in memory for good, so they are not measured.
        for _ in 0..links / 5 {
            self.press(pid, "Right", &[]);
        }
        let (windows, memory) = self.own();
        let failed = (0..links).filter(|_| self.press(pid, "Right", &[]).is_error);
        let failed = failed.count();
        let now = self.own();
        let grown = memory.zip(now.1).is_some_and(|(was, is)| is > was + LEFT.1);
        let seen = format!(
            "windows {windows} → {}, memory {memory:?} → {:?} kB, {failed} failed",
            now.0, now.1
        );
        judge(now.0 <= windows + LEFT.0 && !grown && failed == 0, seen)
    }

    /// A process that shows a banner is an app to macOS: it must end when it is asked to quit, as
    /// at a logout.
    pub(super) fn quits(&mut self) -> Found {
        let program = self.program;
        let program = program.ok_or_else(|| skip("there is no program to start"))?;
        let mut banner = Helper::role(program, "banner")?;
        let shown = banner.hears("shown", BANNER).is_some();
        let asked = self.os.quit(banner.pid);
        let ended = until(SHOWS, || banner.has_ended());
        let seen = format!("shown: {shown}, asked: {asked}, ended: {ended}");
        judge(shown && asked && ended, seen)
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
            // On a fake, `program` is `None`, and the pids are not real.
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
