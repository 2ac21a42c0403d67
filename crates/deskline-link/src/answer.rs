//! Step 9: writes the files, the journal line and the summary, all from one report.

use std::thread::{Builder, ScopedJoinHandle};

use deskline_core::{Point, Rect, Summary, escape, focus, listing, summary, target, tree_file};
use deskline_journal::{DiffCounts, FilePair, Journal, Outcome, Record, Shot};
use serde_json::{Map, Value};

use crate::call::{Action, Call, Input, Quiet};
use crate::display::Picture;
use crate::error::{Error, Result};
use crate::readback;
use crate::report::Report;
use crate::resolve;
use crate::secrecy::{HIDDEN, character_of};
use crate::sight;
use deskline_input::Reason;

/// Everything the model sees of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The summary.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
}

/// The answer for an error that occurred before a link began.
pub fn error(message: &str) -> Answer {
    let summary = Summary {
        error: Some(message.to_owned()),
        ..Summary::default()
    };
    Answer {
        text: summary.render(),
        is_error: true,
    }
}

/// Writes the files and the journal line, and returns the answer. If the journal cannot be written,
/// the summary gets a note and the call is answered all the same.
pub(crate) fn record(
    journal: &Journal,
    call: &Call,
    report: &mut Report,
    result: Result<()>,
) -> Answer {
    let failed = result.err();
    let error = failed.as_ref().map(|e| message(e, call, report));
    let mut summary = summarise(call, report, error.clone());
    let tool = call.tool.name();
    let mut written = Record::new(
        tool,
        arguments(call, report),
        outcome(failed.as_ref(), error.as_deref()),
    );
    let start = std::time::Instant::now();
    match journal.begin(tool) {
        Ok(entry) => write(
            &entry,
            call,
            report,
            &mut summary,
            &mut written,
            error.as_deref(),
        ),
        Err(e) => summary.notes.push(format!("no files were written: {e}")),
    }
    report.times.push(("record", start.elapsed()));
    written.pid = report.pid;
    written.app = report.latest().map(|tree| tree.app.name.clone());
    written.diff = report.diff.as_ref().map(|diff| DiffCounts {
        added: diff.added.len(),
        removed: diff.removed.len(),
        modified: diff.modified.len(),
    });
    for (name, took) in &report.times {
        written.step(name, *took);
    }
    if let Some(held) = report.guard_held {
        written.guard_held(held);
    }
    let mut text = summary.render();
    // The typed text may be in it, as what the element shows now.
    written.answer = tells_no_secret(call, report).then(|| text.clone());
    if let Err(e) = journal.record(&written) {
        summary
            .notes
            .push(format!("this call was not recorded in the journal: {e}"));
        text = summary.render();
    }
    Answer {
        text,
        is_error: error.is_some(),
    }
}

fn write(
    entry: &FilePair,
    call: &Call,
    report: &mut Report,
    summary: &mut Summary,
    record: &mut Record,
    error: Option<&str>,
) {
    let picture = report.picture.take();
    let at = report.step.done.at;
    let clicked = clicked(report);
    let shot = picture.as_ref().and_then(|picture| {
        let picture = picture.as_ref().ok()?;
        Some(Shot {
            width: picture.width,
            height: picture.height,
            rgb: &picture.rgb,
            origin: picture.origin,
            scale: picture.scale,
            crosshair: at.and_then(|at| pixel(picture, at)),
            clicked: clicked.and_then(|clicked| pixels(picture, clicked)),
        })
    });
    // Encoding a picture takes as long as rendering and writing the tree.
    let (pictured, text) = std::thread::scope(|scope| {
        let write = |shot| move || entry.write_picture(&shot);
        let pictured = shot.map(|shot| Builder::new().spawn_scoped(scope, write(shot)));
        let text = tree_text(call, report, error).map(|text| (entry.write_text(&text), text.len()));
        (
            pictured.map(|thread| thread.map(ScopedJoinHandle::join)),
            text,
        )
    });
    match text {
        Some((Ok(()), bytes)) => {
            let path = entry.text_path().display().to_string();
            summary.file = Some(summary::File {
                path: path.clone(),
                bytes: bytes as u64,
                elements: report.latest().map_or(0, |tree| tree.elements.len()),
            });
            record.files.text = Some(path);
        }
        Some((Err(e), _)) => summary.notes.push(format!("the tree was not written: {e}")),
        None => {}
    }
    let failed = match pictured {
        Some(Ok(Ok(Ok(())))) => {
            let path = entry.picture_path().display().to_string();
            record.files.picture = Some(path.clone());
            summary.screenshot = Some(path);
            None
        }
        Some(Ok(Ok(Err(e)))) => Some(e.to_string()),
        Some(Ok(Err(_))) => Some("encoding it failed".to_owned()),
        Some(Err(e)) => Some(e.to_string()),
        None => None,
    };
    if let Some(why) = failed {
        summary
            .notes
            .push(format!("the picture was not written: {why}"));
    }
    if let (Some(Err(why)), None) = (picture, error) {
        summary.notes.push(format!("no picture: {why}"));
    }
}

