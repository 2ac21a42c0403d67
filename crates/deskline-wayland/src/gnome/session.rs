//! A session of Mutter's remote desktop. It lasts as long as input is sent: GNOME shows it to the
//! person in its panel, and lets them end it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_link::{Error, Missing, Offer, Result, WindowId};
use zbus::zvariant::{OwnedValue, Value};

use super::bus::{Bus, Calls, On, Options, read};
use super::notify::{Notify, REMOTE, REMOTE_SESSION};
use crate::eis::Eis;
use crate::events::{Events, Sent};
use crate::pipewire::{self, Frame};

const CAST: On<'static> = (
    "org.gnome.Mutter.ScreenCast",
    "/org/gnome/Mutter/ScreenCast",
    "org.gnome.Mutter.ScreenCast",
);
const CAST_SESSION: &str = "org.gnome.Mutter.ScreenCast.Session";
const STREAM: &str = "org.gnome.Mutter.ScreenCast.Stream";

/// How long Mutter may take to start a stream: 20 ms on an idle machine.
const STARTS: Duration = Duration::from_secs(2);

/// A session that has started.
#[derive(Debug)]
pub(crate) struct Session {
    path: String,
    events: Box<dyn Events>,
    pub(crate) stream: Option<Stream>,
    /// Where the content of the stream's window begins in it, in the window's own units, where that
    /// is known.
    pub(crate) offset: Option<(f64, f64)>,
}

/// The stream of one window.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The window that was focused when it started.
    pub(crate) window: WindowId,
    /// PipeWire's number of it.
    pub(crate) node: u32,
}

/// How input goes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// By an EIS socket.
    Eis,
    /// By calls of the session, with this socket of the compositor.
    Notify(PathBuf),
}

/// How a GNOME session is reached.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// The address of the session bus.
    pub session_bus: &'a str,
    /// The compositor's Wayland socket.
    pub wayland_socket: &'a Path,
    /// By which way input goes.
    pub input: Input,
}

/// By which way input goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// The best that there is.
    #[default]
    Auto,
    /// Calls of Mutter's session, although that has an EIS socket.
    Notify,
}

impl Way {
    /// The one that this session has.
    pub(crate) fn find(bus: &Bus, to: &Access<'_>) -> Result<Self> {
        is_supported(bus)?;
        if to.input == Input::Notify || !has_eis(to.session_bus)? {
            return Ok(Self::Notify(to.wayland_socket.to_owned()));
        }
        Ok(Self::Eis)
    }
}

/// Whether frames of Mutter's streams can be read.
pub(crate) fn frames() -> Offer<()> {
    let no_library = |e| Missing::new(format!("libpipewire cannot be opened ({e}). Install it"));
    pipewire::is_there().map_err(no_library)
}

/// A connection to the session bus, subscribed to the signals of streams.
pub(crate) fn bus(address: &str) -> Result<Bus> {
    let bus = Bus::connect(address)?;
    bus.listen(CAST.0, CAST.1)?;
    Ok(bus)
}

/// Whether this Mutter has what a session needs.
fn is_supported(bus: &Bus) -> Result<()> {
    let found = bus
        .property(REMOTE, "Version")
        .and(bus.property(CAST, "Version"));
    found.map(drop).map_err(|e| {
        Error::Unavailable(format!(
            "GNOME Shell does not offer Mutter's remote desktop on the session bus ({e})"
        ))
    })
}

/// Whether sessions hand out an EIS socket, as they do from GNOME 45 on. The version that Mutter
/// reports for its interface is the same before and after.
fn has_eis(address: &str) -> Result<bool> {
    // A session that has not started cannot be stopped: it ends with this connection.
    let calls = Calls::connect(address)?;
    let path = calls.make(REMOTE, "CreateSession", &())?;
    let introspectable = (
        REMOTE.0,
        path.as_str(),
        "org.freedesktop.DBus.Introspectable",
    );
    let reported: String = calls.ask(introspectable, "Introspect", &())?;
    Ok(reported.contains("ConnectToEIS"))
}

impl Session {
    /// Starts one for keys alone, or one with a stream of the focused window. The caller names
    /// that window, and has to check afterwards that it is still focused.
    pub(crate) fn start(bus: &Bus, way: &Way, focused: Option<WindowId>) -> Result<Self> {
        let path = bus.make(REMOTE, "CreateSession", &())?;
        let started = start(bus, way, &path, focused);
        if started.is_err() {
            stop(bus, &path);
        }
        let (events, stream) = started?;
        Ok(Self {
            path,
            events,
            stream,
            offset: None,
        })
    }

