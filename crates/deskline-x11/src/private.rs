//! The mark of a private desktop: a property of the root window.
//!
//! The mark is on the display itself. Environment variables would be wrong if a server that runs on
//! one desktop is pointed at another, and are missing if the display was found by its socket.

use deskline_link::Result;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::connection::Connection;
use crate::{Atoms, During as _, Present as _, X11};

const WHAT: &str = "marking the display as private";

/// Marks the display as private (no person uses it), for as long as its X server runs.
pub fn mark(connection: &Connection, screen: usize) -> Result<()> {
    let Some(screen) = connection.setup().roots.get(screen) else {
        return Ok(());
    };
    let atoms = Atoms::new(connection).during(WHAT)?.reply().during(WHAT)?;
    connection
        .change_property32(
            PropMode::REPLACE,
            screen.root,
            atoms._DESKLINE_PRIVATE,
            AtomEnum::CARDINAL,
            &[1],
        )
        .during(WHAT)?
        .check()
        .during(WHAT)
}

impl X11 {
    /// Whether the display is marked as private.
    pub fn is_private(&self) -> Result<bool> {
        const WHAT: &str = "asking whether the display is private";
        let kind = AtomEnum::CARDINAL;
        let reply = self
            .connection
            .get_property(false, self.root, self.atoms._DESKLINE_PRIVATE, kind, 0, 1)
            .during(WHAT)?
            .reply()
            .present(WHAT)?;
        Ok(reply.and_then(|reply| reply.value32()?.next()) == Some(1))
    }
}
