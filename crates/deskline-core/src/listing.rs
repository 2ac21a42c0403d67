//! The lists of a summary: visible elements, late changes, changed texts. Each list has a cap, and
//! counts the entries beyond the cap.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::escape::short_escaped;
use crate::excerpt::short_excerpts;
use crate::line_writer::short_tail;
use crate::texts::value_beside_name;
use crate::{Attribute, Diff, Element, Rect, Role, States, Text, Texts, Tree, Value};

/// A list, cut at a cap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// One entry a line. Texts are escaped as in a tree line.
    pub lines: Vec<String>,
    /// How many entries the cap has cut off.
    pub more: usize,
}

/// The changes of an app between two answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LateChanges {
    /// `3 added, 1 modified`; empty if nothing changed.
    pub counts: String,
    /// The first changed elements, as they are now.
    pub elements: Listed,
}

impl From<Vec<String>> for Listed {
    /// A list that was not cut.
    fn from(lines: Vec<String>) -> Self {
        Self { lines, more: 0 }
    }
}

impl Listed {
    /// Appends another list.
    pub fn extend(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.more += other.more;
    }

    /// The approximate length with its header, in characters.
    pub(crate) fn length(&self) -> usize {
        let lines = self.lines.iter();
        80 + lines.map(|l| l.chars().count() + 3).sum::<usize>()
    }
}

/// The most entries of a list: interactive elements, and texts, rows and cells together.
type Caps = (usize, usize);

/// The visible elements of a full tree: 30 interactive ones, then 10 static texts, rows and cells.
pub fn tree_elements(tree: &Tree) -> Listed {
    tree_elements_in(tree, None)
}

/// Like [`tree_elements`]; if `toplevel` is given, only the elements in it.
pub fn tree_elements_in(tree: &Tree, toplevel: Option<usize>) -> Listed {
    let inside = |index: &usize| toplevel.is_none_or(|top| tree.toplevel(*index) == Some(top));
    let mut indices: Vec<usize> = (0..tree.elements.len()).filter(inside).collect();
    indices.retain(|&index| tree.is_seen(index));
    tree.sort_for_reading(&mut indices, None, |_| false);
    elements(tree, &indices, (30, 10))
}

/// The visible elements that a diff added, then those that came into view (the items of an opened
/// menu, the page of a tab): 20 interactive ones, then 10 static texts, rows and cells.
pub fn new_elements(before: &Tree, after: &Tree, diff: &Diff) -> Listed {
    let appeared = diff.appeared(before, after);
    let visible = |&index: &usize| after.is_seen(index);
    let added: HashSet<usize> = diff.added.iter().copied().filter(visible).collect();
    let mut indices: Vec<usize> = diff.added.iter().copied().filter(visible).collect();
    indices.extend(appeared.into_iter().filter(visible));
    let opened = after.opened_since(before, diff);
    after.sort_for_reading(&mut indices, opened, |index| added.contains(&index));
    // Added buttons that are out of view can be scrolled to, for example in a form that has grown.
    let away = |&index: &usize| {
        let element = &after.elements[index];
        let is_button = element.role == Role::BUTTON && !element.title.is_blank();
        is_button && !element.visible && element.place().is_some()
    };
    indices.extend(diff.added.iter().copied().filter(away).take(AWAY));
    elements(after, &indices, (20, 10))
}

/// How many buttons that were added out of view are listed.
const AWAY: usize = 3;

/// The late changes: their counts, and the first five elements. Added elements come first, then
/// modified elements as they are now, then removed elements.
pub fn late_changes(before: &Tree, after: &Tree, diff: &Diff) -> LateChanges {
    const MOST: usize = 5;
    let counts = [
        (diff.added.len(), "added"),
        (diff.removed.len(), "removed"),
        (diff.modified.len(), "modified"),
    ];
    let all = counts.iter().map(|(n, _)| n).sum::<usize>();
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<_> = counts.map(|(n, what)| format!("{n} {what}")).collect();
    let modified = diff.modified.iter().map(|m| m.after);
    let now = diff.added.iter().copied().chain(modified);
    let (is, was) = (Texts::new(after), Texts::new(before));
    let now = now.map(|i| (after, &is, i, ""));
    let gone = diff.removed.iter().map(|&i| (before, &was, i, "gone: "));
    let lines = now.chain(gone).take(MOST);
    let lines =
        lines.map(|(tree, texts, index, gone)| format!("{gone}{}", line_of(tree, texts, index)));
    LateChanges {
        counts: counts.join(", "),
        elements: Listed {
            lines: lines.collect(),
            more: all.saturating_sub(MOST),
        },
    }
}

/// How many elements without a text or value are listed, such as the buttons of a tool bar.
const UNLABELLED: usize = 3;

