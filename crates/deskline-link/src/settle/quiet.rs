//! Step 5: waits until the app has stopped changing its tree.
//!
//! An event means that something may have changed. Only a reading shows what is there: toolkits
//! omit events (GTK 3), send none (Qt 5), or send thousands (mousepad). So the loop waits until no
//! event has come for [`PAUSE`], then reads. It goes on listening until no event has come for
//! [`QUIET`], or only for [`SEEN`] if the reading showed a change. The time that the reading takes
//! counts as silence.
//!
//! The app has settled in two cases: a reading shows no change since the last one, or events have
//! announced its changes and then stopped. After a change that no event announced, the loop reads
//! again, because the toolkit may send no events. It also reads again while elements move, in
//! toolkits that move them without an event.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use deskline_core::{Diff, Element, ElementId, Modified, Rect, Tree};

use crate::apps::Thread;
use crate::checkpoint::Checkpoint;
use crate::desktop::Desktop;
use crate::error::Result;
use crate::ocr::is_from_picture;
use crate::picture::change;
use crate::settle::expected::{ANSWERS, Effect, LISTS, QUIET, has_answered, has_opened};
use crate::settle::stale::{AGREE, expected_places, has_slid, lacks_page, may_be_stale, may_slide};
use crate::trees::{Scope, Sent, Sign};
use deskline_input::Cancel;
use deskline_input::clock::Instant;

/// If events announced a change and a reading has then shown it, the app has settled after this
/// long without another event: two frames, and the time until the events of the second one arrive.
const SEEN: Duration = Duration::from_millis(40);

/// After this long without an event the tree is read. Toolkits draw a frame, and send events, every
/// 16 ms while something moves.
const PAUSE: Duration = Duration::from_millis(20);

/// The maximum time that a link waits for an app to settle.
pub(crate) const MOST: Duration = Duration::from_secs(2);

/// The same while a requested dialog of another process has not come.
const ASKED: Duration = Duration::from_secs(3);

/// The maximum time between a click and the text that is typed after it.
pub(crate) const BETWEEN: Duration = Duration::from_millis(500);

/// An element that differs in this many readings in a row and for this long changes by itself, like
/// a clock or a spinner. Scrolling is shorter: 150 to 300 ms.
const RESTLESS: (u32, Duration) = (3, Duration::from_millis(400));

/// After this long without a pause between events, read anyway.
const NOISE: Duration = Duration::from_millis(250);

/// After a new window changes its size or its visible part, keep listening for this long: apps lay
/// out a dialog once more when it is on the screen (LibreOffice's dialogs grow).
const FRESH: Duration = Duration::from_millis(250);

/// The least time between two pictures, to see whether one page still fades into another: three
/// frames.
const FRAMES: Duration = Duration::from_millis(50);

/// How long to wait for an app that uses the CPU but has not changed anything yet.
const WORKING: Duration = Duration::from_millis(800);

/// An app is computing if its CPU time exceeds a fourth of the elapsed time.
const BUSY: u32 = 4;

/// The threads of an app compute if together they ran for three quarters of the time. The main
/// thread does not count: it also answers the next reading, which then has its changes. Other
/// threads may still compute the effect: KeePassXC answers while a thread derives a key.
const COMPUTING: (u32, u32) = (3, 4);

/// The result of a settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The time from the act to the last reading.
    pub(crate) took: Duration,
    /// The time until a reading showed the effect.
    pub(crate) shown: Option<Duration>,
    /// Whether the app was quiet in the end. `false` if the time limit was reached.
    pub(crate) quiet: bool,
    /// Whether the app was computing in the end.
    pub(crate) computing: bool,
    /// Whether the window's picture has changed anywhere but at the clicked and the focused
    /// element. `None` if the tree shows an effect, or if no pictures were compared.
    pub(crate) moved: Option<bool>,
}

