//! Step 5: waits until the app has settled, finds out whether it ended or is busy, and compares its
//! state with the requested one.

pub(crate) mod changed;
pub(crate) mod chosen;
pub(crate) mod compare;
pub(crate) mod expectation;
pub(crate) mod expected;
pub(crate) mod field;
pub(crate) mod front_watch;
pub(crate) mod handoff;
pub(crate) mod quiet;
pub(crate) mod readback;
pub(crate) mod stale;
pub(crate) mod taken_back;

use std::time::Duration;

use deskline_core::{Diff, Element, Role, Tree};

use crate::apps::Progress;
use crate::call::{Action, Input};
use crate::checkpoint::Checkpoint;
use crate::display::Place;
use crate::end::{End, Exit};
use crate::error::{Error, Mismatch, NoEffect, Result};
use crate::link::Link;
use crate::reader::{AGAIN, WHOLE};
use crate::report::{AppState, Drop, Readings, Report};
use crate::resolve::lookup::Resolved;
use crate::resolve::targets::DropOn;
use crate::secrecy::Witness;
use crate::trees::Scope;
use deskline_input::clock::Instant;
use expected::{Effect, asked, lists, sent};
use field::{Field, Verdict};
use quiet::{Awaits, await_quiet};
use readback::{LATE, TAKES, dragged, takes_more, went_nowhere};
use stale::{expected_places, slid};
use taken_back::{is_lost, not_switched, soon_back, verdict};

