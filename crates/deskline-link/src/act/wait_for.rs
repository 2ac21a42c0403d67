//! `wait_for_and_traverse`: waits until an element is present, is absent, or has a state.

use std::time::Duration;

use deskline_core::{Role, States, Tree, escape, fold, summary, tree_file};

use crate::call::{Action, Awaited, Call, Target};
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::link::{Found, Link};
use crate::picture::texts::Spots;
use crate::report::Report;
use crate::resolve::lookup::{self, Resolved};
use crate::settle::stale::lacks_page;
use crate::subject::Subject;
use deskline_input::clock::Instant;

/// How long to wait for an event before reading anyway. Toolkits omit some events.
pub(crate) const STEP: Duration = Duration::from_millis(100);

/// The time between the first event of a burst and the reading.
const BURST: Duration = Duration::from_millis(10);

/// How often a wait that does not hold the desktop checks whether another call wants it.
const SLICE: Duration = Duration::from_millis(20);

/// A `wait_for_and_traverse` between two readings. It does not hold the desktop, so that other
/// links can run meanwhile. Only the link that ends the wait has a checkpoint.
#[derive(Debug)]
pub struct Waiting {
    pub(crate) call: Call,
    pub(crate) subject: Subject,
    pub(crate) has_looked: bool,
    /// The tree from before the first look, and the late changes in it.
    pub(crate) report: Report,
    pub(crate) since: Instant,
}

impl Waiting {
    /// Starts the clock of a call that is a single `wait_for`. A chain keeps the desktop while one
    /// of its steps waits.
    ///
    /// # Errors
    /// The call itself, if it is a chain or does not wait.
    pub fn new(call: Call) -> std::result::Result<Self, Box<Call>> {
        if call.is_chain || !call.action.waits() {
            return Err(Box::new(call));
        }
        Ok(Self {
            subject: Subject::new(call.pid),
            has_looked: false,
            call,
            report: Report::default(),
            since: Instant::now(),
        })
    }

    /// The time that is left until the timeout.
    pub fn left(&self) -> Duration {
        match &self.call.action {
            Action::WaitFor { timeout, .. } => timeout.saturating_sub(self.since.elapsed()),
            _ => Duration::ZERO,
        }
    }

    /// The call, for an answer without another look at the app.
    pub fn into_call(self) -> Call {
        self.call
    }
}

/// How long a wait goes on although a dialog that the chain has opened asks for an answer. Not for
/// a wait for something in that dialog.
const DIALOG: Duration = Duration::from_secs(2);

/// The awaited element and state, and the start of the wait.
#[derive(Debug)]
pub(crate) struct Wanted<'w> {
    target: &'w Target,
    state: Awaited,
    timeout: Duration,
    since: Instant,
    /// The texts that earlier steps have typed. A field that contains one of them is not the
    /// awaited element: it would match at once.
    typed: Vec<String>,
    /// Whether the chain's next step acts on the same target, which then has to be enabled.
    acts_next: bool,
}

impl<'w> Wanted<'w> {
    pub(crate) fn new(action: &'w Action, since: Instant) -> Option<Self> {
        match action {
            Action::WaitFor {
                target,
                state,
                timeout,
            } => Some(Self {
                target,
                state: *state,
                timeout: *timeout,
                since,
                typed: Vec::new(),
                acts_next: false,
            }),
            _ => None,
        }
    }

    /// The same wait, as a step of a chain in which `ended` runs have ended.
    pub(crate) fn after_runs(mut self, call: &Call, ended: usize) -> Self {
        let typed = call.runs().take(ended).filter_map(|(_, a)| a.keys().0);
        self.typed = typed.map(|text| fold(text).into_owned()).collect();
        let next = call.runs().nth(ended + 1);
        let next = next.and_then(|(_, next)| lookup::target_of(next).filter(|_| !next.waits()));
        self.acts_next = next == Some(self.target);
        self
    }

    fn find(&self, tree: &Tree) -> Result<Resolved> {
        let Target::Text { text, role } = self.target else {
            return lookup::resolve(tree, self.target, &[]);
        };
        let wanted = fold(text);
        let echo = !wanted.is_empty() && self.typed.iter().any(|typed| typed.contains(&*wanted));
        let may_be = |at: usize| {
            let is_echo = echo && tree.elements[at].states.contains(States::EDITABLE);
            !is_echo && !is_closed(tree, at)
        };
        match tree.find_text_among(may_be, text, role.as_deref()) {
            Some(found) => Ok(lookup::matched(tree, found)),
            None => Err(lookup::not_found(tree, &[], text, role.as_deref())),
        }
    }

    fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.since.elapsed())
    }

    fn after(&self, what: &str) -> String {
        let ms = self.since.elapsed().as_millis();
        format!("{what} is {} after {ms} ms", word(self.state))
    }

    /// Whether the element is there and disabled.
    fn is_disabled(&self, tree: &Tree) -> bool {
        let found = self.find(tree).ok();
        let element = found.and_then(|found| tree.elements.get(found.index?));
        element.is_some_and(|e| e.states.contains(States::DISABLED))
    }

    /// The sentence for the summary, if the awaited state has come.
    ///
    /// # Errors
    ///
    /// A clause that says what the tree shows instead.
    fn in_tree(&self, tree: &Tree, loading: bool) -> std::result::Result<String, String> {
        let found = self.find(tree);
        let index = found.as_ref().ok().and_then(|found| found.index);
        let index = index.filter(|at| !is_closed(tree, *at));
        let state = match self.state {
            Awaited::Present if self.acts_next => Awaited::Enabled,
            state => state,
        };
        let loads = state == Awaited::Loaded && loading;
        if holds(tree, index, state) && !loads {
            let what = index.map_or_else(|| name(self.target), |i| summary::name_of(tree, i));
            return Ok(self.after(&what));
        }
        let is_not = |what: &str| match self.state {
            Awaited::Absent => format!("{what} is still there"),
            Awaited::Loaded => format!("the page of {what} is still loading"),
            _ => format!("{what} is not {}", word(state)),
        };
        Err(match found {
            Ok(found) => is_not(&found.name),
            Err(e) => e.to_string(),
        })
    }

    /// The dialog that the chain has opened, if it asks for an answer and the awaited element is
    /// not there.
    fn behind(&self, tree: &Tree, first: Option<&Tree>) -> Option<String> {
        if self.state == Awaited::Absent || self.since.elapsed() < DIALOG || self.find(tree).is_ok()
        {
            return None;
        }
        let dialog = tree.dialog_in_front()?;
        let id = &tree.elements[dialog].id;
        let is_new = first?.elements.iter().all(|e| e.id != *id);
        let its = || tree.inside(dialog);
        let works = its().any(|at| tree.elements[at].role.is_progress());
        let asks = its().any(|at| tree.elements[at].role == Role::BUTTON && tree.is_seen(at));
        let label = tree_file::window_label(tree, dialog)?;
        (is_new && asks && !works)
            .then(|| format!("{label} has opened and waits for an answer. Answer it first"))
    }
}

/// Tells whether another call wants the desktop. `None` if the wait keeps the desktop all the same.
pub(crate) type Yields<'y> = Option<&'y dyn Fn() -> bool>;

