//! Checks each tool on `TextEdit` and Calculator, sheets, ids in a second process, and the state
//! that a link restores.

use std::process::Command;
use std::time::Duration;

use deskline_contract::Scope;
use deskline_core::{KeyPress, Line, Point, Ref, Role};
use deskline_link::call::{Awaited, Typing};
use deskline_link::selftest::{Found, field, judge, press, skip};
use deskline_link::{Action, Answer, Target};

use super::test::Test;
use crate::ax::identity::Identities;
use crate::ax::tree;
use crate::os::Os;
use crate::{front, windows};

/// Text with characters beyond ASCII, beyond the layout and beyond 16 bits.
const TYPED: &str = "Hé漢字😀Ω£ zB!";
const PASTED: &str = "漢字 pasted";

/// The names of Calculator's button 7 in different versions of macOS.
const SEVEN: [&str; 3] = ["7", "seven", "Seven"];

pub(super) const AREA: &str = "AXTextArea";

impl<O: Os> Test<'_, O> {
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
        if ["TextEdit", "Calculator"]
            .iter()
            .all(|name| listed.contains(name))
        {
            return Ok(listed.lines().nth(1).unwrap_or_default().to_owned());
        }
        Err(listed.into())
    }

    pub(super) fn key(
        &mut self,
        pid: u32,
        name: &str,
        key: &str,
        modifiers: &[&str],
        wanted: &str,
    ) {
        if let Ok(action) = press(key, modifiers) {
            self.expect(name, Some(pid), action, wanted);
        }
    }

    pub(super) fn editor(&mut self, pid: u32) {
        let some = Some(pid);
        self.key(pid, "press_key (Command+N)", "n", &["Command"], AREA);
        let typing = Typing::text(TYPED).then(KeyPress::parse("Return", &[]).ok());
        self.expect("type", some, Action::type_text(typing), TYPED);
        self.paste(pid);
        let Some(area) = self.place(pid, AREA) else {
            return;
        };
        let click = Action::click(Target::Point(area), Typing::text("clicked"));
        self.expect("click with text", some, click, "clicked");
        let value = "line\n".repeat(200) + "set";
        let target = Target::titled("clicked", AREA);
        let set = Action::set_value(target, value);
        self.expect("set_value", some, set, "Set ");
        self.row("scroll, by the scroll bar", |test| test.wheel(pid, area));
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

    /// The pasteboard's types are compared too.
    fn paste(&mut self, pid: u32) {
        let before = self.os.pasteboard_types();
        let paste = Action::type_text(Typing {
            paste: true,
            ..Typing::text(PASTED)
        });
        self.expect("paste", Some(pid), paste, PASTED);
        let after = self.os.pasteboard_types();
        let seen = format!("{before:?} → {after:?}");
        self.note("the pasteboard is back", judge(before == after, seen));
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
        let open = field(&answer, "dialog").is_some();
        self.note(
            "sheet closes",
            if open {
                Err(answer.text.into())
            } else {
                Ok("by Escape".into())
            },
        );
    }

    pub(super) fn calculator(&mut self, pid: u32) {
        let some = Some(pid);
        self.key(pid, "press_key (Escape)", "Escape", &[], "Pressed");
        let typing = Typing::text("6*7").then(KeyPress::parse("Return", &[]).ok());
        self.expect(
            "type into Calculator",
            some,
            Action::type_text(typing),
            "42",
        );
        let pressed = SEVEN.iter().find_map(|name| {
            let target = Target::titled(name, "AXButton");
            let answer = self.call(some, Action::press_ax(target));
            (!answer.is_error).then_some(answer)
        });
        let found = pressed.and_then(|a| Some(field(&a, "summary")?.to_owned()));
        self.note("press_ax", found.ok_or_else(|| "no button 7".into()));
    }

    /// A click into an app in the background restores the front window and the pointer.
    pub(super) fn restored(&mut self, behind: u32) {
        let (pointer, front) = (self.os.pointer(), front::pid(self.os));
        let order = |test: &Self| {
            let others = windows::all(test.os)
                .into_iter()
                .filter(|w| w.pid != Some(behind));
            others.map(|w| w.id).take(5).collect::<Vec<_>>()
        };
        let windows = order(self);
        if let Some(area) = self.place(behind, AREA) {
            let click = Action::click(Target::Point(area), Typing::default());
            self.call(Some(behind), click);
        }
        let now = self.os.pointer();
        let after = front::pid(self.os);
        let there = after == front && front != Some(behind);
        let seen = format!("pointer {pointer:?} → {now:?}, front {front:?} → {after:?}");
        self.note(
            "pointer and front app put back",
            judge(near(now, pointer) && there, seen),
        );
        let now = order(self);
        let seen = format!("{windows:?} → {now:?}");
        self.note(
            "order of the other apps' windows",
            judge(windows == now, seen),
        );
    }

    /// Refs remain valid in the next server process: another process computes the same ids.
    pub(super) fn same_ids(&mut self, pid: u32) -> Found {
        let program = self
            .program
            .ok_or_else(|| skip("there is no program to start"))?;
        let role = format!("ids={pid}");
        let theirs = Command::new(program)
            .args(["selftest", "--role", &role])
            .output()?;
        let theirs = String::from_utf8_lossy(&theirs.stdout);
        same(
            &ids(self.os, pid),
            &theirs.lines().map(str::to_owned).collect::<Vec<_>>(),
        )
    }

    /// The centre of the first visible element of a role.
    pub(super) fn place(&mut self, pid: u32, role: &str) -> Option<Point> {
        let tree = self.tree(pid);
        let line = visible(&tree).find(|l| l.contains(&format!("[{role}")))?;
        Some(line.trim().parse::<Line>().ok()?.extents?.center())
    }
}

/// Whether these are the same but for the inaccuracy of the pointer's place.
pub(super) fn near(a: (f64, f64), b: (f64, f64)) -> bool {
    (a.0 - b.0).abs() < 1.5 && (a.1 - b.1).abs() < 1.5
}

/// The lines of a tree whose elements show.
pub(super) fn visible(tree: &str) -> impl DoubleEndedIterator<Item = &str> {
    tree.lines().filter(|line| line.contains(" visible"))
}

pub(super) fn reference(line: &str) -> Option<Ref> {
    line.trim().parse::<Line>().ok()?.reference
}

/// Whether two readings have the same ids, but for a few.
pub(super) fn same(own: &[String], theirs: &[String]) -> Found {
    let same = own.iter().filter(|id| theirs.contains(id)).count();
    let enough = same * 100 >= own.len() * 95 && !own.is_empty();
    judge(enough, format!("{same} of {} are the same", own.len()))
}

/// The ids of an app's visible elements.
pub(super) fn ids<O: Os>(os: &O, pid: u32) -> Vec<String> {
    let known = tree::Known {
        last: None,
        menus: Vec::new(),
    };
    let read = tree::read(os, &mut Identities::default(), pid, Scope::Showing, known);
    let elements = read.map(|read| read.tree.elements).unwrap_or_default();
    elements.iter().map(|e| e.id.as_str().to_owned()).collect()
}
