//! A connection to the compositor. Every wait in it has a time limit, which the waits of the crate
//! `wayland-client` lack.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use deskline_contract::{Error, Result};
use deskline_unix::{socket, wait};
use rustix::event::{PollFd, PollFlags};
use wayland_client::backend::WaylandError;
use wayland_client::protocol::wl_registry::WlRegistry;
use wayland_client::protocol::wl_seat::{Capability, WlSeat};
use wayland_client::protocol::wl_shm::WlShm;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1;
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_manager_v1::ZwlrForeignToplevelManagerV1;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;

use crate::wlroots::heard::Heard;

/// How long the compositor may take for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How long apps may take to bind a device that is new to the seat.
pub(crate) const ASK: Duration = Duration::from_millis(300);

/// A connection, with the globals that Deskline uses.
#[derive(Debug)]
pub(crate) struct Client {
    socket: Socket,
    pub(crate) registry: WlRegistry,
    pub(crate) heard: Heard,
    asked: u32,
    /// The compositor's process.
    pub(crate) compositor: u32,
    start: Instant,
    /// When we gave the seat its first device of a kind; `None` once apps have had time to bind it.
    new_since: Option<Instant>,
    pub(crate) seat: WlSeat,
    pub(crate) shm: WlShm,
    screencopy: Option<ZwlrScreencopyManagerV1>,
    pointers: Option<ZwlrVirtualPointerManagerV1>,
    keyboards: Option<ZwpVirtualKeyboardManagerV1>,
}

/// The connection and its queue of events, without the globals.
#[derive(Debug)]
struct Socket {
    connection: Connection,
    queue: EventQueue<Heard>,
}

pub(crate) fn lost(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::lost("talking to the Wayland compositor")(e)
}

impl Client {
    /// Connects to the compositor that listens on this socket.
    pub(crate) fn connect(path: &Path) -> Result<Self> {
        let stream = socket::connect(path, PATIENCE).map_err(lost)?;
        let compositor = socket::peer(&stream).map_err(lost)?.pid;
        let connection = Connection::from_socket(stream).map_err(lost)?;
        let queue: EventQueue<Heard> = connection.new_event_queue();
        let handle = queue.handle();
        let registry = connection.display().get_registry(&handle, ());
        let mut heard = Heard::new();
        connection.display().sync(&handle, 1_u32);
        let mut socket = Socket { connection, queue };
        socket.until(&mut heard, Some(PATIENCE), |heard| heard.done == 1)?;
        let mut client = Self {
            seat: bind(&heard, &registry, &handle, 1)?,
            shm: bind(&heard, &registry, &handle, 1)?,
            screencopy: bind(&heard, &registry, &handle, 3).ok(),
            pointers: bind(&heard, &registry, &handle, 2).ok(),
            keyboards: bind(&heard, &registry, &handle, 1).ok(),
            heard,
            asked: 1,
            compositor: compositor.unwrap_or_default(),
            start: Instant::now(),
            new_since: None,
            socket,
            registry,
        };
        client.roundtrip()?;
        Ok(client)
    }

