//! A connection to the compositor. Every wait has a time limit: wayland-client's own have none.

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_link::{Error, Result};
use deskline_unix::{socket, wait};
use rustix::event::{PollFd, PollFlags};
use wayland_client::backend::WaylandError;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::{self, Capability, WlSeat};
use wayland_client::protocol::wl_shm::WlShm;
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

use crate::wlroots::own_seat::{self, OwnSeat};
use crate::wlroots::picture::Frame;
use crate::wlroots::screens::{self, Screens};
use crate::wlroots::token;
use crate::wlroots::toplevels::Toplevels;

/// How long the compositor may take for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How long apps may take to ask for a device that is new to the seat.
pub(crate) const ASK: Duration = Duration::from_millis(300);

/// Which seat the agent's devices belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seat {
    /// The person's: one pointer and one focus for both.
    #[default]
    Shared,
    /// One of its own, with a pointer and a focus of its own.
    Own,
}

/// What the compositor has said.
#[derive(Debug)]
pub(crate) struct Heard {
    globals: Vec<(u32, String, u32)>,
    /// The outputs.
    pub(crate) screens: Screens,
    /// The windows, once they are asked for.
    pub(crate) toplevels: Toplevels,
    /// What the seat has: a pointer, a keyboard.
    pub(crate) capabilities: Capability,
    /// The number of the last round trip that has ended.
    done: u32,
    /// The picture that is being taken.
    pub(crate) frame: Frame,
    /// What concerns a seat of the agent's own.
    pub(crate) own: own_seat::Heard,
    /// What concerns an activation token.
    pub(crate) token: token::Heard,
}

/// A connection, with what Deskline uses of it.
pub(crate) struct Client {
    connection: Connection,
    queue: EventQueue<Heard>,
    registry: WlRegistry,
    pub(crate) heard: Heard,
    asked: u32,
    start: Instant,
    /// Since when the seat has a device that is its first of its kind, until apps have asked for
    /// it.
    new_since: Option<Instant>,
    pub(crate) seat: WlSeat,
    /// The agent's own seat, if `seat` is one. It ends with this.
    pub(crate) own: Option<OwnSeat>,
    pub(crate) shm: WlShm,
    screencopy: Option<ZwlrScreencopyManagerV1>,
    pointers: Option<ZwlrVirtualPointerManagerV1>,
    keyboards: Option<ZwpVirtualKeyboardManagerV1>,
}

pub(crate) fn lost(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::lost("talking to the Wayland compositor")(e)
}

impl Client {
    pub(crate) fn connect(path: &Path, seat: Seat) -> Result<Self> {
        let stream = socket::connect(path, PATIENCE).map_err(lost)?;
        let connection = Connection::from_socket(stream).map_err(lost)?;
        let mut queue: EventQueue<Heard> = connection.new_event_queue();
        let handle = queue.handle();
        let registry = connection.display().get_registry(&handle, ());
        let mut heard = Heard {
            globals: Vec::new(),
            screens: Screens::default(),
            toplevels: Toplevels::default(),
            capabilities: Capability::empty(),
            done: 0,
            frame: Frame::default(),
            own: own_seat::Heard::default(),
            token: token::Heard::default(),
        };
        connection.display().sync(&handle, 1_u32);
        until(
            &connection,
            &mut queue,
            &mut heard,
            Some(PATIENCE),
            |heard| heard.done == 1,
        )?;
        let binder = Binder {
            globals: &heard.globals,
            registry: &registry,
            handle: &handle,
        };
        let own = match seat {
            Seat::Shared => None,
            Seat::Own => Some(OwnSeat::create(&binder)?),
        };
        let mut client = Self {
            seat: binder.bind(1)?,
            own,
            shm: binder.bind(1)?,
            screencopy: binder.bind(3).ok(),
            pointers: binder.bind(2).ok(),
            keyboards: binder.bind(1).ok(),
            heard,
            asked: 1,
            start: Instant::now(),
            new_since: None,
            queue,
            connection,
            registry,
        };
        client.roundtrip()?;
        if client.own.is_some() {
            let registry = client.registry.clone();
            client.seat = OwnSeat::bind(&mut client, &registry)?;
        }
        Ok(client)
    }

    /// Binds a further global.
    pub(crate) fn bind<I: Proxy + 'static>(&self, most: u32) -> Result<I>
    where
        Heard: Dispatch<I, ()>,
    {
        let binder = Binder {
            globals: &self.heard.globals,
            registry: &self.registry,
            handle: &self.handle(),
        };
        binder.bind(most)
    }

    /// Takes pictures.
    ///
    /// # Errors
    ///
    /// This and the next two: [`Error::Unavailable`] where the compositor does not offer it.
    pub(crate) fn screencopy(&self) -> Result<&ZwlrScreencopyManagerV1> {
        offered(self.screencopy.as_ref())
    }

    /// Makes virtual pointers.
    pub(crate) fn pointers(&self) -> Result<&ZwlrVirtualPointerManagerV1> {
        offered(self.pointers.as_ref())
    }

    /// Makes virtual keyboards.
    pub(crate) fn keyboards(&self) -> Result<&ZwpVirtualKeyboardManagerV1> {
        offered(self.keyboards.as_ref())
    }

    pub(crate) fn handle(&self) -> QueueHandle<Heard> {
        self.queue.handle()
    }

