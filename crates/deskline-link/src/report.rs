//! What a link has found so far. Each step fills in its part, so that when the link ends for any
//! reason, the answer and the journal get everything known by then.

use std::time::{Duration, Instant};

use deskline_core::{Attribute, Diff, Modified, Tree};

use crate::display::{Picture, WindowId};
use crate::done::Done;
use crate::late::Late;
use crate::secrecy::{Keys, Witness};
use crate::settle::Settled;
use crate::sight::Before;

/// The window that took the front from the target.
#[derive(Debug)]
pub(crate) struct TakenOver {
    /// Its pid.
    pub(crate) pid: u32,
    /// Its window's title. Hostile data.
    pub(crate) title: String,
    /// Its tree, if it could be read.
    pub(crate) tree: Option<Tree>,
}

/// One link's findings.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The target's pid, once known.
    pub(crate) pid: Option<u32>,
    /// The tree that the action started from.
    pub(crate) before: Option<Tree>,
    /// The tree after it.
    pub(crate) after: Option<Tree>,
    /// The difference between the two trees.
    pub(crate) diff: Option<Diff>,
    /// What was done.
    pub(crate) done: Done,
    /// How many other elements matched the target equally well.
    pub(crate) others: usize,
    /// How the app settled.
    pub(crate) settled: Option<Settled>,
    /// The window as it looked before the action.
    pub(crate) sight: Option<Before>,
    /// The window in the picture.
    pub(crate) pictured: Option<WindowId>,
    /// The picture, or why there is none.
    pub(crate) picture: Option<Result<Picture, String>>,
    /// The process that took the front.
    pub(crate) handoff: Option<TakenOver>,
    /// Whether the app had ended after the action.
    pub(crate) ended: bool,
    /// The typed text, and where it went.
    pub(crate) keys: Keys,
    /// Whether a value was set on an element that is known not to be secure.
    pub(crate) public_value: bool,
    /// Changes of the app between the last answer about it and this call.
    pub(crate) late: Option<Late>,
    /// Further notes for the agent.
    pub(crate) notes: Vec<String>,
    /// The duration of each step, in order.
    pub(crate) steps: Vec<(&'static str, Duration)>,
    /// How long the person's devices were grabbed.
    pub(crate) guard_held: Option<Duration>,
}

impl Report {
    /// How the picture changed, if the diff names no visible element.
    pub(crate) fn picture_changed(&self) -> Option<String> {
        let (before, window) = (self.sight.as_ref()?, self.pictured?);
        let Some(Ok(after)) = &self.picture else {
            return None;
        };
        if self.handoff.is_some() || self.names_what_shows()? {
            return None;
        }
        before.changed(window, after)
    }

    /// Whether the diff has an element that is, or was, visible.
    fn names_what_shows(&self) -> Option<bool> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let diff = self.diff.as_ref()?;
        let visible =
            |tree: &Tree, index: usize| tree.elements.get(index).is_some_and(|e| e.visible);
        // Focus changes are ignored: raising a window causes them, whatever the action does.
        let more = |m: &&Modified| m.changes.iter().any(|c| c.attribute != Attribute::Focused);
        let modified = diff.modified.iter().filter(more);
        Some(
            diff.added.iter().any(|&i| visible(after, i))
                || diff.removed.iter().any(|&i| visible(before, i))
                || modified.map(|m| m.after).any(|i| visible(after, i))
                || !diff.appeared(before, after).is_empty(),
        )
    }

    /// Runs one step and records its duration, even if the step fails.
    pub(crate) fn step<T>(&mut self, name: &'static str, step: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = step(self);
        self.steps.push((name, start.elapsed()));
        result
    }

    /// Whether it is known that no text of the call reached a secure field. Unknown counts as
    /// secret.
    pub(crate) fn is_public(&self) -> bool {
        // Some of the text may have reached the window that took the front.
        let bare = |tree: &Option<Tree>| {
            tree.as_ref()
                .is_some_and(|tree| !Witness::of(tree).is_secure())
        };
        self.public_value
            || (self.keys.are_public() && self.handoff.iter().all(|taken| bare(&taken.tree)))
    }

    /// The latest tree that was read.
    pub(crate) fn latest(&self) -> Option<&Tree> {
        self.after.as_ref().or(self.before.as_ref())
    }
}
