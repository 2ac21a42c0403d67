//! One action: its needs and its results.

use deskline_core::{Key, KeyPress, Modifiers, Tree};

use crate::call::{Action, Options};
use crate::picture::change::Before;
use crate::policy::Policy;
use crate::resolve::DropOn;
use crate::resolve::lookup::Resolved;
use crate::step::Step;
use deskline_input::Cancel;

/// The key that closes a menu or a list in every toolkit.
pub(super) const CLOSE_KEY: KeyPress = KeyPress {
    key: Key::Escape,
    modifiers: Modifiers::empty(),
};

/// Everything that one action needs.
pub(crate) struct Act<'c> {
    pub(crate) pid: u32,
    pub(crate) options: &'c Options,
    pub(crate) action: &'c Action,
    pub(crate) policy: &'c Policy,
    pub(crate) cancel: &'c Cancel,
    /// The tree that the target was resolved on.
    pub(crate) tree: Option<&'c Tree>,
    pub(crate) target: Option<&'c Resolved>,
    /// Where a drag ends, in the same app.
    pub(crate) to: Option<&'c Resolved>,
    /// Where a drag ends, in another app.
    pub(crate) drop_on: Option<&'c DropOn>,
    /// The toplevel that the call insists on, in `tree`.
    pub(crate) window: Option<usize>,
    /// Whether it is a step of a chain.
    pub(crate) in_chain: bool,
}

impl Act<'_> {
    /// Whether only the picture shows the content of the app's windows.
    pub(crate) fn is_picture_only(&self) -> bool {
        self.tree.is_some_and(Tree::is_picture_only)
    }
}

/// The results of an action. They are recorded as it goes, so that an error in the middle keeps
/// what was done before it.
pub(crate) struct Outcome<'o> {
    pub(crate) step: &'o mut Step,
    /// The window as it looked before the link's first action.
    pub(crate) picture: &'o mut Option<Before>,
    /// Whether `picture` was taken right before this step (`true`) or before an earlier step of the
    /// chain.
    pub(crate) is_pictured: bool,
}