/// The pixel of a picture that shows this point of the screen.
fn pixel(picture: &Picture, at: Point) -> Option<(u32, u32)> {
    let scaled = |v: i32| u32::try_from((f64::from(v) * picture.scale).round() as i64).ok();
    Some((
        scaled(at.x - picture.origin.x)?,
        scaled(at.y - picture.origin.y)?,
    ))
}

/// The pixels of a picture that show this part of the screen.
fn pixels(picture: &Picture, part: Rect) -> Option<Rect> {
    let pixel = |v: i32| (f64::from(v) * picture.scale).round() as i32;
    let (x, y) = (
        part.x.checked_sub(picture.origin.x)?,
        part.y.checked_sub(picture.origin.y)?,
    );
    Rect::new(pixel(x), pixel(y), pixel(part.w), pixel(part.h))
}

/// Where on the screen the element that was clicked is.
fn clicked(report: &Report) -> Option<Rect> {
    let acted = report.step.acted.as_ref()?;
    let now = report.after.as_ref();
    let now = now.and_then(|after| Some(&after.elements[acted.find(after, report.current())?]));
    let now = now.filter(|e| e.visible).and_then(|e| e.extents);
    now.or(acted.was.extents)
}

/// The tree file's text. `None` if no tree was read.
fn tree_text(call: &Call, report: &Report, error: Option<&str>) -> Option<String> {
    let only_visible = call.options.only_visible_elements;
    let late = report.late.as_ref();
    let mut text = late.map(|late| late.lines.clone()).unwrap_or_default();
    text += &match (&report.before, &report.after, &report.diff) {
        (Some(before), Some(after), Some(diff)) => {
            tree_file::diff_and_tree(before, after, diff, only_visible)
        }
        _ => tree_file::full_tree(report.latest()?, only_visible),
    };
    if let Some(tree) = report
        .handoff
        .as_ref()
        .and_then(|taken| taken.tree.as_ref())
    {
        text += &tree_file::app_switch(tree, only_visible);
    }
    Some(match error {
        Some(error) => tree_file::error(error) + &text,
        None => text,
    })
}

fn summarise(call: &Call, report: &Report, error: Option<String>) -> Summary {
    let mut summary = Summary {
        pid: report.pid,
        notes: report.notes.clone(),
        ..Summary::default()
    };
    if let Some(tree) = report.latest() {
        summary.app = Some(tree.app.name.clone());
        let opened = match (&report.before, &report.after, &report.diff) {
            (Some(before), Some(after), Some(diff)) => after.opened_since(before, diff),
            _ => None,
        };
        summary.partial.clone_from(&tree.partial);
        let taken = report.handoff.as_ref().and_then(|t| t.tree.as_ref());
        // What has ended has no dialog and no focus, whatever its last tree had.
        let alive = Some(tree).filter(|_| !report.ended);
        if let Some(tree) = alive {
            let dialog = opened.or_else(|| tree.dialog_in_front());
            summary.dialog = dialog.and_then(|dialog| tree_file::window_label(tree, dialog));
        }
        if let Some(now) = taken.or(alive) {
            summary.focus = focus::focus(now);
            summary.windows = focus::windows(now);
        }
        if let Some(late) = &report.late {
            summary.late_changes = late.summary.clone();
        }
    }
    summary.steps = steps(call, report, error.is_some());
    if error.is_some() {
        summary.error = error;
        // The steps of a chain that were done have changed something all the same.
        if report.ended_steps.is_empty() {
            return summary;
        }
    }
    summary.target = target(call, report);
    summary.hint = report.first || report.diff.is_none();
    summary.summary = sentence(call, report, summary.error.is_some());
    summary.notes.extend(idle_key(call, report));
    match (&report.before, &report.after, &report.diff) {
        (Some(before), Some(after), Some(diff)) => {
            let shown = diff.without_mirrors(before, after);
            summary.text_changes = listing::text_changes(after, &shown);
            summary.visible_elements = listing::new_elements(before, after, diff);
            summary.picture_changed = report.picture_changed();
        }
        (_, Some(after), _) => {
            summary.blind.clone_from(&after.blind);
            summary.visible_elements = listing::tree_elements_in(after, report.window);
        }
        _ => {}
    }
    if let Some(taken) = &report.handoff {
        summary.app_switch = Some(taken.tree.as_ref().map_or_else(
            || summary::Handoff {
                app: taken.title.clone(),
                pid: taken.pid,
                ..Default::default()
            },
            summary::Handoff::of,
        ));
    }
    summary
}

