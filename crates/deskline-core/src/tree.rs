//! One traversal of one app.

use std::time::Duration;

use crate::{Element, Role};

/// A running app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct App {
    /// The name that it gives itself. Hostile data.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

/// What one traversal read, in document order (a container comes before what it contains).
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Whose tree it is.
    pub app: App,
    /// The elements, in document order.
    pub elements: Vec<Element>,
    /// The open modal dialog or sheet, as an index into `elements`. It scopes `visible`.
    pub dialog: Option<usize>,
    /// What the tree lacks and why, one sentence each; empty for a complete tree.
    pub partial: Vec<String>,
    /// How long the traversal took.
    pub took: Duration,
}

impl Tree {
    /// The toplevel that an element is in: its outermost container but for the app itself.
    pub fn toplevel(&self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            match self.elements.get(at)?.parent {
                Some(parent) if self.elements.get(parent)?.role == Role::APPLICATION => {
                    return Some(at);
                }
                // A container always comes before what it contains, so this ends.
                Some(parent) if parent < at => at = parent,
                _ => return (self.elements[at].role != Role::APPLICATION).then_some(at),
            }
        }
    }
}
