//! Waits until an app has processed the typed keys.

use deskline_contract::{Result, wait};
use std::time::Duration;

use deskline_input::Cancel;
use deskline_unix::family::Family;

/// An app has processed a control character once its main threads have slept for this long: by then
/// it has also run its idle tasks. LibreOffice moves the cell cursor after a Tab in such a task,
/// which comes after all keys that have arrived. A shorter sleep may be a wait for the X server.
const IDLE: Duration = Duration::from_millis(5);

/// How long to wait until an app is idle. If it is busy for longer, it is busy with something else:
/// it plays a video, or checks the spelling.
const NEVER_IDLE: Duration = Duration::from_millis(250);

/// How long to wait at the next control character for an app that did not become idle.
const RESTLESS: Duration = Duration::from_millis(25);

/// The app that is typed into, and whether it is always busy.
#[derive(Default)]
pub(super) struct Taking {
    /// The app's processes, listed when they are first needed.
    family: Option<Family>,
    /// Whether the last wait ended at its limit.
    restless: bool,
}

impl Taking {
    /// Waits until the app is idle, 250 ms at most.
    pub(super) fn await_idle(&mut self, pid: u32, cancel: &Cancel) -> Result<()> {
        let family = self.family.get_or_insert_with(|| Family::new(pid));
        let limit = if self.restless { RESTLESS } else { NEVER_IDLE };
        let mut last = None;
        self.restless = !wait::holds(cancel, limit, IDLE, || {
            let now = family.asleep();
            let same = now.is_some() && now == last;
            last = now;
            Ok(same)
        })?;
        Ok(())
    }
}