impl Link<'_> {
    /// Reads until the target has the awaited state. Returns a description of the target for the
    /// summary, or `None` if the wait has to continue later: because another call wants the
    /// desktop, or because the app does not answer, which must not delay other calls.
    ///
    /// # Errors
    /// After the timeout, with the nearest texts or the element found. The last reading is then the
    /// tree of the answer.
    pub(crate) fn wait_for(
        &mut self,
        desktop: &mut dyn Desktop,
        wanted: &Wanted<'_>,
        yields: Yields<'_>,
    ) -> Result<Option<Found>> {
        let pid = self.subject.required()?;
        let others = || yields.is_some_and(|yields| yields());
        let mut silent = false;
        loop {
            self.cancel.check()?;
            match self.read_for(desktop, (pid, wanted), silent) {
                Ok(tree) => match wanted.in_tree(&tree, loads(desktop, &tree)) {
                    Ok(sentence) => {
                        // A dialog of the app itself, behind a plug-in's dialog, may have a button
                        // with the same name. The plug-in's dialog is meant.
                        let helper = wanted
                            .is_disabled(&tree)
                            .then(|| self.find_in_helper(desktop, pid, wanted));
                        return Ok(helper.flatten().or(Some(Found::own(sentence))));
                    }
                    Err(instead) if wanted.left().is_zero() => {
                        self.report.readings.after = Some(tree);
                        return Err(timed_out(wanted, &instead));
                    }
                    Err(_) => {
                        let first = self.report.readings.before.as_ref();
                        let first = first.filter(|_| self.call.is_chain);
                        if let Some(instead) = wanted.behind(&tree, first) {
                            self.report.readings.after = Some(tree);
                            return Err(timed_out(wanted, &instead));
                        }
                        if let Some(found) = self.find_in_helper(desktop, pid, wanted) {
                            return Ok(Some(found));
                        }
                    }
                },
                // An element of an app that has ended is absent.
                Err(Error::NoProcess(_) | Error::NoWindow { .. })
                    if wanted.state == Awaited::Absent =>
                {
                    let sentence = wanted.after(&name(wanted.target));
                    return Ok(Some(Found::own(sentence)));
                }
                // The app is busy. The next reading waits long enough by itself.
                Err(Error::NotAnswering { .. }) if !wanted.left().is_zero() => {
                    if yields.is_some() {
                        return Ok(None);
                    }
                    self.cancel.wait(STEP)?;
                    continue;
                }
                Err(e) => return Err(e),
            }
            silent = !self.pause_until_due(desktop, wanted, yields.is_some().then_some(&others))?;
            if others() {
                return Ok(None);
            }
        }
    }

    /// Reads the app. If it has sent no event, or if this reading decides the wait, also looks in
    /// the picture for an element that the tree lacks.
    fn read_for(
        &mut self,
        desktop: &mut dyn Desktop,
        (pid, wanted): (u32, &Wanted<'_>),
        silent: bool,
    ) -> Result<Tree> {
        let mut tree = self.read(desktop, pid)?;
        let decides = silent || wanted.state == Awaited::Absent || wanted.left().is_zero();
        if decides && lookup::resolve(&tree, wanted.target, &[]).is_err() {
            self.reader
                .look_closer(desktop, &mut tree, Spots::All, &mut self.report.notes)?;
        }
        Ok(tree)
    }

    /// The awaited element, if a helper process of the app has it, such as in a plug-in's dialog.
    fn find_in_helper(
        &mut self,
        desktop: &mut dyn Desktop,
        pid: u32,
        wanted: &Wanted<'_>,
    ) -> Option<Found> {
        if wanted.state == Awaited::Absent {
            return None;
        }
        for helper in helpers(desktop, pid) {
            let Ok(tree) = self.read(desktop, helper) else {
                continue;
            };
            if let Ok(found) = wanted.in_tree(&tree, false) {
                let name = escape::short(&tree.app.name, 40);
                return Some(Found {
                    sentence: format!("{found} in {name} (PID: {helper})"),
                    helper: Some(helper),
                });
            }
        }
        None
    }

    /// Waits for an event, or for [`STEP`], before the next reading. Ends early if another call
    /// wants the desktop. Returns `false` if no event came.
    fn pause_until_due(
        &self,
        desktop: &mut dyn Desktop,
        wanted: &Wanted<'_>,
        others: Yields<'_>,
    ) -> Result<bool> {
        let due = Instant::now() + STEP.min(wanted.left());
        while !others.is_some_and(|others| others()) {
            self.cancel.check()?;
            let left = due.saturating_duration_since(Instant::now());
            let slice = if others.is_some() {
                left.min(SLICE)
            } else {
                left
            };
            let heard = desktop.wait_for_change(slice)?.is_some();
            if heard || left <= slice {
                // Events come in bursts. One reading per burst is enough.
                self.cancel.wait(BURST.min(wanted.left()))?;
                return Ok(heard);
            }
        }
        Ok(true)
    }
}

/// The processes that draw windows for the app. Empty if they cannot be listed: the app itself is
/// read all the same.
pub(crate) fn helpers(desktop: &mut dyn Desktop, pid: u32) -> Vec<u32> {
    let windows = desktop.helper_windows(pid).unwrap_or_default();
    let mut pids: Vec<u32> = windows.into_iter().filter_map(|w| w.pid).collect();
    pids.dedup();
    pids
}

/// Whether a page of the app is loading, or has nothing in it yet.
fn loads(desktop: &mut dyn Desktop, tree: &Tree) -> bool {
    desktop.is_loading(tree.app.pid) || lacks_page(tree)
}

fn timed_out(wanted: &Wanted<'_>, instead: &str) -> Error {
    Error::TimedOut {
        seconds: wanted.timeout.min(wanted.since.elapsed()).as_secs_f64(),
        instead: instead.to_owned(),
    }
}

fn holds(tree: &Tree, index: Option<usize>, state: Awaited) -> bool {
    let element = index.and_then(|i| tree.elements.get(i));
    match state {
        Awaited::Present | Awaited::Loaded => element.is_some(),
        Awaited::Enabled => element.is_some_and(|e| !e.states.contains(States::DISABLED)),
        Awaited::Absent => index.is_none(),
        Awaited::Visible => index.is_some_and(|i| tree.is_seen(i)),
        Awaited::State(states) => element.is_some_and(|e| e.states.contains(states)),
    }
}

/// Whether an element is in a dialog that has closed, which Qt keeps in its tree.
fn is_closed(tree: &Tree, index: usize) -> bool {
    !tree.windows.is_empty() && tree.windows_of(index).is_empty() && !tree.is_seen(index)
}

fn word(state: Awaited) -> String {
    if let Awaited::State(states) = state {
        return states.words().collect::<Vec<_>>().join(" and ");
    }
    let known = Awaited::words().find(|(_, known)| *known == state);
    known.map_or("", |(word, _)| word).to_owned()
}

fn name(target: &Target) -> String {
    match target {
        Target::Ref(reference) => format!("#{reference}"),
        Target::Text { text, .. } => format!("'{}'", escape::short(text, 60)),
        Target::Point(at) => at.to_string(),
    }
}
