//! The identity of elements: turns `CFEqual` and `CFHash` into printable, lasting ids.
//!
//! An `AXUIElement` is a pid and a token of the app. Two handles of one element are different
//! pointers but `CFEqual`. Their hash is computed from pid and token, so another process computes
//! the same hash. An id consists of the process (pid and start time, as pids are reused), the hash,
//! and a number if several elements share the hash.
//!
//! The table retains each known element, also for a while after the element has left the tree. So
//! the elements of a pane that comes back have their old ids. New elements are compared with the
//! retained ones, so they never get the id of an old element.

use std::collections::HashMap;

use deskline_core::ElementId;

use crate::os::Os;

/// How many elements of an app to retain after they have left its tree.
const SPARE: usize = 10_000;

/// An element that the table knows.
#[derive(Debug)]
struct Known {
    id: ElementId,
    /// The number of the last traversal that saw the element.
    seen: u64,
}

/// The known elements of all apps.
#[derive(Debug)]
pub(crate) struct Identities<O: Os> {
    apps: HashMap<u32, App<O>>,
}

#[derive(Debug)]
struct App<O: Os> {
    started: u64,
    known: HashMap<O::Element, Known>,
    elements: HashMap<ElementId, O::Element>,
    /// How many elements so far have had each hash.
    used: HashMap<u64, u32>,
    reading: u64,
}

impl<O: Os> Default for Identities<O> {
    fn default() -> Self {
        Self {
            apps: HashMap::new(),
        }
    }
}

impl<O: Os> Identities<O> {
    /// Begins a traversal of a process. Forgets an earlier process with the same pid.
    pub(crate) fn begin(&mut self, pid: u32, started: u64) {
        let app = self.apps.entry(pid).or_insert_with(|| App::new(started));
        if app.started != started {
            *app = App::new(started);
        }
        app.reading += 1;
    }

    /// The id of an element; stable as long as the element is known.
    pub(crate) fn id(&mut self, os: &O, pid: u32, element: &O::Element) -> ElementId {
        let app = self.apps.entry(pid).or_insert_with(|| App::new(0));
        if let Some(known) = app.known.get_mut(element) {
            known.seen = app.reading;
            return known.id.clone();
        }
        let hash = os.hash(element);
        let used = app.used.entry(hash).or_insert(0);
        let started = app.started;
        let id = ElementId::new(match *used {
            0 => format!("{pid}.{started}/{hash:x}"),
            n => format!("{pid}.{started}/{hash:x}.{n}"),
        });
        *used += 1;
        let seen = app.reading;
        let known = Known {
            id: id.clone(),
            seen,
        };
        app.known.insert(element.clone(), known);
        app.elements.insert(id.clone(), element.clone());
        id
    }

    /// The element with this id, and the pid of its app.
    pub(crate) fn element(&self, id: &ElementId) -> Option<(u32, O::Element)> {
        let (pid, _) = id.as_str().split_once('.')?;
        let pid = pid.parse().ok()?;
        let element = self.apps.get(&pid)?.elements.get(id)?;
        Some((pid, element.clone()))
    }

    /// Forgets elements that the traversal did not see, if there are many. Their ids are not
    /// reused.
    pub(crate) fn sweep(&mut self, pid: u32) {
        let Some(app) = self.apps.get_mut(&pid) else {
            return;
        };
        let reading = app.reading;
        let unseen = app.known.values().filter(|k| k.seen != reading).count();
        if unseen <= SPARE {
            return;
        }
        let elements = &mut app.elements;
        app.known.retain(|_, known| {
            let stays = known.seen == reading;
            if !stays {
                elements.remove(&known.id);
            }
            stays
        });
    }

    /// Forgets an element that the app has destroyed.
    pub(crate) fn forget(&mut self, pid: u32, element: &O::Element) {
        if let Some(app) = self.apps.get_mut(&pid)
            && let Some(known) = app.known.remove(element)
        {
            app.elements.remove(&known.id);
        }
    }

    /// Forgets processes that have ended.
    pub(crate) fn retain_processes(&mut self, is_alive: impl Fn(u32) -> bool) {
        self.apps.retain(|&pid, _| is_alive(pid));
    }
}

impl<O: Os> App<O> {
    fn new(started: u64) -> Self {
        Self {
            started,
            known: HashMap::new(),
            elements: HashMap::new(),
            used: HashMap::new(),
            reading: 0,
        }
    }
}
