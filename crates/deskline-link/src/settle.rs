//! Step 5: waits until the app has stopped changing its tree.
//!
//! Events tell that something may have changed. Only a reading tells what is there: toolkits omit
//! events (GTK 3), send none (Qt 5), or send thousands (mousepad). So the loop waits until no event
//! has come for [`PAUSE`], reads, and goes on listening until no event has come for [`QUIET`], or
//! for [`SEEN`] after a change that was read: the reading is a part of the silence. The app has settled if nothing changed since the last reading,
//! or if events announced the change and then stopped. A change without an event means that the
//! toolkit sends none: read again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::{Diff, ElementId, Key, KeyPress, Tree};

use crate::call::{Action, Input, Quiet};
use crate::cancel::Cancel;
use crate::desktop::Desktop;
use crate::error::Result;
use crate::trees::{Scope, Sent};

/// An app of which nothing tells whether it is done has settled after this long without a change.
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// An app whose events announced a change that was then read has settled after this long without
/// another event: two frames, and the time that the second one's events take.
const SEEN: Duration = Duration::from_millis(40);

/// After this long without an event the tree is read. Toolkits draw a frame, and send events, every
/// 16 ms while something moves.
const PAUSE: Duration = Duration::from_millis(20);

/// After input of which nothing can be seen, neither an event nor a change, an app gets this long:
/// kcalc draws what was typed after 85 to 100 ms, gnome-calculator a result after 40.
const UNSEEN: Duration = Duration::from_millis(120);

/// The same after a key or a call that activates a button: GTK 3 after the key, and GTK 4 after both,
/// draws it pressed for 250 ms, sends no event, and then does what it is for.
const ACTIVATION: Duration = Duration::from_millis(320);

/// The maximum time that a link waits for an app to settle.
pub(crate) const MOST: Duration = Duration::from_secs(2);

/// The maximum time between a click and the text that is typed after it.
pub(crate) const BETWEEN: Duration = Duration::from_millis(500);

/// An element that differs in this many consecutive readings, for this long, changes by itself: a clock,
/// a spinner. What is scrolled moves for 150 to 300 ms.
const RESTLESS: (u32, Duration) = (3, Duration::from_millis(400));

/// After this long without a pause between events, read anyway.
const NOISE: Duration = Duration::from_millis(250);

/// How long to wait for an app that uses the CPU but has not changed anything yet.
const WORKING: Duration = Duration::from_millis(800);

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

/// What an act is expected to lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing by itself.
    Nothing,
    /// A change or an event.
    Change,
    /// A change, which may come late: a button is pressed by a call.
    Press,
    /// An event: it ends with a key that may activate a button, and what was typed before that key is
    /// a change already.
    Activation,
    /// A change that may go on without events: browsers scroll smoothly.
    Motion,
}

impl Effect {
    /// Of this action.
    pub(crate) fn of(action: &Action) -> Self {
        let input = match action {
            Action::Input(input) => input,
            Action::Quiet(Quiet::PressAx { .. }) => return Self::Press,
            _ => return Self::Nothing,
        };
        let key = match input {
            Input::Click { then: typing, .. } | Input::Type { typing } => typing.key,
            Input::PressKey { press } => Some(*press),
            Input::Scroll { .. } => return Self::Motion,
            Input::Drag { .. } => None,
        };
        match key {
            Some(KeyPress {
                key: Key::PageUp | Key::PageDown | Key::Home | Key::End,
                ..
            }) => Self::Motion,
            Some(KeyPress {
                key: Key::Return | Key::Space,
                modifiers,
            }) if modifiers.is_empty() => Self::Activation,
            _ => Self::Change,
        }
    }

    /// Whether this is a sign of the effect. GTK 4 sends events of its own while it draws a button
    /// pressed, and creates objects, which sends events, when it is read.
    fn shows(self, event: bool, change: bool) -> bool {
        match self {
            Self::Press => change,
            Self::Activation => event,
            Self::Nothing | Self::Change | Self::Motion => event || change,
        }
    }

    /// How long an app gets that has shown no effect.
    fn unseen(self) -> Duration {
        match self {
            Self::Nothing => QUIET,
            Self::Change | Self::Motion => UNSEEN,
            Self::Press | Self::Activation => ACTIVATION,
        }
    }
}

/// What a settle goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Awaits<'t> {
    /// How much of the app to read.
    pub(crate) scope: Scope,
    /// The tree before the act, if known.
    pub(crate) before: Option<&'t Tree>,
    /// What the act is expected to lead to.
    pub(crate) effect: Effect,
    /// What was sent, if it matters when the tree tells what came of it.
    pub(crate) sent: Option<Sent>,
    /// The longest time.
    pub(crate) most: Duration,
}

/// What this action sends to the app. What only keys lead to late matters to the answer, and not to the
/// next step of a chain.
pub(crate) fn sent(action: &Action, is_last: bool) -> Option<Sent> {
    let Action::Input(input) = action else {
        return None;
    };
    if Effect::of(action) == Effect::Motion {
        return Some(Sent::Scroll);
    }
    let keys = match input {
        Input::Click { then: typing, .. } => typing.text.is_some() || typing.key.is_some(),
        Input::Type { .. } | Input::PressKey { .. } => true,
        Input::Scroll { .. } | Input::Drag { .. } => false,
    };
    (keys && is_last).then_some(Sent::Keys)
}