    /// Its devices. Places are `offset` from those that are sent.
    pub(crate) fn port(&mut self, offset: (f64, f64)) -> Sent<'_> {
        Sent {
            events: &mut *self.events,
            offset,
            went: None,
        }
    }

    /// Whether it can point at this window.
    pub(crate) fn points_at(&self, window: WindowId) -> bool {
        self.stream.as_ref().is_some_and(|s| s.window == window)
    }

    /// Ends it. Mutter releases what is pressed.
    pub(crate) fn stop(self, bus: &Bus) {
        // Its EIS connection ends before the session.
        drop(self.events);
        stop(bus, &self.path);
    }
}

fn stop(bus: &Bus, path: &str) {
    // A session that the person has ended is gone.
    let _ = bus.tell((REMOTE.0, path, REMOTE_SESSION), "Stop", &());
}

type Started = (Box<dyn Events>, Option<Stream>);

fn start(bus: &Bus, way: &Way, path: &str, focused: Option<WindowId>) -> Result<Started> {
    let session = (REMOTE.0, path, REMOTE_SESSION);
    let stream = focused.map(|_| record(bus, session)).transpose()?;
    bus.tell(session, "Start", &())?;
    let node = stream.as_ref().map(|stream| await_node(bus, stream));
    let node = node.transpose()?;
    let events: Box<dyn Events> = match way {
        Way::Eis => {
            let socket = bus.socket(session, "ConnectToEIS", &(Options::new(),))?;
            let mut eis = Eis::connect(socket)?;
            if let Some(stream) = &stream {
                eis.select(Some(&mapping(bus, stream)?))?;
            }
            Box::new(eis)
        }
        Way::Notify(socket) => Box::new(Notify::open(bus.calls.clone(), path, stream, socket)?),
    };
    let stream = focused.zip(node);
    let stream = stream.map(|(window, node)| Stream { window, node });
    Ok((events, stream))
}

/// Has Mutter record the focused window, which it does where none is named.
fn record(bus: &Bus, session: On<'_>) -> Result<String> {
    let id = bus.property(session, "SessionId")?;
    let options = Options::from([("remote-desktop-session-id", Value::from(id))]);
    let cast = bus.make(CAST, "CreateSession", &(options,))?;
    // 0: the pointer is not in the pictures.
    let options = Options::from([("cursor-mode", Value::from(0_u32))]);
    bus.make((CAST.0, &cast, CAST_SESSION), "RecordWindow", &(options,))
}

fn await_node(bus: &Bus, stream: &str) -> Result<u32> {
    let deadline = Instant::now() + STARTS;
    let signal = bus.wait(CAST.0, stream, "PipeWireStreamAdded", deadline)?;
    let (node,): (u32,) = read(&signal)?;
    Ok(node)
}

/// A frame of the window that has this id in Mutter, whatever lies over it, within `longest`.
pub(crate) fn frame_of(bus: &Bus, id: u64, longest: Duration) -> Result<Frame> {
    let path = bus.make(CAST, "CreateSession", &(Options::new(),))?;
    let session = (CAST.0, path.as_str(), CAST_SESSION);
    let frame = || {
        let options = [("window-id", id.into()), ("cursor-mode", 0_u32.into())];
        let stream = bus.make(session, "RecordWindow", &(Options::from(options),))?;
        bus.tell(session, "Start", &())?;
        pipewire::frame(await_node(bus, &stream)?, longest)
    };
    let frame = frame();
    // A session that the person has ended is gone.
    let _ = bus.tell(session, "Stop", &());
    frame
}

/// The name that a stream's pointer has in EIS.
fn mapping(bus: &Bus, stream: &str) -> Result<String> {
    let all = bus.property((CAST.0, stream, STREAM), "Parameters")?;
    let all: Option<HashMap<String, OwnedValue>> = all.try_into().ok();
    let mapping = all.and_then(|mut all| all.remove("mapping-id"));
    let mapping = mapping.and_then(|id| String::try_from(id).ok());
    mapping.ok_or_else(|| {
        Error::Unavailable(
            "the streams of this GNOME Shell take no pointer from its EIS socket. Serve with --gnome-input notify".into(),
        )
    })
}
