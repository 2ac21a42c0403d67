//! The summary: all that the model sees of a call. Plain text, in a fixed order, one line a field,
//! fewer than 4,000 characters whatever is on the screen.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use crate::escape::{self, count, one_line, short, short_escaped};
use crate::excerpt::short_excerpts;
use crate::tree_file::NAME;
use crate::{Diff, Element, Rect, Role, States, Texts, Tree, diff::Attribute, diff::Value};

/// A summary has fewer characters than this.
pub const LIMIT: usize = 4_000;

/// A tree file that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// How many elements its tree has.
    pub elements: usize,
}

/// The app that came to the front.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handoff {
    /// Its name.
    pub app: String,
    /// Its pid.
    pub pid: u32,
    /// How many elements it has.
    pub total: usize,
    /// How many of them are visible.
    pub visible: usize,
    /// Lines of [`tree_elements`].
    pub elements: Vec<String>,
}

impl Handoff {
    /// The handoff to the app of this tree.
    pub fn of(tree: &Tree) -> Self {
        Self {
            app: tree.app.name.clone(),
            pid: tree.app.pid,
            total: tree.elements.len(),
            visible: tree.elements.iter().filter(|e| e.visible).count(),
            elements: tree_elements(tree),
        }
    }
}

/// What an app showed between two answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LateChanges {
    /// `3 added, 1 modified`; empty where nothing changed.
    pub counts: String,
    /// The first changed elements, as they are now.
    pub elements: Vec<String>,
}

/// The answer to a call, field by field; empty fields are left out. Texts from the screen and paths
/// are passed in as they are: [`Summary::render`] escapes them and keeps to [`LIMIT`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// What was wrong and what to do next. Its presence makes the status `error`.
    pub error: Option<String>,
    /// The target's pid.
    pub pid: Option<u32>,
    /// The target's name.
    pub app: Option<String>,
    /// The window, dialog or pop-up that the action has opened, or the open dialog:
    /// [`crate::tree_file::window_label`].
    pub dialog: Option<String>,
    /// What the tree lacks and why.
    pub partial: Vec<String>,
    /// Where the picture shows something that a full tree does not describe.
    pub blind: Vec<String>,
    /// The tree file.
    pub file: Option<File>,
    /// Whether to say how the file is searched, even if nothing was cut here.
    pub hint: bool,
    /// The path of the picture.
    pub screenshot: Option<String>,
    /// What was done and what came of it, in one or two sentences.
    pub summary: String,
    /// The steps of a chain, a line each.
    pub steps: Vec<String>,
    /// Where keys go now: [`crate::focus::focus`].
    pub focus: Option<String>,
    /// The app's windows, if there are several: [`crate::focus::windows`].
    pub windows: Option<String>,
    /// What else the model must know, such as: no guard, no picture and why.
    pub notes: Vec<String>,
    /// What changed since the last answer: [`late_changes`].
    pub late_changes: LateChanges,
    /// Whether and where the picture changed; set if the diff names nothing visible.
    pub picture_changed: Option<String>,
    /// Texts before and after: [`text_changes`].
    pub text_changes: Vec<(String, String)>,
    /// Lines of [`tree_elements`] or [`new_elements`].
    pub visible_elements: Vec<String>,
    /// The app that came to the front.
    pub app_switch: Option<Handoff>,
}

impl Summary {
    /// Renders fewer than [`LIMIT`] characters. To fit, drops elements from the end of their lists, which
    /// then say how many are missing. Keeps paths of up to 800 characters whole.
    pub fn render(&self) -> String {
        let page = self.page(self.hint);
        let capped = page.cut
            || self
                .visible_elements
                .iter()
                .any(|line| line.starts_with('…'));
        if capped && !self.hint {
            self.page(true).text
        } else {
            page.text
        }
    }

