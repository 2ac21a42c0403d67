//! Step 5: waiting until the app has stopped changing its tree.
//!
//! Events say that something is going on; only a reading says what is there. Toolkits forget
//! events (GTK 3), send none (Qt 5), or send thousands (mousepad). So: silence for [`QUIET`], then
//! a reading. The app has settled if nothing changed since the last reading, or if the events
//! before the silence announced the change. A change without an event means that the toolkit sends
//! none: read again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::{Diff, ElementId, Tree};

use crate::cancel::Cancel;
use crate::desktop::Desktop;
use crate::error::Result;
use crate::trees::Scope;

/// An app whose tree has not changed for this long has settled (SPEC §7.5).
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// The longest that a link waits for an app to settle.
pub(crate) const MOST: Duration = Duration::from_secs(2);

/// The longest between a click and the text that goes in after it.
pub(crate) const BETWEEN: Duration = Duration::from_millis(500);

/// An element that differs in this many readings in a row changes by itself: a clock, a spinner.
const RESTLESS: u32 = 3;

/// Events without a pause for this long are noise: look all the same.
const NOISE: Duration = Duration::from_millis(250);

/// An app that has shown nothing yet but is computing gets this long to begin.
const WORKING: Duration = Duration::from_millis(500);

/// An app that runs for more than a fourth of the time is computing.
const BUSY: u32 = 4;

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settled {
    /// From the act to here.
    pub(crate) took: Duration,
    /// Whether the app was quiet in the end, or the time was up.
    pub(crate) quiet: bool,
}

/// Waits until the app has settled, for `most` at the longest. Returns the last reading too.
/// `before` is how the app was before the act, where that is known.
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
        let (heard, silent) = listen(desktop, cancel)?;
        let busy = busy.since_last(desktop);
        let tree = desktop.read(pid, scope)?;
        let known = last.as_ref().or(before);
        let changed = known.is_none_or(|known| restless.note(known, &tree));
        let told = heard && silent && known.is_some();
        let pending = desktop.handoff_pending()?;
        let working = !changed && !heard && busy && start.elapsed() < WORKING;
        let quiet = !pending && !working && (!changed || told);
        if quiet || start.elapsed() >= most {
            return Ok((
                Settled {
                    took: start.elapsed(),
                    quiet,
                },
                tree,
            ));
        }
        last = Some(tree);
    }
}

/// Listens until no event came for [`QUIET`], or events came without a pause for [`NOISE`]. Returns
/// whether any came, and whether they stopped.
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

/// Whether an app computes. A renderer that is about to show the effect of a click has not told its
/// browser yet, and the browser answers as if nothing happened; but its processes run.
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

    /// Whether the app ran for a good part of the time since it was last asked about.
    fn since_last(&mut self, desktop: &mut dyn Desktop) -> bool {
        let now = desktop.computed(self.pid).map(|ran| (Instant::now(), ran));
        let before = std::mem::replace(&mut self.last, now);
        let (Some((then, had)), Some((now, has))) = (before, now) else {
            return false;
        };
        has.saturating_sub(had) > (now - then) / BUSY
    }
}

/// How often in a row each element has changed.
#[derive(Debug, Default)]
struct Restless(HashMap<ElementId, u32>);

impl Restless {
    /// Whether anything but the restless changed.
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
