//! Stopping a link from outside: a cancelled request, the person's Esc, the server's end.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Why a link was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The client cancelled its request.
    Request,
    /// The person pressed Esc.
    Person,
    /// The guard was held for longer than its limit.
    Watchdog,
    /// The guard was lost while it held: its connection to the display broke.
    Unguarded,
    /// The server is stopping.
    Stopping,
}

/// A flag that any thread can raise and that every wait of a link looks at. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    inner: Arc<(Mutex<Option<Reason>>, Condvar)>,
}

impl Cancel {
    /// A flag that is down.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises it. The first reason stays.
    pub fn cancel(&self, reason: Reason) {
        let (flag, raised) = &*self.inner;
        flag.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(reason);
        raised.notify_all();
    }

    /// Why it was raised, if it was.
    pub fn reason(&self) -> Option<Reason> {
        *self.inner.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error once it was raised.
    pub fn check(&self) -> Result<()> {
        self.reason()
            .map_or(Ok(()), |reason| Err(Error::Cancelled(reason)))
    }

    /// Waits for `time`, less if it is raised meanwhile; then an error.
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
