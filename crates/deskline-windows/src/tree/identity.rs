//! The identity of elements: turns runtime ids into printable, lasting ids.
//!
//! A runtime id is unique among the elements that exist, so an id consists of the process (pid and
//! start time) and the runtime id: the next server process computes the same one. Some providers
//! give several elements one runtime id, or none; those are distinguished by their order.

use std::collections::HashMap;
use std::fmt::Write;

use deskline_core::{ElementId, Role};

/// An element that was read, for later actions.
#[derive(Debug, Clone)]
pub struct Known<E> {
    pub pid: u32,
    pub element: E,
    pub parent: Option<ElementId>,
    pub role: Role,
}

/// The elements of the apps that were read.
#[derive(Debug)]
pub struct Identities<E> {
    known: HashMap<ElementId, Known<E>>,
}

impl<E> Default for Identities<E> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
        }
    }
}

impl<E: Clone> Identities<E> {
    pub fn get(&self, id: &ElementId) -> Option<&Known<E>> {
        self.known.get(id)
    }

    pub fn insert(&mut self, id: ElementId, known: Known<E>) {
        self.known.insert(id, known);
    }

    /// Forgets the elements of an app that is about to be read, and of processes that have ended.
    pub fn begin(&mut self, pid: u32, is_alive: impl Fn(u32) -> bool) {
        let mut alive = HashMap::new();
        self.known.retain(|_, known| {
            known.pid != pid
                && *alive
                    .entry(known.pid)
                    .or_insert_with(|| is_alive(known.pid))
        });
    }
}

/// The ids of one traversal.
pub struct Ids {
    process: String,
    used: HashMap<String, u32>,
}

impl Ids {
    pub fn new(pid: u32, started: u64) -> Self {
        Self {
            process: format!("{pid}.{started:x}"),
            used: HashMap::new(),
        }
    }

    /// The id of the app itself.
    pub fn app(&self) -> ElementId {
        ElementId::new(self.process.as_str())
    }

    /// The id of an element. Without a runtime id, it derives from the parent's.
    pub fn id(&mut self, runtime_id: &[i32], parent: &ElementId) -> ElementId {
        let mut id = if runtime_id.is_empty() {
            format!("{}/", parent.as_str())
        } else {
            let mut id = format!("{}/", self.process);
            for (at, number) in runtime_id.iter().enumerate() {
                let dot = if at == 0 { "" } else { "." };
                // Writing to a String cannot fail.
                let _ = write!(id, "{dot}{number:x}");
            }
            id
        };
        let used = self.used.entry(id.clone()).or_insert(0);
        if *used > 0 || runtime_id.is_empty() {
            let _ = write!(id, "~{used}");
        }
        *used += 1;
        ElementId::new(id)
    }
}
