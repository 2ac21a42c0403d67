//! Keeps the calls about one app in order while each pings the app. An app that hangs delays only
//! the calls about it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Line, OwnedMutexGuard};

/// The turn of a call. When this is dropped, the next call about the app has its turn.
pub(crate) type Turn = OwnedMutexGuard<()>;

/// A fair lock for each pid.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<u32, Arc<Line<()>>>>);

impl Turns {
    /// Waits for the turn of a call about this app. Calls are served in the order in which they
    /// were first polled.
    pub(crate) async fn take(&self, pid: u32) -> Turn {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Drop the locks that nobody holds or waits for.
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(pid).or_default())
        };
        turn.lock_owned().await
    }
}
