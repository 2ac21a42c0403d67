//! A person at the desktop, with a keyboard and a mouse that the X server has as devices of their
//! own and not as XTEST's: those of a VNC client, or the `inputtest` driver's.

mod inputtest;
mod vnc;

use crate::{Bed, xorg};

/// Escape, of `keysymdef.h`.
pub const ESCAPE: u32 = 0xff1b;
/// The left Shift key.
pub const SHIFT: u32 = 0xffe1;
/// The left Control key.
pub const CONTROL: u32 = 0xffe3;

/// A keyboard and a mouse.
trait Devices: std::fmt::Debug {
    /// The key with this symbol went down or up.
    fn key(&mut self, keysym: u32, down: bool);

    /// The mouse is there, and these of its buttons are down: 1 is the left one.
    fn mouse(&mut self, at: (u16, u16), buttons: u8);
}

/// Keyboard and mouse of a person. What is held is released when the person goes.
#[derive(Debug)]
pub struct Person {
    devices: Box<dyn Devices>,
    at: (u16, u16),
}

impl Person {
    /// Sits down at a bed: at its devices where it was made with [`Bed::on_xorg`], else at a VNC
    /// viewer, for which it was made with `--watch`.
    #[must_use]
    pub fn at(bed: &Bed) -> Self {
        let devices: Box<dyn Devices> = if xorg::keyboard(bed.folder()).exists() {
            Box::new(inputtest::Physical::of(bed))
        } else {
            Box::new(vnc::Viewer::of(bed))
        };
        let at = (0, 0);
        Self { devices, at }
    }

    /// Presses a key, by its keysym.
    pub fn press(&mut self, key: u32) {
        self.devices.key(key, true);
    }

    /// Releases a key.
    pub fn release(&mut self, key: u32) {
        self.devices.key(key, false);
    }

    /// Presses and releases a key.
    pub fn tap(&mut self, key: u32) {
        self.press(key);
        self.release(key);
    }

    /// Moves the mouse there.
    pub fn point(&mut self, x: u16, y: u16) {
        self.at = (x, y);
        self.buttons(0);
    }

    /// Holds these buttons, and no others: 1 is the left one.
    pub fn buttons(&mut self, mask: u8) {
        self.devices.mouse(self.at, mask);
    }

    /// Clicks there.
    pub fn click(&mut self, x: u16, y: u16) {
        self.point(x, y);
        self.buttons(1);
        self.buttons(0);
    }
}
