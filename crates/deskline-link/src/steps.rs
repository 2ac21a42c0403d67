//! The steps of a link, one method each. [`crate::link`] has their order.

use std::time::Instant;

use deskline_core::{Diff, Point, Ref, States, Tree};

use crate::act::{Act, Outcome};
use crate::call::{Action, Call, Input, Quiet, Target};
use crate::checkpoint::Checkpoint;
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::handoff::Handoff;
use crate::late::LastTrees;
use crate::link::Shot;
use crate::open::open;
use crate::policy::{Identity, Policy};
use crate::readings::Readings;
use crate::report::{Acted, Report, TakenOver};
use crate::resolve::{self, Resolved};
use crate::trees::Scope;
use crate::wait::Wanted;
use crate::within::{self, Windows};
use deskline_input::Cancel;

/// What an action is for, where it needs to know it beforehand.
#[derive(Default)]
pub(crate) struct Targets {
    /// The app's windows are where accessibility does not list them: nothing is resolved yet.
    pub(crate) away: bool,
    pub(crate) target: Option<Resolved>,
    /// Where a drag ends.
    to: Option<Resolved>,
    /// The toplevel that the call insists on.
    window: Option<usize>,
}

/// The steps, and what all of them go by.
pub(crate) struct Steps<'s> {
    pub(crate) policy: &'s Policy,
    pub(crate) call: &'s Call,
    pub(crate) cancel: &'s Cancel,
    pub(crate) readings: Readings<'s>,
    pub(crate) last_trees: &'s LastTrees,
    /// The process that the current step is for. In a chain it can be another than the call's.
    pub(crate) pid: Option<u32>,
    /// The windows that the call insists on.
    pub(crate) window: Windows,
}

