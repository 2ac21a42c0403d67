//! What a link and its steps have found out so far. However the link ends, the answer and the
//! journal get all of this. [`crate::link`] and [`crate::chain`] store their phases' results here.

use std::time::{Duration, Instant};

use deskline_core::{Diff, Element, Tree, target};

use crate::act::done::Done;
use crate::apps::Identity;
use crate::call::{Action, Call, Input};
use crate::checkpoint::Checkpoint;
use crate::display::{Picture, Window, WindowId};
use crate::end::End;
use crate::picture::change::{self, Before};
use crate::resolve::late_changes::LateChanges;
use crate::secrecy::{Keys, Witness};
use crate::settle::changed::{Changed, Control, shows_effect};
use crate::settle::quiet::Settled;

/// The names of a link's steps, as the journal and an answer's times have them.
#[rustfmt::skip]
pub const STEPS: [&str; 14] = [
    "turn", "resolve", "checkpoint", "reveal", "picture_before", "act", "settle", "read_back",
    "diff", "handoff", "picture", "restore", "traverse", "record",
];

/// The window that took the front from the target.
#[derive(Debug)]
pub(crate) struct Handoff {
    pub(crate) pid: u32,
    /// The window's title. Hostile data.
    pub(crate) title: String,
    /// The tree of the window's app. `None` if it could not be read.
    pub(crate) tree: Option<Tree>,
}

/// An app that a drag from another app ended in.
#[derive(Debug)]
pub(crate) struct Drop {
    pub(crate) before: Tree,
    pub(crate) after: Tree,
    pub(crate) diff: Diff,
}

/// The readings of one link.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    /// The tree that the link started from.
    pub(crate) before: Option<Tree>,
    /// The tree that the current step of a chain started from, if it is not the first step.
    pub(crate) step_before: Option<Tree>,
    /// The tree after the action.
    pub(crate) after: Option<Tree>,
}

impl Readings {
    /// The tree that the current step started from.
    pub(crate) fn current(&self) -> Option<&Tree> {
        self.step_before.as_ref().or(self.before.as_ref())
    }

    pub(crate) fn current_mut(&mut self) -> Option<&mut Tree> {
        self.step_before.as_mut().or(self.before.as_mut())
    }

    /// The latest tree that was read of the app.
    pub(crate) fn latest(&self) -> Option<&Tree> {
        self.after.as_ref().or(self.current())
    }
}

/// How the app is after the action.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum AppState {
    #[default]
    Running,
    /// The app has not answered for this long since the action.
    Busy(Duration),
    /// The app had no window any more.
    NoWindow,
    /// The app's process ended.
    Ended(End),
}

impl AppState {
    /// Whether the app has no window any more.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::NoWindow | Self::Ended(_))
    }
}

/// The pictures that bracket the action.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    /// The window as it looked before the action.
    pub(crate) before: Option<Before>,
    /// The window in the answer's picture.
    pub(crate) window: Option<WindowId>,
    /// The answer's picture, or why there is none.
    pub(crate) after: Option<Result<Picture, String>>,
}

/// The content of the answer's files.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) text: Option<String>,
    /// The PNG, or why there is none.
    pub(crate) picture: Option<Result<Vec<u8>, String>>,
}

/// Further lines for the agent, each once.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub(crate) Vec<String>);

impl Notes {
    /// Adds a note, once.
    pub(crate) fn add(&mut self, note: String) {
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }
}

/// One link's findings.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) readings: Readings,
    /// The difference between the two trees that bracket the action.
    pub(crate) diff: Option<Diff>,
    /// The findings of the current step, or of the last step once it has ended.
    pub(crate) step: Step,
    /// The runs of a chain's steps before the current one.
    pub(crate) ended_runs: Vec<EndedRun>,
    /// The toplevel that `refresh_traversal` was asked for, as an index into its tree.
    pub(crate) window: Option<usize>,
    pub(crate) pictures: Pictures,
    /// The content of the answer's files, if it was made before the link was over.
    pub(crate) content: Option<Content>,
    /// The process that took the front.
    pub(crate) handoff: Option<Handoff>,
    /// The apps that drags of the link ended in, besides the link's own app.
    pub(crate) drops: Vec<Drop>,
    /// How the app is after the action.
    pub(crate) app: AppState,
    /// Changes of the app between the last answer about it and this call.
    pub(crate) late: Option<LateChanges>,
    /// The system's names for the apps whose trees are in the answer, the link's own app first.
    pub(crate) apps: Vec<Identity>,
    /// Further notes for the agent.
    pub(crate) notes: Notes,
    /// The windows of the app's helpers at the end of the link.
    pub(crate) helpers: Vec<Window>,
    /// The duration of each step of the link, in order.
    pub(crate) times: Vec<(&'static str, Duration)>,
    /// How long the person's devices were grabbed.
    pub(crate) guard_held: Option<Duration>,
}

impl Report {
    /// The tree of the window that took the front, if it was read.
    pub(crate) fn taken(&self) -> Option<&Tree> {
        self.handoff.as_ref()?.tree.as_ref()
    }

