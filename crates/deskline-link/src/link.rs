//! One link: the transaction, with its steps in the order of docs/how-it-works.md. Written once,
//! for every OS. A chain is a link of several steps: one checkpoint, one diff, one restore.

use std::time::Instant;

use crate::call::{Action, Call};
use crate::checkpoint::{Checkpoint, DeferredRestore};
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::picture::texts::Spots;
use crate::picture::{Shot, change};
use crate::policy::Policy;
use crate::reader::{Reader, WHOLE};
use crate::report::{Readings, Report};
use crate::resolve::late_changes::LastTrees;
use crate::resolve::targets::Targets;
use crate::resolve::windows::Windows;
use crate::settle::expected::has_list;
use crate::settle::front_watch::FrontWatch;
use crate::subject::Subject;
use deskline_core::Tree;
use deskline_input::Cancel;

/// The result of a `wait_for`.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The sentence for the summary.
    pub(crate) sentence: String,
    /// The helper of the app that has the awaited element, if the app itself does not have it.
    pub(crate) helper: Option<u32>,
}

impl Found {
    /// The app itself has the element.
    pub(crate) fn own(sentence: String) -> Self {
        Self {
            sentence,
            helper: None,
        }
    }
}

/// What a link is for, and what it has found so far. Each phase adds its methods:
/// [`crate::resolve`], [`crate::act`], [`crate::settle`], [`crate::settle::handoff`].
pub(crate) struct Link<'l> {
    pub(crate) policy: &'l Policy,
    pub(crate) call: &'l Call,
    pub(crate) cancel: &'l Cancel,
    pub(crate) subject: &'l Subject,
    pub(crate) reader: Reader<'l>,
    pub(crate) last_trees: &'l LastTrees,
    /// The windows that the call may act in, if it names a window.
    pub(crate) windows: Windows,
    /// The action of the current step. `targets` is where the action goes, and `front` is what has
    /// been in front since the step began.
    pub(crate) action: &'l Action,
    pub(crate) targets: Targets,
    pub(crate) front: FrontWatch,
    /// The awaited element, if it was found before the link began.
    pub(crate) found: Option<Found>,
    pub(crate) report: &'l mut Report,
}

