//! One app's calls reach the queue in the order in which they came, although each first asks the
//! app whether it answers, and an app that hangs keeps only its own calls back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Whose turn it is, by pid.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<u32, Arc<Turn<()>>>>);

impl Turns {
    /// Waits for the turn of this call among those of its app. Waiters are served in the order in
    /// which they were first polled.
    pub(crate) async fn take(&self, pid: u32) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody holds or waits for those that only the map knows.
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(pid).or_default())
        };
        turn.lock_owned().await
    }
}
