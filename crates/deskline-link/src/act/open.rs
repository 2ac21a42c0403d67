//! Opening an app: how long a start may take, and bringing its window to the front.

use std::time::Duration;

use crate::apps::{Opened, Permit, Progress};
use crate::checkpoint::Checkpoint;
use crate::error::{Error, OpenError, Result};
use crate::policy::Policy;
use crate::report::Notes;
use crate::trees::Scope;
use deskline_input::clock::Instant;

/// The longest that a started app may take to show a window with a tree. LibreOffice takes 5 s on a
/// quiet machine.
const START: Duration = Duration::from_secs(45);

/// The polling interval. Process, window and tree of an app come from three sources, and only one
/// of them sends events.
const LOOK: Duration = Duration::from_millis(30);

/// Opens an app, which becomes the link's subject, and brings its window to the front. If the
/// window does not come to the front, the answer only gets a note, because the app is open. Returns
/// whether this call started the app.
pub(crate) fn open(
    desk: &mut Checkpoint<'_>,
    identifier: &str,
    permit: Permit<'_>,
    policy: &Policy,
    notes: &mut Notes,
) -> Result<bool> {
    let (pid, is_new) = match desk.open(identifier, permit)? {
        Opened::Running(pid) => {
            policy.approve(&mut **desk, pid)?;
            (pid, false)
        }
        Opened::Started(name) => (started(desk, &name)?, true),
    };
    desk.subject.opened(pid);
    // Prefers a new window, even if the app was running already.
    let windows = desk.windows_of(pid)?;
    let came = windows.iter().find(|window| !desk.was_there(window.id));
    let window = came.or(windows.first()).map(|window| window.id);
    if let Some(window) = window.filter(|_| desk.raising().is_ok()) {
        match desk.raise(window, desk.cancel) {
            Err(e @ Error::Cancelled(_)) => return Err(e),
            Err(e) => notes.add(format!(
                "the app is open, but its window stays in the background: {e}"
            )),
            Ok(()) => {}
        }
    }
    Ok(is_new)
}

/// Waits until the started app has a window and a tree.
fn started(desk: &mut Checkpoint<'_>, name: &str) -> Result<u32> {
    let mut waiting: Option<Instant> = None;
    let ready = desk.until(START, LOOK, |desk| match desk.progress()? {
        Progress::Ready(pid) => Ok(Some(pid)),
        Progress::Starting => Ok(None),
        Progress::Waiting(pid, hint) => {
            let since = *waiting.get_or_insert_with(Instant::now);
            if since.elapsed() <= hint.joins() {
                return Ok(None);
            }
            // Some apps have windows but no tree.
            match desk.read(pid, Scope::Showing) {
                Ok(_) => Ok(Some(pid)),
                Err(_) => Err(Error::no_window(pid, name, hint)),
            }
        }
    })?;
    if let Some(pid) = ready {
        return Ok(pid);
    }
    let written = desk.complaint();
    Err(OpenError::no_window(name, START.as_secs(), written.as_deref()).into())
}
