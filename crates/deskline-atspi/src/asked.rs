//! A question about a point that an app has not answered for good.

use std::time::Instant;

use deskline_core::{ElementId, Point};

/// A first answer that the app may still replace.
#[derive(Debug)]
pub struct Asked {
    pub(crate) element: ElementId,
    pub(crate) at: Point,
    pub(crate) first: Option<Box<str>>,
    pub(crate) since: Instant,
}
