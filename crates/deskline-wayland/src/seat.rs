//! The seat as every Wayland client sees it: which devices it has, and the keymap. Mutter's and
//! KWin's D-Bus interfaces report neither.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use deskline_link::{Error, Result};
use deskline_unix::socket;
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_keyboard::{self, WlKeyboard};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::{self, Capability, WlSeat};
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum};

use crate::wlroots::client::{PATIENCE, lost, until};

/// The longest keymap that is read: those of several layouts have 80 kB.
const LONGEST: u32 = 4 << 20;

/// The version from which on a keyboard can be given back.
const RELEASES: u32 = 3;

/// The state that the compositor has reported.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Number, interface and version of each global.
    globals: Vec<(u32, String, u32)>,
    capabilities: Capability,
    keymap: Option<Vec<u8>>,
    /// Whether Caps Lock is on, where the compositor reports it.
    pub(crate) caps_lock: bool,
    /// Whether the last round trip has ended.
    done: bool,
}

/// A connection that knows the seat.
#[derive(Debug)]
pub(crate) struct Seat {
    connection: Connection,
    queue: EventQueue<Heard>,
    registry: WlRegistry,
    pub(crate) heard: Heard,
    proto: WlSeat,
}

impl Seat {
    /// Connects to the compositor that listens on `path`.
    pub(crate) fn connect(path: &Path) -> Result<Self> {
        let stream = socket::connect(path, PATIENCE).map_err(lost)?;
        let connection = Connection::from_socket(stream).map_err(lost)?;
        let mut queue: EventQueue<Heard> = connection.new_event_queue();
        let handle = queue.handle();
        let registry = connection.display().get_registry(&handle, ());
        let mut heard = Heard {
            globals: Vec::new(),
            capabilities: Capability::empty(),
            keymap: None,
            caps_lock: false,
            done: false,
        };
        connection.display().sync(&handle, ());
        let done = |heard: &Heard| heard.done;
        until(&connection, &mut queue, &mut heard, Some(PATIENCE), done)?;
        let proto = bind(&heard, &registry, &handle, RELEASES).ok_or_else(|| {
            Error::Unavailable("the compositor has no seat, so no keyboard and no pointer".into())
        })?;
        let mut seat = Self {
            connection,
            queue,
            registry,
            heard,
            proto,
        };
        seat.roundtrip()?;
        Ok(seat)
    }

    /// Whether the compositor offers this interface, in this version or a later one.
    pub(crate) fn offers<I: Proxy>(&self, version: u32) -> bool {
        let mut globals = self.heard.globals.iter();
        globals.any(|(_, interface, has)| interface == I::interface().name && *has >= version)
    }

    /// Binds a further global, where the compositor offers it.
    pub(crate) fn bind<I: Proxy + 'static>(&self, most: u32) -> Option<I>
    where
        Heard: Dispatch<I, ()>,
    {
        bind(&self.heard, &self.registry, &self.queue.handle(), most)
    }

    /// Waits until the compositor has carried out all requests so far (2 s).
    pub(crate) fn roundtrip(&mut self) -> Result<()> {
        self.heard.done = false;
        self.connection.display().sync(&self.queue.handle(), ());
        self.until(|heard| heard.done)
    }

    /// Whether the seat has a device of this kind.
    pub(crate) fn has(&self, kind: Capability) -> bool {
        self.heard.capabilities.contains(kind)
    }

    /// The kinds of devices that the seat has.
    pub(crate) fn capabilities(&self) -> Capability {
        self.heard.capabilities
    }

    /// Waits until it has devices of all these kinds (2 s).
    pub(crate) fn wait_for(&mut self, kinds: Capability) -> Result<()> {
        self.until(|heard| heard.capabilities.contains(kinds))
    }

    /// The keymap, in XKB's text form. The seat must have a keyboard.
    pub(crate) fn keymap(&mut self) -> Result<Vec<u8>> {
        let keyboard = self.proto.get_keyboard(&self.queue.handle(), ());
        let reported = self.until(|heard| heard.keymap.is_some());
        if keyboard.version() >= RELEASES {
            keyboard.release();
        }
        reported?;
        Ok(self.heard.keymap.take().unwrap_or_default())
    }

    fn until(&mut self, is: impl Fn(&Heard) -> bool) -> Result<()> {
        let (queue, heard) = (&mut self.queue, &mut self.heard);
        until(&self.connection, queue, heard, Some(PATIENCE), is)
    }
}

fn bind<I: Proxy + 'static>(
    heard: &Heard,
    registry: &WlRegistry,
    handle: &QueueHandle<Heard>,
    most: u32,
) -> Option<I>
where
    Heard: Dispatch<I, ()>,
{
    let mut globals = heard.globals.iter();
    let (name, _, version) = globals.find(|(_, i, _)| i == I::interface().name)?;
    Some(registry.bind(*name, most.min(*version), handle, ()))
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
            name,
            interface,
            version,
        } = event
        {
            heard.globals.push((name, interface, version));
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
            // A keymap that cannot be read types nothing.
            heard.keymap = Some(read.map_or_else(|_| Vec::new(), |()| text));
        }
    }
}
