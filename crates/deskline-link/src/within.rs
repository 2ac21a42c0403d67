//! The windows that a call with `window` is for: the one that it names, and in a chain those that
//! its steps have opened since.

use deskline_core::{ElementId, Point, Tree};

use crate::call::Toplevel;
use crate::display::WindowId;
use crate::error::Result;
use crate::resolve;

/// The windows of one call, by the ids of their toplevels: a title may change on the way.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// The one that the call names, once it has been found.
    named: Option<ElementId>,
    /// Those that steps have opened, the last one at the end.
    opened: Vec<ElementId>,
    /// The one that was in front after the last step.
    front: Option<ElementId>,
}

impl Windows {
    /// The toplevels that the next step is for, the one that keys go to first: what is in front, if
    /// it is one of them, or else what was opened last.
    ///
    /// # Errors
    /// An error that names the windows there are, if none of them shows.
    pub(crate) fn within(&mut self, tree: &Tree, wanted: &Toplevel) -> Result<Vec<usize>> {
        let Some(named) = &self.named else {
            let top = resolve::window(tree, wanted)?;
            self.named = Some(tree.elements[top].id.clone());
            return Ok(vec![top]);
        };
        let tops = tree.toplevels();
        let is = |top: usize, id: &ElementId| tree.elements[top].id == *id;
        let known = self.opened.iter().rev().chain([named]);
        let showing = known.filter_map(|id| tops.iter().copied().find(|top| is(*top, id)));
        let mut found: Vec<usize> = showing.collect();
        let in_front = |top: &usize| self.front.as_ref().is_some_and(|front| is(*top, front));
        found.sort_by_key(|top| !in_front(top));
        if found.is_empty() {
            return Err(resolve::no_window(tree, wanted));
        }
        Ok(found)
    }

    /// A step has led from one tree to the other. `front` is the window in front after it.
    pub(crate) fn note(&mut self, before: &Tree, after: &Tree, front: Option<WindowId>) {
        let id = |tree: &Tree, top: usize| tree.elements[top].id.clone();
        let shown: Vec<_> = before.toplevels().into_iter().collect();
        let shown: Vec<_> = shown.into_iter().map(|top| id(before, top)).collect();
        let now = after.toplevels().into_iter().map(|top| id(after, top));
        for came in now.filter(|id| !shown.contains(id)) {
            self.opened.retain(|known| *known != came);
            self.opened.push(came);
        }
        let front = front.and_then(|front| after.window(front));
        self.front = match front.map(|window| window.elements.as_slice()) {
            Some([top]) => Some(id(after, *top)),
            _ => None,
        };
    }
}

/// The one of these toplevels that lies at a place, or the first.
pub(crate) fn at(tree: &Tree, within: &[usize], place: Option<Point>) -> Option<usize> {
    let holds = |top: &&usize| {
        let extents = tree.elements.get(**top).and_then(|e| e.extents);
        place.is_some_and(|place| extents.is_some_and(|extents| extents.contains(place)))
    };
    within.iter().find(holds).or(within.first()).copied()
}

/// The toplevels that are no window of their own: open menus and lists.
pub(crate) fn pop_ups(tree: &Tree) -> impl Iterator<Item = usize> {
    let windows = tree.toplevels();
    let is_window = move |top: usize| {
        let listed = |w: &deskline_core::TreeWindow| w.elements.contains(&top);
        windows.contains(&top) || tree.windows.iter().any(listed)
    };
    (0..tree.elements.len()).filter(move |&i| tree.toplevel(i) == Some(i) && !is_window(i))
}
