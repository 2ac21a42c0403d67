//! A tree file, as far as a recipe needs it.

use deskline_core::escape::unescape;
use deskline_core::tree_reader::{self, FileLine};
use deskline_core::{DeltaLine, Line, States, is_dialog};

use crate::check::{Check, shape};
use crate::find::text_of;

/// The screen of one app after a call, and what the call changed.
#[derive(Debug, Clone, Default)]
pub struct Screen {
    pub lines: Vec<Line>,
    pub changes: Vec<DeltaLine>,
    /// The dialog in front, by its text.
    pub dialog: Option<String>,
    /// The process that came to the front, with its name, and its screen.
    pub other: Option<(u32, String, Box<Screen>)>,
}

impl Screen {
    pub fn parse(text: &str) -> Self {
        let mut screen = Self::default();
        let mut other: Option<(u32, String, Box<Self>)> = None;
        for line in tree_reader::lines(text) {
            let at = match &mut other {
                Some((_, _, at)) => &mut **at,
                None => &mut screen,
            };
            match line {
                FileLine::Header(header) => {
                    if let Some((name, pid)) = switched(&header) {
                        other = Some((pid, name.to_owned(), Box::new(Self::default())));
                    } else if let Some(dialog) = header.strip_prefix("dialog: ") {
                        at.dialog = Some(title(dialog));
                    }
                }
                FileLine::Element(line) => at.lines.push(line),
                FileLine::Delta(line) => at.changes.push(line),
                FileLine::Late(_) | FileLine::Unknown(_) => {}
            }
        }
        screen.other = other;
        screen
    }

    /// Notes a dialog in front that is not modal: only the line `windows:` of an answer tells of
    /// it.
    pub fn note_front(&mut self, windows: &str) {
        let front = windows.split(" (front)").next();
        let front = front.and_then(|front| front.rsplit(' ').next()?.parse().ok());
        let is_front = |line: &&Line| {
            let is_dialog = line.native_role.as_deref().is_some_and(is_dialog);
            is_dialog && front.is_some() && line.reference == front
        };
        let front = self.lines.iter().find(is_front).map(text_of);
        self.dialog = self.dialog.take().or(front.map(str::to_owned));
    }

    /// Notes what differs from an earlier screen of the same app, without what of each element.
    pub fn changed_since(&mut self, old: &Self) {
        let is_in = |line: &Line, lines: &[Line]| {
            let same = |other: &Line| other.visible && other.reference == line.reference;
            lines.iter().position(same)
        };
        let stays = |line: &&Line| is_in(line, &self.lines).is_some();
        let gone = old.visible().filter(|line| !stays(line));
        let mut changes: Vec<DeltaLine> = gone.cloned().map(DeltaLine::Removed).collect();
        for line in self.visible() {
            let Some(before) = is_in(line, &old.lines).map(|at| &old.lines[at]) else {
                changes.push(DeltaLine::Added(line.clone()));
                continue;
            };
            let states = |line: &Line| line.states.difference(States::FOCUSED);
            let is = |line: &Line| (line.text.clone(), line.value.clone(), states(line));
            if is(line) != is(before) {
                changes.push(DeltaLine::Modified(line.clone(), Vec::new()));
            }
        }
        self.changes = changes;
    }

    /// Whether something shows that did not show before, or the order of what shows has changed.
    /// States and numbers do not count: a number may change by itself.
    pub fn moved_since(&self, old: &Self) -> bool {
        let order = |screen: &Self| {
            let lines = screen.visible().map(|line| {
                let value = line.value.as_ref().map(|value| shape(&value.shown));
                (line.role, shape(text_of(line)), value)
            });
            lines.collect::<Vec<_>>()
        };
        order(self) != order(old)
    }

    /// The elements that have the focus.
    pub fn focused(&self) -> impl Iterator<Item = &Line> {
        let focused = |line: &&Line| line.states.contains(States::FOCUSED);
        self.visible().filter(focused)
    }

    /// Whether an element that shows meets the check.
    pub fn shows(&self, check: &Check) -> bool {
        self.visible().any(|line| check.is(line))
    }

    /// The elements that show.
    pub fn visible(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.visible)
    }
}

/// The title in `"Save as" [AXWindow (dialog)] #e7`.
fn title(dialog: &str) -> String {
    let quoted = dialog.strip_prefix('"');
    let title = quoted.and_then(|rest| unescape(rest.split_once("\" [")?.0));
    title.map_or_else(String::new, std::borrow::Cow::into_owned)
}

/// The name and process in `app_switch: NAME (PID: 7)`.
fn switched(header: &str) -> Option<(&str, u32)> {
    let switch = header.strip_prefix("app_switch: ")?;
    let (name, rest) = switch.rsplit_once(" (PID: ")?;
    Some((name, rest.split(')').next()?.parse().ok()?))
}
