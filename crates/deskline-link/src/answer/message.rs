//! The words of an error: the action so far, the failure, and the next step.

use deskline_journal::Outcome;

use crate::call::Call;
use crate::error::Error;
use crate::report::Report;
use deskline_input::Reason;

/// The error text: the action so far, the failure, and the next step.
pub(super) fn message(e: &Error, call: &Call, report: &Report) -> String {
    let said = step_message(e, call, report);
    let all = call.actions().count();
    let Some((at, nth)) = report.current_run(call) else {
        return said;
    };
    let step = match call.repeats(at) {
        1 => String::new(),
        runs => format!(", run {nth} of {runs}"),
    };
    match (at, nth) {
        _ if !call.is_chain => said,
        (0, 1) if matches!(e, Error::Cancelled(_)) => said,
        (0, _) => format!("Step 1 of {all}{step}: {said}"),
        _ => format!("Did {at} of {all} steps. Step {}{step}: {said}", at + 1),
    }
}

fn step_message(e: &Error, call: &Call, report: &Report) -> String {
    let tool = call.tool();
    let done = report.step.done.sentence(report.is_public());
    if let Error::Cancelled(reason) = e {
        let mut message = cancelled(*reason, tool);
        if report.step.done.underway {
            message += ". Some of the input may have arrived. Call refresh_traversal to see";
        }
        return if report.step.done.is_empty() {
            message
        } else {
            format!("{done}. {message}")
        };
    }
    let unknown = report.step.done.underway && !e.did_nothing();
    if let (false, Error::NoEffect(why)) = (report.step.done.is_empty(), e) {
        return format!("{done}, but {why}");
    }
    match (report.step.done.is_empty(), unknown) {
        (true, false) => e.to_string(),
        (true, true) => format!("{e}. The action may have been done: look before you repeat it"),
        (false, _) => {
            format!("{done}; then: {e}. Look before you repeat it")
        }
    }
}

fn cancelled(reason: Reason, tool: &str) -> String {
    match reason {
        Reason::Person => format!("Cancelled: the user pressed Esc during {tool}"),
        Reason::Request => format!("Cancelled: the client cancelled its request during {tool}"),
        Reason::Stopping => format!("Cancelled: the server was stopped during {tool}"),
        Reason::Watchdog => format!("{tool} held the user's input for too long and was stopped"),
        Reason::Unguarded => {
            format!("{tool} was stopped: the lock on the user's input was lost")
        }
    }
}

pub(super) fn outcome(failed: Option<&Error>, message: Option<&str>) -> Outcome {
    let asked = [Reason::Person, Reason::Request, Reason::Stopping];
    match (failed, message) {
        (Some(Error::Cancelled(reason)), _) if asked.contains(reason) => Outcome::Cancelled,
        (Some(_), Some(message)) => Outcome::Error(message.to_owned()),
        _ => Outcome::Ok,
    }
}
