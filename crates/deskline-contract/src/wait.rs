//! Waits for what no event reports, by asking again and again: [`deskline_input::wait`], with the
//! errors of a link.

use std::time::Duration;

pub use deskline_input::wait::pause;
use deskline_input::{Cancel, wait};

use crate::error::Result;

/// The usual time between two questions of a wait.
pub const LOOK: Duration = Duration::from_millis(10);

/// Asks at intervals of `every` until there is an answer, and once more when `limit` has passed.
pub fn until<T>(
    cancel: &Cancel,
    limit: Duration,
    every: Duration,
    ask: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    wait::until(cancel, limit, every, ask)
}

/// Like [`until`], for a condition that is true or false.
pub fn holds(
    cancel: &Cancel,
    limit: Duration,
    every: Duration,
    mut is_so: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    until(cancel, limit, every, || Ok(is_so()?.then_some(()))).map(|held| held.is_some())
}