/// How many elements of a browser's own bars are listed beside those of its page.
const BARS: usize = 10;

/// Lists these visible elements, first those that can be acted on.
fn elements(tree: &Tree, indices: &[usize], (most_interactive, most_static): Caps) -> Listed {
    let texts = Texts::new(tree);
    let is_interactive = |index: usize| tree.elements[index].role.is_interactive();
    let (acts, says): (Vec<usize>, Vec<usize>) = indices.iter().partition(|i| is_interactive(**i));
    let around = tree.around_pages();
    let has_page = acts.iter().any(|index| !around(*index));
    let (mut unlabelled, mut bars, mut more) = (0, 0, 0);
    let mut first: Vec<usize> = Vec::new();
    for index in acts.iter().copied() {
        let element = &tree.elements[index];
        let is_mute = texts.source(index).is_none()
            && element.value.is_blank()
            && !matches!(element.role, Role::TEXT_FIELD | Role::TEXT_AREA);
        let is_bar = has_page && around(index);
        unlabelled += usize::from(is_mute);
        bars += usize::from(is_bar);
        let over = is_mute && unlabelled > UNLABELLED || is_bar && bars > BARS;
        if over || first.len() >= most_interactive {
            more += 1;
        } else {
            first.push(index);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    lines.extend(first.iter().map(|&i| line_of(tree, &texts, i)));
    let labels = |&&i: &&usize| matches!(tree.elements[i].role, Role::ROW | Role::CELL);
    let named = acts.iter().chain(says.iter().filter(labels));
    let named: Vec<usize> = named.copied().collect();
    // The texts that are listed so far. A row, its cell and the label in it have the same text,
    // which is listed once.
    let mut listed = HashSet::new();
    let mut count = 0;
    let mut fragment: Option<Element> = None;
    for index in says {
        let element = &tree.elements[index];
        let is_text = |at: usize| tree.elements[at].role == Role::STATIC_TEXT;
        let has_text = || tree.inside(index).any(is_text);
        let is_static = match element.role {
            // In all toolkits but Gecko, a heading contains a text with the same words, which is
            // listed.
            Role::HEADING => !has_text(),
            Role::GROUP => !element.value.is_blank() && !has_text(),
            role => matches!(role, Role::STATIC_TEXT | Role::ROW | Role::CELL),
        };
        let Some(source) = texts.source(index).filter(|_| is_static) else {
            continue;
        };
        // The line of a control has this text already: the control contains the text, or a row has
        // its text from the control.
        let in_button = element.parent.is_some_and(is_interactive);
        if in_button || is_interactive(source) || !listed.insert(source) {
            continue;
        }
        let is_label = |other: &usize| *other != index && is_label(tree, &texts, index, *other);
        if named.iter().any(is_label) {
            continue;
        }
        let joined = fragment.as_ref().and_then(|last| joined(last, element));
        if joined.is_some() && count <= most_static {
            lines.pop();
        } else if joined.is_none() {
            count += 1;
        }
        if count > most_static {
            more += usize::from(joined.is_none());
        } else {
            let from_picture = texts.is_from_picture(tree, index);
            lines.push(match &joined {
                Some(whole) => element_line(Some(&whole.title), from_picture, whole),
                None => line_of(tree, &texts, index),
            });
        }
        fragment = Some(joined.unwrap_or_else(|| element.clone()));
    }
    Listed { lines, more }
}

/// Whether the text at `index` is only the label of the listed element `other`: it has the same
/// text and lies beside it.
fn is_label(tree: &Tree, texts: &Texts, index: usize, other: usize) -> bool {
    let (text, named) = (&tree.elements[index], &tree.elements[other]);
    let word = |at: usize| {
        texts
            .text(tree, at)
            .map(|t| t.shown.trim().trim_end_matches(':').trim())
    };
    let places = text.extents.zip(named.extents);
    text.role == Role::STATIC_TEXT
        && word(index) == word(other)
        && places.is_some_and(|(text, named)| is_beside(text, named))
}

/// The widest gaps between a label and the element that it names: side by side, and one above the
/// other.
const GAP: (i32, i32) = (120, 16);

fn is_beside(a: Rect, b: Rect) -> bool {
    let gap = |(at, size): (i32, i32), (to, length): (i32, i32)| {
        let after = at.saturating_sub(to.saturating_add(length));
        after.max(to.saturating_sub(at.saturating_add(size)))
    };
    let (across, down) = (gap((a.x, a.w), (b.x, b.w)), gap((a.y, a.h), (b.y, b.h)));
    across <= GAP.0 && down < 0 || across < 0 && down <= GAP.1
}

/// Joins two texts of one line to one element, if the second text begins where the first ends.
fn joined(first: &Element, next: &Element) -> Option<Element> {
    let (a, b) = first.extents.zip(next.extents)?;
    let texts = first.role == Role::STATIC_TEXT && next.role == Role::STATIC_TEXT;
    let gap = b.x.saturating_sub(a.x.saturating_add(a.w));
    let follows = a.y == b.y && a.h == b.h && (-2..=a.h / 2).contains(&gap);
    let own = !first.title.is_blank() && !next.title.is_blank();
    if !texts || !own || first.parent != next.parent || !follows {
        return None;
    }
    let (head, tail) = (first.title.shown.trim_end(), next.title.shown.trim_start());
    let spaced = head.len() < first.title.shown.len() || tail.len() < next.title.shown.len();
    let blank = if spaced || gap > 2 { " " } else { "" };
    let w = b.x.saturating_add(b.w).saturating_sub(a.x);
    Some(Element {
        title: Text::new(format!("{head}{blank}{tail}")),
        extents: Some(Rect { w, ..a }),
        ..first.clone()
    })
}

fn line_of(tree: &Tree, texts: &Texts, index: usize) -> String {
    let from_picture = texts.is_from_picture(tree, index);
    element_line(texts.text(tree, index), from_picture, &tree.elements[index])
}

/// The longest text and the longest value in a list.
const TEXT: usize = 50;

/// `[AXCheckBox] "Wrap lines" (40,610 90×18) checked #e97`: all states but `editable`, which the
/// role implies.
fn element_line(text: Option<&Text>, from_picture: bool, element: &Element) -> String {
    let mark = if from_picture { " (ocr)" } else { "" };
    let mut line = format!("[{}{mark}]", element.role.ax());
    // Writing to a String cannot fail.
    if let Some(text) = text {
        let _ = write!(line, " \"{}\"", short_escaped(text.shown.trim(), TEXT));
    }
    if let Some(Rect { x, y, w, h }) = element.extents {
        let _ = write!(line, " ({x},{y} {w}×{h})");
    }
    if !element.visible && element.role == Role::BUTTON {
        line.push_str(" out of view");
    }
    let value = value_beside_name(element);
    let value = value.map(|value| short_escaped(value.shown.trim(), TEXT));
    line + &short_tail(element, element.states - States::EDITABLE, value)
}

/// The texts that a diff changed: values first, then titles, then descriptions. Each is an excerpt
/// of 60 characters around the change. If an element has its text from a descendant, only the
/// descendant's change is listed, so that each row of a table is a change of its own.
pub fn text_changes(after: &Tree, diff: &Diff) -> Listed {
    const MOST: usize = 3;
    const LENGTH: usize = 60;
    let all: Vec<TextChange<'_>> = diff
        .modified
        .iter()
        .flat_map(|m| m.changes.iter().map(move |c| (m.after, c)))
        .filter_map(|(index, change)| match (&change.old, &change.new) {
            (Value::Text(old), Value::Text(new)) => Some(TextChange {
                index,
                attribute: change.attribute,
                old,
                new,
            }),
            _ => None,
        })
        .collect();
    let repeats = repeated(&all, after);
    let mut listed = Listed::default();
    for wanted in [Attribute::Value, Attribute::Title, Attribute::Description] {
        for (i, change) in all.iter().enumerate() {
            if change.attribute != wanted || repeats.contains(&i) {
                continue;
            }
            if listed.lines.len() == MOST {
                listed.more += 1;
                continue;
            }
            let (old, new) = short_excerpts(change.old, change.new, LENGTH);
            listed.lines.push(format!("'{old}' -> '{new}'"));
        }
    }
    listed
}

struct TextChange<'a> {
    /// The element's index in the later tree.
    index: usize,
    attribute: Attribute,
    old: &'a Text,
    new: &'a Text,
}

impl TextChange<'_> {
    /// Whether the other change contains this one.
    fn is_part_of(&self, other: &Self) -> bool {
        let part = |this: &Text, whole: &Text| whole.shown.contains(this.shown.trim());
        part(self.old, other.old) && part(self.new, other.new)
    }
}

/// The changes that repeat a change of a descendant, or an earlier attribute of the same element.
fn repeated(all: &[TextChange<'_>], tree: &Tree) -> HashSet<usize> {
    let mut by_element: HashMap<usize, Vec<usize>> = HashMap::new();
    for (i, change) in all.iter().enumerate() {
        by_element.entry(change.index).or_default().push(i);
    }
    let mut repeats = HashSet::new();
    for (i, change) in all.iter().enumerate() {
        for index in tree.outwards(change.index) {
            let its = by_element.get(&index).into_iter().flatten();
            // The changes of one element are in the order of their attributes.
            repeats.extend(its.filter(|&&other| {
                (index != change.index || other > i) && change.is_part_of(&all[other])
            }));
        }
    }
    repeats
}
