//! The seat as every Wayland client sees it: which devices it has, and the keymap. Mutter's D-Bus
//! interfaces tell neither.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use deskline_link::{Error, Result};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_keyboard::{self, WlKeyboard};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::{self, Capability, WlSeat};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy as _, QueueHandle, WEnum};

use crate::wlroots::client::{PATIENCE, lost, until};

/// The longest keymap that is read: those of several layouts have 80 kB.
const LONGEST: u32 = 4 << 20;

/// What the compositor has said.
#[derive(Debug)]
struct Heard {
    /// The seat's number.
    global: Option<u32>,
    capabilities: Capability,
    keymap: Option<Vec<u8>>,
    /// Whether a first round trip has ended.
    done: bool,
}

/// A connection that knows the seat.
#[derive(Debug)]
pub(crate) struct Seat {
    connection: Connection,
    queue: EventQueue<Heard>,
    heard: Heard,
    proto: WlSeat,
}

impl Seat {
    /// Connects to the compositor that listens on `socket`.
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).map_err(lost)?;
        let connection = Connection::from_socket(stream).map_err(lost)?;
        let mut queue: EventQueue<Heard> = connection.new_event_queue();
        let handle = queue.handle();
        let registry = connection.display().get_registry(&handle, ());
        let mut heard = Heard {
            global: None,
            capabilities: Capability::empty(),
            keymap: None,
            done: false,
        };
        connection.display().sync(&handle, ());
        let done = |heard: &Heard| heard.done;
        until(&connection, &mut queue, &mut heard, Some(PATIENCE), done)?;
        let global = heard.global.ok_or_else(|| {
            Error::Unavailable("the compositor has no seat, so no keyboard and no pointer".into())
        })?;
        let proto = registry.bind(global, 1, &handle, ());
        heard.done = false;
        connection.display().sync(&handle, ());
        until(&connection, &mut queue, &mut heard, Some(PATIENCE), done)?;
        Ok(Self {
            connection,
            queue,
            heard,
            proto,
        })
    }

    /// Whether the seat has a device of this kind.
    pub(crate) fn has(&self, kind: Capability) -> bool {
        self.heard.capabilities.contains(kind)
    }

    /// Waits until it has devices of all these kinds (2 s).
    pub(crate) fn wait_for(&mut self, kinds: Capability) -> Result<()> {
        self.until(|heard| heard.capabilities.contains(kinds))
    }

    /// The keymap, in XKB's text form. The seat must have a keyboard.
    pub(crate) fn keymap(&mut self) -> Result<Vec<u8>> {
        let keyboard = self.proto.get_keyboard(&self.queue.handle(), ());
        let told = self.until(|heard| heard.keymap.is_some());
        if keyboard.version() >= 3 {
            keyboard.release();
        }
        told?;
        Ok(self.heard.keymap.take().unwrap_or_default())
    }

    fn until(&mut self, is: impl Fn(&Heard) -> bool) -> Result<()> {
        let (queue, heard) = (&mut self.queue, &mut self.heard);
        until(&self.connection, queue, heard, Some(PATIENCE), is)
    }
}

impl Dispatch<WlRegistry, ()> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlRegistry,
        event: wl_registry::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_registry::Event::Global {
            name, interface, ..
        } = event
            && interface == WlSeat::interface().name
        {
            heard.global.get_or_insert(name);
        }
    }
}

impl Dispatch<WlCallback, ()> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlCallback,
        event: wl_callback::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        heard.done |= matches!(event, wl_callback::Event::Done { .. });
    }
}

impl Dispatch<WlSeat, ()> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlSeat,
        event: wl_seat::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_seat::Event::Capabilities {
            capabilities: WEnum::Value(capabilities),
        } = event
        {
            heard.capabilities = capabilities;
        }
    }
}

impl Dispatch<WlKeyboard, ()> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlKeyboard,
        event: wl_keyboard::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_keyboard::Event::Keymap { fd, size, .. } = event {
            let mut text = vec![0; size.min(LONGEST) as usize];
            let read = File::from(fd).read_exact_at(&mut text, 0);
            // One that cannot be read types nothing.
            heard.keymap = Some(read.map_or_else(|_| Vec::new(), |()| text));
        }
    }
}
