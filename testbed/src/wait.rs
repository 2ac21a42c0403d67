//! Waits for a condition of a real desktop, with a time limit.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time limit of a wait: longer than any healthy app, server or desktop takes on a busy machine
/// with two cores.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The polling interval, for conditions without an event.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The result of a look, which [`until`] waits for.
pub trait Look {
    type Found;

    fn found(self) -> Option<Self::Found>;
}

impl<T> Look for Option<T> {
    type Found = T;

    fn found(self) -> Self {
        self
    }
}

impl Look for bool {
    type Found = ();

    fn found(self) -> Option<()> {
        self.then_some(())
    }
}

/// Polls `look` until it is true, or returns something.
///
/// # Panics
/// If it returns nothing within [`PATIENCE`].
pub fn until<L: Look>(what: &str, mut look: impl FnMut() -> L) -> L::Found {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().found() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(LOOK_AGAIN);
    }
}