/// Waits until the app has settled. Returns the last reading too.
pub(crate) fn settle(
    desktop: &mut dyn Desktop,
    pid: u32,
    awaits: Awaits<'_>,
    cancel: &Cancel,
) -> Result<(Settled, Tree)> {
    let start = Instant::now();
    let mut restless = Restless::default();
    let mut last: Option<Tree> = None;
    let mut seen = false;
    let mut more = false;
    if let Some(sent) = awaits.sent {
        cancel.wait(desktop.lag(pid, sent).min(awaits.most))?;
    }
    loop {
        let cpu = Cpu::now(desktop, pid);
        // What goes on without an event is not read more often for it.
        let pause = if more || last.is_none() { PAUSE } else { QUIET };
        let heard = listen(desktop, more, pause, cancel)?;
        let (busy, computing) = cpu.used(desktop);
        let tree = desktop.read(pid, awaits.scope)?;
        let known = last.as_ref().or(awaits.before);
        let changed = known.is_none_or(|known| restless.note(known, &tree));
        seen |= awaits.effect.shows(heard.any, changed);
        let told = heard.any && heard.silent && known.is_some();
        let pending = desktop.handoff_pending()?;
        let working = !changed && !heard.any && busy && start.elapsed() < WORKING;
        let done = !changed || told && awaits.effect != Effect::Motion;
        let mut quiet = !pending && !working && !computing && done;
        if quiet {
            let until = if seen {
                heard.last + if told && changed { SEEN } else { QUIET }
            } else {
                start + awaits.effect.unseen()
            };
            let left = until.saturating_duration_since(Instant::now());
            more = hears(desktop, left, cancel)?;
            // Reading itself makes some apps send events: a second reading that found no change ends
            // that.
            let due = seen || start.elapsed() >= awaits.effect.unseen();
            quiet = !more || due && last.is_some() && !changed;
            seen |= awaits.effect.shows(more, false);
        } else {
            more = false;
        }
        if quiet || start.elapsed() >= awaits.most {
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

/// Whether an event comes within this time.
fn hears(desktop: &mut dyn Desktop, mut left: Duration, cancel: &Cancel) -> Result<bool> {
    loop {
        cancel.check()?;
        let slice = left.min(QUIET);
        if desktop.wait_for_change(slice)? {
            return Ok(true);
        }
        left -= slice;
        if left.is_zero() {
            return Ok(false);
        }
    }
}

/// The events until the app was silent, or [`NOISE`] was over.
struct Heard {
    any: bool,
    /// Whether they stopped.
    silent: bool,
    /// When the last one came.
    last: Instant,
}

/// Listens until no event has come for the time of a pause, or until events have come for [`NOISE`]
/// without one. `any` tells whether one has come just before.
fn listen(desktop: &mut dyn Desktop, any: bool, pause: Duration, cancel: &Cancel) -> Result<Heard> {
    let start = Instant::now();
    let mut heard = Heard {
        any,
        silent: true,
        last: start,
    };
    loop {
        cancel.check()?;
        if !desktop.wait_for_change(pause)? {
            return Ok(heard);
        }
        heard.any = true;
        heard.last = Instant::now();
        if start.elapsed() >= NOISE {
            heard.silent = false;
            return Ok(heard);
        }
    }
}

/// The CPU time of an app at the start of a time in which nothing is asked of it: a reading makes it
/// compute too.
struct Cpu {
    pid: u32,
    since: Instant,
    app: Option<Duration>,
    threads: Option<Duration>,
}

impl Cpu {
    fn now(desktop: &mut dyn Desktop, pid: u32) -> Self {
        Self {
            pid,
            since: Instant::now(),
            app: desktop.computed(pid),
            threads: desktop.threads_computed(pid),
        }
    }

    /// Whether the app has computed for a good part of the time since, and whether its threads compute
    /// what is still to come. After a click, a browser's renderer may still be computing the effect;
    /// until then the browser answers as if nothing had happened.
    fn used(&self, desktop: &mut dyn Desktop) -> (bool, bool) {
        let elapsed = self.since.elapsed();
        let ran = |before: Option<Duration>, now: Option<Duration>| {
            now.zip(before)
                .map_or(Duration::ZERO, |(now, before)| now.saturating_sub(before))
        };
        let app = ran(self.app, desktop.computed(self.pid));
        let threads = ran(self.threads, desktop.threads_computed(self.pid));
        let (most, of) = COMPUTING;
        (app > elapsed / BUSY, threads * of > elapsed * most)
    }
}

/// In how many consecutive readings each element has changed.
#[derive(Debug, Default)]
struct Restless(HashMap<ElementId, (u32, Instant)>);

impl Restless {
    /// Whether anything changed besides the elements that change by themselves.
    fn note(&mut self, before: &Tree, after: &Tree) -> bool {
        let diff = Diff::between(before, after);
        let changed = diff.changed_ids(before, after);
        let mut counts = HashMap::new();
        for id in changed {
            let (count, since) = self.0.get(id).copied().unwrap_or((0, Instant::now()));
            counts.insert(id.clone(), (count + 1, since));
        }
        let (times, time) = RESTLESS;
        let is_real = |(count, since): &(u32, Instant)| *count < times || since.elapsed() < time;
        let real = counts.values().any(is_real);
        self.0 = counts;
        real
    }
}