    /// The first and the last tree, and what changed between them, if a diff was made.
    pub(crate) fn compared(&self) -> Option<(&Tree, &Tree, &Diff)> {
        let Readings { before, after, .. } = &self.readings;
        Some((before.as_ref()?, after.as_ref()?, self.diff.as_ref()?))
    }

    /// Records how long the guard has held so far, and why it could not keep out all of the
    /// person's input.
    pub(crate) fn note_guard(&mut self, desk: &mut Checkpoint<'_>) {
        self.guard_held = desk.guard.held();
        if let Some(why) = desk.guard.unable.take() {
            self.notes.add(format!(
                "{why}. The user's own keys and clicks may have mixed with the agent's input"
            ));
        }
    }

    /// What the call has changed.
    pub(crate) fn changed(&self, action: &Action) -> Changed {
        let took_front = self.handoff.is_some() || !self.drops.is_empty();
        if took_front || self.app.is_gone() {
            return Changed::Tree;
        }
        let ended = self.ended_runs.iter().map(|run| run.results.changed);
        let steps: Vec<Changed> = ended.chain([self.step.results.changed]).flatten().collect();
        if !steps.is_empty() {
            return Changed::of_all(&steps);
        }
        let Some((before, after, diff)) = self.compared() else {
            return Changed::Unknown;
        };
        self.step_changed(action, (before, after), diff)
    }

    /// What the current step has changed, according to this diff and the pictures.
    pub(crate) fn step_changed(
        &self,
        action: &Action,
        (before, after): (&Tree, &Tree),
        diff: &Diff,
    ) -> Changed {
        let clicked = self.step.acted_on.as_ref().filter(|a| !a.by_keys);
        let clicked = clicked.map(|acted_on| &acted_on.was);
        let by_keys = action.is_for_focus();
        let drags = matches!(action, Action::Input(Input::Drag { .. }));
        if shows_effect(diff, after, by_keys, clicked)
            || diff.moved(before, after) > 0
            || drags && after.has_moved_window(before)
        {
            return Changed::Tree;
        }
        // Either the keys moved the focus, or raising the window did.
        let may_have_moved = by_keys && !diff.modified.is_empty();
        let by_picture = self
            .picture_changed()
            .map(|changed| changed != change::SAME);
        let by_settle = self.step.settled.and_then(|settled| settled.moved);
        match by_picture.or(by_settle) {
            Some(true) => Changed::Picture,
            Some(false) if !may_have_moved => Changed::Nothing,
            _ => Changed::Unknown,
        }
    }

    /// How the picture changed, if the diff names no visible element.
    pub(crate) fn picture_changed(&self) -> Option<String> {
        let (before, window) = (self.pictures.before.as_ref()?, self.pictures.window?);
        let Some(Ok(after)) = &self.pictures.after else {
            return None;
        };
        let tree = self.readings.after.as_ref();
        let by_picture = tree.is_some_and(Tree::is_picture_only);
        if self.handoff.is_some() || self.names_what_shows()? && !by_picture {
            return None;
        }
        before.changed(window, after)
    }

    /// Whether the diff has an element that is or was visible. `None` if there is no diff.
    fn names_what_shows(&self) -> Option<bool> {
        let (before, after, diff) = self.compared()?;
        let visible =
            |tree: &Tree, index: usize| tree.elements.get(index).is_some_and(|e| e.visible);
        // A change of the focus does not count: raising a window alone causes it.
        let modified = diff.modified.iter().filter(|m| !m.is_focus_alone());
        Some(
            diff.added.iter().any(|&i| visible(after, i))
                || diff.removed.iter().any(|&i| visible(before, i))
                || modified.map(|m| m.after).any(|i| visible(after, i))
                || !diff.appeared(before, after).is_empty(),
        )
    }

    /// The line of the element that was acted on, in its current state. `None` if the element only
    /// received keys and did not change.
    pub(crate) fn target(&self) -> Option<String> {
        let (acted_on, after) = (self.step.acted_on.as_ref()?, self.readings.after.as_ref()?);
        let Some(now) = acted_on.find(after, self.readings.current()) else {
            let (before, diff) = (self.readings.before.as_ref()?, self.diff.as_ref()?);
            let mut removed = diff.removed.iter().filter_map(|&i| before.elements.get(i));
            let was_removed = removed.any(|e| e.id == acted_on.was.id);
            return acted_on
                .gone
                .clone()
                .filter(|_| was_removed && !acted_on.by_keys);
        };
        let (was, is) = (&acted_on.was, &after.elements[now]);
        let changed = was.value != is.value || target::own_change(was, is).is_some();
        (changed || !acted_on.by_keys).then(|| target::target(after, now, Some(was)))?
    }

