//! Stops a link from outside: a cancelled request, the person's Esc, the server's shutdown.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::clock;

thread_local! {
    static CURRENT: RefCell<Cancel> = RefCell::default();
}

/// While this value lives, the flag that [`Cancel::enter`] was called on is [`Cancel::current`].
pub struct Current(Cancel);

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.replace(std::mem::take(&mut self.0));
    }
}

/// Why a call was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The client cancelled its request.
    Request,
    /// The person pressed Esc.
    Person,
    /// The guard held the devices for longer than its limit.
    Watchdog,
    /// The guard lost the grab because its connection to the display broke.
    Unguarded,
    /// The server is stopping.
    Stopping,
}

/// A [`Cancel`] flag was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled: {0:?}")]
pub struct Cancelled(pub Reason);

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

    /// Makes this the flag of this thread. Waits that get no flag from their caller check this one,
    /// for example the waits while a tree is read.
    #[must_use]
    pub fn enter(&self) -> Current {
        Current(CURRENT.replace(self.clone()))
    }

    /// The flag of this thread's link. Outside of a link, a flag that is not raised.
    pub fn current() -> Self {
        CURRENT.with_borrow(Self::clone)
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
    pub fn check(&self) -> Result<(), Cancelled> {
        self.reason()
            .map_or(Ok(()), |reason| Err(Cancelled(reason)))
    }

    /// Waits for `time`. Fails as soon as the flag is raised, before or during the wait.
    pub fn wait(&self, time: Duration) -> Result<(), Cancelled> {
        if clock::pass(time) {
            return self.check();
        }
        let (flag, raised) = &*self.inner;
        let reason = flag.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = raised.wait_timeout_while(reason, time, |reason| reason.is_none());
        let reason = *waited.unwrap_or_else(PoisonError::into_inner).0;
        reason.map_or(Ok(()), |reason| Err(Cancelled(reason)))
    }
}
