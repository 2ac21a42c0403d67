//! The text of each element: its own, or for a container without any, that of its first descendant
//! with one. Visible containers borrow from visible descendants.

use crate::{Element, Role, States, Text, Tree};

/// An element's own text, borrowed: writing a tree copies no texts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Words<'a> {
    /// All of it.
    One(&'a Text),
    /// Title and value, separated by a space.
    Both(&'a Text, &'a Text),
}

impl<'a> Words<'a> {
    /// The own text of `element`; see [`own_text`].
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

    /// As a single text.
    pub(crate) fn to_text(self) -> Text {
        match self {
            Self::One(text) => text.clone(),
            Self::Both(title, value) => join(title, value),
        }
    }
}

/// An element's own text: its title and value, joined by a space if they differ; if both are blank,
/// its description. Never the value of a secure element.
pub fn own_text(element: &Element) -> Option<Text> {
    Words::of(element).map(Words::to_text)
}

/// Joins `a` and `b` with a space and cuts the result. The start of `a`, a label, is always kept. If
/// the start of `b` was cut off, `…` stands between the two, and any excess is cut there too.
fn join(a: &Text, b: &Text) -> Text {
    const ELLIPSIS: &str = " … ";
    let total = a.total().saturating_add(1).saturating_add(b.total());
    if a.omitted_after > 0 {
        return Text::part(a.shown.as_str(), a.omitted_before, total);
    }
    if b.omitted_before == 0 {
        return Text::part(format!("{} {}", a.shown, b.shown), a.omitted_before, total);
    }
    let kept = b.shown.chars().count();
    let used = a.shown.chars().count() + ELLIPSIS.chars().count();
    let room = Text::LIMIT.saturating_sub(used);
    let rest: String = b.shown.chars().skip(kept.saturating_sub(room)).collect();
    Text::part(
        format!("{}{ELLIPSIS}{rest}", a.shown),
        a.omitted_before,
        total,
    )
}

/// Whether the element has text of its own.
fn has_own(element: &Element) -> bool {
    !element.title.is_blank()
        || !element.description.is_blank()
        || !(element.value.is_blank() || element.states.contains(States::SECURE))
}

/// Whether the element may borrow text: only containers do. A field without content is empty,
/// whatever elements the toolkit puts inside it.
fn borrows(element: &Element) -> bool {
    !matches!(element.role, Role::TEXT_FIELD | Role::TEXT_AREA)
        && !element.states.intersects(States::EDITABLE | States::SECURE)
}

/// Whether `to` may borrow the text of its descendant `from` instead of that of the later one, `now`.
/// A visible element borrows from a visible one, else from one with bounds: gedit's status bar would
/// otherwise keep saying "Loading file", a label that is hidden by then. A hidden text is better than
/// none for a button, which must be found by its text.
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

/// For each element of a tree, the element whose own text it has.
#[derive(Debug, Clone)]
pub struct Texts(Vec<Option<usize>>);

impl Texts {
    /// Computes all of them in one pass.
    pub fn of(tree: &Tree) -> Self {
        let mut source: Vec<Option<usize>> = vec![None; tree.elements.len()];
        // Backwards: an element's children come after it, and its first child is looked at last.
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

    /// The element whose own text element `index` has: itself, a descendant, or none.
    pub fn source(&self, index: usize) -> Option<usize> {
        self.0.get(index).copied().flatten()
    }

    /// The text of element `index` of the tree that this was computed for.
    pub fn text(&self, tree: &Tree, index: usize) -> Option<Text> {
        self.words(tree, index).map(Words::to_text)
    }

    /// [`Texts::text`], borrowed.
    pub(crate) fn words<'a>(&self, tree: &'a Tree, index: usize) -> Option<Words<'a>> {
        Words::of(tree.elements.get(self.source(index)?)?)
    }
}
