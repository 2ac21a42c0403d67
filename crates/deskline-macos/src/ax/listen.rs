//! Notifications: the signal that something changed, and which elements were destroyed.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::os::{Ax, Os};

/// The notifications to request of an app.
const NOTIFICATIONS: &[&str] = &[
    DESTROYED,
    "AXCreated",
    "AXFocusedUIElementChanged",
    "AXFocusedWindowChanged",
    "AXLayoutChanged",
    "AXMainWindowChanged",
    "AXMenuClosed",
    "AXMenuOpened",
    "AXRowCollapsed",
    "AXRowCountChanged",
    "AXRowExpanded",
    "AXSelectedCellsChanged",
    "AXSelectedChildrenChanged",
    "AXSelectedRowsChanged",
    "AXSheetCreated",
    "AXTitleChanged",
    "AXValueChanged",
    "AXWindowCreated",
    "AXWindowMiniaturized",
    "AXWindowDeminiaturized",
    "AXLoadComplete",
];

/// `kAXUIElementDestroyedNotification`
const DESTROYED: &str = "AXUIElementDestroyed";

/// Record at most this many destroyed elements.
const MOST: usize = 10_000;

/// What was heard since the last time.
#[derive(Debug)]
struct Heard<E> {
    any: bool,
    destroyed: Vec<E>,
}

/// A subscription to one app's notifications.
pub(crate) struct Listening<O: Os> {
    /// The app.
    pub(crate) pid: u32,
    heard: Arc<(Mutex<Heard<O::Element>>, Condvar)>,
    _observer: O::Observer,
}

impl<O: Os> Listening<O> {
    /// Subscribes to an app.
    pub(crate) fn to(os: &O, pid: u32) -> Ax<Self> {
        let heard = Arc::new((
            Mutex::new(Heard {
                any: false,
                destroyed: Vec::new(),
            }),
            Condvar::new(),
        ));
        let tell = Arc::clone(&heard);
        let observer = os.observe(
            pid,
            NOTIFICATIONS,
            Box::new(move |name: &str, element: &O::Element| {
                let (heard, told) = &*tell;
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.any = true;
                if name == DESTROYED && heard.destroyed.len() < MOST {
                    heard.destroyed.push(element.clone());
                }
                told.notify_all();
            }),
        )?;
        Ok(Self {
            pid,
            heard,
            _observer: observer,
        })
    }

    /// Waits for a notification, for at most `time`; whether one came.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let (heard, told) = &*self.heard;
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if std::mem::take(&mut heard.any) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            heard = told
                .wait_timeout(heard, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The elements that were destroyed since the last call.
    pub(crate) fn destroyed(&self) -> Vec<O::Element> {
        let mut heard = self.heard.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut heard.destroyed)
    }
}
