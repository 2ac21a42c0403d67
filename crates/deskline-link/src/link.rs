//! One link: the transaction, as §7 of the contract lists it. Written once, for every OS. A chain is
//! a link of several steps: one checkpoint, one diff, one restore.

use deskline_journal::RefStore;

use crate::blind;
use crate::call::{Action, Call};
use crate::checkpoint::{Checkpoint, DeferredRestore};
use crate::desktop::Desktop;
use crate::display::{Window, WindowId};
use crate::error::{Error, Result};
use crate::handoff::Handoff;
use crate::late::LastTrees;
use crate::policy::Policy;
use crate::readings::Readings;
use crate::report::Report;
use crate::sight;
use crate::steps::{Steps, Targets};
use crate::within::Windows;
use deskline_input::Cancel;

/// What a link works with.
pub(crate) struct Link<'l> {
    pub(crate) desktop: &'l mut dyn Desktop,
    pub(crate) refs: &'l mut RefStore,
    pub(crate) deferred: &'l mut Option<DeferredRestore>,
    pub(crate) last_trees: &'l LastTrees,
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
            deferred,
            last_trees,
            policy,
            call,
            cancel,
        } = self;
        cancel.check()?;
        let acts = call
            .actions()
            .any(|action| !matches!(action, Action::Refresh | Action::WaitFor { .. }));
        desktop.begin_link(acts);
        let readings = Readings {
            id: desktop.id(),
            refs,
            policy,
        };
        let mut steps = Steps {
            policy,
            call,
            cancel,
            readings,
            last_trees,
            pid: call.pid,
            window: Windows::default(),
        };
        report.of = call.actions().count();

        // refresh_traversal looks, and touches neither focus nor pointer.
        if call.action == Action::Refresh {
            let looked = steps.look(desktop, report);
            desktop.rest();
            return looked;
        }
        steps.listen(desktop)?;
        // 1. Resolve the target on a fresh tree. Nothing is touched if it cannot be found.
        let mut targets = report
            .timed("resolve", |report| {
                steps.resolve(desktop, &call.action, report)
            })
            .inspect_err(|_| desktop.rest())?;

        // 2. Checkpoint: front window and pointer; the tree is that of step 1.
        let watches = call.actions().any(|a| Handoff::of(a, None).watches());
        let mut desk = report.timed("checkpoint", |_| {
            Checkpoint::save(desktop, call.pid, watches, deferred, cancel)
        })?;
        if targets.away {
            targets = report.timed("reveal", |report| {
                steps.reveal(&mut desk, &call.action, report)
            })?;
        }
        report.timed("sight", |report| {
            let tree = report.before.as_ref().filter(|_| call.options.show_diff);
            let pid = call.pid.filter(|_| tree.is_some());
            report.sight = pid
                .and_then(|pid| sight::look(&mut *desk, &call.action, pid, tree, targets.index()));
        });
        let first = targets.index();

        // 3 to 5. Guard, act and settle; in a chain once for each step, which is resolved first.
        let mut handoff = Handoff::of(&call.action, None);
        let stopped = steps.walk(&mut desk, targets, &mut handoff, report)?;

        // 6. Diff.
        report.timed("diff", |report| steps.diff(&mut *desk, report))?;

        // 7. Handoff: decided before anything is put back.
        report.timed("handoff", |report| {
            steps.handoff(&mut desk, &handoff, report)
        })?;
        let pictured = match &report.handoff {
            // An app that may not be read is not pictured either.
            Some(taken) => taken.tree.as_ref().map(|_| taken.pid),
            None => report.pid.filter(|_| !report.ended),
        };
        let shot = pictured.map(|pid| Shot::of(&mut *desk, pid, first, report));
        // The person gets their window back first, if the picture is the same after that.
        let (later, now) = match shot {
            Some(shot) if desk.may_restore_first(&shot, report) => (Some(shot), None),
            shot => (None, shot),
        };
        if let Some(shot) = now {
            report.timed("picture", |report| shot.take(&mut *desk, report));
        }
        // An Esc that came after the last wait counts too.
        cancel.check()?;

        // 8. Restore: pointer and front window, unless there was a handoff, or a menu is open that
        // this would close.
        report.timed("restore", |report| {
            if let Some(pid) = report.pid.filter(|_| report.handoff.is_none()) {
                desk.hold_for_menu(pid);
            }
            drop(desk);
        });
        if let Some(shot) = later {
            report.timed("picture", |report| shot.take(desktop, report));
        }
        stopped.map_or(Ok(()), Err)
    }
}

impl Targets {
    /// The target's index in the tree that it was resolved on.
    fn index(&self) -> Option<usize> {
        self.target.as_ref().and_then(|target| target.index)
    }
}

/// A picture to take: of which window, or why there is none.
pub(crate) struct Shot {
    /// The app's windows.
    pub(crate) windows: Vec<Window>,
    pub(crate) window: Result<WindowId>,
}

impl Shot {
    /// Chooses the window. `target` is an element of the tree before, or of the only tree.
    pub(crate) fn of(
        desktop: &mut dyn Desktop,
        pid: u32,
        target: Option<usize>,
        report: &Report,
    ) -> Self {
        let listed = desktop.windows(pid);
        let (windows, failed) = match listed {
            Ok(windows) => (windows, None),
            Err(e) => (Vec::new(), Some(e)),
        };
        let before = report.before.as_ref().or(report.after.as_ref());
        let before = before.filter(|_| report.handoff.is_none());
        let tree = report
            .handoff
            .as_ref()
            .map_or(report.latest(), |taken| taken.tree.as_ref());
        let window = sight::pictured(&windows, tree, before, target).ok_or_else(|| {
            let lists = desktop.capabilities().windows;
            let why = lists.why_not().or_else(|| desktop.unseen(pid));
            let why = why.unwrap_or("the app has no window on the screen");
            failed.unwrap_or_else(|| Error::Input(why.to_owned()))
        });
        Self { windows, window }
    }

    /// Takes it. A failed picture never fails the call.
    pub(crate) fn take(self, desktop: &mut dyn Desktop, report: &mut Report) {
        let picture = self.window.and_then(|window| {
            report.pictured = Some(window);
            sight::picture_of(desktop, window)
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
}
