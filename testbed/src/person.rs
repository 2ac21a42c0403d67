//! A person at the desktop: keyboard and mouse of a VNC client, which the X server has as devices
//! of their own and not as XTEST's.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::{Bed, PATIENCE};

/// Escape, of `keysymdef.h`.
pub const ESCAPE: u32 = 0xff1b;
/// The left Shift key.
pub const SHIFT: u32 = 0xffe1;
/// The left Control key.
pub const CONTROL: u32 = 0xffe3;

/// Keyboard and mouse of a person. What is held is released when the person goes.
#[derive(Debug)]
pub struct Person {
    vnc: UnixStream,
    at: (u16, u16),
}

impl Person {
    /// Sits down at a bed that was made with `--watch`.
    #[must_use]
    pub fn at(bed: &Bed) -> Self {
        let folder = &bed.environment()["DESKLINE_DESKTOP"];
        Self::connect(&Path::new(folder).join("vnc"))
    }

    /// RFB 3.8 without authentication (RFC 6143 §7.1 to §7.3).
    fn connect(socket: &Path) -> Self {
        let mut vnc = UnixStream::connect(socket).unwrap();
        vnc.set_read_timeout(Some(PATIENCE)).unwrap();
        let read = |vnc: &mut UnixStream, n: usize| {
            let mut bytes = vec![0; n];
            vnc.read_exact(&mut bytes).unwrap();
            bytes
        };
        read(&mut vnc, 12);
        vnc.write_all(b"RFB 003.008\n").unwrap();
        let kinds = read(&mut vnc, 1)[0];
        assert!(read(&mut vnc, kinds.into()).contains(&1));
        vnc.write_all(&[1]).unwrap();
        assert_eq!(read(&mut vnc, 4), [0; 4]);
        // Shared: another client does not go.
        vnc.write_all(&[1]).unwrap();
        let init = read(&mut vnc, 24);
        let name = u32::from_be_bytes([init[20], init[21], init[22], init[23]]);
        read(&mut vnc, name as usize);
        Self { vnc, at: (0, 0) }
    }

    fn send(&mut self, message: &[u8]) {
        self.vnc.write_all(message).unwrap();
    }

    /// Presses a key, by its keysym.
    pub fn press(&mut self, key: u32) {
        self.key(key, 1);
    }

    /// Releases a key.
    pub fn release(&mut self, key: u32) {
        self.key(key, 0);
    }

    /// Presses and releases a key.
    pub fn tap(&mut self, key: u32) {
        self.press(key);
        self.release(key);
    }

    fn key(&mut self, key: u32, down: u8) {
        let mut message = vec![4, down, 0, 0];
        message.extend(key.to_be_bytes());
        self.send(&message);
    }

    /// Moves the mouse there.
    pub fn point(&mut self, x: u16, y: u16) {
        self.at = (x, y);
        self.buttons(0);
    }

    /// Holds these buttons, and no others: 1 is the left one.
    pub fn buttons(&mut self, mask: u8) {
        let mut message = vec![5, mask];
        message.extend(self.at.0.to_be_bytes());
        message.extend(self.at.1.to_be_bytes());
        self.send(&message);
    }

    /// Clicks there.
    pub fn click(&mut self, x: u16, y: u16) {
        self.point(x, y);
        self.buttons(1);
        self.buttons(0);
    }
}
