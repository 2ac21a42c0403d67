//! An app's first answer to the question what lies at a point, while the app may still replace it.

use std::time::Instant;

use deskline_core::{ElementId, Point, Rect};

/// A first answer that the app may still replace.
#[derive(Debug)]
pub struct Asked {
    pub(crate) element: ElementId,
    pub(crate) at: Point,
    pub(crate) first: Option<Box<str>>,
    pub(crate) since: Instant,
}

/// Where the element of the last hit test was, as its app reported it.
#[derive(Debug)]
pub struct Placed {
    pub(crate) element: ElementId,
    pub(crate) raw: Rect,
    pub(crate) since: Instant,
}
