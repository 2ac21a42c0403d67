//! Waits for a condition of a real desktop, with a time limit.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any healthy app, server or desktop takes, on a busy machine with two cores.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The polling interval, for conditions without an event.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Polls `look` until it returns something.
///
/// # Panics
/// If it returns nothing within [`PATIENCE`].
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(LOOK_AGAIN);
    }
}
