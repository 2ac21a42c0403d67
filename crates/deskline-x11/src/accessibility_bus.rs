//! Writes the address of the accessibility bus to the root window.

use deskline_contract::Result;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use crate::{Answer as _, During as _, X11Display};

impl X11Display {
    /// Writes the address to the property `AT_SPI_BUS` of the root window, unless that is set
    /// already.
    ///
    /// at-spi-bus-launcher writes it if it is started with a display. Without the property Qt 5
    /// asks the session bus, and most apps that did so had no tree: Qt connects, but registers
    /// nothing.
    pub fn show_accessibility_bus(&self, address: &str) -> Result<()> {
        const WHAT: &str = "writing the accessibility bus's address to the root window";
        let (c, root) = (&self.x11().connection, self.x11().root);
        let property = self.x11().atoms.AT_SPI_BUS;
        let there = c.get_property(false, root, property, AtomEnum::STRING, 0, 0);
        if there.answer(WHAT)?.type_ != x11rb::NONE {
            return Ok(());
        }
        let (mode, kind, value) = (PropMode::REPLACE, AtomEnum::STRING, address.as_bytes());
        let written = c.change_property8(mode, root, property, kind, value);
        written.during(WHAT)?.check().during(WHAT)
    }
}
