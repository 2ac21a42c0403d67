//! The agent's pointer and keyboard on a seat. They are created when first needed: `doctor` and
//! reading create none.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Child;

use deskline_contract::Result;
use wayland_client::protocol::wl_seat::Capability;

use crate::helper;
use crate::wlroots::client::Client;
use crate::wlroots::keyboard::VirtualKeyboard;
use crate::wlroots::pointer::VirtualPointer;

pub(crate) struct Input {
    /// The Wayland socket.
    socket: PathBuf,
    /// Whether the compositor survives losing our pointer if it is the seat's only one.
    survives: bool,
    pointer: Option<VirtualPointer>,
    keyboard: Option<VirtualKeyboard>,
    /// The process that keeps a pointer on a seat without one, if this server has started it.
    holder: Option<Child>,
}

impl Input {
    pub(crate) fn new(socket: &Path, survives: bool) -> Self {
        Self {
            socket: socket.to_owned(),
            survives,
            pointer: None,
            keyboard: None,
            holder: None,
        }
    }

    /// Creates both devices if the seat lacks one. Returns whether it did. Apps that start later
    /// find a seat with devices.
    pub(crate) fn make_missing(&mut self, client: &mut Client) -> Result<bool> {
        if client.has(Capability::Pointer | Capability::Keyboard) {
            return Ok(false);
        }
        self.make_pointer(client)?;
        self.make_keyboard(client).map(|_| true)
    }

    /// The pointer, after apps have had time to bind it.
    pub(crate) fn pointer(&mut self, client: &mut Client) -> Result<&mut VirtualPointer> {
        let pointer = self.make_pointer(client)?;
        client.await_apps();
        Ok(pointer)
    }

    /// The keyboard, after apps have had time to bind it.
    pub(crate) fn keyboard(&mut self, client: &mut Client) -> Result<&mut VirtualKeyboard> {
        let keyboard = self.make_keyboard(client)?;
        client.await_apps();
        Ok(keyboard)
    }

    fn make_pointer(&mut self, client: &mut Client) -> Result<&mut VirtualPointer> {
        let pointer = if let Some(pointer) = self.pointer.take() {
            pointer
        } else {
            let crashes = !self.survives && !client.has(Capability::Pointer);
            if crashes && self.holder.is_none() {
                self.holder = Some(helper::start([
                    OsStr::new(helper::HOLD_POINTER),
                    self.socket.as_os_str(),
                ])?);
            }
            VirtualPointer::new(client)?
        };
        Ok(self.pointer.insert(pointer))
    }

    fn make_keyboard(&mut self, client: &mut Client) -> Result<&mut VirtualKeyboard> {
        let keyboard = match self.keyboard.take() {
            Some(keyboard) => keyboard,
            None => VirtualKeyboard::new(client)?,
        };
        Ok(self.keyboard.insert(keyboard))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // The holder lives as long as the compositor. Reap it if it has ended.
        if let Some(holder) = &mut self.holder {
            let _ = holder.try_wait();
        }
    }
}
