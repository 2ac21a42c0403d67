//! The mark of a private desktop: a property of the root window.
//!
//! The mark has to be on the display itself. A server may run on one desktop and be pointed at
//! another, so its environment would tell the wrong one, or none if the display was found by its
//! socket.

use deskline_contract::Result;
use x11rb::protocol::xproto::{AtomEnum, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::{During as _, X11};

const WHAT: &str = "marking the display as private";

impl X11 {
    /// Marks the display as private (no person uses it), for as long as its X server runs.
    pub fn mark_private(&self) -> Result<()> {
        let (property, kind) = (self.atoms._DESKLINE_PRIVATE, AtomEnum::CARDINAL);
        let c = &self.connection;
        let marked = c.change_property32(PropMode::REPLACE, self.root, property, kind, &[1]);
        marked.during(WHAT)?.check().during(WHAT)
    }

    /// Whether the display is marked as private.
    pub fn is_private(&self) -> Result<bool> {
        let mark = self.atoms._DESKLINE_PRIVATE;
        Ok(self.number(self.root, mark, AtomEnum::CARDINAL)? == Some(1))
    }
}
