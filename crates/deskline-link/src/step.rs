//! The results of one step of a link.

use std::time::Duration;

use deskline_core::{Element, Tree, target};

use crate::act::done::Done;
use crate::picture::change::Before;
use crate::secrecy::Keys;
use crate::settle::changed::{Changed, Control};
use crate::settle::quiet::Settled;

/// The element that a step acted on, as it was before.
#[derive(Debug)]
pub(crate) struct ActedOn {
    pub(crate) was: Element,
    /// The index in that tree.
    index: usize,
    /// The line for the case that it goes away: [`target::gone`].
    pub(crate) gone: Option<String>,
    /// Whether it only received keys.
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

    /// The target's index in a later tree. Found by its ref, which an element keeps if the app
    /// re-creates it unchanged; else by its likeness to the target in `before`, the tree that the
    /// step started from.
    pub(crate) fn find(&self, tree: &Tree, before: Option<&Tree>) -> Option<usize> {
        let reference = self.was.reference;
        let mut elements = tree.elements.iter();
        let same = elements.position(|e| reference.is_some() && e.reference == reference);
        same.or_else(|| {
            let before = before?;
            let was = before.elements.get(self.index);
            was.filter(|e| e.id == self.was.id)?;
            let now = tree.find_again(before, self.index)?;
            tree.is_at_same_place(now, before, self.index)
                .then_some(now)
        })
    }
}

/// What a step of a chain has led to.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// How well the targets matched, where that is in doubt.
    pub(crate) doubts: Vec<String>,
    /// How long after it had settled what the call expects of it showed.
    pub(crate) met: Option<Duration>,
    /// The text that it was to read.
    pub(crate) read: Option<String>,
    pub(crate) changed: Option<Changed>,
    /// The windows that it opened or closed, or a clause that it changed nothing.
    pub(crate) led_to: Option<String>,
}

/// The results of one step of a chain, or of the only step of another call. They are recorded as it
/// goes, so that an error in the middle keeps the actions before it.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) done: Done,
    /// The element that it acted on, if there is one.
    pub(crate) acted_on: Option<ActedOn>,
    /// Whether it started the app that it opened.
    pub(crate) started: bool,
    /// The window right before the input, unless the link's first picture shows that.
    pub(crate) before_input: Option<Before>,
    /// How the app settled.
    pub(crate) settled: Option<Settled>,
    /// The control that it has changed.
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
    /// Whether it is known that no text of the step reached a secure field. Unknown counts as
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
    /// The sentence of the summary about it, without secrets.
    pub(crate) sentence: String,
    pub(crate) results: Results,
    /// Whether no text of the run can have reached a secure field.
    pub(crate) public: bool,
}
