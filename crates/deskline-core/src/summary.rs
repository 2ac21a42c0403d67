//! The summary: everything that the model sees of a call. Plain text, in a fixed order, one line a
//! field, fewer than 4,000 characters whatever is on the screen.

use std::borrow::Cow;

use crate::escape::{self, count, one_line, short};
use crate::listing::{LateChanges, Listed, tree_elements};
use crate::tree_file::NAME;
use crate::{Diff, Texts, Tree};

/// A summary has fewer characters than this.
pub const LIMIT: usize = 4_000;

/// The names of the fields, in their order.
#[rustfmt::skip]
pub const FIELDS: [&str; 27] = [
    "status", "error", "pid", "app", "dialog", "partial", "no_tree", "blind", "file", "file_size",
    "hint", "screenshot", "summary", "effect", "expected", "steps", "note", "target", "focus",
    "windows", "late_changes", "picture_changed", "text_changes", "visible_elements", "app_switch",
    "app_switch_elements", "app_switch_visible_elements",
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub bytes: u64,
    /// How many elements the tree has.
    pub elements: usize,
}

/// The app that came to the front.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handoff {
    pub app: String,
    pub pid: u32,
    /// The number of elements.
    pub total: usize,
    /// The number of visible elements.
    pub visible: usize,
    /// The visible elements of the app's tree, by [`tree_elements`].
    pub elements: Listed,
}

impl Handoff {
    /// The handoff to the app of this tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            app: tree.app.name.clone(),
            pid: tree.app.pid,
            total: tree.elements.len(),
            visible: tree.seen(),
            elements: tree_elements(tree),
        }
    }
}

/// The answer to a call, field by field; empty fields are left out. Texts from the screen and paths
/// are passed in as they are: [`Summary::render`] escapes them and keeps to [`LIMIT`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The failure and the next step. Makes the status `error`.
    pub error: Option<String>,
    /// The target's pid.
    pub pid: Option<u32>,
    /// The target's name.
    pub app: Option<String>,
    /// The window, dialog or pop-up that the action has opened, or the open dialog:
    /// [`crate::tree_file::window_label`].
    pub dialog: Option<String>,
    /// The missing parts of the tree, and why.
    pub partial: Vec<String>,
    /// Why the app has no tree, and what would help.
    pub no_tree: Option<String>,
    /// Parts of the picture that a full tree does not describe.
    pub blind: Vec<String>,
    pub file: Option<File>,
    /// Whether to show how to search the file, even if no list was cut.
    pub hint: bool,
    /// The path of the picture.
    pub screenshot: Option<String>,
    /// The action and its effect, in one or two sentences.
    pub summary: String,
    /// What the action has changed: `changed`, `picture only`, `nothing` or `unknown`.
    pub effect: Option<&'static str>,
    /// After which time the expectation of the call was met.
    pub expected: Option<String>,
    /// The steps of a chain, one line each.
    pub steps: Vec<String>,
    /// The element that was acted on, as it is now: [`crate::target::target`].
    pub target: Option<String>,
    /// Where keys go now: [`crate::focus::focus`].
    pub focus: Option<String>,
    /// The app's windows, if there are several: [`crate::focus::windows`].
    pub windows: Option<String>,
    /// Anything else that the model must know, such as that there was no guard, or why there is no
    /// picture.
    pub notes: Vec<String>,
    /// The changes since the last answer: [`crate::listing::late_changes`].
    pub late_changes: LateChanges,
    /// Whether and where the picture changed. Set only if the diff names nothing visible.
    pub picture_changed: Option<String>,
    /// Texts before and after: [`crate::listing::text_changes`].
    pub text_changes: Listed,
    /// The elements that show, by [`tree_elements`] or [`crate::listing::new_elements`].
    pub visible_elements: Listed,
    /// The app that came to the front.
    pub app_switch: Option<Handoff>,
}

impl Summary {
    /// Renders fewer than [`LIMIT`] characters. To fit, drops elements from the end of their lists,
    /// which then say how many are missing. Keeps paths of up to 800 characters whole.
    pub fn render(&self) -> String {
        let page = self.page(self.hint);
        if page.cut && !self.hint {
            self.page(true).text
        } else {
            page.text
        }
    }