impl Link<'_> {
    /// Step 5. The last reading becomes the link's second traversal.
    pub(crate) fn settle(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let mut pid = self.subject.required()?;
        let action = self.action;
        let options = &self.call.options;
        let scope = if options.traverse_after || self.call.is_chain {
            AGAIN
        } else {
            Scope::Showing
        };
        if self.report.step.started {
            pid = self.await_start(desk, pid)?;
        }
        let before = self.report.readings.current();
        let had_window = before.is_none_or(|tree| !tree.windows.is_empty());
        let target = self.targets.index();
        let scrolls = matches!(action, Action::Input(Input::Scroll { .. }));
        let target = target.filter(|_| !scrolls);
        let target = target.and_then(|index| before?.elements.get(index));
        let effect = match Effect::new(action, target) {
            Effect::Change if self.may_show_details(before) => Effect::Selection,
            effect => effect,
        };
        let awaits = Awaits {
            scope,
            before,
            effect,
            opens: effect == Effect::Click && opens_from_panel(desk, target)?,
            raised: desk.raised_now.is_some(),
            look: self.report.before_input(),
            target,
            types: action.keys().0.is_some(),
            sent: sent(action, self.is_last()),
            least: self.may_complete(action),
            asked: asked(action, self.report.step.keys.between.as_ref().or(before)),
            lists: lists(action, target, before),
            most: quiet::MOST,
        };
        match await_quiet(desk, pid, awaits) {
            Ok((settled, tree)) => {
                let points = matches!(
                    action,
                    Action::Input(Input::Click { .. } | Input::Drag { .. })
                );
                let slider = target.filter(|_| points);
                let tree = slid(&mut **desk, (pid, scope), slider, tree)?;
                self.report.step.settled = Some(settled);
                // If a key followed the text, the witness is from before that key, and stays.
                let after = &mut self.report.step.keys.after;
                after.get_or_insert_with(|| Witness::new(&tree));
                self.report.readings.after = Some(tree);
            }
            Err(e) => self.is_effect(e)?,
        }
        if matches!(action, Action::Input(Input::Drag { .. })) {
            self.await_icon(desk, (pid, scope))?;
        }
        desk.raised_now = None;
        self.front.note(desk)?;
        if !options.delay_after_action.is_zero() {
            desk.ungrab();
            self.cancel.wait(options.delay_after_action)?;
            match desk.read(pid, scope) {
                Ok(tree) => {
                    self.report.readings.after = Some(tree);
                    self.report.app = AppState::Running;
                }
                Err(e) => self.is_effect(e)?,
            }
        }
        // An app that is ending may still answer with an empty tree.
        let lists = desk.screen().is_ok();
        // Some apps run without windows: an item of the tray, or a panel on Wayland. Such an app
        // has not ended if it still has a tree.
        let is_there = self
            .report
            .readings
            .after
            .as_ref()
            .is_some_and(|tree| tree.elements.len() > 1);
        let gone = lists
            && (had_window || !is_there)
            && desk.windows_of(pid)?.is_empty()
            && desk.app_itself(pid)?.is_none();
        if self.report.app == AppState::NoWindow
            || gone && !shows_others(desk, pid, scope, self.report)
        {
            let end = await_end(desk, pid)?;
            self.report.app = end.map_or(AppState::NoWindow, AppState::Ended);
        }
        if self.report.app.is_gone() || !(options.traverse_after || self.call.is_chain) {
            self.report.readings.after = None;
        }
        Ok(())
    }

    /// Waits until the app that a drag ended in has settled. Then listens to the link's own app
    /// again.
    pub(crate) fn settle_drop(&mut self, desk: &mut Checkpoint<'_>, end: DropOn) -> Result<()> {
        let DropOn { pid, tree, .. } = end;
        let awaits = Awaits {
            scope: AGAIN,
            before: Some(&tree),
            effect: Effect::new(self.action, None),
            raised: true,
            sent: sent(self.action, self.is_last()),
            most: quiet::MOST,
            ..Awaits::default()
        };
        match await_quiet(desk, pid, awaits) {
            Ok((_, mut after)) => {
                let diff = Diff::between(&tree, &after);
                self.reader.rename(&diff.renamed(&tree, &after));
                self.accept(&mut **desk, &mut after)?;
                self.report.drops.retain(|drop| drop.after.app.pid != pid);
                self.report.drops.push(Drop {
                    before: tree,
                    after,
                    diff,
                });
            }
            Err(
                e @ (Error::NotAnswering { .. } | Error::NoProcess(_) | Error::NoWindow { .. }),
            ) => {
                self.report
                    .notes
                    .add(format!("the app that got the drop was not read: {e}"));
            }
            Err(e) => return Err(e),
        }
        self.listen(&mut **desk)
    }

    /// Waits until an app that this call has started no longer computes. LibreOffice opens its tip
    /// of the day and its warnings about a document up to a second after its window. With a new
    /// profile its launcher starts it a second time. Returns the process that is left.
    fn await_start(&self, desk: &mut Checkpoint<'_>, mut pid: u32) -> Result<u32> {
        let start = Instant::now();
        let (mut ran, mut most) = (desk.computed(pid), STARTS);
        while start.elapsed() < most {
            self.cancel.wait(IDLE)?;
            let end = desk.end_of(pid);
            // `Unknown`: the launcher still runs, because the exit of an ended process is known.
            if end.is_some_and(|end| end.exit == Exit::Unknown) {
                most = STARTS_ANEW;
                let Ok(progress) = desk.progress() else { break };
                if let Progress::Ready(anew) = progress {
                    self.subject.opened(anew);
                    (pid, ran) = (anew, desk.computed(anew));
                }
                continue;
            }
            let now = desk.computed(pid);
            let computed = now.zip(ran).map(|(now, ran)| now.saturating_sub(ran));
            if computed.is_none_or(|computed| computed < IDLE / 10) {
                break;
            }
            ran = now;
        }
        Ok(pid)
    }

    /// Waits until the icon of a refused drag has flown back, which takes 500 ms in GTK. In GTK 4
    /// the icon's window looks like a menu, and the restore would wait for the menu to close. In
    /// GTK 3 the icon is in the tree.
    fn await_icon(&mut self, desk: &mut Checkpoint<'_>, (pid, scope): (u32, Scope)) -> Result<()> {
        const BACK: Duration = Duration::from_millis(800);
        const LOOK: Duration = Duration::from_millis(20);
        let is_icon = |tree: &Tree, top: usize| {
            let top = &tree.elements[top];
            top.visible && top.role == Role::WINDOW && top.title.is_blank() && top.children_read
        };
        let flies = |tree: &Tree| {
            let tops = (0..tree.elements.len()).filter(|at| tree.toplevel(*at) == Some(*at));
            let mut icons = tops.filter(|top| is_icon(tree, *top));
            icons.any(|top| tree.inside(top).next().is_none())
        };
        let after = &mut self.report.readings.after;
        let back = desk.until(BACK, LOOK, |desk| {
            if after.as_ref().is_some_and(flies) {
                *after = Some(desk.read(pid, scope)?);
                return Ok(None);
            }
            Ok((!desk.popup_open(pid)?).then_some(()))
        });
        back.map(drop)
    }

    /// How long a field may take to open a list of completions after a text without a key. GTK
    /// takes 100 ms, but opens no list once its window is behind again.
    fn may_complete(&self, action: &Action) -> Duration {
        const OPENS: Duration = Duration::from_millis(140);
        let before = self.report.step.keys.before.as_ref();
        let field = before.and_then(Witness::field);
        let typed = matches!(action.keys(), (Some(_), None));
        let completes = typed && self.is_last() && field.is_some_and(Field::is_one_line);
        if completes { OPENS } else { Duration::ZERO }
    }

    /// Whether the current run is the last run of the last step.
    fn is_last(&self) -> bool {
        self.call.runs().count() == self.report.ended_runs.len() + 1
    }

    /// Accepts an error that is the action's effect: after the action the app may have ended, or be
    /// busy. If an app that was running before `open` does not answer, that is an error all the
    /// same.
    fn is_effect(&mut self, e: Error) -> Result<()> {
        match e {
            Error::NotAnswering { ms, .. }
                if self.report.step.started || !self.call.action.opens() =>
            {
                let ms = u64::try_from(ms).unwrap_or(u64::MAX);
                self.report.app = AppState::Busy(Duration::from_millis(ms));
                Ok(())
            }
            e => has_ended(e, self.report),
        }
    }

    /// Compares the requested state with the app's state. Reads once more before it reports a
    /// missing effect, and again while a field takes more of a text.
    pub(crate) fn read_back(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let target = self.targets.target.as_ref();
        let mut told = found(desk, self.action, target, self.report);
        let start = Instant::now();
        while let (Verdict::Failed(_), Some(pid)) = (&told, self.subject.current()) {
            desk.ungrab_in_time();
            desk.wait_for_change(LATE)?;
            self.cancel.check()?;
            let tree = desk.read(pid, WHOLE)?;
            let now = Witness::new(&tree);
            let keys = &mut self.report.step.keys;
            let goes_on = takes_more(keys.after.as_ref(), &now);
            // After a key another field may have the focus, or the field its old text again.
            if keys.between.is_none() {
                keys.after = Some(now);
            }
            self.report.readings.after = Some(tree);
            told = found(desk, self.action, target, self.report);
            if !goes_on || start.elapsed() > TAKES {
                break;
            }
        }
        match told {
            Verdict::Agrees => Ok(()),
            Verdict::Differs(note) => {
                self.report.notes.add(note);
                Ok(())
            }
            Verdict::Failed(why) => Err(NoEffect::from(why).into()),
        }
    }
}

