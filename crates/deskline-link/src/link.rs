//! One link: the transaction, as §7 of the contract lists it. Written once, for every OS.

use deskline_core::{Diff, ElementId, States, Tree};
use deskline_journal::RefStore;

use crate::act::{Act, Outcome};
use crate::blind;
use crate::call::{Action, Call, Input, Quiet, Target};
use crate::cancel::Cancel;
use crate::checkpoint::{Checkpoint, Held};
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::handoff::Handoff;
use crate::late::Told;
use crate::open::open;
use crate::policy::Policy;
use crate::report::{Report, TakenOver};
use crate::resolve::{self, Resolved};
use crate::secrecy::Witness;
use crate::settle::{self, settle};
use crate::sight;
use crate::trees::Scope;
use crate::wait::wait_for;

/// What a link works with.
pub(crate) struct Link<'l> {
    pub(crate) desktop: &'l mut dyn Desktop,
    pub(crate) refs: &'l mut RefStore,
    pub(crate) held: &'l mut Option<Held>,
    pub(crate) told: &'l Told,
    pub(crate) policy: &'l Policy,
    pub(crate) call: &'l Call,
    pub(crate) cancel: &'l Cancel,
}

impl Link<'_> {
    /// Steps 1 to 8. Step 9, the record, is made of the report, whatever the result.
    pub(crate) fn run(self, report: &mut Report) -> Result<()> {
        let Self {
            desktop,
            refs,
            held,
            told,
            policy,
            call,
            cancel,
        } = self;
        cancel.check()?;
        let trees = Trees {
            id: desktop.id(),
            refs,
            policy,
        };
        let mut steps = Steps {
            policy,
            call,
            cancel,
            trees,
            told,
        };

        // refresh_traversal looks, and touches neither focus nor pointer.
        if call.action == Action::Refresh {
            return steps.look(desktop, report);
        }
        // Listen from here on, so that the second traversal knows what has changed since the first.
        match call.pid.map(|pid| desktop.listen(pid)) {
            Some(Err(e @ Error::NotAnswering { .. })) => return Err(e),
            // Without events the settle step re-reads instead: slower, not wrong.
            Some(Err(e)) => tracing::debug!("no events: {e}"),
            None | Some(Ok(())) => {}
        }
        // 1. Resolve the target on a fresh tree. Nothing is touched if it cannot be found.
        let targets = report
            .step("resolve", |report| steps.resolve(desktop, report))
            .inspect_err(|_| desktop.stop_listening())?;

        // 2. Checkpoint: front window and pointer; the tree is that of step 1.
        let mut handoff = Handoff::of(&call.action);
        let mut desk = report.step("checkpoint", |_| {
            Checkpoint::save(desktop, call.pid, handoff.watches(), held, cancel)
        })?;
        report.step("sight", |report| {
            let target = targets.target.as_ref().and_then(|target| target.index);
            let tree = report.before.as_ref().filter(|_| call.options.show_diff);
            let pid = call.pid.filter(|_| tree.is_some());
            report.sight =
                pid.and_then(|pid| sight::look(&mut *desk, &call.action, pid, tree, target));
        });
        // 3 and 4. Guard and act. The guard is taken right before input and released right after it.
        let acted = report.step("act", |report| steps.act(&mut desk, &targets, report));
        if acted.is_ok() {
            handoff.look(&mut desk)?;
        }
        if acted.is_err() {
            // Before the person's own keys reach the apps again.
            desk.release_all();
        }
        desk.ungrab();
        report.guard_held = desk.guard.held();
        if let Some(why) = desk.guard.unable.take() {
            report.notes.push(format!(
                "{why}. The user's own keys and clicks may have mixed with this"
            ));
        }
        acted?;
        let pid = report.pid.ok_or_else(no_pid)?;

        // 5. Settle. The last reading is the second traversal.
        report.step("settle", |report| {
            steps.settle(&mut desk, pid, &mut handoff, report)
        })?;

        // 6. Diff.
        report.step("diff", |report| steps.diff(report))?;

        // 7. Handoff: decided before anything is put back.
        report.step("handoff", |report| {
            steps.handoff(&mut desk, pid, &mut handoff, report)
        })?;
        let pictured = match &report.handoff {
            // An app that may not be read is not pictured either.
            Some(taken) => taken.tree.as_ref().map(|_| taken.pid),
            None => Some(pid).filter(|_| !report.ended),
        };
        if let Some(pid) = pictured {
            let target = targets.target.as_ref().and_then(|target| target.index);
            report.step("picture", |report| {
                take_picture(&mut *desk, pid, target, report);
            });
        }
        // An Esc that came after the last wait counts too.
        cancel.check()?;

        // 8. Restore: pointer and front window, unless there was a handoff, or a menu is open that
        // this would close.
        report.step("restore", |report| {
            if report.handoff.is_none() {
                desk.hold_for_menu(pid);
            }
            drop(desk);
        });
        Ok(())
    }
}

