//! A session of Mutter's remote desktop. While the session lasts, GNOME shows an indicator in its
//! panel, where the person can end the session.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use deskline_contract::{Error, Missing, Offer, Result, WindowId};
use zbus::zvariant::{OwnedValue, Value};

use super::bus::{Calls, On, Options, read};
use crate::eis::Eis;
use crate::events::Sent;
use crate::pipewire;

pub(super) const REMOTE: On<'static> = (
    "org.gnome.Mutter.RemoteDesktop",
    "/org/gnome/Mutter/RemoteDesktop",
    "org.gnome.Mutter.RemoteDesktop",
);
pub(super) const REMOTE_SESSION: &str = "org.gnome.Mutter.RemoteDesktop.Session";
pub(super) const CAST: On<'static> = (
    "org.gnome.Mutter.ScreenCast",
    "/org/gnome/Mutter/ScreenCast",
    "org.gnome.Mutter.ScreenCast",
);
pub(super) const CAST_SESSION: &str = "org.gnome.Mutter.ScreenCast.Session";
const STREAM: &str = "org.gnome.Mutter.ScreenCast.Stream";

/// How long Mutter may take to start a stream. On an idle machine it takes 20 ms.
const STARTS: Duration = Duration::from_secs(2);

/// A session that has started.
pub(crate) struct Session {
    path: String,
    /// Sends the session's events.
    eis: Eis,
    /// The session's screen cast, if the pointer is relative to windows instead of the screen.
    cast: Option<String>,
    /// The stream of the window that the pointer is in.
    stream: Option<Stream>,
}

/// The stream of one window.
pub(crate) struct Stream {
    path: String,
    /// The name that the stream's pointer has in EIS.
    mapping: String,
    /// The window that was focused when the stream started, and the size that its app reported.
    window: WindowId,
    size: (i32, i32),
    /// The stream's PipeWire node.
    pub(crate) node: u32,
    /// The origin of the window's content in the stream, in the window's units, if it is known.
    pub(crate) offset: Option<(f64, f64)>,
    /// The PipeWire stream, if it was connected in advance, before a picture was due.
    pub(crate) early: Option<pipewire::Stream>,
}

/// How to connect to a GNOME session.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// The address of the session bus.
    pub session_bus: &'a str,
    /// The compositor's Wayland socket.
    pub wayland_socket: &'a Path,
}

/// `Ok` if frames of Mutter's streams can be read, otherwise the reason why not.
pub(crate) fn frames() -> Offer<()> {
    let no_library = |e| Missing::new(format!("libpipewire cannot be opened ({e}). Install it"));
    pipewire::is_there().map_err(no_library)
}

/// Fails if this Mutter lacks the method `ConnectToEIS`, which a session needs. Mutter has it from
/// 45 on (commit 6d0b682d98), but the version of the D-Bus interface did not change with it.
pub(super) fn is_supported(to: &Access<'_>) -> Result<()> {
    // A session that has not started cannot be stopped. It ends with this connection.
    let bus = Calls::connect(to.session_bus)?;
    let found = bus
        .property(REMOTE, "Version")
        .and(bus.property(CAST, "Version"));
    found.map_err(|e| {
        Error::Unavailable(format!(
            "GNOME Shell does not offer Mutter's remote desktop on the session bus ({e})"
        ))
    })?;
    let path = bus.make(REMOTE, "CreateSession", &())?;
    let introspectable = (
        REMOTE.0,
        path.as_str(),
        "org.freedesktop.DBus.Introspectable",
    );
    let reported: String = bus.ask(introspectable, "Introspect", &())?;
    if reported.contains("ConnectToEIS") {
        return Ok(());
    }
    Err(Error::Unavailable(String::from(
        "this GNOME Shell takes no input from other programs: that needs GNOME 45 or later. \
        Choose \"GNOME on Xorg\" at login",
    )))
}

impl Session {
    /// Starts a session. Its pointer is relative to the screen or, if `casts`, to a window.
    pub(crate) fn start(bus: &Calls, casts: bool) -> Result<Self> {
        let path = bus.make(REMOTE, "CreateSession", &())?;
        let started = start(bus, &path, casts);
        if started.is_err() {
            stop(bus, &path);
        }
        let (eis, cast) = started?;
        Ok(Self {
            path,
            eis,
            cast,
            stream: None,
        })
    }

