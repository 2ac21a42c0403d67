//! The test in progress.

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_link::selftest::Sheet;

use crate::display::WinDisplay;

/// How long an effect may take to show.
pub(super) const SHOWS: Duration = Duration::from_secs(2);

/// The test in progress.
pub(super) struct Test<'t> {
    pub(super) sheet: Sheet<'t>,
    pub(super) display: WinDisplay,
    pub(super) program: &'t Path,
}

/// Looks until it is there, for at most `time`.
pub(super) fn within<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let found = look();
        if found.is_some() || start.elapsed() >= time {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