/// The facts that a settle depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Awaits<'t> {
    /// How much of the app to read.
    pub(crate) scope: Scope,
    /// The tree before the act, if known.
    pub(crate) before: Option<&'t Tree>,
    /// The expected effect of the act.
    pub(crate) effect: Effect,
    /// Whether only a pop-up is a sign of the effect.
    pub(crate) opens: bool,
    /// Whether a window was brought to the front for the act.
    pub(crate) raised: bool,
    /// The picture of the window right before the act.
    pub(crate) look: Option<&'t change::Before>,
    /// The target of the act.
    pub(crate) target: Option<&'t Element>,
    /// Whether a text was typed.
    pub(crate) types: bool,
    /// The input, for apps whose trees show its effect only after a delay.
    pub(crate) sent: Option<Sent>,
    /// How long to listen at least, because a list of completions opens after the last key.
    pub(crate) least: Duration,
    /// The tree right before the Return that answers a dialog from a field of the dialog.
    pub(crate) asked: Option<&'t Tree>,
    /// The closed field that a text was typed into and that may open a list for the text.
    pub(crate) lists: Option<&'t Element>,
    /// The longest time to wait.
    pub(crate) most: Duration,
}

impl Awaits<'_> {
    /// The longest time to wait, while a requested dialog is `pending` or not.
    fn at_most(&self, pending: bool) -> Duration {
        let most = if pending { ASKED } else { self.most };
        most.max(self.most)
    }

    /// How long to wait for an app that has shown no effect.
    fn unseen(&self) -> Duration {
        match (self.asked, self.lists) {
            (Some(_), _) => ANSWERS,
            (None, Some(_)) => LISTS,
            (None, None) => self.effect.unseen(),
        }
    }

    /// Where the picture changes with any act. After a typed text the target does not count as such
    /// a place: it may be the only place where the text shows.
    fn expected(&self, now: &Tree) -> Vec<Rect> {
        expected_places(self.before, now, self.target.filter(|_| !self.types))
    }

    /// Whether the window's picture changed elsewhere than at the clicked and the focused element.
    fn has_moved(&self, desktop: &mut dyn Desktop, now: &Tree) -> Option<bool> {
        if !change::are_quick(desktop) {
            return None;
        }
        self.look?.has_moved(desktop, &self.expected(now))
    }
}

