//! The identity of elements: turns runtime ids into printable, lasting ids.
//!
//! A runtime id is unique among the elements that exist, so an id consists of the process (pid and
//! start time) and the runtime id. The next server process computes the same id. Some providers
//! give several elements the same runtime id, or give none; then the elements' order distinguishes
//! them.

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
pub type Identities<E> = HashMap<ElementId, Known<E>>;

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

    /// The id of an element. Without a runtime id, it derives from the parent's id.
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
