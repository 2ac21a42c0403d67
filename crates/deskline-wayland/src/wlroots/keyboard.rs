//! A virtual keyboard: types text and presses keys.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_link::{Cancel, Error, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::protocol::wl_keyboard::{KeyState, KeymapFormat};
use wayland_client::protocol::wl_seat::Capability;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1;

use crate::keymap::{self, Keymap};
use crate::wlroots::client::Client;

/// The time between two keys. 580 characters without a pause ended mousepad.
const PAUSE: Duration = Duration::from_millis(2);

const WHAT: &str = "giving the compositor a keymap";

pub(crate) struct VirtualKeyboard {
    device: ZwpVirtualKeyboardV1,
    keymap: Keymap,
    pressed: Vec<u32>,
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
            pressed: Vec::new(),
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

    /// Makes sure that each of these characters has a key.
    fn bind(&mut self, client: &mut Client, chars: &[char]) -> Result<()> {
        if chars.iter().all(|c| self.keymap.code(*c).is_some()) {
            return Ok(());
        }
        self.keymap = Keymap::with(chars.iter().copied());
        self.send_keymap(client)
    }

    fn key(&mut self, client: &mut Client, code: u32, state: KeyState) -> Result<()> {
        self.pressed.retain(|held| *held != code);
        if state == KeyState::Pressed {
            self.pressed.push(code);
        }
        self.device.key(client.time(), code, state.into());
        client.roundtrip()
    }

    fn strike(&mut self, client: &mut Client, code: u32) -> Result<()> {
        self.key(client, code, KeyState::Pressed)?;
        self.key(client, code, KeyState::Released)
    }

    /// Makes sure that each character of the text has a key, as far as one keymap has room.
    pub(crate) fn prepare(&mut self, client: &mut Client, text: &[char]) -> Result<()> {
        let mut new: Vec<char> = text.to_vec();
        new.sort_unstable();
        new.dedup();
        new.truncate(keymap::MOST);
        self.bind(client, &new)
    }

    /// Types a few characters, at most [`keymap::MOST`].
    pub(crate) fn type_text(
        &mut self,
        client: &mut Client,
        text: &[char],
        cancel: &Cancel,
    ) -> Result<()> {
        self.bind(client, text)?;
        for char in text {
            cancel.check()?;
            let code = self
                .keymap
                .code(*char)
                .ok_or_else(|| Error::Input("a character of the text cannot be typed".into()))?;
            self.strike(client, code)?;
            cancel.wait(PAUSE)?;
        }
        Ok(())
    }

    pub(crate) fn press(&mut self, client: &mut Client, press: KeyPress) -> Result<()> {
        let code = match press.key {
            Key::Char(char) => {
                self.bind(client, &[char])?;
                self.keymap.code(char)
            }
            named => keymap::code_of(named),
        };
        let code = code.ok_or_else(|| Error::Input(format!("{press} cannot be pressed")))?;
        self.hold(client, press.modifiers)?;
        self.strike(client, code)?;
        self.let_go(client, press.modifiers)
    }

    /// Presses modifiers.
    pub(crate) fn hold(&mut self, client: &mut Client, modifiers: Modifiers) -> Result<()> {
        let mut mask = 0;
        for (code, bit) in held(modifiers) {
            mask |= bit;
            self.key(client, code, KeyState::Pressed)?;
            self.device.modifiers(mask, 0, 0, 0);
        }
        client.roundtrip()
    }

    /// Releases them.
    pub(crate) fn let_go(&mut self, client: &mut Client, modifiers: Modifiers) -> Result<()> {
        for (code, _) in held(modifiers) {
            self.key(client, code, KeyState::Released)?;
        }
        self.device.modifiers(0, 0, 0, 0);
        client.roundtrip()
    }

    /// Releases all that is pressed.
    pub(crate) fn release(&mut self, client: &mut Client) -> Result<()> {
        if self.pressed.is_empty() {
            return Ok(());
        }
        for code in self.pressed.clone() {
            self.key(client, code, KeyState::Released)?;
        }
        self.device.modifiers(0, 0, 0, 0);
        client.roundtrip()
    }
}

fn held(modifiers: Modifiers) -> impl Iterator<Item = (u32, u32)> {
    let all = [
        (Modifiers::SHIFT, keymap::SHIFT),
        (Modifiers::CONTROL, keymap::CONTROL),
        (Modifiers::ALT, keymap::ALT),
        (Modifiers::COMMAND, keymap::SUPER),
    ];
    let wanted = all.into_iter().filter(move |(m, _)| modifiers.contains(*m));
    wanted.map(|(_, key)| key)
}

/// The characters of a text, with one character for a line end.
pub(crate) fn typeable(text: &str) -> Result<Vec<char>> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let refused = |c: &char| c.is_control() && !"\n\t".contains(*c);
    match text.chars().find(refused) {
        Some(control) => Err(Error::Input(format!(
            "the text holds U+{:04X}, which cannot be typed; nothing was typed. Leave it out, and send keys such as Escape or Delete with press_key_and_traverse",
            u32::from(control)
        ))),
        None => Ok(text.chars().collect()),
    }
}