impl Steps<'_> {
    /// `refresh_traversal`.
    pub(crate) fn look(&mut self, desktop: &mut dyn Desktop, report: &mut Report) -> Result<()> {
        let pid = self.pid.ok_or_else(no_pid)?;
        report.pid = Some(pid);
        let scope = self.readings.whole();
        let tree = report.timed("traverse", |report| {
            self.read_since(desktop, pid, scope, report)
        })?;
        report.window = self.within(&tree)?.first().copied();
        report.after = Some(tree);
        report.timed("picture", |report| {
            Shot::of(desktop, pid, report.window, report).take(desktop, report);
        });
        Ok(())
    }

    /// Listens to the app from here on, so that a second traversal knows what has changed since the
    /// first.
    pub(crate) fn listen(&self, desktop: &mut dyn Desktop) -> Result<()> {
        match self.pid.map(|pid| desktop.listen(pid)) {
            Some(Err(e @ Error::NotAnswering { .. })) if !self.call.action.waits() => {
                return Err(e);
            }
            // Without events the settle step re-reads instead: slower, not wrong.
            Some(Err(e)) => tracing::debug!("no events: {e}"),
            None | Some(Ok(())) => {}
        }
        Ok(())
    }

    /// Reads the app, and notes what has changed since the last answer about it.
    fn read_since(
        &mut self,
        desktop: &mut dyn Desktop,
        pid: u32,
        scope: Scope,
        report: &mut Report,
    ) -> Result<Tree> {
        let mut tree = desktop.read(pid, scope)?;
        let since = self.last_trees.since(&tree);
        if let Some(since) = &since {
            self.readings.carry_over(&since.renamed(&tree));
        }
        self.readings.accept(desktop, &mut tree, report)?;
        report.late = since.and_then(|since| since.late(&tree));
        Ok(tree)
    }

    /// Gives a ref back to the element that its app has re-created, where that does not look exactly
    /// the same any more: a combo box of a web page that was rendered again when it was chosen from.
    /// It is the one that looks as the ref's element did before an earlier step, or the only one with
    /// its role and text.
    fn find_recreated(
        &mut self,
        desktop: &mut dyn Desktop,
        reference: Ref,
        report: &mut Report,
    ) -> Result<()> {
        let Report { before, now, .. } = report;
        let Some(tree) = now.as_ref().or(before.as_ref()) else {
            return Ok(());
        };
        if tree.find_ref(reference).is_some() {
            return Ok(());
        }
        let first = before.as_ref().filter(|_| now.is_some());
        let last = self.last_trees.last(&tree.app);
        let find = |old: &Tree| {
            let index = old.find_ref(reference)?;
            let id = &old.elements[index].id;
            let twins = Diff::between(old, tree).renamed(old, tree);
            let twin = twins.into_iter().find(|(was, _)| was == id);
            let only = || {
                let now = tree.only_like(old, index)?;
                let is_taken = old.elements.iter().any(|e| e.id == tree.elements[now].id);
                // The button of another dialog is another button.
                let top =
                    |tree: &Tree, at| tree.toplevel(at).map(|top| tree.elements[top].id.clone());
                let stays = top(old, index) == top(tree, now);
                (!is_taken && stays).then(|| (id.clone(), tree.elements[now].id.clone()))
            };
            twin.or_else(only)
        };
        let Some(pair) = first.into_iter().chain(last).find_map(find) else {
            return Ok(());
        };
        self.readings.carry_over(&[pair]);
        let mut tree = match report.now.take() {
            Some(tree) => tree,
            None => match report.before.take() {
                Some(tree) => tree,
                None => return Ok(()),
            },
        };
        let accepted = self.readings.accept(desktop, &mut tree, report);
        if report.before.is_some() {
            report.now = Some(tree);
        } else {
            report.before = Some(tree);
        }
        accepted
    }

    /// The toplevels that the call insists on, the one that keys go to first; empty if there is no
    /// such one, or if the step is for another process.
    fn within(&mut self, tree: &Tree) -> Result<Vec<usize>> {
        match &self.call.window {
            Some(wanted) if self.pid == self.call.pid => self.window.within(tree, wanted),
            _ => Ok(Vec::new()),
        }
    }

    /// Step 1. Reads the tree unless the step before has just read it.
    pub(crate) fn resolve(
        &mut self,
        desktop: &mut dyn Desktop,
        action: &Action,
        report: &mut Report,
    ) -> Result<Targets> {
        let Some(pid) = self.pid.filter(|_| !matches!(action, Action::Open { .. })) else {
            return Ok(Targets::default());
        };
        report.pid.get_or_insert(pid);
        let wanted = resolve::target_of(action);
        let needs_tree = wanted.is_some_and(|target| !matches!(target, Target::Point(_)));
        let needs_tree = needs_tree || self.call.window.is_some() || self.call.is_chain();
        // What has come was looked for in trees that are older than this link.
        if report.current().is_none()
            && report.came.is_none()
            && (self.call.options.traverse_before || needs_tree || self.policy.is_bounded())
        {
            report.before = match self.read_since(desktop, pid, self.again(), report) {
                Ok(tree) => Some(tree),
                Err(Error::NotAnswering { .. }) if action.waits() => None,
                Err(e) => return Err(e),
            };
        }
        let end = match action {
            Action::Input(Input::Drag { to, .. }) => Some(to),
            _ => None,
        };
        for target in wanted.into_iter().chain(end) {
            if let Target::Ref(reference) = target {
                self.find_recreated(desktop, *reference, report)?;
            }
        }
        let tree = report.now.as_ref().or(report.before.as_ref());
        let sends_input = || self.call.actions().any(|a| matches!(a, Action::Input(_)));
        if tree.is_some_and(Tree::is_elsewhere) && sends_input() {
            return Ok(Targets {
                away: true,
                ..Targets::default()
            });
        }
        let within = tree.map_or(Ok(Vec::new()), |tree| self.within(tree))?;
        let window = tree.and_then(|tree| within::at(tree, &within, place_of(action)));
        let only_window = Targets {
            window,
            ..Targets::default()
        };
        let Some(wanted) = wanted.filter(|_| !action.waits()) else {
            let takes_keys = matches!(
                action,
                Action::Input(Input::Type { .. } | Input::PressKey { .. })
            );
            report.step.acted = tree.filter(|_| takes_keys).and_then(|tree| {
                let top = window.or_else(|| tree.active_toplevel());
                Acted::on(tree, tree.focused_in(top)?, true)
            });
            return Ok(only_window);
        };
        let mut target = resolve_on(tree, wanted, &within)?;
        // The value is for this element and no other.
        let sets = matches!(action, Action::Quiet(Quiet::SetValue { .. }));
        if let (true, Some(tree)) = (sets, tree) {
            target = resolve::settable(tree, target);
        }
        let to = match action {
            Action::Input(Input::Drag { to, .. }) => Some(resolve_on(tree, to, &within)?),
            _ => None,
        };
        let element = target.index.and_then(|i| tree?.elements.get(i));
        let is = |state| element.is_some_and(|e| e.states.contains(state));
        let public_value = sets && element.is_some() && !is(States::SECURE);
        let disabled = is(States::DISABLED);
        let acted = tree.zip(target.index);
        let acted = acted.and_then(|(tree, index)| Acted::on(tree, index, false));
        report.step.acted = acted;
        report.step.others = target.others;
        report.step.public_value = public_value;
        if disabled {
            report.note(format!("{} is disabled", target.name));
        }
        Ok(Targets {
            target: Some(target),
            to,
            window,
            away: false,
        })
    }

    /// Goes to where the app's windows are, and resolves there. The checkpoint comes back.
    pub(crate) fn reveal(
        &mut self,
        desk: &mut Checkpoint<'_>,
        action: &Action,
        report: &mut Report,
    ) -> Result<Targets> {
        let pid = self.pid.ok_or_else(no_pid)?;
        let name = report.current().map(|tree| tree.app.name.clone());
        desk.reveal(pid)?;
        if report.now.is_some() {
            report.now = Some(self.readings.read(&mut **desk, pid, report)?);
        } else {
            report.before = None;
        }
        let targets = self.resolve(&mut **desk, action, report)?;
        if targets.away {
            return Err(Error::NoWindow {
                pid,
                name: name.unwrap_or_default(),
                hint: "Its windows are on another Space and did not come. Ask the user to show one"
                    .into(),
            });
        }
        Ok(targets)
    }

    /// Steps 3 to 5 of one action. The guard is taken right before input and released right after
    /// it.
    pub(crate) fn carry_out(
        &mut self,
        desk: &mut Checkpoint<'_>,
        action: &Action,
        targets: &Targets,
        handoff: &mut Handoff,
        report: &mut Report,
    ) -> Result<()> {
        let acted = report.timed("act", |report| self.act(desk, action, targets, report));
        if acted.is_ok() {
            handoff.look(desk)?;
        }
        if acted.is_err() {
            // Before the person's own keys reach the apps again.
            desk.release_all();
        }
        desk.ungrab();
        report.guard_held = desk.guard.held();
        if let Some(why) = desk.guard.unable.take() {
            report.note(format!(
                "{why}. The user's own keys and clicks may have mixed with this"
            ));
        }
        acted?;
        report.timed("settle", |report| {
            self.settle(desk, action, targets, handoff, report)
        })?;
        report.timed("read back", |report| {
            self.read_back(desk, action, targets, report)
        })
    }

    fn act(
        &mut self,
        desk: &mut Checkpoint<'_>,
        action: &Action,
        targets: &Targets,
        report: &mut Report,
    ) -> Result<()> {
        match action {
            Action::Open { identifier } => {
                self.policy.permit_identifier(identifier)?;
                let permit = |app: &Identity| self.policy.permit_start(app);
                let (pid, started) = open(desk, identifier, &permit, self.cancel)?;
                report.started = started;
                self.pid = Some(pid);
                report.pid = Some(pid);
            }
            Action::WaitFor { .. } => {
                let came = match (report.came.take(), Wanted::of(action, Instant::now())) {
                    (None, Some(wanted)) => self.wait_for(&mut **desk, wanted, None, report)?,
                    (came, _) => came,
                };
                report.step.done.say(came.unwrap_or_default());
                if let Some(helper) = report.came_in.take() {
                    self.turn_to(desk, helper)?;
                }
            }
            Action::Input(input) => {
                let (act, mut outcome) = self.acting(action, targets, report)?;
                act.input(desk, input, &mut outcome)?;
            }
            Action::Quiet(quiet) => {
                let (act, mut outcome) = self.acting(action, targets, report)?;
                act.quiet(desk, quiet, &mut outcome)?;
            }
            // Only looks, and has been answered.
            Action::Refresh => {}
        }
        Ok(())
    }

    /// From here on the steps are for this process.
    pub(crate) fn turn_to(&mut self, desk: &mut Checkpoint<'_>, pid: u32) -> Result<()> {
        desk.drives(pid);
        self.pid = Some(pid);
        self.listen(&mut **desk)
    }

    fn acting<'a>(
        &'a self,
        action: &'a Action,
        targets: &'a Targets,
        report: &'a mut Report,
    ) -> Result<(Act<'a>, Outcome<'a>)> {
        let act = Act {
            pid: self.pid.ok_or_else(no_pid)?,
            options: &self.call.options,
            action,
            policy: self.policy,
            cancel: self.cancel,
            tree: report.now.as_ref().or(report.before.as_ref()),
            target: targets.target.as_ref(),
            to: targets.to.as_ref(),
            window: targets.window,
            in_chain: self.call.is_chain(),
        };
        let outcome = Outcome {
            seen: report.sight.is_some() && report.ended_steps.is_empty(),
            look: &mut report.step.look,
            done: &mut report.step.done,
            sight: &mut report.sight,
            keys: &mut report.step.keys,
        };
        Ok((act, outcome))
    }

    pub(crate) fn again(&self) -> Scope {
        Scope::Again {
            budget: self.policy.budget,
        }
    }

    /// Step 6: what the whole call changed.
    pub(crate) fn diff(&mut self, desktop: &mut dyn Desktop, report: &mut Report) -> Result<()> {
        if self.pid != report.pid {
            self.come_home(desktop, report)?;
        }
        let Some(mut tree) = report.after.take() else {
            return Ok(());
        };
        self.carry_over(report, &tree);
        let diff = report.before.as_ref().map(|before| {
            let diff = Diff::between(before, &tree);
            (diff.renamed(before, &tree), diff)
        });
        if let Some((renamed, _)) = &diff {
            self.readings.carry_over(renamed);
        }
        self.readings.accept(desktop, &mut tree, report)?;
        let show_diff = self.call.options.show_diff;
        report.diff = diff.map(|(_, diff)| diff).filter(|_| show_diff);
        report.after = Some(tree);
        Ok(())
    }

    /// Step 7.
    pub(crate) fn handoff(
        &mut self,
        desk: &mut Checkpoint<'_>,
        handoff: &Handoff,
        report: &mut Report,
    ) -> Result<()> {
        let Some((window, pid)) = self.elsewhere(desk, handoff, report)? else {
            // A dialog that another process draws for the app may have come late.
            if let Some(pid) = report.pid.filter(|_| !self.policy.is_bounded()) {
                report.helpers = desk.helper_windows(pid)?;
            }
            return Ok(());
        };
        desk.hand_off();
        let mut title = window.title;
        let mut tree = self.readings.read(&mut **desk, pid, report);
        // A switch to its Space takes a while, and accessibility lists its windows after that.
        if tree.as_ref().is_ok_and(Tree::is_elsewhere) && desk.reveal(pid)? {
            tree = self.readings.read(&mut **desk, pid, report);
        }
        if let Err(e) = &tree {
            // It may be one that is out of bounds, whose titles are not to be read.
            if self.policy.is_bounded() {
                title = "another app".into();
            }
            report.note(format!("the tree of the app now in front: {e}"));
        }
        let tree = tree.ok();
        report.handoff = Some(TakenOver { pid, title, tree });
        Ok(())
    }
}

pub(crate) fn no_pid() -> Error {
    Error::Input("pid is missing. Call list_applications for the running apps".into())
}

/// The place that an action names.
fn place_of(action: &Action) -> Option<Point> {
    match (action, resolve::target_of(action)) {
        (_, Some(Target::Point(place))) => Some(*place),
        (Action::Input(Input::Scroll { at, .. }), _) => Some(*at),
        _ => None,
    }
}

fn resolve_on(tree: Option<&Tree>, target: &Target, within: &[usize]) -> Result<Resolved> {
    match (tree, target) {
        (Some(tree), target) => resolve::resolve(tree, target, within),
        (None, Target::Point(point)) => Ok(Resolved::place(*point)),
        (None, _) => Err(Error::Input("the tree was not read".into())),
    }
}
