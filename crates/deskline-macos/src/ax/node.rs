//! A node of a traversal.

use deskline_core::Rect;

use super::facts::Facts;

#[derive(Debug)]
pub(crate) struct Node<E> {
    pub(crate) element: E,
    pub(crate) parent: Option<usize>,
    /// In document order.
    pub(crate) children: Vec<usize>,
    /// The facts; `None` if they were not read yet, or if the element has gone.
    pub(crate) facts: Option<Facts<E>>,
    /// Whether the element is visible, judged by its attributes and by geometry.
    pub(crate) showing: bool,
    pub(crate) children_read: bool,
    /// Whether Accessibility can set the element's value; `None` if the element takes no text.
    pub(crate) editable: Option<bool>,
    /// The bounds that clip the element's children; `None` if nothing clips them.
    pub(super) clip: Option<Rect>,
    /// For a table that is only partly read: how many rows are not read yet, and how many rows were
    /// read in ranges so far.
    pub(super) more_rows: Option<(usize, usize)>,
    /// For a container that does not report which rows are visible: 1 plus the number of rows that
    /// were read after the last visible row; 0 if no row was visible yet.
    pub(super) past_view: Option<u32>,
}

impl<E> Node<E> {
    /// An element that was found, but not read yet.
    pub(super) fn new(element: E, parent: Option<usize>, showing: bool) -> Self {
        Self {
            element,
            parent,
            children: Vec::new(),
            facts: None,
            showing,
            children_read: true,
            editable: None,
            clip: None,
            more_rows: None,
            past_view: None,
        }
    }
}
