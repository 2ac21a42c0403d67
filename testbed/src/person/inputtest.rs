//! Xorg's `inputtest` driver: one socket a device. Messages are in the machine's byte order
//! (xorg-server, `hw/xfree86/drivers/inputtest/xf86-input-inputtest-protocol.h`).

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::devices::Devices;
use crate::bed::SIZE;
use crate::watcher::Watcher;
use crate::{Bed, PATIENCE, until, xorg};

/// Kinds of message.
const VERSION: u32 = 0;
const MOTION: u32 = 2;
const BUTTON: u32 = 4;
const KEY: u32 = 5;

/// The range of both axes starts at 0 and ends here.
const AXIS: f64 = 65_535.0;

#[derive(Debug)]
pub(super) struct Physical {
    keyboard: UnixStream,
    mouse: UnixStream,
    codes: BTreeMap<u32, u32>,
    symbols: Watcher,
    at: Option<(u16, u16)>,
    held: u8,
}

impl Physical {
    pub(super) fn new(bed: &Bed) -> Self {
        Self {
            keyboard: connect(&xorg::keyboard(bed.folder())),
            mouse: connect(&xorg::mouse(bed.folder())),
            codes: BTreeMap::new(),
            symbols: Watcher::on(bed),
            at: None,
            held: 0,
        }
    }
}

impl Devices for Physical {
    fn key(&mut self, keysym: u32, down: bool) {
        // Release the key that was pressed, even if the keyboard map has changed since.
        let symbols = &self.symbols;
        let code = self.codes.entry(keysym);
        let code = *code.or_insert_with(|| symbols.code_of(keysym));
        let rest = [code, down.into()].map(u32::to_ne_bytes).concat();
        send(&mut self.keyboard, KEY, &rest);
    }

    fn mouse(&mut self, at: (u16, u16), buttons: u8) {
        if self.at != Some(at) {
            let on_axis = |at: u16, size: u16| f64::from(at) * AXIS / f64::from(size - 1);
            let place = [on_axis(at.0, SIZE.0), on_axis(at.1, SIZE.1)];
            let absolute = [1_u32, 0].map(u32::to_ne_bytes).concat();
            send(
                &mut self.mouse,
                MOTION,
                &[absolute, valuators(&place)].concat(),
            );
            self.at = Some(at);
        }
        for button in 0..8_u32 {
            let down = buttons >> button & 1;
            if down != self.held >> button & 1 {
                let head = [0, button + 1, down.into(), 0].map(u32::to_ne_bytes);
                send(
                    &mut self.mouse,
                    BUTTON,
                    &[head.concat(), valuators(&[])].concat(),
                );
            }
        }
        self.held = buttons;
    }
}

/// Connects to a device. The driver accepts one connection and sends a greeting. It listens only
/// once the device is enabled.
fn connect(socket: &Path) -> UnixStream {
    let mut device = until("a device", || UnixStream::connect(socket).ok());
    device.set_read_timeout(Some(PATIENCE)).unwrap();
    // Version 1.1.
    let version = [1_u16, 1].map(u16::to_ne_bytes).concat();
    send(&mut device, VERSION, &version);
    let mut greeting = [0; 12];
    device.read_exact(&mut greeting).unwrap();
    device
}

fn send(device: &mut UnixStream, kind: u32, rest: &[u8]) {
    let length = rest.len() as u32 + 8;
    let message = [&length.to_ne_bytes(), &kind.to_ne_bytes(), rest].concat();
    device.write_all(&message).unwrap();
}

/// Encodes axis values: the maximum number, a mask of those that follow, the values, and the
/// unaccelerated values.
fn valuators(values: &[f64]) -> Vec<u8> {
    const AXES: usize = 64;
    let mut bytes = vec![0; 4 + 8 + 4 + 2 * AXES * 8];
    bytes[4] = (1_u8 << values.len()) - 1;
    for (at, value) in values.iter().enumerate() {
        bytes[16 + at * 8..][..8].copy_from_slice(&value.to_ne_bytes());
    }
    bytes
}
