//! A person at the desktop. Their keyboard and mouse are devices of the X server that are not
//! XTEST's: a VNC viewer's, or the `inputtest` driver's.

mod devices;
mod inputtest;
mod vnc;

use crate::{Bed, xorg};
use devices::Devices;

/// Escape, from `keysymdef.h`.
pub const ESCAPE: u32 = 0xff1b;
/// The left Shift key.
pub const SHIFT: u32 = 0xffe1;
/// The left Control key.
pub const CONTROL: u32 = 0xffe3;

/// A person's keyboard and mouse. Held keys and buttons are released by `Drop`.
#[derive(Debug)]
pub struct Person {
    devices: Box<dyn Devices>,
    at: (u16, u16),
}

impl Person {
    /// A person at this bed. They use the bed's devices if it was created with [`Bed::on_xorg`].
    /// Otherwise they use a VNC viewer, and the bed must have been created with `--watch`.
    #[must_use]
    pub fn at(bed: &Bed) -> Self {
        let devices: Box<dyn Devices> = if xorg::keyboard(bed.folder()).exists() {
            Box::new(inputtest::Physical::new(bed))
        } else {
            Box::new(vnc::Viewer::new(bed))
        };
        let at = (0, 0);
        Self { devices, at }
    }

    /// Presses a key, by its keysym.
    pub fn press(&mut self, key: u32) {
        self.devices.key(key, true);
    }

    pub fn release(&mut self, key: u32) {
        self.devices.key(key, false);
    }

    /// Presses and releases a key.
    pub fn tap(&mut self, key: u32) {
        self.press(key);
        self.release(key);
    }

    /// Moves the mouse.
    pub fn point(&mut self, x: u16, y: u16) {
        self.at = (x, y);
        self.buttons(0);
    }

    /// Moves the mouse with the left button held.
    pub fn drag(&mut self, x: u16, y: u16) {
        self.at = (x, y);
        self.buttons(1);
    }

    /// Presses exactly these buttons; bit 0 is the left one.
    pub fn buttons(&mut self, mask: u8) {
        self.devices.mouse(self.at, mask);
    }

    /// Clicks at a point.
    pub fn click(&mut self, x: u16, y: u16) {
        self.point(x, y);
        self.buttons(1);
        self.buttons(0);
    }
}
