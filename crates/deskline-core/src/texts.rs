//! The text of each element: its own text, or for a container without text, that of its first
//! descendant that has text. Visible containers borrow from visible descendants.

use crate::{Element, Role, States, Text, Tree};

/// The native role of a text that was read from a picture.
pub const FROM_PICTURE: &str = "ocr";

/// An element's own text: its name, or else its value, or else its description. Never the value of
/// a secure element.
pub fn own_text(element: &Element) -> Option<&Text> {
    name_of(element)
        .or_else(|| value_of(element))
        .or_else(|| non_empty(&element.description))
}

/// The value of an element that has both a name and a value, if the two differ. The element's line
/// then shows the value beside the name. Never the value of a secure element.
pub(crate) fn value_beside_name(element: &Element) -> Option<&Text> {
    let name = name_of(element)?;
    value_of(element).filter(|value| *value != name)
}

/// The title. For a field without a title, the description: web pages on macOS name their fields by
/// it. A field without any name would be named by its value.
fn name_of(element: &Element) -> Option<&Text> {
    let is_field = element.role.is_field() || element.role == Role::TIME_FIELD;
    let described = || non_empty(&element.description).filter(|_| is_field);
    non_empty(&element.title).or_else(described)
}

fn non_empty(text: &Text) -> Option<&Text> {
    Some(text).filter(|text| !text.is_blank())
}

fn value_of(element: &Element) -> Option<&Text> {
    let secure = element.states.contains(States::SECURE);
    Some(&element.value).filter(|value| !value.is_blank() && !secure)
}

/// Whether the element may borrow text: only containers do. A field without content is empty,
/// whatever elements the toolkit puts inside it.
fn borrows(element: &Element) -> bool {
    !matches!(element.role, Role::TEXT_FIELD | Role::TEXT_AREA)
        && !element.states.intersects(States::EDITABLE | States::SECURE)
}

/// Whether `to` may borrow the text of its descendant `from` instead of that of `now`, a later
/// descendant. A visible element borrows from a visible descendant, or else from one with bounds.
/// Otherwise gedit's status bar would keep the text "Loading file" of a label that is hidden by
/// then. A button borrows even a hidden text, because agents find buttons by their texts.
fn may_lend(tree: &Tree, from: usize, to: usize, now: Option<usize>) -> bool {
    let rank = |at: usize| {
        let element = &tree.elements[at];
        let placed = element.place().is_some();
        u8::from(element.visible) + u8::from(placed)
    };
    let to = &tree.elements[to];
    // The next reading of the picture may give other words. So only interactive elements, which
    // agents need to find, are named by a text from it.
    if tree.elements[from].native_role == FROM_PICTURE && !to.role.is_interactive() {
        return false;
    }
    if !to.visible {
        return true;
    }
    let rank_of_now = now.map_or(0, rank);
    rank(from) >= rank_of_now.max(u8::from(!to.role.is_interactive()))
}

/// For each element of a tree, the element from which it has its text: itself or a descendant.
#[derive(Debug, Clone)]
pub struct Texts(Vec<Option<usize>>);

impl Texts {
    /// Computes the texts of all elements in one pass.
    pub fn new(tree: &Tree) -> Self {
        let mut source: Vec<Option<usize>> = vec![None; tree.elements.len()];
        // Children come after their parent. Going backwards, the first child is the last one to be
        // looked at, so its text is the one that stays.
        for (i, element) in tree.elements.iter().enumerate().rev() {
            if own_text(element).is_some() {
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

    /// Whether the text of element `index` was read from a picture.
    pub(crate) fn is_from_picture(&self, tree: &Tree, index: usize) -> bool {
        let source = self.source(index).and_then(|at| tree.elements.get(at));
        source.is_some_and(|e| e.native_role == FROM_PICTURE)
    }

    /// The element from which element `index` has its text: itself or a descendant.
    pub fn source(&self, index: usize) -> Option<usize> {
        self.0.get(index).copied().flatten()
    }

    /// The text of element `index` of `tree`, which must be the tree that `self` was computed from.
    pub fn text<'a>(&self, tree: &'a Tree, index: usize) -> Option<&'a Text> {
        own_text(tree.elements.get(self.source(index)?)?)
    }
}

impl Tree {
    /// The whole text of an element: its own texts and, if it is a container, those of the elements
    /// in it, each element on a line. Each text is at most [`Text::LIMIT`](crate::Text::LIMIT)
    /// characters.
    pub fn whole_text(&self, index: usize) -> String {
        let role = self.elements[index].role;
        let is_text = matches!(role, Role::STATIC_TEXT | Role::HEADING | Role::IMAGE);
        let mut lines = vec![self.own_texts(index).join(": ")];
        if lines[0].is_empty() || !is_text && !role.is_interactive() {
            lines.extend(self.inside(index).map(|at| self.own_texts(at).join(": ")));
        }
        lines.retain(|line| !line.is_empty());
        lines.dedup();
        lines.join("\n")
    }

    /// The element's own text and, if it has one, the value beside its name.
    fn own_texts(&self, index: usize) -> Vec<String> {
        let element = &self.elements[index];
        let texts = [own_text(element), value_beside_name(element)];
        let texts = texts.into_iter().flatten();
        texts.map(|text| text.shown.trim().to_owned()).collect()
    }
}
