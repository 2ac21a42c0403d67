//! The mark of a private desktop: a property of the root window.
//!
//! The mark is on the display itself. Environment variables would be wrong if a server that runs on
//! one desktop is pointed at another, and are missing if the display was found by its socket.

use deskline_contract::Result;
use x11rb::protocol::xproto::{AtomEnum, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::connection::{Connection, root_of};
use crate::{Atoms, During as _, X11};

const WHAT: &str = "marking the display as private";

/// Marks the display as private (no person uses it), for as long as its X server runs.
pub fn mark(connection: &Connection, screen: usize) -> Result<()> {
    let root = root_of(connection, screen)?;
    let atoms = Atoms::new(connection).during(WHAT)?.reply().during(WHAT)?;
    let (property, kind) = (atoms._DESKLINE_PRIVATE, AtomEnum::CARDINAL);
    let marked = connection.change_property32(PropMode::REPLACE, root, property, kind, &[1]);
    marked.during(WHAT)?.check().during(WHAT)
}

impl X11 {
    /// Whether the display is marked as private.
    pub fn is_private(&self) -> Result<bool> {
        let mark = self.atoms._DESKLINE_PRIVATE;
        Ok(self.number(self.root, mark, AtomEnum::CARDINAL)? == Some(1))
    }
}
