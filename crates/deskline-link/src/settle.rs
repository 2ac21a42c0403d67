//! Step 5: waits until the app has stopped changing its tree.
//!
//! Events tell that something may have changed. Only a reading tells what is there: toolkits omit
//! events (GTK 3), send none (Qt 5), or send thousands (mousepad). So the loop waits until no event
//! has come for [`QUIET`], then reads. The app has settled if nothing changed since the last
//! reading, or if events announced the change and then stopped. A change without an event means
//! that the toolkit sends none: read again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::{Diff, ElementId, Tree};

use crate::cancel::Cancel;
use crate::desktop::Desktop;
use crate::error::Result;
use crate::trees::Scope;

/// An app whose tree has not changed for this long has settled (the contract, §7.5).
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// The maximum time that a link waits for an app to settle.
pub(crate) const MOST: Duration = Duration::from_secs(2);

/// The maximum time between a click and the text that is typed after it.
pub(crate) const BETWEEN: Duration = Duration::from_millis(500);

/// An element that differs in this many consecutive readings changes by itself: a clock, a spinner.
const RESTLESS: u32 = 3;

/// After this long without a pause between events, read anyway.
const NOISE: Duration = Duration::from_millis(250);

/// How long to wait for an app that uses the CPU but has not changed anything yet.
const WORKING: Duration = Duration::from_millis(500);

/// An app is computing if its CPU time exceeds a fourth of the elapsed time.
const BUSY: u32 = 4;

/// Its threads are computing if together they run for three quarters of the elapsed time: what they
/// compute is still to come (KeePassXC derives a key in a thread, and answers meanwhile).
const COMPUTING: (u32, u32) = (3, 4);

/// The result of a settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The time from the act to the last reading.
    pub(crate) took: Duration,
    /// Whether the app was quiet in the end. `false` if the time limit was reached.
    pub(crate) quiet: bool,
    /// Whether it was computing in the end.
    pub(crate) computing: bool,
}

/// Waits until the app has settled, for `most` at the longest. Returns the last reading too.
/// `before` is the tree before the act, if known.
pub(crate) fn settle(
    desktop: &mut dyn Desktop,
    pid: u32,
    scope: Scope,
    before: Option<&Tree>,
    most: Duration,
    cancel: &Cancel,
) -> Result<(Settled, Tree)> {
    let start = Instant::now();
    let mut restless = Restless::default();
    let mut last: Option<Tree> = None;
    let mut busy = Busy::new(desktop, pid);
    loop {
        let threads = Threads::of(desktop, pid);
        let (heard, silent) = listen(desktop, cancel)?;
        let computing = threads.compute(desktop);
        let busy = busy.since_last(desktop);
        let tree = desktop.read(pid, scope)?;
        let known = last.as_ref().or(before);
        let changed = known.is_none_or(|known| restless.note(known, &tree));
        let told = heard && silent && known.is_some();
        let pending = desktop.handoff_pending()?;
        let working = !changed && !heard && busy && start.elapsed() < WORKING;
        let quiet = !pending && !working && !computing && (!changed || told);
        if quiet || start.elapsed() >= most {
            return Ok((
                Settled {
                    took: start.elapsed(),
                    quiet,
                    computing,
                },
                tree,
            ));
        }
        last = Some(tree);
    }
}

/// Listens until no event has come for [`QUIET`], or until events have come for [`NOISE`] without a
/// pause. Returns whether any event came, and whether they stopped.
fn listen(desktop: &mut dyn Desktop, cancel: &Cancel) -> Result<(bool, bool)> {
    let start = Instant::now();
    let mut heard = false;
    loop {
        cancel.check()?;
        if !desktop.wait_for_change(QUIET)? {
            return Ok((heard, true));
        }
        heard = true;
        if start.elapsed() >= NOISE {
            return Ok((heard, false));
        }
    }
}

/// Tells whether an app is using the CPU. After a click, a browser's renderer may still be
/// computing the effect; until then the browser answers as if nothing had happened.
struct Busy {
    pid: u32,
    last: Option<(Instant, Duration)>,
}

impl Busy {
    fn new(desktop: &mut dyn Desktop, pid: u32) -> Self {
        let mut busy = Self { pid, last: None };
        busy.since_last(desktop);
        busy
    }

    /// Whether the app was computing for a good part of the time since the last call.
    fn since_last(&mut self, desktop: &mut dyn Desktop) -> bool {
        let now = desktop.computed(self.pid).map(|ran| (Instant::now(), ran));
        let before = std::mem::replace(&mut self.last, now);
        let (Some((then, had)), Some((now, has))) = (before, now) else {
            return false;
        };
        has.saturating_sub(had) > (now - then) / BUSY
    }
}

/// Tells whether the threads of an app compute while nothing is asked of it: a reading makes it
/// compute too.
struct Threads {
    pid: u32,
    since: Option<(Instant, Duration)>,
}

impl Threads {
    fn of(desktop: &mut dyn Desktop, pid: u32) -> Self {
        let ran = desktop.threads_computed(pid);
        Self {
            pid,
            since: ran.map(|ran| (Instant::now(), ran)),
        }
    }

    fn compute(&self, desktop: &mut dyn Desktop) -> bool {
        let now = desktop.threads_computed(self.pid);
        let (Some((since, had)), Some(has)) = (self.since, now) else {
            return false;
        };
        let (most, of) = COMPUTING;
        has.saturating_sub(had) * of > since.elapsed() * most
    }
}

/// In how many consecutive readings each element has changed.
#[derive(Debug, Default)]
struct Restless(HashMap<ElementId, u32>);

impl Restless {
    /// Whether anything changed besides the elements that change by themselves.
    fn note(&mut self, before: &Tree, after: &Tree) -> bool {
        let diff = Diff::between(before, after);
        let changed = diff.changed_ids(before, after);
        let counts: HashMap<ElementId, u32> = changed
            .iter()
            .map(|id| ((*id).clone(), self.0.get(*id).copied().unwrap_or(0) + 1))
            .collect();
        let real = counts.values().any(|count| *count < RESTLESS);
        self.0 = counts;
        real
    }
}
