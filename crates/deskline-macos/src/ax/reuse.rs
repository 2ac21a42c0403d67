//! The result of a link's first traversal, for its second one: a hidden element is not read again
//! unless an event has named it since.

use std::collections::HashMap;
use std::hash::Hash;

use super::facts::Facts;
use super::node::Node;

/// An element as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Known<E> {
    pub(crate) facts: Facts<E>,
    pub(crate) children: Vec<E>,
    pub(crate) editable: Option<bool>,
    parent: Option<E>,
}

/// Those elements of a traversal that were read completely.
#[derive(Debug)]
pub(crate) struct Last<E> {
    pub(crate) pid: u32,
    known: HashMap<E, Known<E>>,
}

impl<E: Clone + Eq + Hash> Last<E> {
    /// Keeps the elements of these nodes, except nodes whose children were not all read.
    pub(crate) fn new(pid: u32, nodes: &[Node<E>]) -> Self {
        let read = |node: &Node<E>| {
            let facts = node.facts.clone().filter(|_| node.children_read)?;
            let children = node
                .children
                .iter()
                .map(|child| nodes[*child].element.clone());
            let known = Known {
                facts,
                children: children.collect(),
                editable: node.editable,
                parent: node.parent.map(|parent| nodes[parent].element.clone()),
            };
            Some((node.element.clone(), known))
        };
        let known = nodes.iter().filter_map(read).collect();
        Self { pid, known }
    }

    pub(crate) fn get(&self, element: &E) -> Option<&Known<E>> {
        self.known.get(element)
    }

    /// Forgets an element that an event has named, and its parent: when an element is created or
    /// destroyed, no other event reports that its parent's children have changed. `parent_of`
    /// returns the parent of an element that is not known yet.
    pub(crate) fn forget(&mut self, element: &E, parent_of: impl FnOnce() -> Option<E>) {
        let known = self.known.remove(element);
        let parent = known.map_or_else(parent_of, |known| known.parent);
        if let Some(parent) = parent {
            self.known.remove(&parent);
        }
    }
}