    /// The whole text, with the `hint` if it is wanted.
    fn page(&self, wanted: bool) -> Page {
        let mut out = Page::default();
        let status = if self.error.is_some() {
            "error"
        } else {
            "success"
        };
        out.field("status", status, 10);
        if let Some(error) = &self.error {
            out.field("error", error, 800);
        }
        if let Some(pid) = self.pid {
            out.field("pid", &pid.to_string(), 10);
        }
        if let Some(app) = &self.app {
            out.field("app", &escape::name(app, NAME), 160);
        }
        if let Some(dialog) = &self.dialog {
            out.field("dialog", dialog, 160);
        }
        for what in self.partial.iter().take(2) {
            out.field("partial", what, 160);
        }
        for place in self.blind.iter().take(3) {
            let look = format!("{}: look at the screenshot there", short(place, 80));
            out.field("blind", &look, 120);
        }
        if let Some(file) = &self.file {
            let elements = count(file.elements, "element");
            let size = format!("{} bytes ({elements})", file.bytes);
            out.field("file", &file.path, PATH);
            out.field("file_size", &size, 60);
            let hint = format!("grep -n 'AXButton' {}", shell_word(&file.path));
            if wanted && hint.chars().count() <= 250 {
                out.field("hint", &hint, 250);
            }
        }
        if let Some(path) = &self.screenshot {
            out.field("screenshot", path, PATH);
        }
        if !self.summary.is_empty() {
            out.field("summary", &self.summary, 300);
        }
        // Leave room for what the steps led to.
        out.list("steps", &self.steps, LIMIT * 2 / 5);
        for note in self.notes.iter().take(3) {
            out.field("note", note, 150);
        }
        if let Some(focus) = &self.focus {
            out.field("focus", focus, 200);
        }
        if let Some(windows) = &self.windows {
            out.field("windows", windows, 300);
        }
        let handoff = self.app_switch.as_ref().map(|handoff| {
            let mut head = Page::default();
            let front = escape::name(&handoff.app, NAME);
            let front = format!("{front} (PID: {}) is now frontmost", handoff.pid);
            head.field("app_switch", &front, 200);
            let counts = format!("{} total, {} visible", handoff.total, handoff.visible);
            head.field("app_switch_elements", &counts, 60);
            (head, &handoff.elements)
        });
        // The other app's list gets half of the remaining space, plus what the first list leaves free.
        let after = handoff.as_ref().map_or(0, |(head, elements)| {
            let left = LIMIT.saturating_sub(out.chars + head.chars);
            head.chars + (left / 2).min(list_length(elements))
        });
        if !self.late_changes.counts.is_empty() {
            let since = format!("{} since the last answer", self.late_changes.counts);
            out.field("late_changes", &since, 100);
            out.lines(&self.late_changes.elements, after);
        }
        if let Some(changed) = &self.picture_changed {
            out.field("picture_changed", changed, 60);
        }
        let changes = self.text_changes.iter().take(3);
        let changes: Vec<_> = changes
            .map(|(old, new)| format!("'{}' -> '{}'", short(old, CHANGE), short(new, CHANGE)))
            .collect();
        out.list("text_changes", &changes, after);
        out.list("visible_elements", &self.visible_elements, after);
        if let Some((head, elements)) = handoff {
            out.push(&head.text);
            out.list("app_switch_visible_elements", elements, 0);
        }
        out
    }
}

/// `  … (+40 more)`
const MORE: usize = 24;

/// Paths of up to this length are never cut.
const PATH: usize = 800;

/// Quotes a path for a shell.
fn shell_word(path: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~+:,@%".contains(c);
    if path.chars().all(plain) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(format!("'{}'", path.replace('\'', "'\\''")))
}

/// The approximate length of a list with its header.
fn list_length(lines: &[String]) -> usize {
    40 + lines.iter().map(|l| l.chars().count() + 3).sum::<usize>()
}

/// A text that counts its characters and stays below the limit.
#[derive(Default)]
struct Page {
    text: String,
    chars: usize,
    /// Whether a list was cut to fit.
    cut: bool,
}

