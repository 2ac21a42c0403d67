//! The nodes of a traversal, and the facts about objects that others have reported.

use std::sync::Arc;

use deskline_core::{Rect, Text};

use crate::names::{StateSet, role};
use crate::toolkits::gtk;

/// An object, as far as it was read.
#[derive(Debug, Default)]
pub struct Node {
    /// The bus name of the object's process, if it is an embedded object of another process.
    pub owner: Option<Arc<str>>,
    pub path: Arc<str>,
    /// The identity, if it is not the path but the row and column of a spreadsheet's cell.
    pub id: Option<String>,
    /// Row and column, from 0, if the object was found by its row and column.
    pub cell: Option<(i32, i32)>,
    /// The index of the node's container.
    pub parent: Option<usize>,
    /// The indexes of the node's children, in document order.
    pub children: Vec<usize>,
    /// The role's number; `None` until it was read.
    pub role: Option<u32>,
    pub states: StateSet,
    pub name: String,
    pub description: String,
    /// The name of the node's label, if the node has no name of its own.
    pub label: String,
    /// The path of the node's label while the label's name is unknown; else empty.
    pub labelled_by: String,
    /// The path of the chosen item, in a GTK 3 combo box. The states of its hidden items do not
    /// show which one is chosen.
    pub chosen: Option<Arc<str>>,
    pub value: Text,
    /// The extents as the toolkit reports them; not always in screen coordinates.
    pub extents: Option<Rect>,
    /// Whether the object shows: the toolkit reports so, and no container hides the object.
    pub showing: bool,
    /// Whether the object's contents may show: neither the object nor a container of it hides them.
    pub reached: bool,
    /// Whether the object is hidden only because it or an ancestor has no size, like a GTK 4 widget
    /// in a page that is not in front.
    pub unallocated: bool,
    /// Whether the node's children were requested, and all of them were read.
    pub children_read: bool,
    /// Whether the facts that only some roles have were requested.
    pub detailed: bool,
}

impl Node {
    /// Hides the node, and what is found inside it from now on.
    pub fn hide(&mut self) {
        self.showing = false;
        self.reached = false;
    }
}

/// An object that its container did not list.
#[derive(Debug, Default)]
pub struct Found {
    pub path: Arc<str>,
    /// The identity, if it is not the path but the row and column of a spreadsheet's cell.
    pub id: Option<String>,
    /// The name; empty if unknown.
    pub name: String,
    /// Row and column, from 0, if the object is a cell.
    pub cell: Option<(i32, i32)>,
}

impl Found {
    /// An object of which only the path is known.
    pub fn at(path: Arc<str>) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }
}

/// The facts about an object that are known before a request.
#[derive(Debug)]
pub struct Known {
    pub role: u32,
    pub name: String,
    pub description: String,
    pub states: StateSet,
    /// The paths of the object's children, in order; `None` if not all are known.
    pub children: Option<Vec<Arc<str>>>,
}

/// A container of too many children to list in one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LongList {
    pub node: usize,
    /// The reported number of children.
    pub count: i32,
}

/// The missing parts of a traversal.
#[derive(Debug, Default)]
pub struct Unread {
    /// The number of nodes that were found, but not read.
    pub nodes: usize,
    /// Whether the traversal was stopped, with requests unsent or unanswered.
    pub cut: bool,
    /// Whether the traversal reached the limit on the number of objects.
    pub overfull: bool,
    /// Whether the traversal reached the limit on the length of the replies.
    pub heavy: bool,
    /// The requests that the app refused, or answered in a form that cannot be read.
    pub failed: Failed,
}

/// Refused requests, by the missing part of the tree.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// The number of containers whose children were not listed.
    pub lists: usize,
    /// The number of elements that did not report their state or role. Most of these elements no
    /// longer exist.
    pub elements: usize,
    /// The number of elements that did not report their names or texts.
    pub texts: usize,
}

/// The visible part of a node: its extents, clipped by those of all its containers.
pub fn clip(nodes: &[Node], index: usize) -> Option<Rect> {
    let mut clip = nodes[index].extents?;
    let mut at = nodes[index].parent;
    while let Some(index) = at {
        let node = &nodes[index];
        // The bounds of menus, and of lists of combo boxes, lie outside those of their containers.
        if matches!(
            node.role,
            Some(role::COMBO_BOX | role::MENU | role::POPUP_MENU)
        ) {
            break;
        }
        let clips = gtk::clips_children(node.role);
        if let Some(extents) = node.extents.filter(|e| clips && !e.is_empty()) {
            clip = clip.intersect(&extents);
        }
        at = node.parent;
    }
    Some(clip)
}
