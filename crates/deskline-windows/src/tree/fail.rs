//! The errors about an app as a whole.

use std::time::Duration;

use deskline_contract::{Error, WindowHint};

use super::uia::Failure;
use crate::display::privilege::ELEVATED;
use crate::os;

/// How long an app may take to answer one call. The same on every platform.
pub const PATIENCE: Duration = Duration::from_secs(2);

pub fn no_window(pid: u32, hint: WindowHint) -> Error {
    let name = os::process(pid).map(|process| process.name);
    Error::no_window(pid, name.unwrap_or_default(), hint)
}

/// The error for a failed call about an app as a whole.
pub fn failed(pid: u32, failure: &Failure) -> Error {
    let Some(process) = os::process(pid) else {
        return Error::NoProcess(pid);
    };
    match failure {
        Failure::TimedOut => Error::not_answering(pid, process.name, PATIENCE),
        failure => no_window(pid, WindowHint::SystemError(text(failure))),
    }
}

/// The failure in words.
pub fn text(failure: &Failure) -> String {
    match failure {
        Failure::Denied => format!("access is denied: {ELEVATED}"),
        Failure::Other(text) => text.clone(),
        failure => format!("{failure:?}"),
    }
}
