//! A virtual keyboard, with a keymap of its own.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;

use deskline_contract::{Error, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::protocol::wl_keyboard::KeyState::{Pressed, Released};
use wayland_client::protocol::wl_keyboard::KeymapFormat;
use wayland_client::protocol::wl_seat::Capability;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1;

use crate::keymap::{self, Gives, Keymap};
use crate::wlroots::client::Client;

const WHAT: &str = "giving the compositor a keymap";

pub(crate) struct VirtualKeyboard {
    device: ZwpVirtualKeyboardV1,
    keymap: Keymap,
    /// The modifiers that are down.
    mask: u32,
}

impl VirtualKeyboard {
    pub(crate) fn new(client: &mut Client) -> Result<Self> {
        let had = client.has(Capability::Keyboard);
        let handle = client.handle();
        let keyboard = Self {
            device: client
                .keyboards()?
                .create_virtual_keyboard(&client.seat, &handle, ()),
            keymap: Keymap::with([]),
            mask: 0,
        };
        keyboard.send_keymap(client)?;
        client.introduce(had)?;
        Ok(keyboard)
    }

    fn send_keymap(&self, client: &mut Client) -> Result<()> {
        let text = self.keymap.text.as_bytes();
        let file = memfd_create("deskline-keymap", MemfdFlags::CLOEXEC);
        let mut file = File::from(file.map_err(Error::system(WHAT))?);
        file.write_all(text).map_err(Error::system(WHAT))?;
        let size = u32::try_from(text.len()).map_err(Error::system(WHAT))?;
        self.device
            .keymap(KeymapFormat::XkbV1.into(), file.as_fd(), size);
        client.roundtrip()
    }

    /// Ensures that each of `wanted` has a key, or as many of them as fit into one keymap.
    pub(crate) fn bind(&mut self, client: &mut Client, wanted: &[Gives]) -> Result<()> {
        let mut missing = wanted.iter().filter(|g| self.keymap.code(**g).is_none());
        if missing.next().is_none() {
            return Ok(());
        }
        self.keymap = Keymap::with(wanted.iter().copied());
        self.send_keymap(client)
    }

    pub(crate) fn code(&self, gives: Gives) -> Option<u32> {
        self.keymap.code(gives)
    }

    /// Presses or releases a key. For a modifier, sends the state of the modifiers too.
    pub(crate) fn key(&mut self, client: &Client, code: u32, down: bool) {
        let state = if down { Pressed } else { Released };
        self.device.key(client.time(), code, state.into());
        let modifiers = keymap::MODIFIERS.map(|(_, key)| key);
        if let Some((_, bit)) = modifiers.into_iter().find(|(its, _)| *its == code) {
            self.mask = if down {
                self.mask | bit
            } else {
                self.mask & !bit
            };
            self.device.modifiers(self.mask, 0, 0, 0);
        }
    }
}
