//! Fills in the summary that the model sees.

use std::time::Duration;

use deskline_core::{
    Role, Summary, escape, focus, listing, summary, target as target_line, tree_file,
};

use crate::call::{Action, Call, Input};
use crate::picture::change;
use crate::report::{AppState, Drop, Report, Results};
use crate::resolve::lookup;
use crate::secrecy::character_of;
use crate::settle::quiet::Settled;
use crate::settle::readback;
use crate::subject::Subject;

/// The sentence about a step has at most this many characters.
const STEP: usize = 90;

/// A text that a step reads is cut to this many characters.
const READ: usize = 1_000;

pub(super) fn summarise(
    call: &Call,
    subject: &Subject,
    is_first: bool,
    report: &Report,
    error: Option<String>,
) -> Summary {
    let mut summary = Summary {
        pid: subject.home(),
        notes: report.notes.0.clone(),
        ..Summary::default()
    };
    if let Some(tree) = report.readings.latest() {
        summary.app = Some(tree.app.name.clone());
        let compared = report.compared();
        let opened = compared.and_then(|(before, after, diff)| after.opened_since(before, diff));
        summary.partial.clone_from(&tree.partial);
        // An ended app has no dialog and no focus, whatever its last tree had.
        let alive = Some(tree).filter(|_| !report.app.is_gone());
        if let Some(tree) = alive {
            let is_list = |at: &usize| tree.elements[*at].role == Role::LIST;
            let opened = opened.filter(|at| !is_list(at));
            let dialog = opened.or_else(|| tree.dialog_in_front());
            summary.dialog = dialog.and_then(|dialog| tree_file::window_label(tree, dialog));
        }
        if let Some(now) = report.taken().or(alive) {
            summary.focus = focus::focus(now);
            summary.windows = focus::windows(now);
        }
        if let Some(late) = &report.late {
            summary.late_changes = late.summary.clone();
        }
    }
    if let Some(taken) = &report.handoff {
        summary.app_switch = Some(taken.tree.as_ref().map_or_else(
            || summary::Handoff {
                app: taken.title.clone(),
                pid: taken.pid,
                ..Default::default()
            },
            summary::Handoff::new,
        ));
    }
    summary.steps = steps(call, report, error.is_some());
    let acted = !report.step.done.is_empty() || !report.ended_runs.is_empty();
    if acted && call.acts() && !call.action.opens() {
        summary.effect = Some(report.changed(&call.action).word());
    }
    summary.expected = report.step.results.met.filter(|_| !call.is_chain).map(met);
    if error.is_some() {
        summary.error = error;
        // The steps that a failed chain has done may have changed something.
        if report.ended_runs.is_empty() {
            return summary;
        }
    }
    summary.target = target(call, report);
    summary.hint = (is_first || report.diff.is_none()) && !report.app.is_gone();
    summary.summary = sentence(call, report, summary.error.is_some());
    summary.notes.extend(idle_key(call, report));
    match (report.compared(), &report.readings.after) {
        (Some((before, after, diff)), _) => {
            let shown = diff.without_mirrors(before, after);
            summary.text_changes = listing::text_changes(after, &shown);
            summary.visible_elements = listing::new_elements(before, after, diff);
            summary.picture_changed = report.picture_changed();
        }
        (None, Some(after)) => {
            summary.no_tree.clone_from(&after.no_tree);
            summary.blind.clone_from(&after.blind);
            summary.visible_elements = listing::tree_elements_in(after, report.window);
        }
        (None, None) => {}
    }
    for Drop {
        before,
        after,
        diff,
    } in &report.drops
    {
        let shown = diff.without_mirrors(before, after);
        let app = escape::name(&after.app.name, 40);
        summary
            .notes
            .push(format!("in {app}: {}", summary::counts(diff)));
        summary
            .text_changes
            .extend(listing::text_changes(after, &shown));
        summary
            .visible_elements
            .extend(listing::new_elements(before, after, diff));
    }
    summary
}

/// `met after 120 ms`
fn met(after: Duration) -> String {
    format!("met after {} ms", after.as_millis())
}

/// The element that was acted on or waited for, as it is now.
fn target(call: &Call, report: &Report) -> Option<String> {
    match &call.action {
        Action::WaitFor { target, .. } => {
            let after = report.readings.after.as_ref()?;
            let found = lookup::resolve(after, target, &[]).ok()?;
            target_line::target(after, found.index?, None)
        }
        Action::Input(Input::Scroll { .. }) => None,
        _ => report.target(),
    }
}