/// The element that was acted on or waited for, as it is now.
fn target(call: &Call, report: &Report) -> Option<String> {
    match &call.action {
        Action::WaitFor { target, .. } => {
            let after = report.after.as_ref()?;
            let found = resolve::resolve(after, target, &[]).ok()?;
            target::target(after, found.index?, None)
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
        _ if call.is_chain() => {
            let done = report.ended_steps.len() + usize::from(!failed);
            parts.push(format!("Did {done} of {} steps", report.of));
        }
        _ => parts.push(report.step.done.sentence(report.is_public())),
    }
    if report.step.others > 0 && !call.is_chain() {
        parts.push(match report.step.others {
            1 => "1 other matches as well".into(),
            others => format!("{others} others match as well"),
        });
    }
    if let Some(end) = &report.end {
        parts.push(end.to_string());
    } else if report.ended {
        parts.push("The app has no window any more".into());
    }
    if let Some(silent) = report.silent {
        let ms = silent.as_millis();
        parts.push(format!(
            "The app is busy: no answer for {ms} ms since. Call wait_for_and_traverse, which outlasts that"
        ));
    }
    if let (false, Some(before), Some(after), Some(_)) =
        (call.is_chain(), &report.before, &report.after, &report.diff)
        && let Some(menu) = after.menu_closed_since(before)
    {
        parts.push(format!(
            "Closed the menu {}",
            summary::name_of(before, menu)
        ));
    }
    match (&report.diff, &report.after) {
        (Some(diff), _) => parts.push(summary::counts(diff)),
        (None, Some(tree)) => {
            let visible = tree.elements.iter().filter(|e| e.visible).count();
            let elements = escape::count(tree.elements.len(), "element");
            parts.push(format!("{elements}, {visible} visible"));
        }
        (None, None) => {}
    }
    match report.step.settled {
        Some(settled) if settled.quiet => {
            parts.push(format!("Settled in {} ms", settled.took.as_millis()));
        }
        Some(settled) if settled.computing => {
            parts.push(format!(
                "The app is still busy after {} ms: it computes",
                settled.took.as_millis()
            ));
        }
        Some(settled) => {
            parts.push(format!(
                "Still changing after {} ms",
                settled.took.as_millis()
            ));
        }
        None => {}
    }
    parts.join(". ") + "."
}

/// What to say of a key that did nothing. A key that may be part of a secret is not named, and what
/// it does to a secure field is not in the tree.
fn idle_key(call: &Call, report: &Report) -> Option<String> {
    let press = match &call.action {
        Action::Input(Input::PressKey { press }) => *press,
        Action::Input(Input::Click { then, .. } | Input::Type { typing: then }) => then.key?,
        _ => return None,
    };
    if call.is_chain() || report.handoff.is_some() || report.ended || report.diff.is_none() {
        return None;
    }
    if character_of(press).is_some() && !report.is_public() {
        return None;
    }
    let keys = &report.step.keys;
    let alone = matches!(call.action, Action::Input(Input::PressKey { .. }));
    let alone = report.before.as_ref().filter(|_| alone);
    let before = keys.between.as_ref().or(alone)?;
    let still = report.picture_changed().as_deref() == Some(sight::SAME);
    readback::idle_key(press, before, report.after.as_ref()?, keys.list, still)
}

/// The error text: what was done, what failed and what to do next.
fn message(e: &Error, call: &Call, report: &Report) -> String {
    let said = step_message(e, call, report);
    match (call.is_chain(), report.ended_steps.len()) {
        (false, _) => said,
        (true, 0) if matches!(e, Error::Cancelled(_)) => said,
        (true, 0) => format!("Step 1 of {}: {said}", report.of),
        (true, done) => format!(
            "Did {done} of {} steps. Step {}: {said}",
            report.of,
            done + 1
        ),
    }
}

fn step_message(e: &Error, call: &Call, report: &Report) -> String {
    let tool = call.tool.name();
    let done = report.step.done.sentence(report.is_public());
    if let Error::Cancelled(reason) = e {
        let mut message = cancelled(*reason, tool);
        if report.step.done.underway {
            message += ". Some of the input may have gone in: call refresh_traversal to see";
        }
        return if report.step.done.is_empty() {
            message
        } else {
            format!("{done}. {message}")
        };
    }
    let unknown = report.step.done.underway
        && !matches!(
            e,
            Error::Input(_) | Error::RefusedBy { .. } | Error::Unsupported { .. }
        );
    if let (false, Error::NoEffect(why)) = (report.step.done.is_empty(), e) {
        return format!("{done}, but {why}");
    }
    match (report.step.done.is_empty(), unknown) {
        (true, false) => e.to_string(),
        (true, true) => format!(
            "{e}. Whether it was done all the same is not known: do not repeat it before you have looked"
        ),
        (false, _) => {
            format!("{done}; then: {e}. Do not repeat it before you have looked")
        }
    }
}

fn cancelled(reason: Reason, tool: &str) -> String {
    match reason {
        Reason::Person => format!("Cancelled: the user pressed Esc during {tool}"),
        Reason::Request => format!("Cancelled: the client cancelled its request during {tool}"),
        Reason::Stopping => format!("Cancelled: the server was stopped during {tool}"),
        Reason::Watchdog => format!(
            "{tool} held the person's input for too long and was stopped. Call refresh_traversal to see how far it came"
        ),
        Reason::Unguarded => format!(
            "{tool} was stopped: the guard that kept the user's input out was lost. Call refresh_traversal to see how far it came"
        ),
    }
}

fn outcome(failed: Option<&Error>, message: Option<&str>) -> Outcome {
    let asked = [Reason::Person, Reason::Request, Reason::Stopping];
    match (failed, message) {
        (Some(Error::Cancelled(reason)), _) if asked.contains(reason) => Outcome::Cancelled,
        (Some(_), Some(message)) => Outcome::Error(message.to_owned()),
        _ => Outcome::Ok,
    }
}

/// The steps of a chain, a line each: `1 done: Clicked 'Name' [AXTextField]`.
fn steps(call: &Call, report: &Report, failed: bool) -> Vec<String> {
    if !call.is_chain() {
        return Vec::new();
    }
    let line = |i: usize, said: &str, led_to: &Option<String>| {
        let said = escape::short(said, STEP);
        let led_to = led_to.as_ref().map(|led_to| format!(" → {led_to}"));
        format!("{i} done: {said}{}", led_to.unwrap_or_default())
    };
    let ended = report.ended_steps.iter().enumerate();
    let mut lines: Vec<String> = ended
        .map(|(i, step)| line(i + 1, &step.said, &step.led_to))
        .collect();
    if !failed {
        let said = report.step.done.sentence(report.is_public());
        lines.push(line(lines.len() + 1, &said, &report.step.led_to));
    }
    if failed {
        let at = report.ended_steps.len() + 1;
        lines.push(format!("{at} failed: see error"));
        match report.of.saturating_sub(at) {
            0 => {}
            1 => lines.push(format!("{} not done", at + 1)),
            _ => lines.push(format!("{}-{} not done", at + 1, report.of)),
        }
    }
    lines
}

/// Whether it is known that no text of the call is a secret.
fn tells_no_secret(call: &Call, report: &Report) -> bool {
    let sends_text = |action: &Action| match action {
        Action::Input(Input::Click { then, .. } | Input::Type { typing: then }) => {
            then.text.is_some() || then.key.and_then(character_of).is_some()
        }
        Action::Input(Input::PressKey { press }) => character_of(*press).is_some(),
        Action::Quiet(Quiet::SetValue { .. }) => true,
        _ => false,
    };
    let public = |i: usize| match report.ended_steps.get(i) {
        Some(step) => step.public,
        None => report.is_public(),
    };
    let reached = call.actions().take(report.ended_steps.len() + 1);
    reached
        .enumerate()
        .all(|(i, action)| !sends_text(action) || public(i))
}

/// What a step did has at most this many characters.
const STEP: usize = 90;

/// The arguments as received. Texts and keys that may be secrets are hidden.
fn arguments(call: &Call, report: &Report) -> Map<String, Value> {
    let mut arguments = call.arguments.clone();
    if !call.is_chain() {
        if !report.is_public() {
            hide(&mut arguments, &call.action);
        }
        return arguments;
    }
    let steps = arguments.get_mut("steps").and_then(Value::as_array_mut);
    let steps = steps.into_iter().flatten().zip(call.actions());
    for (i, (arguments, action)) in steps.enumerate() {
        let public = match report.ended_steps.get(i) {
            Some(step) => step.public,
            None => i == report.ended_steps.len() && report.is_public(),
        };
        if let Some(arguments) = arguments.as_object_mut().filter(|_| !public) {
            hide(arguments, action);
        }
    }
    arguments
}

/// Hides the text of one action, and a key that types a character.
fn hide(arguments: &mut Map<String, Value>, action: &Action) {
    let key = match action {
        Action::Input(Input::PressKey { press }) => Some(*press),
        Action::Input(Input::Click { then, .. } | Input::Type { typing: then }) => then.key,
        _ => None,
    };
    let is_character = key.and_then(character_of).is_some();
    let keys: &[&str] = if is_character {
        &["keyName", "pressKey"]
    } else {
        &[]
    };
    for name in ["text", "value"].iter().chain(keys) {
        if let Some(value) = arguments.get_mut(*name) {
            *value = HIDDEN.into();
        }
    }
}
