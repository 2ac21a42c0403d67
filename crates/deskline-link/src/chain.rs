//! The steps of a chain: each is resolved on what the one before it led to. A call that is no chain
//! has one step.

use deskline_core::{Attribute, Change, Diff, Modified, Tree, Value, escape, summary, target};

use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::desktop::Desktop;
use crate::display::Window;
use crate::effect::has_ended;
use crate::error::{Error, Result};
use crate::handoff::Handoff;
use crate::report::{Ended, Report, Step};
use crate::resolve;
use crate::secrecy::Witness;
use crate::steps::{Steps, Targets, no_pid};
use crate::wait;

impl Steps<'_> {
    /// Carries out every step, the first one with `targets`. Leaves the last step's looks at the
    /// front window in `handoff`. Returns the error of a later step that failed: what was done before
    /// it is answered all the same.
    ///
    /// # Errors
    /// An error of the first step, unless the app shows something else than was wanted, or one that
    /// leaves nothing to tell: the user's Esc, a lost connection, an app that does not answer.
    pub(crate) fn walk(
        &mut self,
        desk: &mut Checkpoint<'_>,
        targets: Targets,
        handoff: &mut Handoff,
        report: &mut Report,
    ) -> Result<Option<Error>> {
        let mut actions = self.call.actions().peekable();
        let mut targets = Ok(targets);
        while let Some(action) = actions.next() {
            *handoff = Handoff::of(action, desk.guard.held());
            let done = targets.and_then(|t| self.carry_out(desk, action, &t, handoff, report));
            if let Err(e) = done {
                return self.stop(desk, e, report).map(Some);
            }
            if let (true, Some(after)) = (self.call.is_chain(), &report.after) {
                let before = report.current();
                let led_to = before.and_then(|before| led_to(before, after, report));
                report.step.led_to = led_to;
            }
            let Some(next) = actions.peek() else { break };
            targets = report.timed("resolve", |report| {
                self.go_on(desk, handoff, next, report)?;
                let targets = match self.resolve(&mut **desk, next, report) {
                    Err(e @ Error::NotFound { .. }) => {
                        self.resolve_in_helper(desk, next, report)?.ok_or(e)?
                    }
                    targets => targets?,
                };
                if targets.away {
                    self.reveal(desk, next, report)
                } else {
                    Ok(targets)
                }
            });
        }
        Ok(None)
    }

    /// Ends a step that another one follows, and decides where that goes: to what this one brought to
    /// the front, or back to the call's app once that has closed.
    fn go_on(
        &mut self,
        desk: &mut Checkpoint<'_>,
        handoff: &Handoff,
        next: &Action,
        report: &mut Report,
    ) -> Result<()> {
        let home = report.pid.ok_or_else(no_pid)?;
        let to = self.elsewhere(desk, handoff, report)?;
        let to = to.map_or(home, |(_, pid)| pid);
        let after = report.after.take();
        let same = self.pid == Some(to) && !report.ended;
        let tree = match after {
            Some(mut tree) if same => {
                self.carry_over(report, &tree);
                if let (Some(_), Some(before)) = (&self.call.window, report.current()) {
                    let front = desk.front()?.map(|front| front.id);
                    self.window.note(before, &tree, front);
                }
                let accepted = self.readings.accept(&mut **desk, &mut tree, report);
                accepted.map(|()| tree)
            }
            _ => {
                self.pid = Some(to);
                report.ended = false;
                report.end = None;
                desk.drives(to);
                self.listen(&mut **desk)
                    .and_then(|()| self.readings.read(&mut **desk, to, report))
            }
        };
        // Some of the text may have reached the window that took the front.
        let bare = |tree: &Tree| !Witness::of(tree).is_secure();
        let public = report.step.is_public() && (same || tree.as_ref().is_ok_and(bare));
        let mut step = std::mem::take(&mut report.step);
        if let (false, Ok(tree)) = (same, &tree) {
            let app = escape::name(&tree.app.name, 40);
            step.led_to = Some(format!("{app} came to the front"));
        }
        report.ended_steps.push(Ended {
            said: step.done.sentence(public),
            led_to: step.led_to,
            public,
        });
        report.silent = None;
        match tree {
            // The next step outlasts that. It needs no tree to begin with.
            Err(Error::NotAnswering { .. }) if next.waits() => {}
            tree => {
                report.now = None;
                report.now = Some(tree?);
            }
        }
        Ok(())
    }

    /// Resolves a step in a dialog that a helper of the app draws, if one has what it is for. The
    /// steps after it go there too.
    fn resolve_in_helper(
        &mut self,
        desk: &mut Checkpoint<'_>,
        next: &Action,
        report: &mut Report,
    ) -> Result<Option<Targets>> {
        let (Some(pid), Some(wanted)) = (self.pid, resolve::target_of(next)) else {
            return Ok(None);
        };
        for helper in wait::helpers(&mut **desk, pid) {
            let Ok(tree) = self.readings.read(&mut **desk, helper, report) else {
                continue;
            };
            if resolve::resolve(&tree, wanted, &[]).is_ok() {
                self.turn_to(desk, helper)?;
                report.now = Some(tree);
                return self.resolve(&mut **desk, next, report).map(Some);
            }
        }
        Ok(None)
    }

    /// A step failed. Takes the tree as the steps before it have left it.
    fn stop(&mut self, desk: &mut Checkpoint<'_>, e: Error, report: &mut Report) -> Result<Error> {
        let tells_nothing = matches!(e, Error::Cancelled(_) | Error::NotAnswering { .. });
        // What came of an action instead of what was wanted is answered too.
        let did = !report.ended_steps.is_empty() || matches!(e, Error::NoEffect(_));
        if !did || tells_nothing || e.costs_connection() {
            return Err(e);
        }
        if report.after.is_some() {
            return Ok(e);
        }
        let Step { done, .. } = &report.step;
        let untouched = done.is_empty() && !done.underway;
        if untouched && report.now.is_some() {
            report.after = report.now.take();
        } else if let Some(pid) = self.pid.filter(|_| self.pid == report.pid) {
            match desk.read(pid, self.again()) {
                Ok(tree) => report.after = Some(tree),
                Err(e) => has_ended(e, report)?,
            }
        }
        Ok(e)
    }

    /// The other process that keys go to now: one that this step brought to the front, or that an
    /// earlier one did and that is still there.
    pub(crate) fn elsewhere(
        &self,
        desk: &mut Checkpoint<'_>,
        handoff: &Handoff,
        report: &Report,
    ) -> Result<Option<(Window, u32)>> {
        let (Some(home), Some(pid)) = (report.pid, self.pid) else {
            return Ok(None);
        };
        let taken = handoff.decide(desk, pid)?;
        if taken.is_some() || pid == home {
            return Ok(taken.filter(|(_, taken)| *taken != home));
        }
        let front = desk.front()?.and_then(|front| front.pid);
        if front == Some(home) {
            return Ok(None);
        }
        let still = desk.windows(pid)?.into_iter().next();
        Ok(still.map(|window| (window, pid)))
    }

    /// Reads the call's app after the last step went to another one.
    pub(crate) fn come_home(
        &mut self,
        desktop: &mut dyn Desktop,
        report: &mut Report,
    ) -> Result<()> {
        let home = report.pid.ok_or_else(no_pid)?;
        report.now = None;
        report.ended = false;
        report.end = None;
        match desktop.read(home, self.readings.whole()) {
            Ok(tree) => report.after = Some(tree),
            Err(e) => {
                report.after = None;
                has_ended(e, report)?;
            }
        }
        Ok(())
    }

    /// Keeps the refs of what the step has re-created as it was.
    pub(crate) fn carry_over(&mut self, report: &Report, tree: &Tree) {
        if let Some(now) = report
            .now
            .as_ref()
            .filter(|now| now.app.pid == tree.app.pid)
        {
            let renamed = Diff::between(now, tree).renamed(now, tree);
            self.readings.carry_over(&renamed);
        }
    }
}

