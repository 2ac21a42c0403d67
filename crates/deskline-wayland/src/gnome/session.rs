//! A session of Mutter's remote desktop. GNOME shows an indicator in its panel while it lasts, and
//! lets the person end it there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_contract::{Error, Missing, Offer, Result, WindowId};
use zbus::zvariant::{OwnedValue, Value};

use super::bus::{Bus, Calls, On, Options, read};
use super::notify::{Notify, REMOTE, REMOTE_SESSION};
use crate::eis::Eis;
use crate::events::{Events, Sent};
use crate::pipewire;

pub(super) const CAST: On<'static> = (
    "org.gnome.Mutter.ScreenCast",
    "/org/gnome/Mutter/ScreenCast",
    "org.gnome.Mutter.ScreenCast",
);
pub(super) const CAST_SESSION: &str = "org.gnome.Mutter.ScreenCast.Session";
const STREAM: &str = "org.gnome.Mutter.ScreenCast.Stream";

/// How long Mutter may take to start a stream: 20 ms on an idle machine.
const STARTS: Duration = Duration::from_secs(2);

/// A session that has started.
#[derive(Debug)]
pub(crate) struct Session {
    path: String,
    injector: Injector,
    /// Its screen cast, if its pointer is relative to windows, not to the screen.
    cast: Option<String>,
    /// The window that its pointer is in.
    stream: Option<Stream>,
}

/// The sender of its events.
#[derive(Debug)]
enum Injector {
    Eis(Eis),
    Notify(Notify),
}

/// The stream of one window.
#[derive(Debug)]
pub(crate) struct Stream {
    path: String,
    /// The name that its pointer has in EIS.
    mapping: Option<String>,
    /// The window that was focused when it started, and the size that its app reported.
    window: WindowId,
    size: (i32, i32),
    /// Its PipeWire node.
    pub(crate) node: u32,
    /// The origin of the window's content in the stream, in the window's units. `None`: unknown.
    pub(crate) offset: Option<(f64, f64)>,
    /// Connected before the picture is due.
    pub(crate) early: Option<pipewire::Stream>,
}

/// The way that input is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through an EIS socket.
    Eis,
    /// Through D-Bus calls of the session. The path is the compositor's socket.
    Notify(PathBuf),
}

/// How to connect to a GNOME session.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// The address of the session bus.
    pub session_bus: &'a str,
    /// The compositor's Wayland socket.
    pub wayland_socket: &'a Path,
    /// The way that input is sent.
    pub input: Input,
}

/// The ways to send input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// EIS if the session has it, otherwise D-Bus calls.
    #[default]
    Auto,
    /// D-Bus calls, even if the session has an EIS socket.
    Notify,
}