/// [`verdict`], but also looks at the picture, for a drag and for a text that no field took.
fn found(
    desk: &mut Checkpoint<'_>,
    action: &Action,
    target: Option<&Resolved>,
    report: &Report,
) -> Verdict {
    let Readings { after, .. } = &report.readings;
    let trees = report.readings.current().zip(after.as_ref());
    if let (Action::Input(Input::Drag { to, to_pid, .. }), Some(trees)) = (action, trees) {
        let stays = to_pid.is_none_or(|pid| pid == trees.0.app.pid);
        // The dragged element may look pressed now, or have the focus.
        let from = target.and_then(|target| trees.0.elements.get(target.index?));
        let mut places = expected_places(Some(trees.0), trees.1, from);
        // The pointer is over the control where the drag ended, and may highlight it.
        let end = report.step.done.at.and_then(|at| trees.1.find_at(at));
        let end = end.map(|end| &trees.1.elements[end]);
        let end = end.filter(|end| end.role.is_interactive());
        places.extend(end.and_then(Element::place));
        let cancel = desk.cancel;
        let looks_other = || {
            let was = report.before_input()?;
            was.has_moved_for_good(&mut **desk, &places, cancel)
        };
        return if stays {
            dragged(to, trees, looks_other)
        } else {
            Verdict::Agrees
        };
    }
    match (verdict(action, target, report), trees) {
        (Verdict::Agrees, Some(trees)) => {
            let (keys, was) = (&report.step.keys, report.before_input());
            let told = went_nowhere(keys, trees, was, &mut **desk);
            match told {
                Verdict::Agrees if not_switched(&mut **desk, action, report) => {
                    Verdict::Failed(Mismatch::NotToggled("as it was".to_owned()))
                }
                Verdict::Agrees if keys.before.is_none() && is_lost(action, report, trees) => {
                    Verdict::Failed(Mismatch::WindowMoved)
                }
                Verdict::Agrees => match soon_back(&mut **desk, action, report) {
                    Some(is) => Verdict::Failed(Mismatch::TakenBack(is)),
                    None => told,
                },
                told => told,
            }
        }
        (verdict, _) => verdict,
    }
}

