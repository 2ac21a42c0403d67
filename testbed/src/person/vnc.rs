//! A VNC viewer's keyboard and mouse: RFB 3.8 (RFC 6143).

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::devices::Devices;
use crate::{Bed, PATIENCE};

#[derive(Debug)]
pub(super) struct Viewer(UnixStream);

impl Viewer {
    /// Connects without authentication (§7.1 to §7.3).
    pub(super) fn new(bed: &Bed) -> Self {
        let folder = &bed.environment()["DESKLINE_DESKTOP"];
        let mut vnc = UnixStream::connect(Path::new(folder).join("vnc")).unwrap();
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
        // Shared: do not disconnect other clients.
        vnc.write_all(&[1]).unwrap();
        let init = read(&mut vnc, 24);
        let name = u32::from_be_bytes([init[20], init[21], init[22], init[23]]);
        read(&mut vnc, name as usize);
        Self(vnc)
    }
}

impl Devices for Viewer {
    /// `KeyEvent` (§7.5.4).
    fn key(&mut self, keysym: u32, down: bool) {
        let mut message = vec![4, down.into(), 0, 0];
        message.extend(keysym.to_be_bytes());
        self.0.write_all(&message).unwrap();
    }

    /// `PointerEvent` (§7.5.5).
    fn mouse(&mut self, (x, y): (u16, u16), buttons: u8) {
        let mut message = vec![5, buttons];
        message.extend(x.to_be_bytes());
        message.extend(y.to_be_bytes());
        self.0.write_all(&message).unwrap();
    }
}