/// Waits until the app has settled. Returns the last reading too.
pub(crate) fn await_quiet(
    desk: &mut Checkpoint<'_>,
    pid: u32,
    awaits: Awaits<'_>,
) -> Result<(Settled, Tree)> {
    let (start, cancel) = (Instant::now(), desk.cancel);
    let mut restless = Restless::default();
    let mut drawing = Drawing {
        before: awaits.look,
        last: None,
        drawn: awaits.target.is_some_and(|e| is_from_picture(&e.id)),
    };
    let mut newcomers = Newcomers::default();
    let mut last: Option<Tree> = None;
    let (mut shown, mut moved, mut more) = (None, None, None);
    let (mut seen, mut again, mut slides) = (false, false, false);
    let enough = awaits.effect.least_sign(awaits.raised);
    let moves_silently = desk.moves_silently(pid);
    // Any key may scroll a page. So the delay of scrolling counts.
    let scrolls = awaits.sent.map(|_| desk.lag(pid, Sent::Scroll));
    let agree = AGREE.max(scrolls.unwrap_or_default());
    // A page that was already loading before the act may go on for ever. It is not waited for.
    let loaded = awaits.before.is_none_or(|tree| !lacks_page(tree)) && !desk.is_loading(pid);
    if let Some(sent) = awaits.sent {
        cancel.wait(desk.lag(pid, sent).min(awaits.most))?;
    }
    loop {
        desk.ungrab_in_time();
        let desktop = &mut **desk;
        let cpu = Cpu::now(desktop, pid);
        // If no events come, the pause is longer. So an app that goes on changing is read no more
        // often than one that sends events.
        let pause = if again {
            Duration::ZERO
        } else if more.is_some() || last.is_none() || slides {
            PAUSE
        } else {
            QUIET
        };
        let heard = listen(desktop, more, pause, cancel)?;
        let (busy, computing) = cpu.used(desktop);
        let fading = Fading::before_reading(desktop, pid, awaits.look);
        let (tree, read) = (desktop.read(pid, awaits.scope)?, Instant::now());
        let known = last.as_ref().or(awaits.before);
        let drawn = drawing.changed(desktop, &tree);
        let note = |known| restless.note(known, &tree, drawn, awaits.effect);
        let change = known.map_or(Some(Sign::Change), note);
        let changed = change.is_some();
        let opened = !awaits.opens || desktop.popup_open(pid)?;
        let counts = opened && awaits.asked.is_none_or(|asked| has_answered(asked, &tree));
        let listed = awaits.lists.is_none_or(|field| has_opened(field, &tree));
        seen |= counts && listed && awaits.effect.shows(heard.any, change, awaits.raised);
        if counts && awaits.before.is_some() && change >= Some(enough) {
            shown.get_or_insert_with(|| start.elapsed());
        }
        let announced = heard.any.is_some() && heard.silent && known.is_some();
        let fresh = awaits.before.and_then(|b| newcomers.fresh(b, &tree));
        let pending = desktop.handoff_pending()?;
        let working = !changed && heard.any.is_none() && busy && start.elapsed() < WORKING;
        let done = !changed || announced && awaits.effect != Effect::Motion;
        let loading = loaded && (desktop.is_loading(pid) || lacks_page(&tree));
        let may_move = moves_silently && start.elapsed() < AGREE;
        slides = may_move && may_slide(known, awaits.before, &tree);
        let mut quiet = !pending && !working && !computing && done && !loading && !slides;
        if quiet {
            let stays = if announced && changed { SEEN } else { QUIET };
            let mut until = start + awaits.unseen();
            if seen {
                until = heard.last + stays;
            }
            let until = fresh.map_or(until, |since| until.max(since + FRESH));
            let until = until.max(start + awaits.least);
            let left = until.saturating_duration_since(Instant::now());
            more = hears(desktop, left, cancel)?;
            // Some apps send events because they are read. So the second reading without a change
            // is the last one.
            let due = seen || start.elapsed() >= awaits.unseen();
            quiet = more.is_none() || due && fresh.is_none() && last.is_some() && !changed;
            seen |= counts && listed && awaits.effect.shows(more, None, awaits.raised);
        } else {
            more = None;
        }
        if quiet && start.elapsed() < AGREE {
            quiet = fading.is_over(desktop, &awaits, (pid, &tree), cancel)?;
        }
        // Some changes come without an event. So there is one more look.
        again = quiet && shown.is_none() && awaits.effect.may_be_late() && read.elapsed() >= QUIET;
        quiet &= !again;
        if quiet && shown.is_none() && moved != Some(true) {
            moved = awaits.has_moved(desktop, &tree);
            // The picture is newer than the reading. An app that was busy has scrolled in between.
            again |= moved == Some(true) && awaits.effect == Effect::Motion;
            quiet &= !again;
        }
        if moved == Some(true) && shown.is_none() && may_be_stale(&tree) && start.elapsed() < agree
        {
            // Scrolling a page changes only the places of its elements. The first places that the
            // tree reports may be those in the middle of the motion.
            let are_last = start.elapsed() >= scrolls.unwrap_or_default() * 3 / 4;
            quiet &= are_last && awaits.before.is_some_and(|before| has_slid(before, &tree));
        }
        if quiet || start.elapsed() >= awaits.at_most(pending) {
            return Ok((
                Settled {
                    took: start.elapsed(),
                    quiet,
                    computing,
                    moved: moved.filter(|_| shown.is_none()),
                    shown,
                },
                tree,
            ));
        }
        last = Some(tree);
    }
}