/// What the action is for, where it needs to know it beforehand.
#[derive(Default)]
struct Targets {
    target: Option<Resolved>,
    /// Where a drag ends.
    to: Option<Resolved>,
}

/// The steps, and what all of them go by.
struct Steps<'s> {
    policy: &'s Policy,
    call: &'s Call,
    cancel: &'s Cancel,
    trees: Trees<'s>,
    told: &'s Told,
}

impl Steps<'_> {
    fn look(&mut self, desktop: &mut dyn Desktop, report: &mut Report) -> Result<()> {
        let pid = self.call.pid.ok_or_else(no_pid)?;
        report.pid = Some(pid);
        let tree = report.step("traverse", |report| self.read_since(desktop, pid, report))?;
        report.after = Some(tree);
        report.step("picture", |report| {
            take_picture(desktop, pid, None, report);
        });
        Ok(())
    }

    /// Reads the app, and notes what has changed since the last answer about it.
    fn read_since(
        &mut self,
        desktop: &mut dyn Desktop,
        pid: u32,
        report: &mut Report,
    ) -> Result<Tree> {
        let mut tree = self.trees.traverse(desktop, pid)?;
        let since = self.told.since(&tree);
        if let Some(since) = &since {
            self.trees.carry_over(&since.renamed(&tree));
        }
        self.trees.accept(&mut tree, report)?;
        report.late = since.and_then(|since| since.late(&tree));
        Ok(tree)
    }

    fn resolve(&mut self, desktop: &mut dyn Desktop, report: &mut Report) -> Result<Targets> {
        let action = &self.call.action;
        let Some(pid) = self
            .call
            .pid
            .filter(|_| !matches!(action, Action::Open { .. }))
        else {
            return Ok(Targets::default());
        };
        report.pid = Some(pid);
        let wanted = resolve::target_of(action);
        let needs_tree = wanted.is_some_and(|target| !matches!(target, Target::Point(_)));
        if self.call.options.traverse_before || needs_tree || self.policy.is_bounded() {
            report.before = Some(self.read_since(desktop, pid, report)?);
        }
        let tree = report.before.as_ref();
        let waits = matches!(action, Action::WaitFor { .. });
        let Some(wanted) = wanted.filter(|_| !waits) else {
            return Ok(Targets::default());
        };
        let target = resolve_on(tree, wanted)?;
        let to = match action {
            Action::Input(Input::Drag { to, .. }) => Some(resolve_on(tree, to)?),
            _ => None,
        };
        report.others = target.others;
        let element = target.index.and_then(|i| tree?.elements.get(i));
        let is = |state| element.is_some_and(|e| e.states.contains(state));
        // The value is for this element and no other.
        let sets = matches!(action, Action::Quiet(Quiet::SetValue { .. }));
        report.public_value = sets && element.is_some() && !is(States::SECURE);
        if is(States::DISABLED) {
            report.notes.push(format!("{} is disabled", target.name));
        }
        Ok(Targets {
            target: Some(target),
            to,
        })
    }

    fn act(
        &mut self,
        desk: &mut Checkpoint<'_>,
        targets: &Targets,
        report: &mut Report,
    ) -> Result<()> {
        let (call, cancel) = (self.call, self.cancel);
        match &call.action {
            Action::Open { identifier } => {
                self.policy.permit_identifier(identifier)?;
                let permit = |names: &[&str]| self.policy.permit_names(names);
                report.pid = Some(open(desk, identifier, &permit, cancel)?);
            }
            Action::WaitFor {
                target,
                state,
                timeout,
            } => {
                let pid = call.pid.ok_or_else(no_pid)?;
                let came = wait_for(&mut **desk, target, *state, *timeout, cancel, |desk| {
                    self.trees.read(desk, pid, report)
                })?;
                report.done.say(came);
            }
            Action::Input(input) => {
                let (act, mut outcome) = self.acting(targets, report)?;
                act.input(desk, input, &mut outcome)?;
            }
            Action::Quiet(quiet) => {
                let (act, mut outcome) = self.acting(targets, report)?;
                act.quiet(desk, quiet, &mut outcome)?;
            }
            // Only looks, and has been answered.
            Action::Refresh => {}
        }
        Ok(())
    }

    fn acting<'a>(
        &'a self,
        targets: &'a Targets,
        report: &'a mut Report,
    ) -> Result<(Act<'a>, Outcome<'a>)> {
        let act = Act {
            pid: self.call.pid.ok_or_else(no_pid)?,
            options: &self.call.options,
            action: &self.call.action,
            policy: self.policy,
            cancel: self.cancel,
            tree: report.before.as_ref(),
            target: targets.target.as_ref(),
            to: targets.to.as_ref(),
        };
        let outcome = Outcome {
            done: &mut report.done,
            sight: &mut report.sight,
            keys: &mut report.keys,
        };
        Ok((act, outcome))
    }

    fn settle(
        &self,
        desk: &mut Checkpoint<'_>,
        pid: u32,
        handoff: &mut Handoff,
        report: &mut Report,
    ) -> Result<()> {
        let options = &self.call.options;
        let scope = if options.traverse_after {
            Scope::Again {
                budget: self.policy.budget,
            }
        } else {
            Scope::Showing
        };
        let before = report.before.as_ref();
        match settle(&mut **desk, pid, scope, before, settle::MOST, self.cancel) {
            Ok((settled, tree)) => {
                report.settled = Some(settled);
                // A key after the text was preceded by a look of its own.
                report.keys.after.get_or_insert_with(|| Witness::of(&tree));
                report.after = Some(tree);
            }
            Err(e) => has_ended(e, report)?,
        }
        handoff.look(desk)?;
        if !options.delay_after_action.is_zero() {
            self.cancel.wait(options.delay_after_action)?;
            match desk.read(pid, scope) {
                Ok(tree) => report.after = Some(tree),
                Err(e) => has_ended(e, report)?,
            }
        }
        // An app that is ending may still answer, with nothing in its tree.
        let lists = desk.capabilities().windows.is_there();
        report.ended |= lists && desk.windows(pid)?.is_empty();
        if report.ended || !options.traverse_after {
            report.after = None;
        }
        Ok(())
    }

    fn diff(&mut self, report: &mut Report) -> Result<()> {
        let Some(mut tree) = report.after.take() else {
            return Ok(());
        };
        let diff = report.before.as_ref().map(|before| {
            let diff = Diff::between(before, &tree);
            (diff.renamed(before, &tree), diff)
        });
        if let Some((renamed, _)) = &diff {
            self.trees.carry_over(renamed);
        }
        self.trees.accept(&mut tree, report)?;
        let show_diff = self.call.options.show_diff;
        report.diff = diff.map(|(_, diff)| diff).filter(|_| show_diff);
        report.after = Some(tree);
        Ok(())
    }

    fn handoff(
        &mut self,
        desk: &mut Checkpoint<'_>,
        pid: u32,
        handoff: &mut Handoff,
        report: &mut Report,
    ) -> Result<()> {
        let Some((window, pid)) = handoff.decide(desk, pid)? else {
            return Ok(());
        };
        desk.hand_off();
        let mut title = window.title;
        let tree = self.trees.read(&mut **desk, pid, report);
        if let Err(e) = &tree {
            // It may be one that is out of bounds, whose titles are not to be read.
            if self.policy.is_bounded() {
                title = "another app".into();
            }
            report
                .notes
                .push(format!("the tree of the app now in front: {e}"));
        }
        let tree = tree.ok();
        report.handoff = Some(TakenOver { pid, title, tree });
        Ok(())
    }
}

