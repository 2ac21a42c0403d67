//! Checks each tool on `TextEdit` and Calculator, sheets, ids in a second process, and the state
//! that a link restores.

use std::process::Command;
use std::time::Duration;

use deskline_contract::Scope;
use deskline_core::{KeyPress, Line, Point, Ref, Role};
use deskline_link::call::{Awaited, Typing};
use deskline_link::selftest::{field, judge, press, tree_of};
use deskline_link::{Action, Target};

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
    /// Runs all checks of the tools. Returns the pid of `TextEdit`.
    pub(super) fn tools(&mut self) -> Option<u32> {
        let editor = self.open("TextEdit")?;
        self.editor(editor);
        if let Some(calculator) = self.open("Calculator") {
            self.calculator(calculator);
            self.restored(editor);
            self.count_clicks(calculator);
            self.menu_bar(editor);
            self.fronts(editor, calculator);
            self.rear_window(editor, calculator);
            self.another_space(editor, calculator);
        }
        self.same_ids(editor);
        let listed = self.links.applications("");
        let all = ["TextEdit", "Calculator"];
        let all = all.iter().all(|name| listed.text.contains(name));
        let seen = if all {
            first(&listed.text)
        } else {
            listed.text
        };
        self.note("list_applications", judge(all, seen));
        Some(editor)
    }

    pub(super) fn open(&mut self, name: &str) -> Option<u32> {
        let answer = self.expect("open_application", None, Action::open(name), name)?;
        self.opened(&answer);
        field(&answer, "pid")?.parse().ok()
    }

    /// Records an app that was not running before, to close it at the end.
    pub(super) fn opened(&mut self, answer: &deskline_link::Answer) {
        let pid = field(answer, "pid").and_then(|pid| pid.parse().ok());
        if let Some(pid) = pid.filter(|pid| !self.before.contains(pid)) {
            let name = field(answer, "app").unwrap_or_default().to_owned();
            self.started.push((pid, name));
        }
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

    fn editor(&mut self, pid: u32) {
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
        self.wheel(pid, area);
        self.drag_window(pid);
        let wait = Action::WaitFor {
            target: Target::titled("line", AREA),
            state: Awaited::Present,
            timeout: Duration::from_secs(3),
        };
        self.expect("wait_for", some, wait, "line");
        self.sheet(pid);
        let refreshed = self.expect("refresh", some, Action::Refresh, "TextEdit");
        let pictured = refreshed.and_then(|answer| Some(field(&answer, "screenshot")?.to_owned()));
        self.note(
            "picture",
            pictured.ok_or_else(|| "no screenshot came with it".into()),
        );
    }

    /// The pasteboard's types are compared too.
    fn paste(&mut self, pid: u32) {
        let before = self.os.pasteboard_types();
        let typing = Typing {
            paste: true,
            text: Some(PASTED.to_owned()),
            key: None,
        };
        let paste = Action::type_text(typing);
        self.expect("paste", Some(pid), paste, PASTED);
        let after = self.os.pasteboard_types();
        let seen = format!("{before:?} → {after:?}");
        self.note("the pasteboard is back", judge(before == after, seen));
    }

    /// The save panel is a sheet. Its sidebar has rows to select.
    fn sheet(&mut self, pid: u32) {
        let some = Some(pid);
        self.in_picture("a sheet in the picture", pid, Role::SHEET, |test| {
            let name = "sheet opens (Command+S)";
            test.key(pid, name, "s", &["Command"], "# dialog");
        });
        let tree = self.tree(pid);
        let row = tree
            .lines()
            .find(|l| l.contains("[AXRow") && l.contains(" visible"));
        if let Some(reference) = row.and_then(reference) {
            let select = Action::set_selected(Target::Ref(reference), true);
            self.expect("set_selected", some, select, "Selected");
        } else {
            // A compact save panel has no sidebar.
            self.skip("set_selected", "the save panel shows no row");
        }
        self.press(pid, "Escape", &[]);
        let answer = self.call(some, Action::Refresh);
        let closed = field(&answer, "dialog").is_none();
        let found = if closed {
            Ok("by Escape".into())
        } else {
            Err(answer.text)
        };
        self.note("sheet closes", found);
    }

    fn calculator(&mut self, pid: u32) {
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
    fn restored(&mut self, behind: u32) {
        let (pointer, front) = (self.os.pointer(), front::pid(self.os));
        let order = |test: &Self| {
            let all = windows::all(test.os).into_iter();
            all.filter(|w| w.pid != Some(behind))
                .map(|w| w.id)
                .take(5)
                .collect::<Vec<_>>()
        };
        let windows = order(self);
        if let Some(area) = self.place(behind, AREA) {
            let click = Action::click(Target::Point(area), Typing::default());
            self.call(Some(behind), click);
        }
        let now = self.os.pointer();
        let near = (now.0 - pointer.0).abs() < 1.5 && (now.1 - pointer.1).abs() < 1.5;
        let after = front::pid(self.os);
        let there = after == front && front != Some(behind);
        let seen = format!("pointer {pointer:?} → {now:?}, front {front:?} → {after:?}");
        self.note("pointer and front app put back", judge(near && there, seen));
        let now = order(self);
        let seen = format!("{windows:?} → {now:?}");
        self.note(
            "order of the other apps' windows",
            judge(windows == now, seen),
        );
    }

    /// Refs remain valid in the next server process: another process computes the same ids.
    fn same_ids(&mut self, pid: u32) {
        let Some(program) = self.program else { return };
        let own = ids(self.os, pid);
        let role = format!("ids={pid}");
        let other = Command::new(program)
            .args(["selftest", "--role", &role])
            .output();
        let found = match other {
            Err(e) => Err(e.to_string()),
            Ok(output) => {
                let theirs = String::from_utf8_lossy(&output.stdout);
                let same = own
                    .iter()
                    .filter(|id| theirs.lines().any(|l| l == id.as_str()));
                let same = same.count();
                let enough = same * 100 >= own.len() * 95 && !own.is_empty();
                judge(enough, format!("{same} of {} are the same", own.len()))
            }
        };
        self.note("ids in a second process", found);
    }

    /// The centre of the first visible element of a role.
    pub(super) fn place(&mut self, pid: u32, role: &str) -> Option<Point> {
        let answer = self.call(Some(pid), Action::Refresh);
        let tree = tree_of(&answer)?;
        let line = tree
            .lines()
            .find(|l| l.contains(&format!("[{role}")) && l.contains(" visible"))?;
        Some(line.trim().parse::<Line>().ok()?.extents?.center())
    }
}

pub(super) fn reference(line: &str) -> Option<Ref> {
    line.trim().parse::<Line>().ok()?.reference
}

fn first(text: &str) -> String {
    text.lines().nth(1).unwrap_or_default().to_owned()
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