/// `Clicked 'Send' [AXButton]. 2 added, 1 removed, 3 modified. Settled in 84 ms.`
fn sentence(call: &Call, report: &Report, failed: bool) -> String {
    let mut parts = Vec::new();
    match &call.action {
        Action::Refresh => parts.push("Read the tree".to_owned()),
        Action::Open { identifier } => {
            parts.push(format!("Opened '{}'", escape::short(identifier, 60)));
        }
        _ if call.is_chain => {
            let at = report.current_run(call).map_or(0, |(at, _)| at);
            let done = at + usize::from(!failed);
            parts.push(format!("Did {done} of {} steps", call.actions().count()));
        }
        _ => {
            let led_to = report.step.results.led_to.as_ref();
            let led_to = led_to.map_or_else(String::new, |led_to| format!(" → {led_to}"));
            parts.push(report.step.done.sentence(report.is_public()) + &led_to);
        }
    }
    if !call.is_chain {
        parts.extend(report.step.results.doubts.iter().cloned());
    }
    match &report.app {
        AppState::Running => {}
        AppState::Busy(silent) => {
            let ms = silent.as_millis();
            parts.push(format!(
                "The app is busy: no answer for {ms} ms. Call wait_for_and_traverse, which \
                 waits longer"
            ));
        }
        AppState::NoWindow => parts.push("The app has no window any more".into()),
        AppState::Ended(end) => parts.push(end.to_string()),
    }
    if let (false, Some(before), Some(after), Some(_)) = (
        call.is_chain,
        &report.readings.before,
        &report.readings.after,
        &report.diff,
    ) && let Some(menu) = after.menu_closed_since(before)
    {
        let menu = summary::name_of(before, menu);
        parts.push(format!("Closed the menu {menu}"));
    }
    match (&report.diff, &report.readings.after) {
        (Some(diff), _) => {
            let drags = |action: &Action| matches!(action, Action::Input(Input::Drag { .. }));
            let alone = diff.is_empty() || call.actions().any(drags);
            let moved = report.compared().filter(|_| alone);
            let moved = moved.map(|(before, after, diff)| match diff.moved(before, after) {
                0 if after.has_moved_window(before) => ", the window moved".to_owned(),
                0 => String::new(),
                moved => format!(", {moved} moved"),
            });
            parts.push(summary::counts(diff) + &moved.unwrap_or_default());
        }
        (None, Some(tree)) => {
            let visible = tree.seen();
            let elements = escape::count(tree.elements.len(), "element");
            parts.push(format!("{elements}, {visible} visible"));
        }
        (None, None) => {}
    }
    if let Some(settled) = report.step.settled {
        let ms = settled.took.as_millis();
        parts.push(match settled {
            Settled { quiet: true, .. } => format!("Settled in {ms} ms"),
            Settled {
                computing: true, ..
            } => format!("The app is still busy after {ms} ms: it computes"),
            _ => format!("Still changing after {ms} ms"),
        });
    }
    parts.join(". ") + "."
}

/// The note about a key that did nothing. `None` if the key may be part of a secret: the note would
/// name the key, and the tree does not show the key's effect on a secure field.
fn idle_key(call: &Call, report: &Report) -> Option<String> {
    let (_, press) = call.action.keys();
    let press = press?;
    if call.is_chain || report.handoff.is_some() || report.app.is_gone() || report.diff.is_none() {
        return None;
    }
    if character_of(press).is_some() && !report.is_public() {
        return None;
    }
    let keys = &report.step.keys;
    let alone = matches!(call.action, Action::Input(Input::PressKey { .. }));
    let alone = report.readings.before.as_ref().filter(|_| alone);
    let before = keys.between.as_ref().or(alone)?;
    let still = report.picture_changed().as_deref() == Some(change::SAME);
    readback::idle_key(
        press,
        before,
        report.readings.after.as_ref()?,
        keys.list,
        still,
    )
}

/// The steps of a chain, one line each: `1 done: Clicked 'Name' [AXTextField]`. For a repeated
/// step, the line of its last run.
fn steps(call: &Call, report: &Report, failed: bool) -> Vec<String> {
    if !call.is_chain {
        return Vec::new();
    }
    let acts = |step: usize| {
        let action = call.actions().nth(step);
        action.is_some_and(Action::changes_something)
    };
    let line = |step: usize, said: &str, run: &Results| {
        let said = escape::short(said, STEP);
        let mut after = match (&run.read, &run.led_to) {
            (Some(text), _) => format!(": '{}'", escape::short(text, READ)),
            (None, Some(led_to)) => format!(" → {led_to}"),
            (None, None) => String::new(),
        };
        for doubt in &run.doubts {
            after = format!("{after}; {doubt}");
        }
        if let Some(changed) = run.changed.filter(|_| acts(step)) {
            after = format!("{after}; effect: {}", changed.word());
        }
        if let Some(expected) = run.met {
            after = format!("{after}; expected: {}", met(expected));
        }
        let times = match call.repeats(step) {
            1 => String::new(),
            times => format!(" {times} times"),
        };
        format!("{} done{times}: {said}{after}", step + 1)
    };
    let Some((at, nth)) = report.current_run(call) else {
        return Vec::new();
    };
    let ended = report.ended_runs.chunk_by(|a, b| a.step == b.step);
    let ended = ended.filter_map(<[_]>::last).filter(|run| run.step < at);
    let mut lines: Vec<String> = ended
        .map(|run| line(run.step, &run.sentence, &run.results))
        .collect();
    if !failed {
        let said = report.step.done.sentence(report.is_public());
        lines.push(line(at, &said, &report.step.results));
        return lines;
    }
    let number = at + 1;
    lines.push(match call.repeats(at) {
        1 => format!("{number} failed: see error"),
        times => format!("{number} failed in run {nth} of {times}: see error"),
    });
    let all = call.actions().count();
    match all.saturating_sub(number) {
        0 => {}
        1 => lines.push(format!("{all} not done")),
        _ => lines.push(format!("{}-{all} not done", number + 1)),
    }
    lines
}
