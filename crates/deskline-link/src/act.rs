//! Step 4: acts. [`front`] raises the target's window, [`reach`] brings the target into view,
//! [`input`] carries the action out, [`between`] waits for what a text does before the key after it.

mod between;
mod front;
mod input;
mod reach;
mod same_window;

pub(crate) use same_window::Went;

use deskline_core::Tree;

use crate::call::{Action, Options};
use crate::done::Done;
use crate::policy::Policy;
use crate::resolve::Resolved;
use crate::secrecy::Keys;
use crate::sight;
use deskline_input::Cancel;

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
    /// Where a drag ends.
    pub(crate) to: Option<&'c Resolved>,
    /// The toplevel that the call insists on, in `tree`.
    pub(crate) window: Option<usize>,
    /// Whether it is a step of a chain.
    pub(crate) in_chain: bool,
}

/// The results of an action. Filled step by step, so that an error in the middle keeps what was done
/// before it.
pub(crate) struct Outcome<'o> {
    pub(crate) done: &'o mut Done,
    /// The window as it looked before the action.
    pub(crate) sight: &'o mut Option<sight::Before>,
    /// The window right before the input, if that is another picture.
    pub(crate) look: &'o mut Option<sight::Before>,
    /// Whether `sight` is of this step, and not of a chain's first.
    pub(crate) seen: bool,
    /// Where the typed text went.
    pub(crate) keys: &'o mut Keys,
}
