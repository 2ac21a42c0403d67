//! Waits, by asking again and again, for what no event reports.

use std::time::Duration;

use crate::cancel::{Cancel, Cancelled};
use crate::clock::Instant;

/// Asks at intervals of `every` until there is an answer, and once more when `limit` has passed.
///
/// # Errors
///
/// Those of `ask`, or [`Cancelled`] between two questions.
pub fn until<T, E: From<Cancelled>>(
    cancel: &Cancel,
    limit: Duration,
    every: Duration,
    mut ask: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let start = Instant::now();
    loop {
        let answer = ask()?;
        if answer.is_some() || start.elapsed() >= limit {
            return Ok(answer);
        }
        cancel.wait(every)?;
    }
}

/// Like [`until`], for a short wait that nobody can cancel.
pub fn briefly<T>(
    limit: Duration,
    every: Duration,
    mut ask: impl FnMut() -> Option<T>,
) -> Option<T> {
    let found: Result<_, Cancelled> = until(&Cancel::new(), limit, every, || Ok(ask()));
    found.ok().flatten()
}

/// A pause of some milliseconds that belongs to the input, such as the one between two clicks.
pub fn pause(time: Duration) {
    // Nobody can cancel this new flag.
    let _ = Cancel::new().wait(time);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reason, clock};

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_condition_is_checked_once_more_after_the_limit() {
        clock::stop();
        let (start, mut asked) = (Instant::now(), 0);
        let none: Result<Option<()>, Cancelled> = until(&Cancel::new(), 50 * MS, 20 * MS, || {
            asked += 1;
            Ok(None)
        });
        assert_eq!((none, asked), (Ok(None), 4), "at 0, 20, 40 and 60 ms");
        assert_eq!(start.elapsed(), 60 * MS);
    }

    #[test]
    fn a_cancelled_wait_ends_after_the_check_under_way() {
        let cancel = Cancel::new();
        let mut asked = 0;
        let found: Result<Option<()>, _> = until(&cancel, 60_000 * MS, MS, || {
            asked += 1;
            cancel.cancel(Reason::Person);
            Ok(None)
        });
        assert_eq!((found, asked), (Err(Cancelled(Reason::Person)), 1));
    }
}
