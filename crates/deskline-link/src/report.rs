//! What a link has found so far. Each step fills in its part, so that when the link ends for any
//! reason, the answer and the journal get everything known by then.

use std::time::{Duration, Instant};

use deskline_core::{Diff, Element, Tree, target};

use crate::display::{Picture, Window, WindowId};
use crate::done::Done;
use crate::end::End;
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

/// The element that a step acted on, as it was before.
#[derive(Debug)]
pub(crate) struct Acted {
    pub(crate) was: Element,
    /// Its index in that tree.
    index: usize,
    /// Its line if it goes away: [`target::gone`].
    gone: Option<String>,
    /// Whether it is merely where keys went.
    by_keys: bool,
}

impl Acted {
    /// Element `index` of the tree that the step starts from.
    pub(crate) fn on(tree: &Tree, index: usize, by_keys: bool) -> Option<Self> {
        Some(Self {
            was: tree.elements.get(index)?.clone(),
            index,
            gone: target::gone(tree, index),
            by_keys,
        })
    }

    /// Where it is in a later tree: by its ref, which an element that was re-created as it was has
    /// kept, or else as `before`, the tree that the step started from, finds it again.
    pub(crate) fn find(&self, tree: &Tree, before: Option<&Tree>) -> Option<usize> {
        let reference = self.was.reference;
        let mut elements = tree.elements.iter();
        let same = elements.position(|e| reference.is_some() && e.reference == reference);
        same.or_else(|| {
            let before = before?;
            let was = before.elements.get(self.index);
            was.filter(|e| e.id == self.was.id)?;
            tree.find_again(before, self.index)
        })
    }
}

/// What one step of a chain has done, or the only step of another call.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// What was done.
    pub(crate) done: Done,
    /// What it acted on, if that is an element.
    pub(crate) acted: Option<Acted>,
    /// How many other elements matched the target equally well.
    pub(crate) others: usize,
    /// The window right before the input, where [`Report::sight`] is not that.
    pub(crate) look: Option<Before>,
    /// How the app settled.
    pub(crate) settled: Option<Settled>,
    /// The typed text, and where it went.
    pub(crate) keys: Keys,
    /// Whether a value was set on an element that is known not to be secure.
    pub(crate) public_value: bool,
    /// What a step of a chain opened or closed, or that it changed nothing.
    pub(crate) led_to: Option<String>,
}

impl Step {
    /// Whether it is known that no text of the step reached a secure field. Unknown counts as
    /// secret.
    pub(crate) fn is_public(&self) -> bool {
        self.public_value || self.keys.are_public()
    }
}

/// A step of a chain that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// What was done, without secrets.
    pub(crate) said: String,
    /// [`Step::led_to`].
    pub(crate) led_to: Option<String>,
    /// Whether no text of it can have reached a secure field.
    pub(crate) public: bool,
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
    /// The tree that the current step of a chain started from, after the first.
    pub(crate) now: Option<Tree>,
    /// The current step, or the last.
    pub(crate) step: Step,
    /// The steps of a chain before it.
    pub(crate) ended_steps: Vec<Ended>,
    /// Whether this is the first answer of the session.
    pub(crate) first: bool,
    /// How many steps the call has.
    pub(crate) of: usize,
    /// Whether this call started the app.
    pub(crate) started: bool,
    /// The toplevel that `refresh_traversal` was asked for, as an index into its tree.
    pub(crate) window: Option<usize>,
    /// The window as it looked before the action.
    pub(crate) sight: Option<Before>,
    /// The window in the picture.
    pub(crate) pictured: Option<WindowId>,
    /// The picture, or why there is none.
    pub(crate) picture: Option<Result<Picture, String>>,
    /// The process that took the front.
    pub(crate) handoff: Option<TakenOver>,
    /// Whether the app had no window any more after the action.
    pub(crate) ended: bool,
    /// How the app's process ended, if it did.
    pub(crate) end: Option<End>,
    /// How long the app has not answered since the action, if it is still busy with it.
    pub(crate) silent: Option<Duration>,
    /// Changes of the app between the last answer about it and this call.
    pub(crate) late: Option<Late>,
    /// Further notes for the agent.
    pub(crate) notes: Vec<String>,
    /// What has come that the call waits for, if it was found before the link began.
    pub(crate) came: Option<String>,
    /// The helper of the app in which it has come, if not in the app itself.
    pub(crate) came_in: Option<u32>,
    /// The windows of the app's helpers at the end.
    pub(crate) helpers: Vec<Window>,
    /// The duration of each step of the link, in order.
    pub(crate) times: Vec<(&'static str, Duration)>,
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
        let modified = diff.modified.iter().filter(|m| !m.is_focus_alone());
        Some(
            diff.added.iter().any(|&i| visible(after, i))
                || diff.removed.iter().any(|&i| visible(before, i))
                || modified.map(|m| m.after).any(|i| visible(after, i))
                || !diff.appeared(before, after).is_empty(),
        )
    }

    /// The element that was acted on, as it is now. Where keys went it is left out if they changed
    /// nothing of it.
    pub(crate) fn target(&self) -> Option<String> {
        let (acted, after) = (self.step.acted.as_ref()?, self.after.as_ref()?);
        let Some(now) = acted.find(after, self.current()) else {
            let (before, diff) = (self.before.as_ref()?, self.diff.as_ref()?);
            let mut removed = diff.removed.iter().filter_map(|&i| before.elements.get(i));
            let was_removed = removed.any(|e| e.id == acted.was.id);
            return acted.gone.clone().filter(|_| was_removed && !acted.by_keys);
        };
        let (was, is) = (&acted.was, &after.elements[now]);
        let changed = was.value != is.value || target::own_change(was, is).is_some();
        (changed || !acted.by_keys).then(|| target::target(after, now, Some(was)))?
    }

    /// Adds a note for the agent, once.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Runs one step of the link and adds its duration, even if the step fails.
    pub(crate) fn timed<T>(&mut self, name: &'static str, step: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = step(self);
        let took = start.elapsed();
        match self.times.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += took,
            None => self.times.push((name, took)),
        }
        result
    }

    /// The window right before the current step's input.
    pub(crate) fn look(&self) -> Option<&Before> {
        let first = self.ended_steps.is_empty();
        let look = self.step.look.as_ref();
        look.or(self.sight.as_ref().filter(|_| first))
    }

    /// Whether it is known that no text of the current step reached a secure field. Unknown counts
    /// as secret.
    pub(crate) fn is_public(&self) -> bool {
        // Some of the text may have reached the window that took the front.
        let bare = |tree: &Option<Tree>| {
            tree.as_ref()
                .is_some_and(|tree| !Witness::of(tree).is_secure())
        };
        let taken = self.handoff.iter().all(|taken| bare(&taken.tree));
        self.step.public_value || (self.step.keys.are_public() && taken)
    }

    /// The latest tree that was read of the app.
    pub(crate) fn latest(&self) -> Option<&Tree> {
        self.after.as_ref().or(self.current())
    }

    /// The tree that the current step started from.
    pub(crate) fn current(&self) -> Option<&Tree> {
        self.now.as_ref().or(self.before.as_ref())
    }
}
