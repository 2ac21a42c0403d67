//! Waits until an app has carried out what was typed.

use std::time::{Duration, Instant};

use deskline_input::Cancel;
use deskline_link::Result;
use deskline_unix::family::Family;

/// An app has taken a control character once its main threads have slept for this long. It has then
/// also carried out what it had put off: LibreOffice moves the cell cursor for a Tab when it is
/// idle, after all keys that are there by then. A shorter time may be a wait for the X server.
const IDLE: Duration = Duration::from_millis(5);

/// How long to wait for that. An app that is not idle by then is busy by itself: it plays a video,
/// or Writer checks the spelling.
const NEVER_IDLE: Duration = Duration::from_millis(250);

/// How long to wait for such an app at the next control character.
const RESTLESS: Duration = Duration::from_millis(25);

/// The app that is typed into, and whether it takes its time.
#[derive(Default)]
pub(super) struct Taking {
    /// Its processes, once they are needed.
    family: Option<Family>,
    /// Whether it was busy for as long as it was last waited for.
    restless: bool,
}

impl Taking {
    /// Waits until the app is idle (bounded).
    pub(super) fn await_idle(&mut self, pid: u32, cancel: &Cancel) -> Result<()> {
        let family = self.family.get_or_insert_with(|| Family::new(pid));
        let limit = if self.restless { RESTLESS } else { NEVER_IDLE };
        let until = Instant::now() + limit;
        let mut last = family.asleep();
        self.restless = loop {
            cancel.wait(IDLE)?;
            let now = family.asleep();
            if now.is_some() && now == last {
                break false;
            }
            if Instant::now() >= until {
                break true;
            }
            last = now;
        };
        Ok(())
    }
}
