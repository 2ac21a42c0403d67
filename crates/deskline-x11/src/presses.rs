//! What is pressed on the desktop, and in whose window: raw events, which come whoever has the
//! focus or grabs the devices.

use std::path::Path;
use std::time::Duration;

use deskline_contract::{Cancel, Result};
use deskline_core::Modifiers;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};
use x11rb::protocol::xproto::ConnectionExt as _;
use xkeysym::Keysym;

use crate::connection::{SLICE, event};
use crate::keymap::Keyboard;
use crate::{Answer as _, During as _, X11};

const WHAT: &str = "listening for presses";

/// A press, and the process whose window gets it.
#[derive(Debug, Clone)]
pub struct Press {
    pub pid: Option<u32>,
    pub what: Pressed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// A button of the mouse, from 1, and the place of the pointer.
    Button { number: u32, at: (i32, i32) },
    /// A key by XKB's name, the character that it gives, and the modifiers that are held.
    Key(String, Option<char>, Modifiers),
}

/// A connection that hears every press.
pub struct Presses {
    x11: X11,
    /// The real modifiers that are held, as bits of a state.
    held: u8,
}

impl Presses {
    /// # Errors
    /// As of [`X11::connect`].
    pub fn listen(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let x11 = X11::connect(display, xauthority)?;
        let raw = XIEventMask::RAW_KEY_PRESS
            | XIEventMask::RAW_KEY_RELEASE
            | XIEventMask::RAW_BUTTON_PRESS;
        let mask = EventMask {
            deviceid: Device::ALL_MASTER.into(),
            mask: vec![raw],
        };
        let c = &x11.connection;
        c.xinput_xi_select_events(x11.root, &[mask]).during(WHAT)?;
        x11.round_trip()?;
        Ok(Self { x11, held: 0 })
    }

    /// The next press, waited for at most this long.
    ///
    /// # Errors
    /// The connection is lost, or the wait is cancelled.
    pub fn next(&mut self, limit: Duration, cancel: &Cancel) -> Result<Option<Press>> {
        let Some(event) = event(&self.x11.connection, (limit, SLICE), cancel, WHAT)? else {
            return Ok(None);
        };
        match event {
            Event::XinputRawButtonPress(button) => self.button(button.detail),
            Event::XinputRawKeyPress(key) => self.key(key.sourceid, key.detail, true),
            Event::XinputRawKeyRelease(key) => self.key(key.sourceid, key.detail, false),
            _ => Ok(None),
        }
    }

    /// Of an unknown process if the window closes at once.
    fn button(&self, number: u32) -> Result<Option<Press>> {
        let (c, mut window) = (&self.x11.connection, self.x11.root);
        let (mut at, mut pid) = (None, None);
        // The window manager's frame is no window of the app.
        while let Some(pointer) = c.query_pointer(window).answer_if_present(WHAT)? {
            at = Some((pointer.root_x.into(), pointer.root_y.into()));
            if pointer.child == x11rb::NONE {
                pid = self.x11.res_pids(&[window])?.into_values().next();
                break;
            }
            window = pointer.child;
        }
        Ok(at.map(|at| Press {
            pid,
            what: Pressed::Button { number, at },
        }))
    }

    fn key(&mut self, device: u16, code: u32, down: bool) -> Result<Option<Press>> {
        let Ok(code) = u8::try_from(code) else {
            return Ok(None);
        };
        let keyboard = Keyboard::read(&self.x11.connection, device)?;
        let modifier = keyboard.modifiers(code);
        if down {
            self.held |= modifier;
        } else {
            self.held &= !modifier;
        }
        let symbol = keyboard.pressed(code, self.held | keyboard.locked);
        let Some(symbol) = symbol.filter(|_| down && modifier == 0).map(Keysym::new) else {
            return Ok(None);
        };
        let name = symbol.name().unwrap_or_default().trim_start_matches("XK_");
        let pid = self.x11.front()?.map(|front| front.pid);
        let char = symbol.key_char().filter(|c| !c.is_control());
        let what = Pressed::Key(name.to_owned(), char, held(self.held));
        Ok(Some(Press { pid, what }))
    }
}

/// The modifiers that make a key another command. Which modifier is Alt is the keyboard's choice;
/// it is the first one everywhere.
fn held(state: u8) -> Modifiers {
    let bits = [
        (0, Modifiers::SHIFT),
        (2, Modifiers::CONTROL),
        (3, Modifiers::ALT),
        (6, Modifiers::COMMAND),
    ];
    let held = bits.iter().filter(|(bit, _)| state >> bit & 1 == 1);
    held.map(|(_, modifier)| *modifier).collect()
}
