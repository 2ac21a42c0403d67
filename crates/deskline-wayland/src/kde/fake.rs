//! Input by KWin's fake input protocol, for Plasma 5, which has no EIS socket. KWin offers the
//! protocol only to programs whose `.desktop` file asks for it.

use std::path::Path;

use deskline_contract::Result;
use deskline_unix::wait;
use wayland_client::delegate_noop;
use wayland_protocols_plasma::fake_input::client::org_kde_kwin_fake_input::OrgKdeKwinFakeInput;
use wayland_protocols_plasma::keystate::client::org_kde_kwin_keystate::{self, OrgKdeKwinKeystate};

use super::bus::Bus;
use crate::events::{APART, Events};
use crate::layout::{Layout, locked, unreadable};
use crate::wlroots::client::{Client, LOOKS_UP};
use crate::wlroots::heard::{Heard, on_event};

/// The version that has keys.
const KEYS: u32 = 4;

/// The axes of `axis`.
const VERTICAL: u32 = 0;
const HORIZONTAL: u32 = 1;

/// A wheel notch, in the axis units that toolkits expect from a wheel without discrete steps.
const NOTCH: f64 = 10.0;

/// A keymap, its group, and whether Caps Lock is on.
type Read = (Vec<u8>, u32, bool);

/// The devices of one connection.
#[derive(Debug)]
pub(super) struct Fake {
    seat: Client,
    bus: Bus,
    proto: OrgKdeKwinFakeInput,
    locks: Option<OrgKdeKwinKeystate>,
    /// The layout, with the input that it was computed from.
    layout: Option<(Read, Layout)>,
}

/// Connects to the KWin that listens on `socket`. `None` if it does not offer the protocol to this
/// program.
pub(super) fn offered(socket: &Path) -> Result<Option<Client>> {
    let seat = Client::connect_within(socket, LOOKS_UP)?;
    Ok(seat.offers::<OrgKdeKwinFakeInput>(KEYS).then_some(seat))
}

impl Fake {
    /// Requests the use of the protocol, on a connection that offers it.
    pub(super) fn open(mut seat: Client, bus: Bus) -> Result<Self> {
        let proto: OrgKdeKwinFakeInput = seat.bind(KEYS)?;
        proto.authenticate("Deskline".into(), "an agent drives apps".into());
        let locks = seat.bind(1).ok();
        seat.roundtrip()?;
        Ok(Self {
            seat,
            bus,
            proto,
            locks,
            layout: None,
        })
    }

    /// Reads the keymap, its active group, and the state of Caps Lock.
    fn read(&mut self) -> Result<Read> {
        if let Some(locks) = &self.locks {
            locks.fetchStates();
        }
        let keymap = self.seat.keymap()?;
        self.seat.roundtrip()?;
        Ok((keymap, self.bus.layout(), self.seat.heard.caps_lock))
    }
}

impl Events for Fake {
    fn go(&mut self, x: f64, y: f64) -> Result<()> {
        self.proto.pointer_motion_absolute(x, y);
        self.seat.roundtrip()
    }

    fn button(&mut self, code: u32, press: bool) -> Result<()> {
        self.proto.button(code, press.into());
        self.seat.roundtrip()
    }

    fn key(&mut self, code: u32, press: bool) -> Result<()> {
        self.proto.keyboard_key(code, press.into());
        Ok(())
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        for (axis, notches) in [(VERTICAL, down), (HORIZONTAL, right)] {
            if notches != 0 {
                self.proto.axis(axis, f64::from(notches) * NOTCH);
            }
        }
        wait::until(APART, APART, || self.seat.roundtrip().err()).map_or(Ok(()), Err)
    }

    fn sync(&mut self) -> Result<()> {
        self.seat.roundtrip()
    }

    fn layout(&mut self) -> Result<&Layout> {
        let read = self.read()?;
        let layout = match self.layout.take() {
            Some((known, layout)) if known == read => layout,
            _ => {
                let (keymap, group, caps_lock) = &read;
                Layout::read(keymap, locked(*caps_lock), *group).ok_or_else(unreadable)?
            }
        };
        Ok(&self.layout.insert((read, layout)).1)
    }

    fn known_layout(&self) -> Option<&Layout> {
        self.layout.as_ref().map(|(_, layout)| layout)
    }
}

on_event!(OrgKdeKwinKeystate, |heard, _, event| {
    use org_kde_kwin_keystate::{Event, Key, State};
    if let Event::StateChanged { key, state } = event
        && key == Key::Capslock as u32
    {
        heard.caps_lock = state == State::Locked as u32;
    }
});

delegate_noop!(Heard: OrgKdeKwinFakeInput);
