//! One action: its needs and its results.

use deskline_core::Tree;

use crate::call::{Action, Call};
use crate::checkpoint::Checkpoint;
use crate::picture::change::Before;
use crate::policy::Policy;
use crate::report::Step;
use crate::resolve::lookup::Resolved;
use crate::resolve::targets::DropOn;
use deskline_input::Cancel;

/// One action: what it needs, the desktop that it acts on, and its results. Results are recorded
/// while the action runs. So if the action fails in the middle, what it did before is still known.
pub(crate) struct Act<'a, 'd> {
    pub(crate) pid: u32,
    pub(crate) call: &'a Call,
    pub(crate) action: &'a Action,
    pub(crate) policy: &'a Policy,
    pub(crate) cancel: &'a Cancel,
    /// The tree that the target was resolved on.
    pub(crate) tree: Option<&'a Tree>,
    pub(crate) target: Option<&'a Resolved>,
    /// Where a drag ends, in the same app.
    pub(crate) to: Option<&'a Resolved>,
    /// Where a drag ends, in another app.
    pub(crate) drop_on: Option<&'a DropOn>,
    /// The index in `tree` of the toplevel that the call names.
    pub(crate) window: Option<usize>,
    pub(crate) desk: &'a mut Checkpoint<'d>,
    pub(crate) step: &'a mut Step,
    /// The window as it looked before the link's first action.
    pub(crate) picture: &'a mut Option<Before>,
    /// Whether `picture` was taken right before this step. `false` if there is no picture, or if an
    /// earlier step of the chain took it.
    pub(crate) is_pictured: bool,
}

impl<'d> Act<'_, 'd> {
    /// Whether only the picture shows the content of the app's windows.
    pub(crate) fn is_picture_only(&self) -> bool {
        self.tree.is_some_and(Tree::is_picture_only)
    }

    /// The same action on a target in `tree`, a tree of the process `pid`.
    pub(super) fn on<'b>(
        &'b mut self,
        pid: u32,
        tree: &'b Tree,
        target: &'b Resolved,
    ) -> Act<'b, 'd> {
        Act {
            pid,
            tree: Some(tree),
            target: Some(target),
            to: None,
            drop_on: None,
            window: None,
            desk: self.desk,
            step: self.step,
            picture: self.picture,
            ..*self
        }
    }
}