    /// The globals for windows, input and pictures that the compositor does not offer.
    pub(crate) fn lacks(&self) -> Vec<&'static str> {
        let wanted = [
            ZwlrForeignToplevelManagerV1::interface(),
            ZwlrVirtualPointerManagerV1::interface(),
            ZwpVirtualKeyboardManagerV1::interface(),
            ZwlrScreencopyManagerV1::interface(),
        ];
        let offered = |name: &str| self.heard.globals.iter().any(|(_, its, _)| its == name);
        let names = wanted.into_iter().map(|interface| interface.name);
        names.filter(|name| !offered(name)).collect()
    }

    /// Binds a further global.
    pub(crate) fn bind<I: Proxy + 'static>(&self, most: u32) -> Result<I>
    where
        Heard: Dispatch<I, ()>,
    {
        bind(&self.heard, &self.registry, &self.handle(), most)
    }

    /// The global that takes pictures.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the compositor does not offer the global. [`Self::pointers`] and
    /// [`Self::keyboards`] have the same error.
    pub(crate) fn screencopy(&self) -> Result<&ZwlrScreencopyManagerV1> {
        offered(self.screencopy.as_ref())
    }

    /// The global that creates virtual pointers.
    pub(crate) fn pointers(&self) -> Result<&ZwlrVirtualPointerManagerV1> {
        offered(self.pointers.as_ref())
    }

    /// The global that creates virtual keyboards.
    pub(crate) fn keyboards(&self) -> Result<&ZwpVirtualKeyboardManagerV1> {
        offered(self.keyboards.as_ref())
    }

    pub(crate) fn handle(&self) -> QueueHandle<Heard> {
        self.socket.queue.handle()
    }

    /// The timestamp for an event, in milliseconds.
    pub(crate) fn time(&self) -> u32 {
        self.start.elapsed().as_millis() as u32
    }

    /// Waits until the compositor has processed all requests so far.
    pub(crate) fn roundtrip(&mut self) -> Result<()> {
        let number = self.sync();
        self.wait(|heard| heard.done == number)
    }

    /// Waits for events until `done` holds, at most for [`PATIENCE`].
    pub(crate) fn wait(&mut self, done: impl Fn(&Heard) -> bool) -> Result<()> {
        self.socket.until(&mut self.heard, Some(PATIENCE), done)
    }

    /// Waits at most `limit` until events arrive or one of `others` is ready. Handles the events.
    pub(crate) fn step(&mut self, others: &[PollFd<'_>], limit: Option<Duration>) -> Result<()> {
        self.socket.receive(others, limit)?;
        self.dispatch()
    }

    pub(crate) fn flush(&self) -> Result<()> {
        self.socket.connection.flush().map_err(lost)
    }

    /// Handles the events received so far.
    pub(crate) fn dispatch(&mut self) -> Result<()> {
        self.socket.dispatch(&mut self.heard)
    }

    /// Asks the compositor to report when it has processed all requests so far. Returns the number
    /// that its report will set [`Heard::done`] to.
    pub(crate) fn sync(&mut self) -> u32 {
        self.asked = self.asked.wrapping_add(1);
        let display = self.socket.connection.display();
        display.sync(&self.handle(), self.asked);
        self.asked
    }

    /// Blocks until the compositor ends the connection.
    pub(crate) fn outlast(mut self) {
        let _ended = self.socket.until(&mut self.heard, None, |_| false);
    }

    /// Whether the seat has a device of this kind.
    pub(crate) fn has(&self, kind: Capability) -> bool {
        self.heard.capabilities.contains(kind)
    }

    /// Called after a device was created. `had`: whether the seat had a device of that kind before.
    /// If not, apps have to bind the new one, and lose events that are sent before
    /// [`Client::await_apps`].
    pub(crate) fn introduce(&mut self, had: bool) -> Result<()> {
        self.roundtrip()?;
        if !had {
            self.new_since = Some(Instant::now());
        }
        Ok(())
    }

    /// Waits until apps have had time to bind devices that are new to the seat.
    pub(crate) fn await_apps(&mut self) {
        if let Some(since) = self.new_since.take() {
            // No event reports that apps have bound a device.
            deskline_contract::wait::pause(ASK.saturating_sub(since.elapsed()));
        }
    }
}

impl Socket {
    fn dispatch(&mut self, heard: &mut Heard) -> Result<()> {
        self.queue.dispatch_pending(heard).map(drop).map_err(lost)
    }

    /// Waits for events until `done` holds, at most for `limit`.
    fn until(
        &mut self,
        heard: &mut Heard,
        limit: Option<Duration>,
        done: impl Fn(&Heard) -> bool,
    ) -> Result<()> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        loop {
            self.dispatch(heard)?;
            if done(heard) {
                return Ok(());
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !self.receive(&[], left)? {
                let limit = limit.unwrap_or_default();
                return Err(lost(format!("no answer within {limit:?}")));
            }
        }
    }

    /// Waits at most `limit` until the compositor sends messages or one of `others` is ready. Reads
    /// the messages. Returns `false` if nothing came.
    fn receive(&self, others: &[PollFd<'_>], limit: Option<Duration>) -> Result<bool> {
        self.connection.flush().map_err(lost)?;
        let Some(reading) = self.queue.prepare_read() else {
            return Ok(true);
        };
        let fd = reading.connection_fd();
        let mut fds = vec![PollFd::new(&fd, PollFlags::IN)];
        fds.extend_from_slice(others);
        let any = wait::any(&mut fds, limit).map_err(lost)?;
        let has_message = !fds[0].revents().is_empty();
        drop(fds);
        match has_message.then(|| reading.read()) {
            Some(Err(WaylandError::Io(e))) if e.kind() == ErrorKind::WouldBlock => Ok(any),
            Some(Err(e)) => Err(lost(e)),
            _ => Ok(any),
        }
    }
}

fn offered<I: Proxy>(global: Option<&I>) -> Result<&I> {
    global.ok_or_else(|| not_offered(I::interface().name))
}

fn not_offered(interface: &str) -> Error {
    Error::Unavailable(format!("the compositor does not offer {interface}"))
}

/// Binds a global by its interface.
fn bind<I: Proxy + 'static>(
    heard: &Heard,
    registry: &WlRegistry,
    handle: &QueueHandle<Heard>,
    most: u32,
) -> Result<I>
where
    Heard: Dispatch<I, ()>,
{
    let interface = I::interface().name;
    let mut globals = heard.globals.iter();
    let Some((name, _, version)) = globals.find(|(_, i, _)| i == interface) else {
        return Err(not_offered(interface));
    };
    Ok(registry.bind(*name, most.min(*version), handle, ()))
}