/// The first event that comes within this time.
fn hears(desktop: &mut dyn Desktop, mut left: Duration, cancel: &Cancel) -> Result<Option<Sign>> {
    loop {
        cancel.check()?;
        let slice = left.min(QUIET);
        let heard = desktop.wait_for_change(slice)?;
        left -= slice;
        if heard.is_some() || left.is_zero() {
            return Ok(heard);
        }
    }
}

/// The events until the app was silent, or [`NOISE`] was over.
struct Heard {
    /// The strongest sign.
    any: Option<Sign>,
    /// Whether the events have stopped.
    silent: bool,
    /// The time of the last event, or the start if there was none.
    last: Instant,
}

/// Listens until no event has come for `pause`, or until events have come for [`NOISE`] without
/// such a pause. `any` is the sign that was heard right before, if any.
fn listen(
    desktop: &mut dyn Desktop,
    any: Option<Sign>,
    pause: Duration,
    cancel: &Cancel,
) -> Result<Heard> {
    let start = Instant::now();
    let mut heard = Heard {
        any,
        silent: true,
        last: start,
    };
    loop {
        cancel.check()?;
        let Some(event) = desktop.wait_for_change(pause)? else {
            return Ok(heard);
        };
        heard.any = heard.any.max(Some(event));
        heard.last = Instant::now();
        if start.elapsed() >= NOISE {
            heard.silent = false;
            return Ok(heard);
        }
    }
}

/// The CPU time of an app at the start of a period. No reading is in that period, because an app
/// also computes while it is read.
struct Cpu {
    pid: u32,
    since: Instant,
    app: Option<Duration>,
    threads: Vec<Thread>,
}

impl Cpu {
    fn now(desktop: &mut dyn Desktop, pid: u32) -> Self {
        Self {
            pid,
            since: Instant::now(),
            app: desktop.computed(pid),
            threads: desktop.threads(pid),
        }
    }

    /// Whether the app has computed for a good part of the period, and whether its threads still
    /// compute. A browser may answer as if nothing had happened, while its renderer computes the
    /// effect of a click.
    fn used(&self, desktop: &mut dyn Desktop) -> (bool, bool) {
        let elapsed = self.since.elapsed();
        let app = desktop.computed(self.pid).zip(self.app);
        let app = app.map_or(Duration::ZERO, |(now, before)| now.saturating_sub(before));
        let threads = desktop.threads(self.pid).into_iter();
        let threads: Duration = threads.map(|t| t.computed(&self.threads, elapsed)).sum();
        let (most, of) = COMPUTING;
        (app > elapsed / BUSY, threads * of > elapsed * most)
    }
}

/// The picture of a window whose content no tree describes.
struct Drawing<'t> {
    /// The window before the act.
    before: Option<&'t change::Before>,
    last: Option<change::Before>,
    /// Whether the target of the act is a text from the picture.
    drawn: bool,
}

impl Drawing<'_> {
    /// The window's element, if the picture of the window has changed since the last look.
    fn changed<'e>(&mut self, desktop: &mut dyn Desktop, tree: &'e Tree) -> Option<&'e ElementId> {
        if !self.drawn && !tree.is_picture_only() {
            return None;
        }
        let last = self.last.as_ref().or(self.before);
        let front = || tree.windows.first().map(|window| window.id);
        let window = last.map(|last| last.window).or_else(front)?;
        let now = change::before_input(desktop, Some(window))?;
        let changed = last.is_some_and(|last| last.differs(&now));
        self.last = Some(now);
        let element = *tree.window(window)?.elements.first()?;
        tree.elements
            .get(element)
            .map(|e| &e.id)
            .filter(|_| changed)
    }
}

/// What was known about fading pages right before a reading.
struct Fading {
    may_fade: bool,
    looked: Instant,
    look: Option<change::Before>,
}

