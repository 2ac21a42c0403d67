//! Notifications: the signal that something changed, and which elements were destroyed.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use deskline_contract::{Sign, Signs};

use super::PATIENCE;
use crate::os::{Ax, AxError, Os};
use deskline_input::clock::Instant;

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

/// The notifications that are caused by raising a window and by focusing.
const FOCUS: &[&str] = &[
    "AXFocusedUIElementChanged",
    "AXFocusedWindowChanged",
    "AXMainWindowChanged",
    "AXWindowDeminiaturized",
];

/// `kAXUIElementDestroyedNotification`
const DESTROYED: &str = "AXUIElementDestroyed";

/// Record at most this many destroyed elements, and at most this many elements that events have
/// named.
const MOST: usize = 10_000;

/// Keep at most this many open menus.
const MOST_MENUS: usize = 20;

/// What the notifications have reported.
#[derive(Debug)]
struct Heard<E> {
    destroyed: Vec<E>,
    /// The menus that are open.
    menus: Vec<E>,
    /// The elements that notifications have named; `None` if there were more than [`MOST`].
    named: Option<HashSet<E>>,
}

impl<E: Clone + Eq + std::hash::Hash> Heard<E> {
    fn hear(&mut self, name: &str, element: &E) {
        match name {
            "AXMenuOpened" if self.menus.len() < MOST_MENUS => self.menus.push(element.clone()),
            "AXMenuClosed" | DESTROYED => self.menus.retain(|menu| menu != element),
            _ => {}
        }
        if name == DESTROYED && self.destroyed.len() < MOST {
            self.destroyed.push(element.clone());
        }
        if let Some(named) = &mut self.named {
            named.insert(element.clone());
        }
        self.named.take_if(|named| named.len() > MOST);
    }
}

/// A subscription to one app's notifications.
pub(crate) struct Listening<O: Os> {
    pub(crate) pid: u32,
    pub(crate) signs: Arc<Signs>,
    heard: Arc<Mutex<Heard<O::Element>>>,
    _observer: O::Observer,
}

impl<O: Os> Listening<O> {
    /// Subscribes to an app.
    pub(crate) fn to(os: &O, pid: u32) -> Ax<Self> {
        let signs = Arc::<Signs>::default();
        let heard = Arc::new(Mutex::new(Heard {
            destroyed: Vec::new(),
            menus: Vec::new(),
            named: Some(HashSet::new()),
        }));
        let subscribe = || {
            let (signs, heard) = (Arc::clone(&signs), Arc::clone(&heard));
            let hear = move |name: &str, element: &O::Element| {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.hear(name, element);
                signs.hear(if FOCUS.contains(&name) {
                    Sign::Focus
                } else {
                    Sign::Change
                });
            };
            os.observe(pid, NOTIFICATIONS, Box::new(hear))
        };
        let asked = Instant::now();
        let observer = subscribe().or_else(|e| match e {
            // An app that is between two turns of its event loop fails at once, but is not hung.
            AxError::CANNOT_COMPLETE if asked.elapsed() < PATIENCE / 2 => subscribe(),
            e => Err(e),
        })?;
        Ok(Self {
            pid,
            signs,
            heard,
            _observer: observer,
        })
    }

    /// The elements that were destroyed since this was last called.
    pub(crate) fn destroyed(&self) -> Vec<O::Element> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut heard.destroyed)
    }

    /// The menus that have opened and not closed.
    pub(crate) fn menus(&self) -> Vec<O::Element> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.menus.clone()
    }

    /// The elements that events have named since the last call; `None` if there were too many.
    pub(crate) fn named(&self) -> Option<HashSet<O::Element>> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.named.replace(HashSet::new())
    }
}