/// Makes a reading a tree that an agent may see: checks the policy and assigns refs.
struct Trees<'t> {
    id: String,
    refs: &'t mut RefStore,
    policy: &'t Policy,
}

impl Trees<'_> {
    fn read(&mut self, desktop: &mut dyn Desktop, pid: u32, report: &mut Report) -> Result<Tree> {
        let mut tree = self.traverse(desktop, pid)?;
        self.accept(&mut tree, report)?;
        Ok(tree)
    }

    /// A reading without refs, which no agent may see yet.
    fn traverse(&self, desktop: &mut dyn Desktop, pid: u32) -> Result<Tree> {
        let budget = self.policy.budget;
        desktop.read(pid, Scope::Whole { budget })
    }

    /// Moves the refs of re-created elements: from old ids to new ones.
    fn carry_over(&mut self, renamed: &[(ElementId, ElementId)]) {
        if !renamed.is_empty()
            && let Err(e) = self.refs.carry_over(&self.id, renamed)
        {
            // They have new refs then, and the old ones are stale.
            tracing::warn!("refs were not carried over: {e}");
        }
    }

    fn accept(&mut self, tree: &mut Tree, report: &mut Report) -> Result<()> {
        self.policy.permit(&tree.app.name, tree.app.pid)?;
        if let Err(e) = self.refs.assign(&self.id, tree) {
            report
                .notes
                .push(format!("refs may not outlive this server: {e}"));
        }
        Ok(())
    }
}

