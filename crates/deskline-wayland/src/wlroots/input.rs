//! The agent's pointer and keyboard on a seat, and what a link does with them. They are made when they are
//! first needed: a doctor or a reader makes none.

use std::path::{Path, PathBuf};
use std::process::Child;

use deskline_core::{KeyPress, Modifiers, Point, Rect};
use deskline_link::{Button, Cancel, Clicks, DragPort, Error, Result, drag};
use wayland_client::protocol::wl_pointer::Axis;
use wayland_client::protocol::wl_seat::Capability;

use crate::helper::Helper;
use crate::sender::PACE;
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
    fn pointer(&mut self, client: &mut Client) -> Result<&mut VirtualPointer> {
        let pointer = self.make_pointer(client)?;
        client.await_apps();
        Ok(pointer)
    }

    /// The keyboard, once apps have had the time to ask for it.
    fn keyboard(&mut self, client: &mut Client) -> Result<&mut VirtualKeyboard> {
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

    /// Moves the pointer there. `layout` are the bounds of all outputs, here and below.
    pub(crate) fn go(&mut self, client: &mut Client, layout: Rect, to: Point) -> Result<()> {
        self.pointer(client)?.go(client, layout, to)
    }

    /// Clicks where the pointer is.
    pub(crate) fn click(
        &mut self,
        client: &mut Client,
        button: Button,
        clicks: Clicks,
        cancel: &Cancel,
    ) -> Result<()> {
        self.pointer(client)?.click(client, button, clicks, cancel)
    }

    /// Drags from one place to another while modifiers are held.
    pub(crate) fn drag(
        &mut self,
        client: &mut Client,
        layout: Rect,
        ends: [Point; 2],
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        let mut dragging = Dragging {
            input: self,
            client,
            layout,
            modifiers,
        };
        drag(&mut dragging, ends, PACE, cancel)
    }

    /// Turns the wheel by lines where the pointer is; positive is right and down.
    pub(crate) fn scroll(
        &mut self,
        client: &mut Client,
        right: i32,
        down: i32,
        cancel: &Cancel,
    ) -> Result<()> {
        let pointer = self.pointer(client)?;
        pointer.scroll(client, Axis::VerticalScroll, down, cancel)?;
        pointer.scroll(client, Axis::HorizontalScroll, right, cancel)
    }

    /// Makes sure that each character of the text has a key, as far as one keymap has room.
    pub(crate) fn prepare(&mut self, client: &mut Client, text: &[char]) -> Result<()> {
        self.keyboard(client)?.prepare(client, text)
    }

    /// Types a part of a text.
    pub(crate) fn type_part(
        &mut self,
        client: &mut Client,
        part: &[char],
        cancel: &Cancel,
    ) -> Result<()> {
        self.keyboard(client)?.type_text(client, part, cancel)
    }

    /// Presses a key with modifiers.
    pub(crate) fn press(&mut self, client: &mut Client, press: KeyPress) -> Result<()> {
        self.keyboard(client)?.press(client, press)
    }

    /// Releases all that is pressed: the buttons, then the keys. A lost connection has released it.
    pub(crate) fn release(&mut self, client: &mut Client) -> Result<()> {
        let pointer = self.pointer.as_mut();
        let buttons = pointer.map_or(Ok(()), |pointer| pointer.release(client));
        let keyboard = self.keyboard.as_mut();
        let keys = keyboard.map_or(Ok(()), |keyboard| keyboard.release(client));
        buttons.and(keys)
    }
}

/// The single events of a drag.
struct Dragging<'a> {
    input: &'a mut Input,
    client: &'a mut Client,
    layout: Rect,
    modifiers: Modifiers,
}

impl DragPort for Dragging<'_> {
    type Error = Error;

    fn go(&mut self, to: Point) -> Result<()> {
        self.input.go(self.client, self.layout, to)
    }

    fn press(&mut self) -> Result<()> {
        if !self.modifiers.is_empty() {
            let keyboard = self.input.keyboard(self.client)?;
            keyboard.hold(self.client, self.modifiers)?;
        }
        self.input.pointer(self.client)?.press(self.client)
    }

    fn release(&mut self) -> Result<()> {
        self.input.release(self.client)
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
