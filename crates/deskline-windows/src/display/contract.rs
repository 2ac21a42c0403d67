//! Implements the display contract: windows, pointer, pictures.

use deskline_contract::{Picture, Pictures, Pointer, Raising, Result, Screen, Window, Workspaces};
use deskline_core::{Point, WindowId};
use deskline_input::{Aim, Cancel, Hands};

use super::raise;
use super::windows::{describe, every, owner};
use crate::guard::Guard;
use crate::input::keys::WinKey;
use crate::input::{Input, send};
use crate::os::{self, front, picture, pointer};

/// The screen, the pointer and the keyboard of the person who is logged in.
pub struct WinDisplay {
    pub(super) input: Input,
    pub(super) hands: Hands<WinKey>,
    /// The window that received the last pointer events.
    pub(super) reader: Option<WindowId>,
    pub guard: Guard,
}

impl WinDisplay {
    pub fn new(guard: Guard) -> Self {
        Self {
            input: Input::default(),
            hands: Hands::default(),
            reader: None,
            guard,
        }
    }

    /// Sets the target of keys and clicks.
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.hands.aim = aim;
    }
}

impl Screen for WinDisplay {
    fn front(&mut self) -> Result<Option<Window>> {
        Ok(front().map(describe))
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(every().into_iter().map(describe).collect())
    }

    fn windows_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        let its = every().into_iter().filter(|window| owner(*window) == pid);
        Ok(its.map(describe).collect())
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        const BUTTONS: [u16; 5] = [0x01, 0x02, 0x04, 0x05, 0x06];
        Ok(Some(Pointer {
            at: pointer()?,
            pressed: BUTTONS.into_iter().any(send::is_down),
        }))
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        send::motion(to)
    }
}

impl Raising for WinDisplay {
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        raise::activate(window, cancel)
    }
}

// Windows on another virtual desktop are cloaked and not listed: no program may switch desktops.
impl Workspaces for WinDisplay {
    fn put_away(&mut self, window: &Window) -> Result<()> {
        os::minimise(window.id);
        Ok(())
    }
}

impl Pictures for WinDisplay {
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        picture(window)
    }
}
