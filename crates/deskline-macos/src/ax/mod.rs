//! Accessibility: reads an app's tree, identifies its elements, acts on them.

pub(crate) mod act;
pub(crate) mod facts;
pub(crate) mod identity;
pub(crate) mod listen;
mod long_text;
mod node;
pub(crate) mod reuse;
pub(crate) mod tree;
pub(crate) mod visible_rows;
pub(crate) mod wake;
pub(crate) mod walk;

use std::time::Duration;

use deskline_contract::{Error, WindowHint};
use deskline_core::escape;

use crate::os::{AxError, Os, name_of};

/// How long an app may take to answer one accessibility call. The same on every platform.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Whether an app answers within this time.
pub(crate) fn answers<O: Os>(os: &O, pid: u32, time: Duration) -> bool {
    let app = os.application(pid);
    os.set_timeout(&app, time);
    os.attributes(&app, &["AXRole"]).is_ok()
}

/// The error for an accessibility error on an app's own element.
pub(crate) fn failed<O: Os>(os: &O, pid: u32, error: AxError) -> Error {
    let Some(process) = os.process(pid) else {
        return Error::NoProcess(pid);
    };
    let app = name_of(os, pid).unwrap_or(process.name);
    match error {
        AxError::CANNOT_COMPLETE => Error::not_answering(pid, app, PATIENCE),
        AxError::API_DISABLED => Error::Unavailable(crate::permissions::untrusted(os)),
        error => {
            let hint = WindowHint::SystemError(error.to_string());
            Error::no_window(pid, escape::short(&app, 40), hint)
        }
    }
}