impl Link<'_> {
    /// Runs steps 1 to 8. Step 9, the record, is made from the report, whatever the result.
    pub(crate) fn run(
        mut self,
        desktop: &mut dyn Desktop,
        deferred: &mut Option<DeferredRestore>,
    ) -> Result<()> {
        let (call, cancel, subject) = (self.call, self.cancel, self.subject);
        cancel.check()?;
        desktop.begin_link(call.acts());
        for pid in call.acts_in() {
            self.policy.approve(desktop, pid)?;
        }

        // refresh_traversal only reads: it changes neither focus nor pointer.
        if call.action == Action::Refresh {
            let refreshed = self.refresh(desktop);
            desktop.rest();
            return refreshed;
        }
        self.listen(desktop).inspect_err(|_| desktop.rest())?;
        // 1. Resolve the target on a fresh tree. Nothing is touched if it cannot be found.
        self.timed("resolve", |link| link.resolve(desktop))
            .and_then(|()| self.undone())
            .inspect_err(|_| desktop.rest())?;

        // 2. Checkpoint: front window and pointer; the tree is that of step 1.
        let watches = call.actions().any(|action| !action.waits());
        let mut desk = self.timed("checkpoint", |_| {
            Checkpoint::save(desktop, subject, watches, deferred, cancel)
        })?;
        if self.targets.away {
            self.timed("reveal", |link| link.reveal(&mut desk))?;
        }
        let first = self.targets.index();
        self.timed("picture_before", |link| {
            let tree = link.report.readings.before.as_ref();
            if let (Some(tree), true) = (tree, call.options.show_diff) {
                let before = change::before_action(&mut *desk, &call.action, tree, first);
                link.report.pictures.before = before;
            }
        });

        // 3 to 5. Guard, act and settle. A chain does this for each step, after it has resolved the
        // step.
        let stopped = self.walk(&mut desk)?;

        // 6. Diff.
        desk.ungrab_in_time();
        self.timed("diff", |link| link.diff(&mut *desk))?;

        // 7. Handoff: decided before anything is put back.
        self.timed("handoff", |link| link.note_handoff(&mut desk))?;
        let later = self.picture(&mut desk, first);
        // Esc may have come after the last wait, so it is checked once more.
        cancel.check()?;

        // 8. Restore: pointer and front window, unless there was a handoff, or the restore would
        //    close an open menu.
        self.timed("restore", |link| {
            let Readings { before, after, .. } = &link.report.readings;
            desk.list = has_list(before.as_ref(), after.as_ref(), desk.list);
            let drops = link.report.drops.iter().map(|drop| drop.after.app.pid);
            if link.report.handoff.is_none() {
                for pid in subject.home().into_iter().chain(drops) {
                    desk.hold_for_menu(pid);
                }
            }
            let watches = link.report.step.control.is_some() && !call.options.goes_on;
            desk.listens_on = stopped.is_none() && watches;
            desk.restore();
            link.report.note_guard(&mut desk);
            drop(desk);
        });
        if let Some(shot) = later {
            self.timed("picture", |link| shot.take(desktop, link.report));
        }
        if let Some(e) = stopped {
            return Err(e);
        }
        if self.report.step.control.is_some() && !call.options.goes_on {
            let stays = self.timed("read_back", |link| link.watch(desktop));
            desktop.rest();
            stays?;
        }
        Ok(())
    }

    /// Takes the picture now. If the picture would be the same after the restore, returns the
    /// [`Shot`] to take then instead: the person gets their window back earlier.
    fn picture(&mut self, desk: &mut Checkpoint<'_>, target: Option<usize>) -> Option<Shot> {
        let pid = match &self.report.handoff {
            // If an app may not be read, it may not be pictured either.
            Some(taken) => taken.tree.as_ref().map(|_| taken.pid),
            None => self.subject.home().filter(|_| !self.report.app.is_gone()),
        }?;
        let shot = Shot::new(&mut **desk, pid, target, self.report);
        if shot.can_follow_restore(desk, self.report) {
            return Some(shot);
        }
        desk.ungrab_in_time();
        self.timed("picture", |link| shot.take(&mut **desk, link.report));
        None
    }

    /// `refresh_traversal`.
    fn refresh(&mut self, desktop: &mut dyn Desktop) -> Result<()> {
        let pid = self.subject.required()?;
        let tree = self.timed("traverse", |link| {
            let mut tree = link.read_since(desktop, pid, WHOLE)?;
            if !tree.is_picture_only() {
                let notes = &mut link.report.notes;
                let reader = &mut link.reader;
                reader.look_closer(desktop, &mut tree, Spots::Large, notes)?;
            }
            Ok::<_, Error>(tree)
        })?;
        let tops = self.windows.of_step(self.call, self.subject, &tree)?;
        self.report.window = tops.first().copied();
        self.report.readings.after = Some(tree);
        self.timed("picture", |link| {
            let shot = Shot::new(desktop, pid, link.report.window, link.report);
            shot.take(desktop, link.report);
        });
        Ok(())
    }

    /// Listens to the app from here on, so that a second traversal knows the changes since the
    /// first.
    ///
    /// # Errors
    ///
    /// The app does not answer, and the call does not wait.
    pub(crate) fn listen(&self, desktop: &mut dyn Desktop) -> Result<()> {
        match self.subject.current().map(|pid| desktop.listen(pid)) {
            Some(Err(e @ Error::NotAnswering { .. })) if !self.call.action.waits() => {
                return Err(e);
            }
            // Without events the settle phase reads again at intervals, which is slower but not
            // wrong.
            Some(Err(e)) => tracing::debug!("no events: {e}"),
            None | Some(Ok(())) => {}
        }
        Ok(())
    }

    /// Directs all further steps to this process, and listens to it.
    pub(crate) fn turn_to(&self, desk: &mut Checkpoint<'_>, pid: u32) -> Result<()> {
        self.subject.turn_to(pid);
        self.listen(&mut **desk)
    }

    /// Reads the whole of an app, if the agent may see it.
    pub(crate) fn read(&mut self, desktop: &mut dyn Desktop, pid: u32) -> Result<Tree> {
        self.reader.read(desktop, pid, &mut self.report.notes)
    }

    /// Checks that the agent may see this tree, and assigns refs.
    pub(crate) fn accept(&mut self, desktop: &mut dyn Desktop, tree: &mut Tree) -> Result<()> {
        self.reader.accept(desktop, tree, &mut self.report.notes)
    }

    /// Runs one step of the link and adds its duration, even if the step fails.
    pub(crate) fn timed<T>(&mut self, name: &'static str, step: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = step(self);
        self.report.took(name, start);
        result
    }
}