impl Page {
    /// Appends whole lines if they fit; returns whether they did.
    fn push(&mut self, lines: &str) -> bool {
        let chars = self.chars + lines.chars().count();
        let fits = chars < LIMIT;
        if fits {
            self.text.push_str(lines);
            self.chars = chars;
        }
        fits
    }

    fn field(&mut self, name: &str, value: &str, most: usize) {
        self.push(&format!("{name}: {}\n", short(value, most)));
    }

    /// Appends a header and as many indented lines as fit, leaving `after` characters free.
    fn list(&mut self, name: &str, lines: &[String], after: usize) {
        let room = LIMIT.saturating_sub(after + MORE);
        let header = format!("{name}:\n");
        if lines.is_empty() || self.chars + header.len() + MORE >= room {
            return;
        }
        self.push(&header);
        self.lines(lines, after);
    }

    /// Appends as many indented lines as fit, leaving `after` characters free.
    fn lines(&mut self, lines: &[String], after: usize) {
        let room = LIMIT.saturating_sub(after + MORE);
        for (i, line) in lines.iter().enumerate() {
            let line = format!("  {}\n", one_line(line));
            if self.chars + line.chars().count() >= room {
                self.push(&format!("  … (+{} more)\n", lines.len() - i));
                self.cut = true;
                return;
            }
            self.push(&line);
        }
    }
}

/// The name of an element in a sentence: `'Send' [AXButton]`.
pub fn name_of(tree: &Tree, index: usize) -> String {
    let Some(element) = tree.elements.get(index) else {
        return "nothing".to_owned();
    };
    let role = element.role.ax();
    match Texts::of(tree).text(tree, index) {
        Some(text) => format!("'{}' [{role}]", short(text.shown.trim(), 50)),
        None => format!("[{role}]"),
    }
}

/// `2 added, 1 removed, 3 modified`.
pub fn counts(diff: &Diff) -> String {
    let (added, removed) = (diff.added.len(), diff.removed.len());
    let modified = diff.modified.len();
    format!("{added} added, {removed} removed, {modified} modified")
}

/// The visible elements of a full tree: 30 interactive ones, then 10 static texts.
pub fn tree_elements(tree: &Tree) -> Vec<String> {
    tree_elements_in(tree, None)
}

/// [`tree_elements`], of one toplevel if `toplevel` is given.
pub fn tree_elements_in(tree: &Tree, toplevel: Option<usize>) -> Vec<String> {
    let is_static = |element: &Element| element.role == Role::STATIC_TEXT;
    let inside = |index: &usize| toplevel.is_none_or(|top| tree.toplevel(*index) == Some(top));
    let indices = (0..tree.elements.len()).filter(inside);
    elements(tree, indices, None, is_static, (30, 10))
}

/// The visible elements that a diff added, then those that came into view (the items of an opened
/// menu, the page of a tab): 20 interactive ones, then 10 static texts, rows and cells.
pub fn new_elements(before: &Tree, after: &Tree, diff: &Diff) -> Vec<String> {
    let appeared = diff.appeared(before, after);
    let is_static =
        |element: &Element| matches!(element.role, Role::STATIC_TEXT | Role::ROW | Role::CELL);
    let indices = diff.added.iter().copied().chain(appeared);
    let opened = after.opened_since(before, diff);
    elements(after, indices, opened, is_static, (20, 10))
}

