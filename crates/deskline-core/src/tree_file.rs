//! The parts of a tree file: a full tree, a diff with the tree after it, the tree of the app that
//! came to the front, an error. A link composes its file from these parts.

use std::cell::OnceCell;
use std::fmt::Write as _;

use crate::escape::{self, count, one_line, short_escaped};
use crate::line_writer::Parts;
use crate::{Coordinates, DeltaLine, Diff, Element, Line, Texts, Tree};

/// An app's name in a header has at most this many characters.
pub(crate) const NAME: usize = 80;

/// A full tree: `# <app> — <n> elements (<s>s)`, further headers, and one line an element in
/// document order. With `only_visible`, lists and counts only visible elements.
pub fn full_tree(tree: &Tree, only_visible: bool) -> String {
    let mut out = String::with_capacity(80 * tree.elements.len());
    push_full(&mut out, tree, &Texts::new(tree), only_visible);
    out
}

/// A diff: `# diff: +a added, -r removed, ~m modified`, one line an element, and after `# tree:`
/// the whole tree as it is now.
pub fn diff_and_tree(before: &Tree, after: &Tree, diff: &Diff, only_visible: bool) -> String {
    let mut out = String::with_capacity(80 * after.elements.len());
    let partial = if diff.partial { " (partial)" } else { "" };
    let _ = writeln!(
        out,
        "# diff: +{} added, -{} removed, ~{} modified{partial}",
        diff.added.len(),
        diff.removed.len(),
        diff.modified.len(),
    );
    let texts = Texts::new(after);
    for line in delta_lines(before, after, &texts, diff) {
        let _ = writeln!(out, "{line}");
    }
    out.push_str("# tree:\n");
    push_full(&mut out, after, &texts, only_visible);
    out
}

/// Late changes: `# late: +a -r ~m (since the last answer)`, then the lines of a diff, each after
/// `late `. Empty if nothing changed.
pub fn late_changes(before: &Tree, after: &Tree, diff: &Diff) -> String {
    if diff.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "# late: +{} -{} ~{} (since the last answer)\n",
        diff.added.len(),
        diff.removed.len(),
        diff.modified.len(),
    );
    for line in delta_lines(before, after, &Texts::new(after), diff) {
        let _ = writeln!(out, "late {line}");
    }
    out
}

/// The tree of the app that came to the front: `# app_switch: <app> (PID: <pid>)`, then the full
/// tree.
pub fn app_switch(tree: &Tree, only_visible: bool) -> String {
    switch_header(tree) + &full_tree(tree, only_visible)
}

/// The app in which a drag from another app ended: the header of [`app_switch`], then the diff and
/// the tree.
pub fn dropped_on(before: &Tree, after: &Tree, diff: &Diff, only_visible: bool) -> String {
    switch_header(after) + &diff_and_tree(before, after, diff, only_visible)
}

fn switch_header(tree: &Tree) -> String {
    let app = escape::name(&tree.app.name, NAME);
    format!("# app_switch: {app} (PID: {})\n", tree.app.pid)
}

/// `# error: <message>` on one line.
pub fn error(message: &str) -> String {
    format!("# error: {}\n", one_line(message))
}

/// A window, dialog or pop-up in short: its text, role and ref.
pub fn window_label(tree: &Tree, index: usize) -> Option<String> {
    label(tree, &Texts::new(tree), index)
}

fn label(tree: &Tree, texts: &Texts, index: usize) -> Option<String> {
    let line = Line::new(tree, texts, index)?;
    let text = line.text.map(|text| short_escaped(&text.shown, 100));
    let label = Line {
        reference: line.reference,
        ..Line::bare(line.role, line.native_role)
    };
    Some(match text {
        Some(text) => format!("\"{text}\" {label}"),
        None => label.to_string(),
    })
}

/// The lines of a diff: added, removed, modified. A removed element has no ref; a modified one has
/// no extents, because its line in the tree below has them.
fn delta_lines<'a>(
    before: &'a Tree,
    after: &'a Tree,
    texts: &'a Texts,
    diff: &'a Diff,
) -> impl Iterator<Item = DeltaLine> + 'a {
    let were = OnceCell::new();
    let added = diff.added.iter().filter_map(|&i| {
        Some(Line {
            parent: None,
            ..Line::new(after, texts, i)?
        })
    });
    let removed = diff.removed.iter().filter_map(move |&i| {
        Some(Line {
            visible: false,
            states: crate::States::empty(),
            reference: None,
            parent: None,
            ..Line::new(before, were.get_or_init(|| Texts::new(before)), i)?
        })
    });
    let modified = diff.modified.iter().filter_map(|modified| {
        let line = Line {
            extents: None,
            states: crate::States::empty(),
            value: None,
            parent: None,
            ..Line::new(after, texts, modified.after)?
        };
        Some(DeltaLine::Modified(line, modified.changes.clone()))
    });
    added
        .map(DeltaLine::Added)
        .chain(removed.map(DeltaLine::Removed))
        .chain(modified)
}

fn push_full(out: &mut String, tree: &Tree, texts: &Texts, only_visible: bool) {
    let listed = |element: &&Element| !only_visible || element.visible;
    let elements = count(tree.elements.iter().filter(listed).count(), "element");
    let app = escape::name(&tree.app.name, NAME);
    let seconds = tree.took.as_secs_f64();
    let _ = writeln!(out, "# {app} — {elements} ({seconds:.2}s)");
    if tree.coordinates == Coordinates::Window {
        out.push_str("# coordinates: window\n");
    }
    if let Some(why) = &tree.no_tree {
        let _ = writeln!(out, "# no tree: {}", one_line(why));
    }
    for what in &tree.partial {
        let _ = writeln!(out, "# partial: {}", one_line(what));
    }
    if let Some(older) = tree.older.as_ref().filter(|_| !only_visible) {
        let elements = count(older.elements, "element");
        let seconds = older.by.as_secs_f64();
        let names = older
            .windows
            .iter()
            .filter_map(|&top| label(tree, texts, top));
        let names: Vec<String> = names.collect();
        let of = if names.is_empty() {
            "hidden parts".into()
        } else {
            format!("hidden windows ({})", names.join(", "))
        };
        let _ = write!(
            out,
            "# older: {elements} of {of}, read up to {seconds:.1} s before"
        );
        let why = "; no event has reported a change\n";
        out.push_str(if names.is_empty() { why } else { "\n" });
    }
    if let Some(dialog) = tree.dialog.and_then(|dialog| label(tree, texts, dialog)) {
        let _ = writeln!(out, "# dialog: {dialog}");
    }
    for place in &tree.blind {
        let _ = writeln!(out, "# blind: {}", one_line(place));
    }
    let elements = tree.elements.iter().enumerate();
    for (i, element) in elements.filter(|(_, element)| listed(element)) {
        out.push(' ');
        // Writing to a String cannot fail.
        let _ = Parts::of(element, tree, texts, i).write(out);
        out.push('\n');
    }
}
