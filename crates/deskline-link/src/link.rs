//! One link: the transaction, with its steps in the order of docs/how-it-works.md. Written once,
//! for every OS. A chain is a link of several steps: one checkpoint, one diff, one restore.

use crate::call::Action;
use crate::checkpoint::{Checkpoint, DeferredRestore};
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::picture::texts::Spots;
use crate::picture::{Shot, change};
use crate::report::Report;
use crate::settle::handoff::FrontWatch;
use crate::steps::Steps;

/// Steps 1 to 8. Step 9, the record, is made of the report, whatever the result.
pub(crate) fn run(
    mut steps: Steps<'_>,
    desktop: &mut dyn Desktop,
    deferred: &mut Option<DeferredRestore>,
    report: &mut Report,
) -> Result<()> {
    let (call, cancel, subject) = (steps.call, steps.cancel, steps.subject);
    cancel.check()?;
    desktop.begin_link(call.acts());
    for pid in call.acts_in() {
        steps.policy.approve(desktop, pid)?;
    }

    // refresh_traversal only reads: it changes neither focus nor pointer.
    if call.action == Action::Refresh {
        let refreshed = refresh(&mut steps, desktop, report);
        desktop.rest();
        return refreshed;
    }
    steps.listen(desktop).inspect_err(|_| desktop.rest())?;
    // 1. Resolve the target on a fresh tree. Nothing is touched if it cannot be found.
    let mut targets = report
        .timed("resolve", |report| {
            steps.resolve(desktop, &call.action, report)
        })
        .inspect_err(|_| desktop.rest())?;

    // 2. Checkpoint: front window and pointer; the tree is that of step 1.
    let watches = call.actions().any(|a| FrontWatch::new(a, None).watches());
    let mut desk = report.timed("checkpoint", |_| {
        Checkpoint::save(desktop, subject, watches, deferred, cancel)
    })?;
    if targets.away {
        targets = report.timed("reveal", |report| {
            steps.reveal(&mut desk, &call.action, report)
        })?;
    }
    let first = targets.index();
    report.timed("picture_before", |report| {
        let tree = report.readings.before.as_ref();
        if let (Some(tree), true) = (tree, call.options.show_diff) {
            report.pictures.before = change::before_action(&mut *desk, &call.action, tree, first);
        }
    });

    // 3 to 5. Guard, act and settle; in a chain once for each step, which is resolved first.
    let mut front = FrontWatch::new(&call.action, None);
    let stopped = steps.walk(&mut desk, targets, &mut front, report)?;

    // 6. Diff.
    desk.ungrab_in_time();
    report.timed("diff", |report| steps.diff(&mut *desk, report))?;

    // 7. Handoff: decided before anything is put back.
    report.timed("handoff", |report| -> Result<()> {
        report.handoff = steps.read_handoff(&mut desk, &front, &mut report.notes)?;
        if report.handoff.is_none() {
            report.helpers = steps.helper_windows(&mut desk)?;
        }
        Ok(())
    })?;
    let pictured = match &report.handoff {
        // If an app may not be read, it may not be pictured either.
        Some(taken) => taken.tree.as_ref().map(|_| taken.pid),
        None => subject.home().filter(|_| !report.app.is_gone()),
    };
    let shot = pictured.map(|pid| Shot::new(&mut *desk, pid, first, report));
    // If the picture is the same afterwards, the person gets their window back before it is taken.
    let (later, now) = match shot {
        Some(shot) if shot.can_follow_restore(&mut desk, report) => (Some(shot), None),
        shot => (None, shot),
    };
    if let Some(shot) = now {
        desk.ungrab_in_time();
        report.timed("picture", |report| shot.take(&mut *desk, report));
    }
    // An Esc that came after the last wait counts too.
    cancel.check()?;

    // 8. Restore: pointer and front window, unless there was a handoff, or this would close an open
    //    menu.
    report.timed("restore", |report| {
        let drops = report.drops.iter().map(|drop| drop.after.app.pid);
        if report.handoff.is_none() {
            for pid in subject.home().into_iter().chain(drops) {
                desk.hold_for_menu(pid);
            }
        }
        desk.listens_on = stopped.is_none() && report.step.control.is_some();
        desk.restore();
        report.note_guard(&mut desk);
        drop(desk);
    });
    if let Some(shot) = later {
        report.timed("picture", |report| shot.take(desktop, report));
    }
    if let Some(e) = stopped {
        return Err(e);
    }
    if report.step.control.is_some() {
        let stays = report.timed("read_back", |report| steps.watch(desktop, report));
        desktop.rest();
        stays?;
    }
    Ok(())
}

/// `refresh_traversal`.
fn refresh(steps: &mut Steps<'_>, desktop: &mut dyn Desktop, report: &mut Report) -> Result<()> {
    let pid = steps.subject.required()?;
    let scope = steps.reader.whole();
    let tree = report.timed("traverse", |report| {
        let mut tree = steps.read_since(desktop, pid, scope, report)?;
        if !tree.is_picture_only() {
            let notes = &mut report.notes;
            let reader = &mut steps.reader;
            reader.look_closer(desktop, &mut tree, Spots::Large, notes)?;
        }
        Ok::<_, Error>(tree)
    })?;
    report.window = steps.toplevels(&tree)?.first().copied();
    report.readings.after = Some(tree);
    report.timed("picture", |report| {
        Shot::new(desktop, pid, report.window, report).take(desktop, report);
    });
    Ok(())
}
