//! The calls in flight, so that a stopping server can cancel all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use deskline_link::{Cancel, Reason};

/// The cancel flags of all calls that have no answer yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live(Arc<Mutex<Flags>>);

#[derive(Debug, Default)]
struct Flags {
    stopping: Option<Instant>,
    next: u64,
    calls: HashMap<u64, Cancel>,
}

/// Removes a call's flag when dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    live: Live,
    number: u64,
}

impl Live {
    /// Adds a call. Cancels it at once if the server is stopping.
    pub(crate) fn register(&self, cancel: &Cancel) -> Registration {
        let mut flags = self.lock();
        let number = flags.next;
        flags.next += 1;
        flags.calls.insert(number, cancel.clone());
        if flags.stopping.is_some() {
            cancel.cancel(Reason::Stopping);
        }
        Registration {
            live: self.clone(),
            number,
        }
    }

    /// Cancels all calls, present and future. Returns the time of the first call of this method.
    pub(crate) fn stop(&self) -> Instant {
        let mut flags = self.lock();
        let since = *flags.stopping.get_or_insert_with(Instant::now);
        for cancel in flags.calls.values() {
            cancel.cancel(Reason::Stopping);
        }
        since
    }

    /// The reason why the call must not start, if there is one. Waits while [`Live::stop`] cancels
    /// the calls in flight: otherwise the end of a cancelled call could start the next one.
    pub(crate) fn stopped(&self, cancel: &Cancel) -> Option<Reason> {
        let _raised = self.lock();
        cancel.reason()
    }

    fn lock(&self) -> MutexGuard<'_, Flags> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.live.lock().calls.remove(&self.number);
    }
}
