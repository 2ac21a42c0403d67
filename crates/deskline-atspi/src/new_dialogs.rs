//! Dialogs and lists that have just appeared, in a toolkit that ignores clicks in them for a
//! moment.

use std::collections::HashMap;
use std::mem;
use std::time::{Duration, Instant};

use deskline_core::{ElementId, Tree};

/// How long clicks in a new dialog are ignored. Chromium 156 ignores clicks and actions, but not
/// keys, in a new dialog of its own for 500 ms (`InputEventActivationProtector` in ui/views). It
/// also ignores clicks in a new list of suggestions (`AutofillSuggestionController`).
const IGNORES: Duration = Duration::from_millis(550);

/// The dialogs of an app, and when they were first read.
#[derive(Debug, Default)]
pub(crate) struct NewDialogs(HashMap<ElementId, Instant>);

impl NewDialogs {
    /// Records which dialogs a reading has.
    pub fn note(&mut self, tree: &Tree) {
        let (known, now) = (mem::take(&mut self.0), Instant::now());
        let dialogs = (0..tree.elements.len()).filter(|at| is_dialog(tree, *at));
        let ids = dialogs.map(|at| tree.elements[at].id.clone());
        self.0 = ids
            .map(|id| (id.clone(), known.get(&id).copied().unwrap_or(now)))
            .collect();
    }

    /// Whether the element is in a dialog that ignores clicks.
    pub fn ignore(&self, tree: &Tree, index: usize) -> bool {
        let dialogs = tree.outwards(index).filter(|at| is_dialog(tree, *at));
        let mut since = dialogs.filter_map(|at| self.0.get(&tree.elements[at].id));
        since.any(|since| since.elapsed() < IGNORES)
    }
}

/// Whether the element is a dialog or a list of the app itself, not of a page in it.
fn is_dialog(tree: &Tree, at: usize) -> bool {
    let native = &*tree.elements[at].native_role;
    matches!(native, "dialog" | "alert" | "list box") && tree.page_around(at).is_none()
}
