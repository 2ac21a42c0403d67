//! KWin's input method, which Plasma's settings call "Virtual Keyboard". In a text field, KWin
//! gives all keys to it first, but modifiers to the app at once. So Control+A would type an "a".
//! Deskline takes the keys away from the input method for the rest of a link.

use std::path::Path;
use std::time::Duration;

use deskline_contract::{DisplayError, Result, kept};
use deskline_unix::family::{self, Family};

use super::bus::Bus;
use crate::dbus::{self, On, PROPERTIES};
use crate::wlroots::client::Client;

/// KWin's input method on the session bus.
pub const KEYBOARD: On<'static> = (
    "org.kde.KWin",
    "/VirtualKeyboard",
    "org.kde.kwin.VirtualKeyboard",
);

/// The property that says whether KWin gives the keys to its input method first.
const ACTIVE: &str = "active";

/// How long an app may take to report its text field to KWin.
const REPORTS: Duration = Duration::from_millis(500);

/// KWin's input method during a link.
#[derive(Debug, Default)]
pub(super) struct InputMethod {
    /// Whether KWin has an input method, as of the start of the present action.
    exists: bool,
    /// Whether the app has had time to report its text field in this action. If so, an input method
    /// that is off stays off.
    stays_off: bool,
    /// The app whose keys were taken from the input method.
    pub(super) taken_in: Option<u32>,
    /// A Wayland connection, for round trips.
    client: Option<Client>,
}

impl Bus {
    fn is(&self, property: &str) -> bool {
        let (_, path, interface) = KEYBOARD;
        let on = (self.kwin.as_str(), path, interface);
        let value = dbus::property(&self.connection, on, property);
        value.is_ok_and(|value| bool::try_from(value) == Ok(true))
    }

    fn set_active(&self, active: bool) -> Result<()> {
        let (_, path, interface) = KEYBOARD;
        let value = zbus::zvariant::Value::from(active);
        self.ask(path, PROPERTIES, "Set", &(interface, ACTIVE, value))
    }
}

impl InputMethod {
    /// Called when an action with keys begins.
    pub(super) fn find(&mut self, bus: &Bus) {
        self.exists = bus.is("available");
        self.stays_off = false;
    }

    /// Takes the keys of this app from the input method of the KWin that listens on `socket`.
    /// Returns whether that took some time.
    pub(super) fn take_keys(&mut self, app: u32, (bus, socket): (&Bus, &Path)) -> Result<bool> {
        if !self.exists || self.stays_off && !bus.is(ACTIVE) {
            return Ok(false);
        }
        self.stays_off = true;
        // KWin's answer proves two things: it has sent all earlier events to its clients, and has
        // handled what these had sent.
        let mut roundtrip = || kept(&mut self.client, || Client::connect(socket))?.roundtrip();
        // The app has got the focus or keys. One round trip waits until it has handled them, the
        // next until KWin has handled what it then reports.
        roundtrip()?;
        family::await_sleep(&[Family::new(app)], REPORTS);
        roundtrip()?;
        if bus.is(ACTIVE) {
            self.taken_in = Some(app);
            bus.set_active(false)?;
            if bus.is(ACTIVE) {
                return Err(DisplayError::KeysGoElsewhere.into());
            }
        }
        Ok(true)
    }

    /// Gives the keys back to the input method if `to_text`: they still go to a text field of the
    /// same app. Otherwise KWin gives them back in the next text field.
    pub(super) fn give_back(&mut self, bus: &Bus, to_text: bool) {
        if self.taken_in.take().is_some()
            && to_text
            && let Err(e) = bus.set_active(true)
        {
            tracing::warn!("KWin's input method stays off: {e}");
        }
    }
}
