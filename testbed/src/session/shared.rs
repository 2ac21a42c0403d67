//! Sessions that tests use one after the other, because a compositor takes seconds to start.
//!
//! A session whose test has passed is kept here for the next test that needs one of its kind. Files
//! that the test has left in it are removed. The session ends instead if its compositor has ended,
//! or if the person's settings differ from those at the start. A test that leaves something else
//! behind calls [`super::Session::ends_with_the_test`].

use std::ffi::OsStr;
use std::fs;
use std::sync::{Mutex, PoisonError};

use super::folder::{SETTINGS_FILE, names};
use super::running::Running;

/// The maximum number of idle sessions: more than a test program has kinds of sessions.
const MOST: usize = 6;

static IDLE: Mutex<Vec<(String, Running)>> = Mutex::new(Vec::new());

/// Takes an idle session of this kind.
pub(super) fn take(kind: &str) -> Option<Running> {
    loop {
        let found = {
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            let at = idle.iter().position(|(its, _)| its == kind)?;
            idle.remove(at).1
        };
        // Check now, not when the session is given back: apps of the test may still be ending then.
        if found.is_as_new() {
            return Some(found);
        }
    }
}

/// Keeps a session for the next test.
pub(super) fn give(kind: String, running: Running) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push((kind, running));
    let surplus = idle.len().saturating_sub(MOST);
    let oldest: Vec<_> = idle.drain(..surplus).collect();
    drop(idle);
    drop(oldest);
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

impl Running {
    /// Removes the files that a test has left in the session's folder. Returns whether the next
    /// test may use the session.
    fn is_as_new(&self) -> bool {
        let folder = self.folder.path();
        let settings = fs::read_to_string(folder.join(SETTINGS_FILE)).unwrap_or_default();
        let left = folder.join(".local/share/applications").exists();
        if settings != self.settings || left {
            return false;
        }
        let new = names(folder);
        // Hidden folders are those of the session's programs.
        let new = new.difference(&self.names).filter(|name| !is_hidden(name));
        for name in new {
            let path = folder.join(name);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
        let mut ping = self.place.command("/usr/bin/kill".as_ref(), folder);
        let ping = ping.arg("-0").arg(&self.environment["COMPOSITOR_PID"]);
        ping.status().is_ok_and(|status| status.success())
    }
}