    /// The time of an event, in milliseconds.
    pub(crate) fn time(&self) -> u32 {
        self.start.elapsed().as_millis() as u32
    }

    /// Waits until the compositor has carried out all requests so far.
    pub(crate) fn roundtrip(&mut self) -> Result<()> {
        self.asked = self.asked.wrapping_add(1);
        let number = self.asked;
        self.connection.display().sync(&self.queue.handle(), number);
        self.wait(|heard| heard.done == number)
    }

    /// Waits until the compositor has said something, for [`PATIENCE`] at most.
    pub(crate) fn wait(&mut self, is: impl Fn(&Heard) -> bool) -> Result<()> {
        let limit = Some(PATIENCE);
        until(
            &self.connection,
            &mut self.queue,
            &mut self.heard,
            limit,
            is,
        )
    }

    /// Blocks until the compositor ends the connection.
    pub(crate) fn outlast(mut self) {
        let _ended = until(
            &self.connection,
            &mut self.queue,
            &mut self.heard,
            None,
            |_| false,
        );
    }

    /// Whether the seat has a device of this kind.
    pub(crate) fn has(&self, kind: Capability) -> bool {
        self.heard.capabilities.contains(kind)
    }

    /// Called after a device was made. Where the seat `had` none of its kind, apps have to ask for
    /// it first, and what is sent before [`Client::await_apps`] is lost.
    pub(crate) fn introduce(&mut self, had: bool) -> Result<()> {
        self.roundtrip()?;
        if !had {
            self.new_since = Some(Instant::now());
        }
        Ok(())
    }

    /// Waits until apps have had the time to ask for devices that are new to the seat.
    pub(crate) fn await_apps(&mut self) {
        if let Some(since) = self.new_since.take() {
            // Nothing tells when they have.
            std::thread::sleep(ASK.saturating_sub(since.elapsed()));
        }
    }
}

/// Waits until the compositor has said something, for `limit` at most.
pub(crate) fn until<H>(
    connection: &Connection,
    queue: &mut EventQueue<H>,
    heard: &mut H,
    limit: Option<Duration>,
    is: impl Fn(&H) -> bool,
) -> Result<()> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        queue.dispatch_pending(heard).map_err(lost)?;
        if is(heard) {
            return Ok(());
        }
        connection.flush().map_err(lost)?;
        let Some(reading) = queue.prepare_read() else {
            continue;
        };
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let fd = reading.connection_fd();
        if !wait::any(&mut [PollFd::new(&fd, PollFlags::IN)], left).map_err(lost)? {
            return Err(lost("no answer within 2 s"));
        }
        match reading.read() {
            Ok(_) => {}
            Err(WaylandError::Io(e)) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(e) => return Err(lost(e)),
        }
    }
}

fn offered<I: Proxy>(global: Option<&I>) -> Result<&I> {
    global.ok_or_else(|| not_offered(I::interface().name))
}

fn not_offered(interface: &str) -> Error {
    Error::Unavailable(format!("the compositor does not offer {interface}"))
}

/// Binds globals by their interface.
pub(crate) struct Binder<'b> {
    globals: &'b [(u32, String, u32)],
    registry: &'b WlRegistry,
    pub(crate) handle: &'b QueueHandle<Heard>,
}

impl Binder<'_> {
    pub(crate) fn bind<I: Proxy + 'static>(&self, most: u32) -> Result<I>
    where
        Heard: Dispatch<I, ()>,
    {
        let interface = I::interface().name;
        let mut globals = self.globals.iter();
        let Some((name, _, version)) = globals.find(|(_, i, _)| i == interface) else {
            return Err(not_offered(interface));
        };
        Ok(self
            .registry
            .bind(*name, most.min(*version), self.handle, ()))
    }
}

impl Dispatch<WlRegistry, ()> for Heard {
    fn event(
        heard: &mut Self,
        registry: &WlRegistry,
        event: wl_registry::Event,
        (): &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        match event {
            wl_registry::Event::Global {
                name,
                interface,
                version,
            } => {
                if interface == WlOutput::interface().name {
                    let most = version.min(screens::VERSION);
                    let output = registry.bind::<WlOutput, _, _>(name, most, handle, ());
                    heard.screens.came(name, output);
                }
                heard.globals.push((name, interface, version));
            }
            wl_registry::Event::GlobalRemove { name } => {
                heard.globals.retain(|(known, ..)| *known != name);
                heard.screens.went(name);
            }
            _ => {}
        }
    }
}

impl Dispatch<WlCallback, u32> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlCallback,
        event: wl_callback::Event,
        number: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            heard.done = *number;
        }
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
        match event {
            wl_seat::Event::Capabilities {
                capabilities: WEnum::Value(capabilities),
            } => heard.capabilities = capabilities,
            wl_seat::Event::Name { name } => heard.own.seat = name,
            _ => {}
        }
    }
}

delegate_noop!(Heard: ignore WlShm);
delegate_noop!(Heard: ignore WlBuffer);
delegate_noop!(Heard: WlShmPool);
delegate_noop!(Heard: ZwlrScreencopyManagerV1);
delegate_noop!(Heard: ZwlrVirtualPointerManagerV1);
delegate_noop!(Heard: ZwlrVirtualPointerV1);
delegate_noop!(Heard: ZwpVirtualKeyboardManagerV1);
delegate_noop!(Heard: ZwpVirtualKeyboardV1);
