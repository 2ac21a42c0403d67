//! What a step has changed: in one word, and which control.

use deskline_core::{Diff, Element, States, Tree};

use crate::resolve::lookup::Resolved;
use deskline_input::clock::Instant;

/// What an action has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    Tree,
    /// The picture of the window, and not the tree.
    Picture,
    Nothing,
    /// Nothing was compared.
    Unknown,
}

impl Changed {
    /// The word of the summary's `effect:`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tree => "changed",
            Self::Picture => "picture only",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether the differences are more than the focus, which raising a window moves too. The focus
/// counts for keys, and if it is now in the field that was clicked.
pub(crate) fn shows_effect(
    diff: &Diff,
    after: &Tree,
    by_keys: bool,
    clicked: Option<&Element>,
) -> bool {
    let is_clicked = |index: usize| {
        let now = &after.elements[index];
        clicked.is_some_and(|was| was.id == now.id && was.states.contains(States::EDITABLE))
    };
    let mut modified = diff.modified.iter();
    !diff.added.is_empty()
        || !diff.removed.is_empty()
        || modified.any(|m| by_keys || !m.is_focus_alone() || is_clicked(m.after))
}

/// A control that the last step has changed.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) since: Instant,
    pub(crate) target: Resolved,
    /// Its state after the action.
    pub(crate) now: Element,
}