impl Fading {
    fn before_reading(
        desktop: &mut dyn Desktop,
        pid: u32,
        before: Option<&change::Before>,
    ) -> Self {
        let (may_fade, looked) = (desktop.may_fade(pid), Instant::now());
        let window = before.filter(|_| may_fade).map(|before| before.window);
        Self {
            may_fade,
            looked,
            look: window.and_then(|window| change::before_input(desktop, Some(window))),
        }
    }

    /// Whether the picture has come to rest, if pages may fade.
    fn is_over(
        &self,
        desktop: &mut dyn Desktop,
        awaits: &Awaits<'_>,
        (pid, now): (u32, &Tree),
        cancel: &Cancel,
    ) -> Result<bool> {
        if !desktop.may_fade(pid) || !self.may_fade {
            return Ok(!desktop.may_fade(pid));
        }
        let places = &awaits.expected(now);
        cancel.wait(FRAMES.saturating_sub(self.looked.elapsed()))?;
        let look = self.look.as_ref();
        let fades = look.and_then(|look| look.has_moved(desktop, places));
        Ok(fades != Some(true))
    }
}

/// The windows that have opened since before the act: their bounds, the number of visible elements
/// in the app, and since when neither has changed.
#[derive(Debug, Default)]
struct Newcomers(Option<(Vec<Rect>, usize, Instant)>);

impl Newcomers {
    /// Since when the new windows have been unchanged. `None` if there are none, or if they have
    /// been unchanged for at least [`FRESH`].
    fn fresh(&mut self, before: &Tree, now: &Tree) -> Option<Instant> {
        let new = now.windows.iter().filter(|w| before.window(w.id).is_none());
        let new: Vec<Rect> = new.map(|window| window.extents).collect();
        if new.is_empty() {
            return None;
        }
        let shows = now.elements.iter().filter(|e| e.visible).count();
        let since = match self.0.take() {
            Some((places, showed, since)) if places == new && showed == shows => since,
            _ => Instant::now(),
        };
        self.0 = Some((new, shows, since));
        Some(since).filter(|since| since.elapsed() < FRESH)
    }
}

/// In how many consecutive readings each element has changed.
#[derive(Debug, Default)]
struct Restless(HashMap<ElementId, (u32, Instant)>);

impl Restless {
    /// The strongest sign of a change. Elements that change by themselves do not count, nor do tool
    /// tips unless the act hovers. `drawn` is the element whose picture has changed.
    fn note(
        &mut self,
        before: &Tree,
        after: &Tree,
        drawn: Option<&ElementId>,
        effect: Effect,
    ) -> Option<Sign> {
        let hovers = effect == Effect::Hover;
        let mut diff = Diff::between(before, after);
        diff.added
            .retain(|&added| hovers || !after.is_in_tool_tip(added));
        diff.removed
            .retain(|&removed| !before.is_in_tool_tip(removed));
        diff.modified
            .retain(|m| hovers || !after.is_in_tool_tip(m.after));
        let changed = diff.changed_ids(before, after);
        let mut counts = HashMap::new();
        // Texts from pictures do not count, because this reading does not have them yet.
        let changed = changed.into_iter().filter(|id| !is_from_picture(id));
        for id in changed.chain(drawn) {
            let (count, since) = self.0.get(id).copied().unwrap_or((0, Instant::now()));
            counts.insert(id.clone(), (count + 1, since));
        }
        let (times, time) = RESTLESS;
        let is_real = |(count, since): &(u32, Instant)| *count < times || since.elapsed() < time;
        let is_weak = |m: &&Modified| match effect {
            Effect::Selection => m.is_selection_alone(),
            _ => m.is_focus_alone(),
        };
        let focus = diff.modified.iter().filter(is_weak);
        let focus: HashSet<_> = focus.map(|m| &after.elements[m.after].id).collect();
        let sign = |id: &ElementId| {
            if focus.contains(id) {
                Sign::Focus
            } else {
                Sign::Change
            }
        };
        let real = counts.iter().filter(|(_, count)| is_real(count));
        let real = real.map(|(id, _)| sign(id)).max();
        self.0 = counts;
        real
    }
}