/// Whether only a pop-up counts as the effect of a click on this target, because the target is on a
/// panel. Panels change by themselves as windows of other apps open and close.
fn opens_from_panel(desk: &mut Checkpoint<'_>, target: Option<&Element>) -> Result<bool> {
    let in_menu = target.is_some_and(|e| matches!(e.role, Role::MENU | Role::MENU_ITEM));
    Ok(!in_menu && desk.raised_place()? == Some(Place::Panel))
}

/// Whether an app without ordinary windows has other windows on the screen, such as a panel or a
/// desktop. If so, their tree becomes the answer's tree.
fn shows_others(desk: &mut Checkpoint<'_>, pid: u32, scope: Scope, report: &mut Report) -> bool {
    // The last reading may be from before the app's windows closed. So this reads again.
    match desk.read(pid, scope) {
        Ok(tree) if tree.windows.iter().any(|w| w.on_screen) => {
            report.readings.after = Some(tree);
            true
        }
        _ => false,
    }
}

/// How long an app that was started may go on computing before it is read.
const STARTS: Duration = Duration::from_secs(3);

/// How long an app may go on computing if the app's process has ended, but not its launcher.
const STARTS_ANEW: Duration = Duration::from_secs(10);

/// The interval at which to check whether a started app still computes. The app counts as started
/// once it has computed for less than a tenth of the interval.
const IDLE: Duration = Duration::from_millis(200);

/// How long the process of an app without windows may take to end.
const ENDS: Duration = Duration::from_millis(500);

/// How the app's process ended. Waits for its end, because an app closes its windows first.
fn await_end(desk: &mut Checkpoint<'_>, pid: u32) -> Result<Option<End>> {
    const LOOK: Duration = Duration::from_millis(10);
    desk.until(ENDS, LOOK, |desk| Ok(desk.end_of(pid)))
}

/// Accepts the error that the app has ended, because that is an effect of the action.
pub(crate) fn has_ended(e: Error, report: &mut Report) -> Result<()> {
    match e {
        Error::NoProcess(_) | Error::NoWindow { .. } => {
            report.app = AppState::NoWindow;
            Ok(())
        }
        e => Err(e),
    }
}
