//! Notifications: the sign that something changed, and which elements are gone.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::os::{Ax, Os};

/// What an app is asked to tell of.
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

/// More elements than this are not remembered one by one.
const MOST: usize = 10_000;

/// What was heard since it was last taken.
#[derive(Debug)]
struct Heard<E> {
    any: bool,
    destroyed: Vec<E>,
}

/// Listening to one app, as long as it lives.
pub(crate) struct Listening<O: Os> {
    /// Whose notifications.
    pub(crate) pid: u32,
    heard: Arc<(Mutex<Heard<O::Element>>, Condvar)>,
    _observer: O::Observer,
}

impl<O: Os> Listening<O> {
    /// Starts to listen to an app.
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

    /// Waits until something was heard, or `time` has passed: `true` if it was.
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

    /// The elements that are gone since this was last called.
    pub(crate) fn destroyed(&self) -> Vec<O::Element> {
        let mut heard = self.heard.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut heard.destroyed)
    }
}
