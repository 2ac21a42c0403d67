//! The windows that a call with `window` may act in: the window that it names, and in a chain the
//! windows that the chain's steps have opened.

use deskline_core::tree_file::window_label;
use deskline_core::{ElementId, Tree, escape, focus};

use crate::call::{Call, WindowTarget};
use crate::display::WindowId;
use crate::error::{Error, Result, TargetError};
use crate::resolve::lookup::find_ref;
use crate::subject::Subject;

/// The windows of one call, by the ids of their toplevels: a title may change during the call.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// The window that the call names, once it has been found.
    named: Option<ElementId>,
    /// The windows that steps have opened, the last one at the end.
    opened: Vec<ElementId>,
    /// The window that was in front after the last step.
    front: Option<ElementId>,
}

impl Windows {
    /// The toplevels of the windows that the call may act in, first the one that keys go to. Empty
    /// if the call names no window, or if the step is for another process.
    pub(crate) fn of_step(
        &mut self,
        call: &Call,
        subject: &Subject,
        tree: &Tree,
    ) -> Result<Vec<usize>> {
        match &call.window {
            Some(wanted) if subject.is_home() => self.within(tree, wanted),
            _ => Ok(Vec::new()),
        }
    }

    /// The toplevels that the next step is for. The first is the one that keys go to: the front
    /// window if it is one of the call's windows, or else the window that was opened last.
    ///
    /// # Errors
    /// If none of the call's windows is visible, an error that names the app's windows.
    fn within(&mut self, tree: &Tree, wanted: &WindowTarget) -> Result<Vec<usize>> {
        let Some(named) = &self.named else {
            let top = find_window(tree, wanted)?;
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
        match (found.is_empty(), tops.as_slice()) {
            // A step has closed the call's window, and the app has only one other window.
            (true, [left]) => Ok(vec![*left]),
            (true, _) => Err(no_window(tree, wanted)),
            (false, _) => Ok(found),
        }
    }

    /// Records the windows that a step has opened. `front` is the front window after the step.
    pub(crate) fn note(&mut self, before: &Tree, after: &Tree, front: Option<WindowId>) {
        let id = |tree: &Tree, top: usize| tree.elements[top].id.clone();
        let shown = before.toplevels().into_iter().map(|top| id(before, top));
        let shown: Vec<_> = shown.collect();
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

/// Finds the toplevel that a call names.
///
/// # Errors
/// [`Error::StaleRef`], or an error that names the app's windows, or the windows with this title.
fn find_window(tree: &Tree, wanted: &WindowTarget) -> Result<usize> {
    let title = match wanted {
        WindowTarget::Ref(reference) => {
            let top = tree.toplevel(find_ref(tree, *reference)?);
            return top.ok_or_else(|| no_window(tree, wanted));
        }
        WindowTarget::Titled(title) => title,
    };
    match tree.toplevels_titled(title).as_slice() {
        [] => Err(no_window(tree, wanted)),
        [one] => Ok(*one),
        several => {
            let labels = several.iter().filter_map(|top| window_label(tree, *top));
            let labels: Vec<String> = labels.collect();
            let wanted = escape::short(title, 60);
            Err(TargetError::several_windows(&wanted, &labels).into())
        }
    }
}

/// The error if no window matches: it names the windows that exist.
fn no_window(tree: &Tree, wanted: &WindowTarget) -> Error {
    let wanted = match wanted {
        WindowTarget::Ref(reference) => format!("#{reference}"),
        WindowTarget::Titled(title) => format!("'{}'", escape::short(title, 60)),
    };
    if tree.is_elsewhere() {
        return TargetError::window_away(&wanted, &tree.app).into();
    }
    let windows = focus::windows(tree).or_else(|| focus::focus(tree));
    TargetError::no_such_window(&wanted, &tree.app, windows.as_deref()).into()
}
