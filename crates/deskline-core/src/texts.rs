//! Which words stand for an element: its own, or for a container without any, those of the first
//! element in it that has some. What is visible takes them from what is visible.

use crate::{Element, Role, States, Text, Tree};

/// An element's own text where it lies: a tree is written without copying its texts first.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Words<'a> {
    /// All of it.
    One(&'a Text),
    /// Title and value, with a space between them.
    Both(&'a Text, &'a Text),
}

impl<'a> Words<'a> {
    /// What [`own_text`] is made of.
    pub(crate) fn of(element: &'a Element) -> Option<Self> {
        let value = Some(&element.value)
            .filter(|value| !value.is_blank() && !element.states.contains(States::SECURE));
        let title = Some(&element.title).filter(|title| !title.is_blank());
        match (title, value) {
            (Some(title), Some(value)) if title != value => Some(Self::Both(title, value)),
            (Some(text), _) | (None, Some(text)) => Some(Self::One(text)),
            (None, None) => Some(&element.description)
                .filter(|text| !text.is_blank())
                .map(Self::One),
        }
    }

    /// The one text that they are.
    pub(crate) fn to_text(self) -> Text {
        match self {
            Self::One(text) => text.clone(),
            Self::Both(title, value) => join(title, value),
        }
    }
}

/// An element's own text: its title and its value, joined by a space where they differ; its
/// description where both are blank. Never the value of a secure element.
pub fn own_text(element: &Element) -> Option<Text> {
    Words::of(element).map(Words::to_text)
}

/// `a b`, cut again. The start of `a`, a label, is always kept; where `b` was cut at its start a `…`
/// stands between the two, and what is too much is cut there as well.
fn join(a: &Text, b: &Text) -> Text {
    const HOLE: &str = " … ";
    let total = a.total().saturating_add(1).saturating_add(b.total());
    if a.omitted_after > 0 {
        return Text::part(a.shown.as_str(), a.omitted_before, total);
    }
    if b.omitted_before == 0 {
        return Text::part(format!("{} {}", a.shown, b.shown), a.omitted_before, total);
    }
    let kept = b.shown.chars().count();
    let used = a.shown.chars().count() + HOLE.chars().count();
    let room = Text::LIMIT.saturating_sub(used);
    let rest: String = b.shown.chars().skip(kept.saturating_sub(room)).collect();
    Text::part(format!("{}{HOLE}{rest}", a.shown), a.omitted_before, total)
}

/// Whether the element has text of its own.
fn has_own(element: &Element) -> bool {
    !element.title.is_blank()
        || !element.description.is_blank()
        || !(element.value.is_blank() || element.states.contains(States::SECURE))
}

/// An empty field has no text, whatever a toolkit puts inside it; only containers borrow.
fn borrows(element: &Element) -> bool {
    !matches!(element.role, Role::TEXT_FIELD | Role::TEXT_AREA)
        && !element.states.intersects(States::EDITABLE | States::SECURE)
}

/// Whether element `from` may stand for its ancestor `to` instead of the later `now`. What can be
/// seen takes its words from what can be seen, else from what has a place at least: gedit's status
/// bar would go on saying "Loading file", a label that is hidden by then. A button takes any rather
/// than none, so that it can be found by them.
fn may_lend(tree: &Tree, from: usize, to: usize, now: Option<usize>) -> bool {
    let rank = |at: usize| {
        let element = &tree.elements[at];
        let placed = element.extents.is_some_and(|e| !e.is_empty());
        u8::from(element.visible) + u8::from(placed)
    };
    let to = &tree.elements[to];
    if !to.visible {
        return true;
    }
    let rank_of_now = now.map_or(0, rank);
    rank(from) >= rank_of_now.max(u8::from(!to.role.is_interactive()))
}

/// For each element of a tree, the element whose own text stands for it.
#[derive(Debug, Clone)]
pub struct Texts(Vec<Option<usize>>);

impl Texts {
    /// Computed once for a tree, in one pass.
    pub fn of(tree: &Tree) -> Self {
        let mut source: Vec<Option<usize>> = vec![None; tree.elements.len()];
        // Backwards: all of an element's children come after it, and the first of them last.
        for (i, element) in tree.elements.iter().enumerate().rev() {
            if has_own(element) {
                source[i] = Some(i);
            } else if !borrows(element) {
                source[i] = None;
            }
            let parent = element.parent.filter(|&p| p < i);
            if let (Some(parent), Some(from)) = (parent, source[i])
                && may_lend(tree, from, parent, source[parent])
            {
                source[parent] = Some(from);
            }
        }
        Self(source)
    }

    /// The element whose own text stands for element `index`: itself, one in it, or none.
    pub fn source(&self, index: usize) -> Option<usize> {
        self.0.get(index).copied().flatten()
    }

    /// The text that stands for element `index` of the tree that this was computed for.
    pub fn text(&self, tree: &Tree, index: usize) -> Option<Text> {
        self.words(tree, index).map(Words::to_text)
    }

    /// [`Texts::text`] where it lies.
    pub(crate) fn words<'a>(&self, tree: &'a Tree, index: usize) -> Option<Words<'a>> {
        Words::of(tree.elements.get(self.source(index)?)?)
    }
}
