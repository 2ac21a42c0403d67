//! Checks each tool on `TextEdit` and Calculator. Also checks sheets, ids in a second process, and
//! the state that a link restores.

use std::process::Command;
use std::time::Duration;

use deskline_core::{KeyPress, Line, Point, Ref, Role};
use deskline_link::call::{Awaited, Typing};
use deskline_link::{Action, Answer, Desktop, Scope, Target};
use deskline_macos::os::Os;

use super::super::sheet::{Found, field, judge, press, skip};
use super::super::tools::texts;
use super::Test;

/// The names of Calculator's button 7 in different versions of macOS.
const SEVEN: [&str; 3] = ["7", "seven", "Seven"];

pub(super) const AREA: &str = "AXTextArea";

impl<O: Os> Test<'_, '_, O> {
    /// Opens an app. The test closes it at the end if it was not running before.
    pub(super) fn open(&mut self, name: &str) -> Option<u32> {
        let answer = self.expect("open_application", None, Action::open(name), name)?;
        self.opened(&answer)
    }

    pub(super) fn opened(&mut self, answer: &Answer) -> Option<u32> {
        let pid = field(answer, "pid")?.parse().ok()?;
        if !self.before.contains(&pid) {
            let name = field(answer, "app").unwrap_or_default().to_owned();
            self.started.push((pid, name));
        }
        Some(pid)
    }

    pub(super) fn listed(&mut self) -> Found {
        let listed = self.links.applications("").text;
        let names = ["TextEdit", "Calculator"];
        judge(names.iter().all(|name| listed.contains(name)), listed)
    }

    fn key(&mut self, pid: u32, name: &str, key: &str, modifiers: &[&str], wanted: &str) {
        if let Ok(action) = press(key, modifiers) {
            self.expect(name, Some(pid), action, wanted);
        }
    }

    pub(super) fn editor(&mut self, pid: u32) {
        let some = Some(pid);
        self.key(pid, "press_key (Command+N)", "n", &["Command"], AREA);
        let before = self.os.pasteboard_types();
        for (name, action, wanted) in texts(AREA) {
            self.expect(name, some, action, wanted);
        }
        let after = self.os.pasteboard_types();
        let seen = format!("{before:?} → {after:?}");
        self.note("the pasteboard is back", judge(before == after, seen));
        self.row("scroll, by the scroll bar", |test| test.wheel(pid));
        self.row("drag, by the window's place", |test| test.drag_window(pid));
        let wait = Action::WaitFor {
            target: Target::titled("line", AREA),
            state: Awaited::Present,
            timeout: Duration::from_secs(3),
        };
        self.expect("wait_for", some, wait, "line");
        self.sheet(pid);
        let refreshed = self.expect("refresh", some, Action::Refresh, "TextEdit");
        let pictured = refreshed.and_then(|answer| Some(field(&answer, "screenshot")?.to_owned()));
        let pictured = pictured.ok_or_else(|| "no screenshot came with it".into());
        self.note("picture", pictured);
    }

    /// The save panel is a sheet. Its sidebar has rows to select.
    fn sheet(&mut self, pid: u32) {
        let found = self.in_picture(pid, Role::SHEET, |test| {
            let name = "sheet opens (Command+S)";
            test.key(pid, name, "s", &["Command"], "# dialog");
        });
        self.note("a sheet in the picture", found);
        let tree = self.tree(pid);
        let row = visible(&tree).find(|l| l.contains("[AXRow"));
        if let Some(reference) = row.and_then(reference) {
            let select = Action::set_selected(Target::Ref(reference), true);
            self.expect("set_selected", Some(pid), select, "Selected");
        } else {
            // A compact save panel has no sidebar.
            self.note("set_selected", Err(skip("the save panel shows no row")));
        }
        self.press(pid, "Escape", &[]);
        let answer = self.call(Some(pid), Action::Refresh);
        let closed = field(&answer, "dialog").is_none();
        self.note("sheet closes", judge(closed, answer.text));
    }

    pub(super) fn calculator(&mut self, pid: u32) {
        let some = Some(pid);
        self.key(pid, "press_key (Escape)", "Escape", &[], "Pressed");
        let typing = Typing::text("6*7").then(KeyPress::parse("Return", &[]).ok());
        let name = "type into Calculator";
        self.expect(name, some, Action::type_text(typing), "42");
        let pressed = SEVEN.iter().find_map(|name| {
            let target = Target::titled(name, "AXButton");
            let answer = self.call(some, Action::press_ax(target));
            (!answer.is_error).then_some(answer)
        });
        let found = pressed.and_then(|a| Some(field(&a, "summary")?.to_owned()));
        self.note("press_ax", found.ok_or_else(|| "no button 7".into()));
    }

    /// Clicks in a background app: the link must then restore the front window, the pointer and the
    /// order of the other apps' windows.
    pub(super) fn restored(&mut self, behind: u32) {
        let os = self.os;
        let order = || {
            let others = os.windows().into_iter();
            let others = others.filter(|w| (0..=8).contains(&w.layer) && w.pid != behind);
            others.map(|w| w.number).take(5).collect::<Vec<_>>()
        };
        let before = order();
        let click = Action::click(Target::titled("", AREA), Typing::default());
        self.puts_back(behind, click);
        let now = order();
        let seen = format!("{before:?} → {now:?}");
        let name = "order of the other apps' windows";
        self.note(name, judge(before == now, seen));
    }

    /// Refs remain valid in the next server process: another process computes the same ids.
    pub(super) fn same_ids(&mut self, pid: u32) -> Found {
        let program = self.program;
        let program = program.ok_or_else(|| skip("there is no program to start"))?;
        let role = format!("ids={pid}");
        let mut other = Command::new(program);
        let theirs = other.args(["--role", &role]).output()?;
        let theirs = String::from_utf8_lossy(&theirs.stdout);
        let theirs: Vec<&str> = theirs.lines().collect();
        let own = ids(self.desktop()?, pid);
        let same = own.iter().filter(|id| theirs.contains(&id.as_str()));
        let (same, all) = (same.count(), own.len());
        let enough = same * 100 >= all * 95 && all > 0;
        judge(enough, format!("{same} of {all} are the same"))
    }
}

/// The ids of an app's visible elements.
pub fn ids(desktop: &mut dyn Desktop, pid: u32) -> Vec<String> {
    let elements = desktop.read(pid, Scope::Showing).map(|tree| tree.elements);
    let elements = elements.unwrap_or_default().into_iter();
    elements.map(|e| e.id.as_str().to_owned()).collect()
}

/// The lines of a tree that describe visible elements.
pub(super) fn visible(tree: &str) -> impl DoubleEndedIterator<Item = &str> {
    tree.lines().filter(|line| line.contains(" visible"))
}

pub(super) fn reference(line: &str) -> Option<Ref> {
    line.trim().parse::<Line>().ok()?.reference
}

/// The centre of the first visible element of a role.
pub(super) fn place(tree: &str, role: &str) -> Option<Point> {
    let line = visible(tree).find(|l| l.contains(&format!("[{role}")))?;
    Some(line.trim().parse::<Line>().ok()?.extents?.center())
}
