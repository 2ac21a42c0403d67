//! The arguments of a call for the journal, without secrets.

use serde_json::{Map, Value};

use crate::call::{Action, Call, Quiet};
use crate::report::Report;
use crate::secrecy::{HIDDEN, character_of};

/// Whether no text of the call can be a secret.
pub(super) fn tells_no_secret(call: &Call, report: &Report) -> bool {
    let sends_text = |action: &Action| {
        let (text, key) = action.keys();
        let sets = matches!(action, Action::Quiet(Quiet::SetValue { .. }));
        sets || text.is_some() || key.and_then(character_of).is_some()
    };
    let public = |i: usize| match report.ended_runs.get(i) {
        Some(run) => run.public,
        None => report.is_public(),
    };
    let reached = call.runs().take(report.ended_runs.len() + 1);
    reached
        .enumerate()
        .all(|(i, (_, action))| !sends_text(action) || public(i))
}

/// The arguments as received. Texts and keys that may be secrets are hidden.
pub(super) fn arguments(call: &Call, report: &Report) -> Map<String, Value> {
    let mut arguments = call.arguments.clone();
    if !call.is_chain {
        if !report.is_public() {
            hide(&mut arguments, &call.action);
        }
        return arguments;
    }
    let steps = arguments.get_mut("steps").and_then(Value::as_array_mut);
    let steps = steps.into_iter().flatten().zip(call.actions());
    let ended = report.ended_runs.iter().map(|run| (run.step, run.public));
    let current = call.runs().nth(report.ended_runs.len());
    let current = current.map(|(step, _)| (step, report.is_public()));
    let reached: Vec<(usize, bool)> = ended.chain(current).collect();
    for (i, (arguments, action)) in steps.enumerate() {
        let mut runs = reached.iter().filter(|(step, _)| *step == i).peekable();
        let public = runs.peek().is_some() && runs.all(|(_, public)| *public);
        if let Some(arguments) = arguments.as_object_mut().filter(|_| !public) {
            hide(arguments, action);
        }
    }
    arguments
}

/// Hides the text of one action, and a key that types a character.
fn hide(arguments: &mut Map<String, Value>, action: &Action) {
    let (_, key) = action.keys();
    let is_character = key.and_then(character_of).is_some();
    let keys: &[&str] = if is_character {
        &["keyName", "pressKey"]
    } else {
        &[]
    };
    for name in ["text", "value", "choose"].iter().chain(keys) {
        if let Some(value) = arguments.get_mut(*name) {
            *value = HIDDEN.into();
        }
    }
}
