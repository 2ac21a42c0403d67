//! KWin on the session bus.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use deskline_contract::{Error, Result};
use zbus::blocking::Connection;
use zbus::zvariant::OwnedFd;

use crate::dbus::{self, Arguments, Reply};

/// How long KWin may take for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

const KWIN: &str = "org.kde.KWin";
const REMOTE_DESKTOP: &str = "org.kde.KWin.EIS.RemoteDesktop";

/// The devices to request: keyboard and pointer. Touch is 4.
const DEVICES: i32 = 1 | 2;

/// KWin, by its unique bus name: a restarted KWin has another name.
#[derive(Debug, Clone)]
pub(super) struct Bus {
    pub(super) connection: Connection,
    /// A copy of the connection's socket.
    pub(super) socket: Option<Arc<UnixStream>>,
    pub(super) kwin: String,
    /// The address of the bus, and the process id of KWin.
    pub(super) address: String,
    pub(super) pid: u32,
}

pub(super) fn lost(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::lost("talking to KWin over D-Bus")(e)
}

impl Bus {
    /// Connects to the session bus at `address`, on which the process `pid` must be KWin.
    pub(super) fn connect(address: &str, pid: u32) -> Result<Self> {
        let unavailable =
            |e: zbus::Error| Error::Unavailable(format!("KWin cannot be reached: {e}"));
        let (connection, socket) = dbus::with_socket(address, PATIENCE).map_err(unavailable)?;
        let kwin = dbus::owner(&connection, KWIN).map_err(unavailable)?;
        let its = dbus::pid_of(&connection, &kwin).map_err(unavailable)?;
        if its != pid {
            return Err(Error::Unavailable(format!(
                "the session bus belongs to another session: its KWin is process {its}, the \
                Wayland compositor is {pid}"
            )));
        }
        Ok(Self {
            connection,
            socket: socket.map(Arc::new),
            kwin,
            address: address.to_owned(),
            pid,
        })
    }

    /// Calls a method of KWin and returns its result.
    pub(super) fn ask<R: Reply>(
        &self,
        path: &str,
        interface: &str,
        member: &str,
        body: &impl Arguments,
    ) -> Result<R> {
        let on = (self.kwin.as_str(), path, interface);
        dbus::ask(&self.connection, on, member, body).map_err(lost)
    }

    /// Whether KWin's object at `path` has this interface.
    pub(super) fn offers(&self, path: &str, interface: &str) -> bool {
        let introspectable = "org.freedesktop.DBus.Introspectable";
        let xml = self.ask(path, introspectable, "Introspect", &());
        xml.is_ok_and(|xml: String| xml.contains(&format!("\"{interface}\"")))
    }

    /// Whether the screen is locked.
    pub(super) fn is_locked(&self) -> bool {
        let saver = "org.freedesktop.ScreenSaver";
        // KWin without a lock screen has no such object.
        let locked = self.ask("/ScreenSaver", saver, "GetActive", &());
        locked.unwrap_or_default()
    }

    /// Whether KWin offers an EIS socket.
    pub(super) fn has_input(&self) -> bool {
        self.offers("/org/kde/KWin/EIS/RemoteDesktop", REMOTE_DESKTOP)
    }

    /// Requests an EIS socket with a keyboard and pointers.
    pub(super) fn input(&self) -> Result<OwnedFd> {
        let path = "/org/kde/KWin/EIS/RemoteDesktop";
        let answer = self.ask(path, REMOTE_DESKTOP, "connectToEIS", &DEVICES);
        answer.map(|(socket, _cookie): (OwnedFd, i32)| socket)
    }

    /// The keymap's active group as KWin reports it; 0 if there is only one group.
    pub(super) fn layout(&self) -> u32 {
        let group = self.ask("/Layouts", "org.kde.KeyboardLayouts", "getLayout", &());
        group.unwrap_or_default()
    }

    /// Whether KWin has input devices of its own. If not, our devices are the seat's first ones,
    /// and apps have to bind them.
    pub(super) fn has_devices(&self) -> bool {
        let manager = "org.kde.KWin.InputDeviceManager";
        let on = (self.kwin.as_str(), "/org/kde/KWin/InputDevice", manager);
        let names = dbus::property(&self.connection, on, "devicesSysNames").ok();
        let names = names.and_then(|names| Vec::<String>::try_from(names).ok());
        names.is_some_and(|names| !names.is_empty())
    }
}