    /// The whole text. `wanted`: whether it has the hint how to search the file.
    fn page(&self, wanted: bool) -> Page {
        let handoff = self.app_switch.as_ref().map(|handoff| {
            let mut head = Page::default();
            let front = escape::name(&handoff.app, NAME);
            let front = format!("{front} (PID: {}) is now frontmost", handoff.pid);
            head.field("app_switch", &front, 200);
            let counts = format!("{} total, {} visible", handoff.total, handoff.visible);
            head.field("app_switch_elements", &counts, 60);
            (head, &handoff.elements)
        });
        let mut out = Page {
            reserved: handoff.as_ref().map_or(0, |(head, _)| head.chars),
            ..Page::default()
        };
        let status = if self.error.is_some() {
            "error"
        } else {
            "success"
        };
        out.field("status", status, 10);
        out.given("error", self.error.as_deref(), 800);
        let pid = self.pid.map(|pid| pid.to_string());
        out.given("pid", pid.as_deref(), 10);
        let app = self.app.as_ref().map(|app| escape::name(app, NAME));
        out.given("app", app.as_deref(), 160);
        out.given("dialog", self.dialog.as_deref(), 160);
        for what in self.partial.iter().take(2) {
            out.field("partial", what, 160);
        }
        out.given("no_tree", self.no_tree.as_deref(), 370);
        // Without a tree nothing of the window is described, so blind spots are not named.
        let blind = self.blind.iter().filter(|_| self.no_tree.is_none());
        for place in blind.take(3) {
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
        out.given("screenshot", self.screenshot.as_deref(), PATH);
        let summary = Some(&*self.summary).filter(|text| !text.is_empty());
        out.given("summary", summary, 300);
        out.given("effect", self.effect, 20);
        out.given("expected", self.expected.as_deref(), 60);
        // Leave room for the effect of the steps.
        out.list("steps", (&self.steps, 0), "", LIMIT * 2 / 5);
        for note in self.notes.iter().take(3) {
            out.field("note", note, 150);
        }
        out.given("target", self.target.as_deref(), TARGET);
        out.given("focus", self.focus.as_deref(), 200);
        out.given("windows", self.windows.as_deref(), 300);
        // The other app's list gets half of the space that is left, and what the first list does
        // not use.
        let after = handoff.as_ref().map_or(0, |(head, elements)| {
            let left = LIMIT.saturating_sub(out.chars + head.chars);
            (left / 2).min(elements.length())
        });
        if !self.late_changes.counts.is_empty() {
            let since = format!("{} since the last answer", self.late_changes.counts);
            out.field("late_changes", &since, 100);
            out.listed(&self.late_changes.elements, after);
        }
        out.given("picture_changed", self.picture_changed.as_deref(), 60);
        out.named("text_changes", &self.text_changes, after);
        out.named("visible_elements", &self.visible_elements, after);
        if let Some((head, elements)) = handoff {
            out.reserved = 0;
            out.push(&head.text);
            out.named("app_switch_visible_elements", elements, 0);
        }
        out
    }
}

/// The length of `  … (+40 more, in the file)`.
const MORE: usize = 36;

/// Ends the last line of a list that was cut.
const IN_FILE: &str = ", in the file";

/// `target:` has at most this many characters.
const TARGET: usize = 520;

/// Paths of up to this length are never cut.
const PATH: usize = 800;

/// Quotes a path for a shell.
pub fn shell_word(path: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~+:,@%".contains(c);
    if path.chars().all(plain) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(format!("'{}'", path.replace('\'', "'\\''")))
}

/// A text that counts its characters and stays below the limit.
#[derive(Default)]
struct Page {
    text: String,
    chars: usize,
    /// The characters that are kept free for the end.
    reserved: usize,
    /// Whether a list was cut, by its cap or to fit.
    cut: bool,
}

impl Page {
    /// Appends whole lines if they fit; returns whether they did.
    fn push(&mut self, lines: &str) -> bool {
        let chars = self.chars + lines.chars().count();
        let fits = chars + self.reserved < LIMIT;
        if fits {
            self.text.push_str(lines);
            self.chars = chars;
        }
        fits
    }

    fn given(&mut self, name: &str, value: Option<&str>, most: usize) {
        if let Some(value) = value {
            self.field(name, value, most);
        }
    }

    fn field(&mut self, name: &str, value: &str, most: usize) {
        self.push(&format!("{name}: {}\n", short(value, most)));
    }

    /// Appends a list under its name, leaving `after` characters free.
    fn named(&mut self, name: &str, list: &Listed, after: usize) {
        self.list(name, (&list.lines, list.more), IN_FILE, after);
    }

    /// Appends a header and as many indented lines as fit, leaving `after` characters free.
    fn list(&mut self, name: &str, lines: (&[String], usize), place: &str, after: usize) {
        let header = format!("{name}:\n");
        let fits = self.chars + header.len() + MORE < self.room(after);
        if !lines.0.is_empty() && fits && self.push(&header) {
            self.lines(lines, place, after);
        }
    }

    fn listed(&mut self, list: &Listed, after: usize) {
        self.lines((&list.lines, list.more), IN_FILE, after);
    }

    /// Appends as many indented lines as fit and leaves `after` characters free. Then appends how
    /// many lines are missing, including the `more` that an earlier cap has removed.
    fn lines(&mut self, (lines, more): (&[String], usize), place: &str, after: usize) {
        let room = self.room(after);
        let mut written = 0;
        for line in lines {
            let line = format!("  {}\n", one_line(line));
            if self.chars + line.chars().count() >= room {
                break;
            }
            self.push(&line);
            written += 1;
        }
        let missing = more + (lines.len() - written);
        if missing > 0 {
            self.push(&format!("  … (+{missing} more{place})\n"));
            self.cut = true;
        }
    }

    fn room(&self, after: usize) -> usize {
        LIMIT.saturating_sub(after + self.reserved + MORE)
    }
}

/// The name of an element in a sentence: `'Send' [AXButton]`.
pub fn name_of(tree: &Tree, index: usize) -> String {
    let Some(element) = tree.elements.get(index) else {
        return "nothing".to_owned();
    };
    let role = element.role.ax();
    match Texts::new(tree).text(tree, index) {
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
