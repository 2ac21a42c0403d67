//! The calls that are queued or running, so that the server's end can stop them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use deskline_link::Cancel;
use deskline_link::cancel::Reason;

/// The flags of all calls that have no answer yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live(Arc<Mutex<Flags>>);

#[derive(Debug, Default)]
struct Flags {
    stopping: Option<Instant>,
    next: u64,
    calls: HashMap<u64, Cancel>,
}

/// Takes a call's flag out again when it is dropped.
#[derive(Debug)]
pub(crate) struct Entry {
    live: Live,
    number: u64,
}

impl Live {
    /// Adds a call; once the server is stopping its flag is raised at once.
    pub(crate) fn enter(&self, cancel: &Cancel) -> Entry {
        let mut flags = self.lock();
        let number = flags.next;
        flags.next += 1;
        flags.calls.insert(number, cancel.clone());
        if flags.stopping.is_some() {
            cancel.cancel(Reason::Stopping);
        }
        Entry {
            live: self.clone(),
            number,
        }
    }

    /// Stops every call there is and every one that comes; says when it was first asked to.
    pub(crate) fn stop(&self) -> Instant {
        let mut flags = self.lock();
        let since = *flags.stopping.get_or_insert_with(Instant::now);
        for cancel in flags.calls.values() {
            cancel.cancel(Reason::Stopping);
        }
        since
    }

    /// Why a call is not to start. Where the server is being stopped this waits until every flag is
    /// raised, so that the end of one call does not start the next.
    pub(crate) fn stopped(&self, cancel: &Cancel) -> Option<Reason> {
        let _raised = self.lock();
        cancel.reason()
    }

    fn lock(&self) -> MutexGuard<'_, Flags> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.live.lock().calls.remove(&self.number);
    }
}
