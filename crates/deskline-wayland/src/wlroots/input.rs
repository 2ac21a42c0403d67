//! The agent's pointer and keyboard on a seat. They are created when first needed: `doctor` and
//! reading create no devices.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Child;

use deskline_contract::{Result, kept};
use deskline_core::{Point, Rect};
use wayland_client::protocol::wl_seat::Capability;

use crate::helper;
use crate::wlroots::client::Client;
use crate::wlroots::heard::NOWHERE;
use crate::wlroots::keyboard::VirtualKeyboard;
use crate::wlroots::pointer::VirtualPointer;
use crate::wlroots::screens;

pub(crate) struct Input {
    /// The process that keys are for.
    pub(crate) pid: Option<u32>,
    /// The bounds of all outputs, as of the last [`Input::reach`].
    pub(crate) layout: Rect,
    /// The Wayland socket.
    socket: PathBuf,
    /// Whether the compositor survives the loss of our pointer if that is the seat's only pointer.
    survives: bool,
    pointer: Option<VirtualPointer>,
    keyboard: Option<VirtualKeyboard>,
    /// The helper process that keeps a pointer on the seat, if this server has started it.
    holder: Option<Child>,
}

impl Input {
    pub(crate) fn new(socket: &Path, survives: bool) -> Self {
        Self {
            pid: None,
            layout: NOWHERE,
            socket: socket.to_owned(),
            survives,
            pointer: None,
            keyboard: None,
            holder: None,
        }
    }

    /// Prepares the pointer for these positions in the layout. Fails if a position is on no output.
    pub(crate) fn reach(&mut self, client: &mut Client, places: &[Point]) -> Result<()> {
        let screens = client.screens()?;
        let screens: Vec<Rect> = screens.iter().map(|screen| screen.place).collect();
        self.layout = screens::layout_around(&screens, places)?;
        Ok(())
    }

    /// Creates both devices if the seat lacks one, so that apps that start later find a seat with
    /// devices. Returns whether it created them.
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
        kept(&mut self.keyboard, || VirtualKeyboard::new(client))
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
