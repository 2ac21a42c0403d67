//! A question about a point that an app has not answered for good.

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

/// Where the last element was whose point was asked about, as its app reports it.
#[derive(Debug)]
pub struct Placed {
    pub(crate) element: ElementId,
    pub(crate) raw: Rect,
    pub(crate) since: Instant,
}
