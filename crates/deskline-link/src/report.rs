//! What a link has found out so far. It is filled step by step, so that whatever ends the link,
//! all that is known by then gets into the answer and the journal.

use std::time::{Duration, Instant};

use deskline_core::{Diff, Tree};

use crate::display::{Picture, WindowId};
use crate::done::Done;
use crate::late::Late;
use crate::secrecy::{Keys, Witness};
use crate::settle::Settled;
use crate::sight::Before;

/// What took the front from the target.
#[derive(Debug)]
pub(crate) struct TakenOver {
    /// Its process.
    pub(crate) pid: u32,
    /// Its window's title. Hostile data.
    pub(crate) title: String,
    /// Its tree, where it could be read.
    pub(crate) tree: Option<Tree>,
}

/// One link's findings.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The target, once it is known.
    pub(crate) pid: Option<u32>,
    /// The tree that the action started from.
    pub(crate) before: Option<Tree>,
    /// The tree after it.
    pub(crate) after: Option<Tree>,
    /// What changed.
    pub(crate) diff: Option<Diff>,
    /// What was done.
    pub(crate) done: Done,
    /// How many other elements were as good a match for the target.
    pub(crate) others: usize,
    /// How the app settled.
    pub(crate) settled: Option<Settled>,
    /// The window as it looked before the action.
    pub(crate) sight: Option<Before>,
    /// The window that the picture is of.
    pub(crate) pictured: Option<WindowId>,
    /// The picture, or why there is none.
    pub(crate) picture: Option<Result<Picture, String>>,
    /// The process that took the front.
    pub(crate) handoff: Option<TakenOver>,
    /// Whether the app was gone after the action.
    pub(crate) ended: bool,
    /// Where the typed text went.
    pub(crate) keys: Keys,
    /// Whether a value was for an element that is known not to be secure.
    pub(crate) public_value: bool,
    /// What the app showed between the last answer about it and this call.
    pub(crate) late: Option<Late>,
    /// What else the agent must know.
    pub(crate) notes: Vec<String>,
    /// How long each step took, in their order.
    pub(crate) steps: Vec<(&'static str, Duration)>,
    /// How long the person's input was kept out.
    pub(crate) guard_held: Option<Duration>,
}

impl Report {
    /// Runs one step and notes how long it took, also where it fails.
    pub(crate) fn step<T>(&mut self, name: &'static str, step: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = step(self);
        self.steps.push((name, start.elapsed()));
        result
    }

    /// Whether it is known that no text of the call went to a secure field. Unknown counts as a
    /// secret.
    pub(crate) fn is_public(&self) -> bool {
        // Some of the text may have gone to what came up.
        let bare = |tree: &Option<Tree>| {
            tree.as_ref()
                .is_some_and(|tree| !Witness::of(tree).is_secure())
        };
        self.public_value
            || (self.keys.are_public() && self.handoff.iter().all(|taken| bare(&taken.tree)))
    }

    /// The tree as it is now, as far as it is known.
    pub(crate) fn latest(&self) -> Option<&Tree> {
        self.after.as_ref().or(self.before.as_ref())
    }
}
