//! The agent's pointer and keyboard on a seat, and what a link does with them. They are made when
//! they are first needed: a doctor or a reader makes none.

use std::path::{Path, PathBuf};
use std::process::Child;

use deskline_link::Result;
use wayland_client::protocol::wl_seat::Capability;

use crate::helper::Helper;
use crate::wlroots::client::Client;
use crate::wlroots::keyboard::VirtualKeyboard;
use crate::wlroots::pointer::VirtualPointer;

pub(crate) struct Input {
    /// Where the compositor listens.
    socket: PathBuf,
    /// Whether the compositor survives that the end of our pointer leaves its seat without one.
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

    /// Makes both devices: apps that start from now on hear a seat with devices.
    pub(crate) fn make(&mut self, client: &mut Client) -> Result<()> {
        self.make_pointer(client)?;
        self.make_keyboard(client).map(drop)
    }

    /// Makes both devices if the seat lacks one. Returns whether it did.
    pub(crate) fn make_missing(&mut self, client: &mut Client) -> Result<bool> {
        if client.has(Capability::Pointer | Capability::Keyboard) {
            return Ok(false);
        }
        self.make(client).map(|()| true)
    }

    /// How many keyboards there are.
    pub(crate) fn keyboards(&self) -> usize {
        usize::from(self.keyboard.is_some())
    }

    /// The pointer, once apps have had the time to ask for it.
    pub(crate) fn pointer(&mut self, client: &mut Client) -> Result<&mut VirtualPointer> {
        let pointer = self.make_pointer(client)?;
        client.await_apps();
        Ok(pointer)
    }

    /// The keyboard, once apps have had the time to ask for it.
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
                self.holder = Some(Helper::HoldPointer(self.socket.clone()).start()?);
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
        // The holder lives as long as the compositor does. Reaps it where that has ended.
        if let Some(holder) = &mut self.holder {
            let _ = holder.try_wait();
        }
    }
}