    /// Adds the duration of a step of the link, which began at `start`.
    pub(crate) fn took(&mut self, name: &'static str, start: Instant) {
        debug_assert!(STEPS.contains(&name), "{name} is none of STEPS");
        let took = start.elapsed();
        match self.times.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += took,
            None => self.times.push((name, took)),
        }
    }

    /// The index of the current step, and the number of its current run, from 1. `None` after the
    /// last run.
    pub(crate) fn current_run(&self, call: &Call) -> Option<(usize, usize)> {
        let (step, _) = call.runs().nth(self.ended_runs.len())?;
        let before = self.ended_runs.iter().filter(|run| run.step == step);
        Some((step, before.count() + 1))
    }

    /// The window right before the current step's input.
    pub(crate) fn before_input(&self) -> Option<&Before> {
        let first = self.ended_runs.is_empty();
        let before = self.step.before_input.as_ref();
        before.or(self.pictures.before.as_ref().filter(|_| first))
    }

    /// Whether no text of the current step can have reached a secure field. If unknown, it counts
    /// as secret.
    pub(crate) fn is_public(&self) -> bool {
        // Another window has come to the front, and some of the text may have reached it.
        let bare =
            |tree: &Option<Tree>| tree.as_ref().is_some_and(|tree| !Witness::new(tree).secure);
        let taken = self.handoff.iter().all(|taken| bare(&taken.tree));
        self.step.is_public() && (self.step.public_value || taken)
    }
}

// The results of one step of a link.

/// The element that a step acted on, as it was before the step.
#[derive(Debug)]
pub(crate) struct ActedOn {
    pub(crate) was: Element,
    /// The element's index in the tree that the step started from.
    index: usize,
    /// The line to show if the element goes away: [`target::gone`].
    pub(crate) gone: Option<String>,
    /// Whether the element only received keys.
    pub(crate) by_keys: bool,
}

impl ActedOn {
    /// Element `index` of the tree that the step starts from.
    pub(crate) fn new(tree: &Tree, index: usize, by_keys: bool) -> Option<Self> {
        Some(Self {
            was: tree.elements.get(index)?.clone(),
            index,
            gone: target::gone(tree, index),
            by_keys,
        })
    }

    /// The target's index in a later tree, found by its ref: an app that re-creates the element
    /// unchanged does not change the ref. Otherwise found by how it looked in `before`, the tree
    /// that the step started from.
    pub(crate) fn find(&self, tree: &Tree, before: Option<&Tree>) -> Option<usize> {
        let reference = self.was.reference;
        let mut elements = tree.elements.iter();
        let same = elements.position(|e| reference.is_some() && e.reference == reference);
        same.or_else(|| {
            let before = before?;
            let was = self.in_before(before)?;
            let now = tree.find_again(before, was)?;
            tree.is_at_same_place(now, before, was).then_some(now)
        })
    }

    /// The target's index in `before`, the tree that the step started from. An element that the
    /// app has re-created has its new id there too.
    pub(crate) fn in_before(&self, before: &Tree) -> Option<usize> {
        let was = before.elements.get(self.index)?;
        let same_ref = was.reference.is_some() && was.reference == self.was.reference;
        (was.id == self.was.id || same_ref).then_some(self.index)
    }
}

/// What a step of a chain has led to.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// How well the targets matched, where that is in doubt.
    pub(crate) doubts: Vec<String>,
    /// The time from when the app had settled until the expected effect of the step showed.
    pub(crate) met: Option<Duration>,
    /// The text that the step has read, if it is a step that reads.
    pub(crate) read: Option<String>,
    pub(crate) changed: Option<Changed>,
    /// A window that the step opened or closed, or a change of its target or selection, in a few
    /// words.
    pub(crate) led_to: Option<String>,
}

/// What one step of a chain, or the only step of another call, has found. It is recorded while the
/// step runs. So if the step fails in the middle, what it did before is still known.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) done: Done,
    /// The element that the step acted on, if there is one.
    pub(crate) acted_on: Option<ActedOn>,
    /// Whether the step started the app that it opened.
    pub(crate) started: bool,
    /// The window as it looked right before the input, unless the link's first picture shows that.
    pub(crate) before_input: Option<Before>,
    /// How the app settled.
    pub(crate) settled: Option<Settled>,
    /// The control that the step has changed.
    pub(crate) control: Option<Control>,
    /// The typed text, and where it went.
    pub(crate) keys: Keys,
    /// Whether a text in an earlier run of the same step may have reached a secure field.
    pub(crate) repeats_secret: bool,
    /// The choice that was picked, or is about to be.
    pub(crate) chosen: Option<String>,
    /// Whether a value was set on an element that is known not to be secure.
    pub(crate) public_value: bool,
    pub(crate) results: Results,
}

impl Step {
    /// Whether no text of the step can have reached a secure field. If unknown, it counts as
    /// secret.
    pub(crate) fn is_public(&self) -> bool {
        !self.repeats_secret && (self.public_value || self.keys.are_public())
    }
}

/// A run of a step of a chain that has ended.
#[derive(Debug)]
pub(crate) struct EndedRun {
    /// The index of the step.
    pub(crate) step: usize,
    /// The summary's sentence about the run, without secrets.
    pub(crate) sentence: String,
    pub(crate) results: Results,
    /// Whether no text of the run can have reached a secure field.
    pub(crate) public: bool,
}
