//! The devices of a person at the desktop.

/// A keyboard and a mouse.
pub(super) trait Devices: std::fmt::Debug {
    /// Presses or releases the key with this symbol.
    fn key(&mut self, keysym: u32, down: bool);

    /// Moves the mouse and sets its pressed buttons; bit 0 is the left one.
    fn mouse(&mut self, at: (u16, u16), buttons: u8);
}
