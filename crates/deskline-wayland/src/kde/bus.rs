//! KWin on the session bus.

use std::time::Duration;

use deskline_link::{Error, Result};
use serde::Serialize;
use zbus::blocking::Connection;
use zbus::message::Message;
use zbus::zvariant::{DynamicType, OwnedFd};

use crate::dbus;

/// How long KWin may take for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

const KWIN: &str = "org.kde.KWin";
const REMOTE_DESKTOP: &str = "org.kde.KWin.EIS.RemoteDesktop";

/// The devices to request: keyboard and pointer. Touch is 4.
const DEVICES: i32 = 1 | 2;

/// KWin, by its unique bus name: a restarted KWin has another.
#[derive(Debug, Clone)]
pub(super) struct Bus {
    pub(super) connection: Connection,
    pub(super) kwin: String,
}

pub(super) fn lost(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::lost("talking to KWin over D-Bus")(e)
}

impl Bus {
    /// Connects to the session bus at `address`, on which the process `pid` must be KWin.
    pub(super) fn connect(address: &str, pid: u32) -> Result<Self> {
        let unavailable =
            |e: zbus::Error| Error::Unavailable(format!("KWin cannot be reached: {e}"));
        let connection = dbus::connect(address, PATIENCE).map_err(unavailable)?;
        let of_bus = |member: &str, name: &str| {
            let bus = "org.freedesktop.DBus";
            let path = "/org/freedesktop/DBus";
            connection.call_method(Some(bus), path, Some(bus), member, &name)
        };
        let owner = of_bus("GetNameOwner", KWIN).map_err(unavailable)?;
        let kwin: String = owner.body().deserialize().map_err(unavailable)?;
        let answer = of_bus("GetConnectionUnixProcessID", &kwin).map_err(unavailable)?;
        let its: u32 = answer.body().deserialize().map_err(unavailable)?;
        if its != pid {
            return Err(Error::Unavailable(format!(
                "the session bus is another session's: KWin there is process {its}, the Wayland compositor is {pid}"
            )));
        }
        Ok(Self { connection, kwin })
    }

    /// Calls a method of KWin.
    pub(super) fn call<B: Serialize + DynamicType>(
        &self,
        path: &str,
        interface: &str,
        member: &str,
        body: &B,
    ) -> Result<Message> {
        let kwin = Some(self.kwin.as_str());
        let called = self
            .connection
            .call_method(kwin, path, Some(interface), member, body);
        called.map_err(lost)
    }

    /// Whether one of KWin's objects has this interface.
    pub(super) fn offers(&self, path: &str, interface: &str) -> bool {
        let introspectable = "org.freedesktop.DBus.Introspectable";
        let answer = self.call(path, introspectable, "Introspect", &());
        let xml = answer.and_then(|answer| answer.body().deserialize::<String>().map_err(lost));
        xml.is_ok_and(|xml| xml.contains(&format!("\"{interface}\"")))
    }

    /// Whether the screen is locked.
    pub(super) fn is_locked(&self) -> bool {
        let answer = self.call(
            "/ScreenSaver",
            "org.freedesktop.ScreenSaver",
            "GetActive",
            &(),
        );
        // A KWin without a lock screen does not have this object.
        let locked = answer.and_then(|answer| answer.body().deserialize().map_err(lost));
        locked.unwrap_or_default()
    }

    /// Whether KWin offers an EIS socket.
    pub(super) fn has_input(&self) -> bool {
        self.offers("/org/kde/KWin/EIS/RemoteDesktop", REMOTE_DESKTOP)
    }

    /// Requests an EIS socket with a keyboard and pointers.
    pub(super) fn input(&self) -> Result<OwnedFd> {
        let path = "/org/kde/KWin/EIS/RemoteDesktop";
        let answer = self.call(path, REMOTE_DESKTOP, "connectToEIS", &DEVICES)?;
        let (socket, _cookie): (OwnedFd, i32) = answer.body().deserialize().map_err(lost)?;
        Ok(socket)
    }

    /// The active group of the keymap. KWin reports it if there are several; otherwise 0.
    pub(super) fn layout(&self) -> u32 {
        let answer = self.call("/Layouts", "org.kde.KeyboardLayouts", "getLayout", &());
        let group = answer.and_then(|answer| answer.body().deserialize().map_err(lost));
        group.unwrap_or_default()
    }

    /// Whether KWin has input devices of its own. If not, ours are the seat's first, and apps have
    /// to bind them.
    pub(super) fn has_devices(&self) -> bool {
        let arguments = ("org.kde.KWin.InputDeviceManager", "devicesSysNames");
        let properties = "org.freedesktop.DBus.Properties";
        let answer = self.call("/org/kde/KWin/InputDevice", properties, "Get", &arguments);
        let names = answer.ok().and_then(|answer| {
            let value: zbus::zvariant::OwnedValue = answer.body().deserialize().ok()?;
            Vec::<String>::try_from(value).ok()
        });
        names.is_some_and(|names| !names.is_empty())
    }
}
