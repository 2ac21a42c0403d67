//! Input through D-Bus calls of Mutter's remote desktop session, one for each event. For GNOME
//! before 45, which has no EIS socket.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use deskline_link::{Error, Result};
use deskline_unix::{spawn, wait};
use wayland_client::protocol::wl_seat::Capability;

use super::bus::{Calls, On};
use crate::dbus::Arguments;
use crate::events::Events;
use crate::keymap;
use crate::layout::{Layout, locked, unreadable};
use crate::wlroots::client::{ASK, Client};

pub(super) const REMOTE: On<'static> = (
    "org.gnome.Mutter.RemoteDesktop",
    "/org/gnome/Mutter/RemoteDesktop",
    "org.gnome.Mutter.RemoteDesktop",
);
pub(super) const REMOTE_SESSION: &str = "org.gnome.Mutter.RemoteDesktop.Session";

/// How long `gsettings` may take: 10 ms on an idle machine.
const SETTINGS: Duration = Duration::from_secs(2);

/// The axes of `NotifyPointerAxisDiscrete`.
const VERTICAL: u32 = 0;
const HORIZONTAL: u32 = 1;

/// Input through one session. When the session ends, Mutter releases all keys and buttons.
#[derive(Debug)]
pub(crate) struct Notify {
    calls: Calls,
    /// The session.
    path: String,
    /// The compositor's Wayland socket.
    socket: PathBuf,
    /// The stream that points are relative to.
    stream: Option<String>,
    keymap: Vec<u8>,
    /// The layout, and whether Caps Lock was on for it.
    layout: Option<(bool, Layout)>,
}

impl Notify {
    /// Sends input through a session that has started. `socket` is the compositor's.
    pub(crate) fn open(calls: Calls, path: &str, socket: &Path) -> Result<Self> {
        let mut notify = Self {
            calls,
            path: path.to_owned(),
            socket: socket.to_owned(),
            stream: None,
            keymap: Vec::new(),
            layout: None,
        };
        notify.read_keymap()?;
        Ok(notify)
    }

    /// Whether the session is still open. Reads the keymap again: the person may have chosen other
    /// layouts.
    pub(crate) fn is_open(&mut self) -> bool {
        let id = self.calls.property(self.on(), "SessionId");
        id.and_then(|_| self.read_keymap()).is_ok()
    }

    fn read_keymap(&mut self) -> Result<()> {
        let mut seat = Client::connect(&self.socket)?;
        self.introduce(&mut seat)?;
        self.keymap = seat.keymap()?;
        self.layout = None;
        Ok(())
    }

    /// Makes points relative to the corner of this stream.
    pub(crate) fn point_at(&mut self, stream: &str) {
        self.stream = Some(stream.to_owned());
    }

    /// Gives the seat the keyboard or pointer that it lacks, and apps the time to bind it: they
    /// lose earlier events. Mutter creates a session's device at its first event.
    fn introduce(&self, seat: &mut Client) -> Result<()> {
        let both = Capability::Keyboard | Capability::Pointer;
        if seat.has(both) {
            return Ok(());
        }
        if !seat.has(Capability::Keyboard) {
            for press in [true, false] {
                self.tell("NotifyKeyboardKeycode", &(keymap::SHIFT.0, press))?;
            }
        }
        if !seat.has(Capability::Pointer) {
            self.tell("NotifyPointerMotionRelative", &(0.0_f64, 0.0_f64))?;
        }
        seat.wait(|heard| heard.capabilities.contains(both))?;
        // No event reports that apps have bound it.
        wait::until(ASK, ASK, || seat.dispatch().err()).map_or(Ok(()), Err)
    }

    fn on(&self) -> On<'_> {
        (REMOTE.0, &self.path, REMOTE_SESSION)
    }

    fn tell(&self, method: &str, body: &impl Arguments) -> Result<()> {
        self.calls.tell(self.on(), method, body)
    }

    fn caps_lock(&self) -> bool {
        let property = self.calls.property(self.on(), "CapsLockState");
        property.is_ok_and(|on| bool::try_from(on).unwrap_or_default())
    }
}

impl Events for Notify {
    fn go(&mut self, x: f64, y: f64) -> Result<()> {
        let Some(stream) = &self.stream else {
            return Err(Error::system("moving the pointer")(
                "the session has no stream",
            ));
        };
        self.tell("NotifyPointerMotionAbsolute", &(stream, x, y))
    }

    fn button(&mut self, code: u32, press: bool) -> Result<()> {
        self.tell("NotifyPointerButton", &(code.cast_signed(), press))
    }

    fn key(&mut self, code: u32, press: bool) -> Result<()> {
        self.tell("NotifyKeyboardKeycode", &(code, press))
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        for (axis, steps) in [(VERTICAL, down), (HORIZONTAL, right)] {
            // Mutter refuses a turn by 0.
            if steps != 0 {
                self.tell("NotifyPointerAxisDiscrete", &(axis, steps))?;
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        // Each call has returned.
        Ok(())
    }

    fn layout(&mut self) -> Result<&Layout> {
        let caps_lock = self.caps_lock();
        let layout = match self.layout.take() {
            Some((of, layout)) if of == caps_lock => layout,
            _ => read(&self.keymap, caps_lock).ok_or_else(unreadable)?,
        };
        Ok(&self.layout.insert((caps_lock, layout)).1)
    }

    fn known_layout(&self) -> Option<&Layout> {
        self.layout.as_ref().map(|(_, layout)| layout)
    }
}

/// The active layout. GNOME's keymap has the layouts of all input sources and of the user's
/// language, and Mutter reports the active one only to the window with the keyboard. If there are
/// several layouts, uses the keys that they have in common.
fn read(keymap: &[u8], caps_lock: bool) -> Option<Layout> {
    let mut layouts = Layout::of_each_group(keymap, locked(caps_lock))?;
    let (first, others) = layouts.split_first()?;
    if others.iter().any(|other| other != first) && has_one_source() {
        layouts.truncate(1);
    }
    Layout::common(layouts)
}

/// Whether the user has at most one input source, whose layout is then the first.
fn has_one_source() -> bool {
    let mut ask = Command::new("gsettings");
    ask.args(["get", "org.gnome.desktop.input-sources", "sources"]);
    let reported = spawn::output(&mut ask, SETTINGS).unwrap_or_default();
    is_one(&String::from_utf8_lossy(&reported))
}

/// Whether a list of sources, such as `[('xkb', 'de')]`, has at most one entry.
fn is_one(sources: &str) -> bool {
    let sources = sources.trim();
    sources.ends_with(']') && sources.matches("('").count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_sources_are_counted() {
        assert!(is_one("@a(ss) []\n"));
        assert!(is_one("[('xkb', 'de+nodeadkeys')]\n"));
        assert!(!is_one("[('xkb', 'us'), ('xkb', 'ru')]\n"));
        assert!(!is_one(""), "not known");
    }
}
