//! Finds out what is pressed on the desktop, and in whose window. Uses raw events, which arrive
//! whoever has the focus or has grabbed the devices.

use std::path::Path;
use std::time::Duration;

use deskline_contract::presses::{self, Press, Pressed};
use deskline_contract::{Cancel, Result};
use deskline_core::Point;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};
use xkeysym::Keysym;

use crate::connection::{SLICE, event};
use crate::keymap::Keyboard;
use crate::overlay::Overlay;
use crate::{During as _, X11};

const WHAT: &str = "listening for presses";

/// A connection that hears every press.
pub struct Presses {
    x11: X11,
    /// The real modifiers that are held, as bits of a state.
    held: u8,
    /// Where the left button went down, while it is down.
    down: Option<Point>,
}

impl presses::Presses for Presses {
    fn next(&mut self, limit: Duration, cancel: &Cancel) -> Result<Option<Press>> {
        let Some(event) = event(&self.x11.connection, (limit, SLICE), cancel, WHAT)? else {
            return Ok(None);
        };
        match event {
            Event::XinputRawButtonPress(button) => self.button(button.detail),
            Event::XinputRawButtonRelease(button) if button.detail == 1 => self.up(),
            Event::XinputRawKeyPress(key) => self.key(key.sourceid, key.detail, true),
            Event::XinputRawKeyRelease(key) => self.key(key.sourceid, key.detail, false),
            _ => Ok(None),
        }
    }
}

impl Presses {
    /// Listens, and shows a banner with this caption.
    ///
    /// # Errors
    /// Those of [`X11::connect`].
    pub fn listen(display: &str, xauthority: Option<&Path>, caption: &str) -> Result<Self> {
        let x11 = X11::connect(display, xauthority)?;
        let raw = XIEventMask::RAW_KEY_PRESS
            | XIEventMask::RAW_KEY_RELEASE
            | XIEventMask::RAW_BUTTON_PRESS
            | XIEventMask::RAW_BUTTON_RELEASE;
        let mask = EventMask {
            deviceid: Device::ALL_MASTER.into(),
            mask: vec![raw],
        };
        let c = &x11.connection;
        c.xinput_xi_select_events(x11.root, &[mask]).during(WHAT)?;
        // The banner ends with the connection.
        Overlay::new(x11.root).announce(c, caption, None)?;
        x11.round_trip()?;
        let (held, down) = (0, None);
        Ok(Self { x11, held, down })
    }

    fn button(&mut self, number: u32) -> Result<Option<Press>> {
        let (at, pid) = self.there()?;
        self.down = Some(at).filter(|_| number == 1);
        let at = Some(at);
        let what = Pressed::Button { number, at };
        Ok(Some(Press { pid, what }))
    }

    fn up(&mut self) -> Result<Option<Press>> {
        let Some(down) = self.down.take() else {
            return Ok(None);
        };
        let (at, pid) = self.there()?;
        let what = Pressed::up(at, down);
        Ok(Some(Press { pid, what }))
    }

    /// The pointer's place, and the process whose window is there. The process is unknown if the
    /// window closes at once.
    fn there(&self) -> Result<(Point, Option<u32>)> {
        let at = self.x11.pointer()?.at;
        let window = self.x11.window_at(at)?.map(|(window, _)| window);
        let mut pids = self.x11.res_pids(window.as_slice())?.into_values();
        Ok((at, pids.next()))
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
        let pid = self.x11.front()?.map(|front| front.pid);
        let what = Pressed::key(symbol.name(), symbol.key_char(), self.held.into());
        Ok(Some(Press { pid, what }))
    }
}