    /// The session's devices. They add `offset` to the points that they are given.
    pub(crate) fn port(&mut self, offset: (f64, f64)) -> Sent<'_> {
        Sent {
            events: &mut self.eis,
            offset,
            went: None,
        }
    }

    /// Whether the session is still open: the person or Mutter may have ended it.
    pub(crate) fn is_open(&mut self) -> bool {
        self.eis.is_open()
    }

    /// The stream of this window, if the session has it and the stream's pointer exists.
    pub(crate) fn stream_of(&mut self, window: WindowId, size: (i32, i32)) -> Option<&mut Stream> {
        let stream = self.stream.as_mut()?;
        // A stream and its pointer keep the size that the window had when the stream started.
        if (stream.window, stream.size) != (window, size) {
            return None;
        }
        self.eis.reaches(&stream.mapping).then_some(stream)
    }

    /// Streams the focused window, so that the pointer can go there. The caller names the window,
    /// and must check afterwards that it is still focused.
    pub(crate) fn point_at(
        &mut self,
        bus: &Calls,
        window: WindowId,
        size: (i32, i32),
    ) -> Result<&mut Stream> {
        if let Some(last) = self.stream.take() {
            // Fails if the window has closed: Mutter has then ended its stream.
            let _ = bus.tell((CAST.0, &last.path, STREAM), "Stop", &());
        }
        let no_cast = || Error::system("pointing at a window")("the session has no screen cast");
        let cast = self.cast.as_deref().ok_or_else(no_cast)?;
        let path = record(bus, cast, None)?;
        let node = start_stream(bus, &path, (CAST.0, &path, STREAM))?;
        let mapping = mapping(bus, &path)?;
        self.eis.select(Some(&mapping))?;
        Ok(self.stream.insert(Stream {
            path,
            mapping,
            window,
            size,
            node,
            offset: None,
            early: None,
        }))
    }

    /// Called when the target's input is over. From then on, the window may change, the person may
    /// move the pointer into a corner, and no picture is due.
    pub(crate) fn end_input(&mut self) {
        self.eis.in_a_corner();
        if let Some(stream) = &mut self.stream {
            stream.offset = None;
            stream.early = None;
        }
    }

    /// Ends the session. Mutter releases all pressed keys and buttons.
    pub(crate) fn stop(self, bus: &Calls) {
        // The EIS connection must end before the session: see `Drop` of `eis::Connection`.
        drop(self.eis);
        stop(bus, &self.path);
    }
}

fn stop(bus: &Calls, path: &str) {
    // Fails if the person has ended the session already.
    let _ = bus.tell((REMOTE.0, path, REMOTE_SESSION), "Stop", &());
}

fn start(bus: &Calls, path: &str, casts: bool) -> Result<(Eis, Option<String>)> {
    let session = (REMOTE.0, path, REMOTE_SESSION);
    let cast = casts.then(|| cast_of(bus, session)).transpose()?;
    bus.tell(session, "Start", &())?;
    let socket = bus.socket(session, "ConnectToEIS", &(Options::new(),))?;
    let mut eis = Eis::connect(socket, !casts)?;
    eis.in_a_corner();
    Ok((eis, cast))
}

/// Creates the session's screen cast, which starts and ends with the session.
fn cast_of(bus: &Calls, session: On<'_>) -> Result<String> {
    let id = bus.property(session, "SessionId")?;
    let options = Options::from([("remote-desktop-session-id", Value::from(id))]);
    bus.make(CAST, "CreateSession", &(options,))
}

/// Has Mutter record the window with this id or, without an id, the focused window.
pub(super) fn record(bus: &Calls, cast: &str, id: Option<u64>) -> Result<String> {
    // With 0, the pictures do not contain the pointer.
    let mut options = Options::from([("cursor-mode", Value::from(0_u32))]);
    options.extend(id.map(|id| ("window-id", id.into())));
    bus.make((CAST.0, cast, CAST_SESSION), "RecordWindow", &(options,))
}

/// Starts `starts`, which is the stream or its session. Returns the stream's PipeWire node.
pub(super) fn start_stream(bus: &Calls, stream: &str, starts: On<'_>) -> Result<u32> {
    let start = || bus.tell(starts, "Start", &());
    let signal = bus.signal_after((CAST.0, stream), "PipeWireStreamAdded", STARTS, start)?;
    let (node,): (u32,) = read(&signal)?;
    Ok(node)
}

/// The name that a stream's pointer has in EIS.
fn mapping(bus: &Calls, stream: &str) -> Result<String> {
    let all = bus.property((CAST.0, stream, STREAM), "Parameters")?;
    let all: Option<HashMap<String, OwnedValue>> = all.try_into().ok();
    let mapping = all.and_then(|mut all| all.remove("mapping-id"));
    let mapping = mapping.and_then(|id| String::try_from(id).ok());
    mapping.ok_or_else(|| {
        Error::Unavailable(
            "the streams of this GNOME Shell take no pointer from its EIS socket".into(),
        )
    })
}