fn no_pid() -> Error {
    Error::Input("pid is missing. Call list_applications for the running apps".into())
}

/// After the action the app may be gone: that is its effect, not an error.
fn has_ended(e: Error, report: &mut Report) -> Result<()> {
    match e {
        Error::NoProcess(_) | Error::NoWindow { .. } => {
            report.ended = true;
            Ok(())
        }
        e => Err(e),
    }
}

fn resolve_on(tree: Option<&Tree>, target: &Target) -> Result<Resolved> {
    match (tree, target) {
        (Some(tree), target) => resolve::resolve(tree, target),
        (None, Target::Point(point)) => Ok(Resolved::place(*point)),
        (None, _) => Err(Error::Input("the tree was not read".into())),
    }
}

/// A failed picture never fails the call. `target` is an element of the tree before.
fn take_picture(desktop: &mut dyn Desktop, pid: u32, target: Option<usize>, report: &mut Report) {
    let lists = desktop.capabilities().windows;
    let picture = desktop.windows(pid).and_then(|windows| {
        let before = report.before.as_ref().filter(|_| report.handoff.is_none());
        let tree = report
            .handoff
            .as_ref()
            .map_or(report.latest(), |taken| taken.tree.as_ref());
        match sight::pictured(&windows, tree, before, target) {
            Some(window) => {
                report.pictured = Some(window);
                sight::picture_of(desktop, window)
            }
            None => Err(Error::Input(
                lists
                    .why_not()
                    .unwrap_or("the app has no window on the screen")
                    .to_owned(),
            )),
        }
    });
    if let (Some(window), Ok(picture)) = (report.pictured, &picture) {
        let tree = match &mut report.handoff {
            Some(taken) => taken.tree.as_mut(),
            None => report.after.as_mut(),
        };
        if let Some(tree) = tree {
            tree.blind = blind::spots(tree, window, picture);
        }
    }
    report.picture = Some(picture.map_err(|e| e.to_string()));
}