/// What a step opened, closed, changed of its target or selected, in a few words: steps go on in a
/// dialog without being told.
fn led_to(before: &Tree, after: &Tree, report: &Report) -> Option<String> {
    // A wait that has ended in a helper of the app.
    if before.app.pid != after.app.pid {
        return None;
    }
    let diff = Diff::between(before, after);
    let title = |tree: &Tree, index: usize| summary::name_of(tree, index);
    if let Some(opened) = after.opened_since(before, &diff) {
        return Some(format!("opened {}", title(after, opened)));
    }
    let id = |tree: &Tree, top: usize| tree.elements.get(top).map(|e| e.id.clone());
    let now: Vec<_> = after
        .toplevels()
        .into_iter()
        .map(|top| id(after, top))
        .collect();
    let gone = |top: &usize| !now.contains(&id(before, *top));
    if let Some(closed) = before.toplevels().into_iter().find(gone) {
        return Some(format!("closed {}", title(before, closed)));
    }
    if let Some(menu) = after.menu_closed_since(before) {
        return Some(format!("closed the menu {}", title(before, menu)));
    }
    // The refs of this tree are not known yet.
    let was = report.step.acted.as_ref().map(|acted| &acted.was);
    let is = was.and_then(|was| after.elements.iter().find(|e| e.id == was.id));
    if let Some(changed) = was
        .zip(is)
        .and_then(|(was, is)| target::own_change(was, is))
    {
        return Some(changed);
    }
    let chosen = |m: &&Modified| {
        let is = |change: &Change| {
            change.attribute == Attribute::Selected && change.new == Value::Flag(true)
        };
        m.changes.iter().any(is)
    };
    let chosen: Vec<usize> = diff
        .modified
        .iter()
        .filter(chosen)
        .map(|m| m.after)
        .collect();
    match chosen.as_slice() {
        [] => None,
        [one] => Some(format!("selected {}", title(after, *one))),
        several => Some(format!("selected {} elements", several.len())),
    }
}
