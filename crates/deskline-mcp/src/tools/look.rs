//! Tools that open, list and read apps, or wait for them.

use std::time::Duration;

use deskline_link::Action;
use deskline_link::call::Awaited;

use super::arg::{Arg, ELEMENT, PID, REF, ROLE, Type, WINDOW};
use super::record::{Effect, Handler, ToolRecord};
use crate::args::{Args, Wrong, shown};

pub(super) static OPEN: ToolRecord = ToolRecord {
    name: "open_application_and_traverse",
    about: "Start an app, or bring a running one to the front. Answers with its pid.",
    args: &[Arg::required(
        "identifier",
        Type::Text,
        "an app's name, bundle or desktop-file id, or path, then documents or URLs; any command line \
            unless the user restricts apps",
    )],
    effect: Effect::Act,
    handler: Handler::Link(|args| {
        let identifier = args.filled("identifier", "an app's name, id or path")?;
        Ok(Action::open(identifier.unwrap_or_default()))
    }),
};

pub(super) static REFRESH: ToolRecord = ToolRecord {
    name: "refresh_traversal",
    about: "Read an app's window again if it changed by itself: each action answers with a fresh \
        tree anyway.",
    args: &[PID, WINDOW],
    effect: Effect::Look,
    handler: Handler::Link(|_| Ok(Action::Refresh)),
};

/// A step of a chain, but no tool of its own.
pub(super) static READ: ToolRecord = ToolRecord {
    name: "read",
    about: "",
    args: &[ELEMENT, ROLE, REF],
    effect: Effect::Look,
    handler: Handler::Link(|args| {
        Ok(Action::Read {
            target: args.element()?,
        })
    }),
};

pub(super) static LIST_APPLICATIONS: ToolRecord = ToolRecord {
    name: "list_applications",
    about: "The running apps that have windows: name, pid, which is in front, window titles.",
    // Gemini refuses a tool without any argument.
    args: &[Arg::optional(
        "name",
        Type::Text,
        "part of a name; default: all",
    )],
    effect: Effect::Look,
    handler: Handler::Applications,
};

pub(super) static WAIT_FOR: ToolRecord = ToolRecord {
    name: "wait_for_and_traverse",
    about: "Wait until an element is present, absent or has a state; do not poll.",
    args: &[
        PID,
        ELEMENT,
        ROLE,
        REF,
        Arg::optional(
            "state",
            Type::Choice(states),
            "default present; loaded: its web page",
        ),
        Arg::optional("timeout", Type::Number, "seconds: default 10, at most 300"),
    ],
    effect: Effect::Look,
    handler: Handler::Link(wait_for),
};

fn wait_for(args: Args<'_>) -> Result<Action, Wrong> {
    Ok(Action::WaitFor {
        target: args.element()?,
        state: awaited(args.text("state")?.unwrap_or("present"))?,
        timeout: args.seconds("timeout", 300, Duration::from_secs(10))?,
    })
}

/// The words of `state`.
fn states() -> Vec<&'static str> {
    Awaited::words().map(|(word, _)| word).collect()
}

fn awaited(word: &str) -> Result<Awaited, Wrong> {
    let lower = word.trim().to_lowercase();
    let found = Awaited::words().find(|(known, _)| *known == lower);
    let wrong = || {
        let (words, word) = (states().join(", "), shown(&word.into()));
        format!("state must be one of {words}, not {word}")
    };
    found.map(|(_, state)| state).ok_or_else(wrong)
}
