//! The errors about an app as a whole.

use std::time::Duration;

use deskline_link::{Error, WindowHint};

use super::uia::{Failure, Uia};

/// How long an app may take to answer one call. The same on every platform.
pub const PATIENCE: Duration = Duration::from_secs(2);

pub fn no_window<U: Uia>(uia: &U, pid: u32, hint: WindowHint) -> Error {
    let name = uia.process(pid).map(|process| process.name);
    Error::NoWindow {
        pid,
        name: name.unwrap_or_default(),
        hint,
    }
}

/// The error for a failed call about an app as a whole.
pub fn failed<U: Uia>(uia: &U, pid: u32, failure: &Failure) -> Error {
    let Some(process) = uia.process(pid) else {
        return Error::NoProcess(pid);
    };
    match failure {
        Failure::TimedOut => Error::NotAnswering {
            app: process.name,
            pid,
            ms: PATIENCE.as_millis(),
        },
        failure => no_window(uia, pid, WindowHint::SystemError(format!("{failure:?}"))),
    }
}
