//! Stops a link from outside: a cancelled request, the person's Esc, the server's shutdown.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use crate::error::Reason;
use crate::error::{Error, Result};

/// A cancellation flag that any thread can raise and that every wait of a link checks. Clones share
/// the flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    inner: Arc<(Mutex<Option<Reason>>, Condvar)>,
}

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag. If it is raised already, the first reason stays.
    pub fn cancel(&self, reason: Reason) {
        let (flag, raised) = &*self.inner;
        flag.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(reason);
        raised.notify_all();
    }

    /// Why the flag was raised. `None` if it was not.
    pub fn reason(&self) -> Option<Reason> {
        *self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if the flag was raised.
    pub fn check(&self) -> Result<()> {
        self.reason()
            .map_or(Ok(()), |reason| Err(Error::Cancelled(reason)))
    }

    /// Waits for `time`. Fails at once if the flag is raised, before or during the wait.
    pub fn wait(&self, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        let (flag, raised) = &*self.inner;
        let mut reason = flag.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(reason) = *reason {
                return Err(Error::Cancelled(reason));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            reason = raised
                .wait_timeout(reason, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}