/// The late changes: their counts, and the first five elements. Added ones first, then modified ones
/// as they are now, then removed ones.
pub fn late_changes(before: &Tree, after: &Tree, diff: &Diff) -> LateChanges {
    const MOST: usize = 5;
    let counts = [
        (diff.added.len(), "added"),
        (diff.removed.len(), "removed"),
        (diff.modified.len(), "modified"),
    ];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    let modified = diff.modified.iter().map(|m| m.after);
    let now = diff.added.iter().copied().chain(modified);
    let gone = diff.removed.iter().copied();
    let now = now.map(|i| (after, i, "")).collect::<Vec<_>>();
    let gone = gone.map(|i| (before, i, "gone: "));
    let all = now.into_iter().chain(gone).take(MOST);
    let (is, was) = (Texts::of(after), Texts::of(before));
    let lines = all.filter_map(|(tree, index, gone)| {
        let texts = if gone.is_empty() { &is } else { &was };
        let element = tree.elements.get(index)?;
        Some(format!(
            "{gone}{}",
            element_line(tree, texts, index, element)
        ))
    });
    LateChanges {
        counts: counts.join(", "),
        elements: lines.collect(),
    }
}

fn elements(
    tree: &Tree,
    indices: impl Iterator<Item = usize>,
    opened: Option<usize>,
    is_static: impl Fn(&Element) -> bool,
    (most_interactive, most_static): (usize, usize),
) -> Vec<String> {
    let visible = |&index: &usize| tree.elements.get(index).is_some_and(|e| e.visible);
    let mut indices: Vec<usize> = indices.filter(visible).collect();
    tree.sort_for_reading(&mut indices, opened);
    let texts = Texts::of(tree);
    let interactive = |index: usize| {
        let element = tree.elements.get(index);
        element.is_some_and(|e| e.role.is_interactive())
    };
    let (mut first, mut then) = (Vec::new(), Vec::new());
    // The interactive elements beyond the cap.
    let mut more = 0;
    // The elements whose texts are listed already: a row, its cell and the label in it have the same
    // text and are listed once.
    let mut said = HashSet::new();
    for index in indices {
        let element = &tree.elements[index];
        if element.role.is_interactive() {
            if first.len() < most_interactive {
                first.push(element_line(tree, &texts, index, element));
            } else {
                more += 1;
            }
        } else if is_static(element) && then.len() < most_static {
            let Some(source) = texts.source(index) else {
                continue;
            };
            // The button's own line already has the text of its label, or of the row it is in.
            let in_button = element.parent.is_some_and(interactive);
            if !in_button && !interactive(source) && said.insert(source) {
                then.push(element_line(tree, &texts, index, element));
            }
        }
    }
    if more > 0 {
        first.push(format!(
            "… (+{more} more that can be acted on, in the file)"
        ));
    }
    first.append(&mut then);
    first
}

/// `[AXCheckBox] "Wrap lines" (40,610 90×18) checked #e97`: all states but `editable`, which the
/// role implies.
fn element_line(tree: &Tree, texts: &Texts, index: usize, element: &Element) -> String {
    let mut line = format!("[{}]", element.role.ax());
    if let Some(text) = texts.text(tree, index) {
        let text = short_escaped(text.shown.trim(), 50);
        // Writing to a String cannot fail.
        let _ = write!(line, " \"{text}\"");
    }
    if let Some(Rect { x, y, w, h }) = element.extents {
        let _ = write!(line, " ({x},{y} {w}×{h})");
    }
    for state in (element.states - States::EDITABLE).words() {
        let _ = write!(line, " {state}");
    }
    if let Some(reference) = element.reference {
        let _ = write!(line, " #{reference}");
    }
    line
}

/// Each side of a text change has at most this many characters.
const CHANGE: usize = 60;

/// The texts that a diff changed, as excerpts around the change. Values come first, then titles, then
/// descriptions; each pair once.
pub fn text_changes(diff: &Diff) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for wanted in [Attribute::Value, Attribute::Title, Attribute::Description] {
        let changes = diff.modified.iter().flat_map(|m| &m.changes);
        for change in changes.filter(|change| change.attribute == wanted) {
            if let (Value::Text(old), Value::Text(new)) = (&change.old, &change.new) {
                let pair = short_excerpts(old, new, CHANGE);
                if pairs.len() < 3 && !pairs.contains(&pair) {
                    pairs.push(pair);
                }
            }
        }
    }
    pairs
}