impl Way {
    /// The way to use with this session.
    pub(crate) fn find(to: &Access<'_>) -> Result<Self> {
        // A session that has not started cannot be stopped. It ends with this connection.
        let bus = Calls::connect(to.session_bus)?;
        is_supported(&bus)?;
        if to.input == Input::Notify || !has_eis(&bus)? {
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

/// Whether this Mutter has all that a session needs.
fn is_supported(bus: &Calls) -> Result<()> {
    let found = bus
        .property(REMOTE, "Version")
        .and(bus.property(CAST, "Version"));
    found.map(drop).map_err(|e| {
        Error::Unavailable(format!(
            "GNOME Shell does not offer Mutter's remote desktop on the session bus ({e})"
        ))
    })
}

/// Whether sessions have an EIS socket, as from GNOME 45 on. The interface's version does not show
/// it: it is the same before and after.
fn has_eis(bus: &Calls) -> Result<bool> {
    let path = bus.make(REMOTE, "CreateSession", &())?;
    let introspectable = (
        REMOTE.0,
        path.as_str(),
        "org.freedesktop.DBus.Introspectable",
    );
    let reported: String = bus.ask(introspectable, "Introspect", &())?;
    Ok(reported.contains("ConnectToEIS"))
}

impl Session {
    /// Starts a session. Its pointer is relative to the screen or, if `casts`, to a window.
    pub(crate) fn start(bus: &Bus, way: &Way, casts: bool) -> Result<Self> {
        let path = bus.make(REMOTE, "CreateSession", &())?;
        let started = start(bus, way, &path, casts);
        if started.is_err() {
            stop(bus, &path);
        }
        let (injector, cast) = started?;
        Ok(Self {
            path,
            injector,
            cast,
            stream: None,
        })
    }

    /// Its devices. They add `offset` to the points that they are given.
    pub(crate) fn port(&mut self, offset: (f64, f64)) -> Sent<'_> {
        let events: &mut dyn Events = match &mut self.injector {
            Injector::Eis(eis) => eis,
            Injector::Notify(notify) => notify,
        };
        Sent {
            events,
            offset,
            went: None,
        }
    }

    /// Whether it is still open: the person or Mutter may have ended it.
    pub(crate) fn is_open(&mut self) -> bool {
        match &mut self.injector {
            Injector::Eis(eis) => eis.is_open(),
            Injector::Notify(notify) => notify.is_open(),
        }
    }

    /// The stream of this window, if its pointer is there.
    pub(crate) fn stream_of(&mut self, window: WindowId, size: (i32, i32)) -> Option<&mut Stream> {
        let stream = self.stream.as_mut()?;
        // A stream and its pointer keep the size that the window had when it started.
        if (stream.window, stream.size) != (window, size) {
            return None;
        }
        let there = match (&mut self.injector, &stream.mapping) {
            (Injector::Eis(eis), Some(mapping)) => eis.reaches(mapping),
            _ => true,
        };
        there.then_some(stream)
    }

    /// Streams the focused window, so that the pointer can go there. The caller names the window,
    /// and must check afterwards that it is still focused.
    pub(crate) fn point_at(
        &mut self,
        bus: &Bus,
        window: WindowId,
        size: (i32, i32),
    ) -> Result<&mut Stream> {
        if let Some(last) = self.stream.take() {
            // Mutter ends the stream of a window that closes.
            let _ = bus.tell((CAST.0, &last.path, STREAM), "Stop", &());
        }
        let no_cast = || Error::system("pointing at a window")("the session has no screen cast");
        let cast = self.cast.as_deref().ok_or_else(no_cast)?;
        let path = record(bus, cast, None)?;
        bus.tell((CAST.0, &path, STREAM), "Start", &())?;
        let node = await_node(bus, &path)?;
        let mut mapping = None;
        match &mut self.injector {
            Injector::Eis(eis) => {
                mapping = Some(self::mapping(bus, &path)?);
                eis.select(mapping.as_deref())?;
            }
            Injector::Notify(notify) => notify.point_at(&path),
        }
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

    /// The window may have changed since, the person moves the pointer, and no picture was
    /// requested.
    pub(crate) fn end_input(&mut self) {
        if let Injector::Eis(eis) = &mut self.injector {
            eis.in_a_corner();
        }
        if let Some(stream) = &mut self.stream {
            stream.offset = None;
            stream.early = None;
        }
    }

    /// Ends it. Mutter releases all pressed keys and buttons.
    pub(crate) fn stop(self, bus: &Bus) {
        // Its EIS connection ends before the session.
        drop(self.injector);
        stop(bus, &self.path);
    }
}

fn stop(bus: &Bus, path: &str) {
    // A session that the person has ended is gone.
    let _ = bus.tell((REMOTE.0, path, REMOTE_SESSION), "Stop", &());
}

fn start(bus: &Bus, way: &Way, path: &str, casts: bool) -> Result<(Injector, Option<String>)> {
    let session = (REMOTE.0, path, REMOTE_SESSION);
    let cast = casts.then(|| cast_of(bus, session)).transpose()?;
    bus.tell(session, "Start", &())?;
    let injector = match way {
        Way::Eis => {
            let socket = bus.socket(session, "ConnectToEIS", &(Options::new(),))?;
            let mut eis = Eis::connect(socket, !casts)?;
            eis.in_a_corner();
            Injector::Eis(eis)
        }
        Way::Notify(socket) => Injector::Notify(Notify::open(bus.calls.clone(), path, socket)?),
    };
    Ok((injector, cast))
}

/// Creates the session's screen cast, which starts and ends with the session.
fn cast_of(bus: &Bus, session: On<'_>) -> Result<String> {
    let id = bus.property(session, "SessionId")?;
    let options = Options::from([("remote-desktop-session-id", Value::from(id))]);
    bus.make(CAST, "CreateSession", &(options,))
}

/// Has Mutter record the window with this id or, without an id, the focused window.
pub(super) fn record(bus: &Bus, cast: &str, id: Option<u64>) -> Result<String> {
    // 0: the pointer is not in the pictures.
    let mut options = Options::from([("cursor-mode", Value::from(0_u32))]);
    options.extend(id.map(|id| ("window-id", id.into())));
    bus.make((CAST.0, cast, CAST_SESSION), "RecordWindow", &(options,))
}

pub(super) fn await_node(bus: &Bus, stream: &str) -> Result<u32> {
    let deadline = Instant::now() + STARTS;
    let signal = bus.wait(CAST.0, stream, "PipeWireStreamAdded", deadline)?;
    let (node,): (u32,) = read(&signal)?;
    Ok(node)
}

/// The name that a stream's pointer has in EIS.
fn mapping(bus: &Bus, stream: &str) -> Result<String> {
    let all = bus.property((CAST.0, stream, STREAM), "Parameters")?;
    let all: Option<HashMap<String, OwnedValue>> = all.try_into().ok();
    let mapping = all.and_then(|mut all| all.remove("mapping-id"));
    let mapping = mapping.and_then(|id| String::try_from(id).ok());
    mapping.ok_or_else(|| {
        Error::Unavailable(
            "the streams of this GNOME Shell take no pointer from its EIS socket. Serve with \
            --gnome-input notify"
                .into(),
        )
    })
}
