//! Waiting for a condition of a real desktop, with a bound.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// No healthy app, server or desktop takes longer for anything, on a busy machine with two cores.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks at what sends no event.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// What `look` finds, as soon as it finds it.
///
/// # Panics
/// Where it does not within [`PATIENCE`].
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
