//! Waits for an app's events: handlers on other threads set a flag.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_link::Sign;

use super::uia::{Answer, Uia};

/// A subscription to one app's events.
pub struct Listening<U: Uia> {
    heard: Arc<(Mutex<Option<Sign>>, Condvar)>,
    _listener: U::Listener,
}

impl<U: Uia> Listening<U> {
    pub fn to(uia: &U, pid: u32) -> Answer<Self> {
        let heard = Arc::new((Mutex::new(None), Condvar::new()));
        let sets = Arc::clone(&heard);
        let hear = move |sign: Sign| {
            let (heard, rings) = &*sets;
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            *heard = (*heard).max(Some(sign));
            rings.notify_all();
        };
        Ok(Self {
            heard,
            _listener: uia.listen(pid, Arc::new(hear))?,
        })
    }

    /// Waits for an event, for at most `time`.
    pub fn wait(&self, time: Duration) -> Option<Sign> {
        let until = Instant::now() + time;
        let (heard, rings) = &*self.heard;
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(sign) = heard.take() {
                return Some(sign);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = rings.wait_timeout(heard, left);
            heard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
