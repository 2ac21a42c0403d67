//! The clock of links and input: the system's clock, or in a test a clock that advances only while
//! something waits. So a test waits seconds in microseconds, and each run is the same.

use std::cell::Cell;
use std::ops::Add;
use std::time::{self, Duration};

thread_local! {
    static STOPPED: Cell<Option<time::Instant>> = const { Cell::new(None) };
}

/// A moment of this thread's clock, like [`std::time::Instant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(time::Instant);

impl Instant {
    /// The present moment.
    pub fn now() -> Self {
        Self(STOPPED.get().unwrap_or_else(time::Instant::now))
    }

    /// The time since this moment.
    pub fn elapsed(self) -> Duration {
        Self::now().saturating_duration_since(self)
    }

    /// The time since an earlier moment; zero if `earlier` is later than this moment.
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
    }
}

/// For tests: stops this thread's clock. Only [`pass`] and waits advance it.
pub fn stop() {
    STOPPED.set(Some(Instant::now().0));
}

/// Advances this thread's clock if the clock is stopped. Returns whether it is stopped.
pub fn pass(time: Duration) -> bool {
    let now = STOPPED.get();
    STOPPED.set(now.map(|now| now + time));
    now.is_some()
}
