//! The socket to the X server. Every wait has a time limit: a server that hangs, or that another
//! client has grabbed for good, gives an error.

use std::io::{self, ErrorKind, IoSlice};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use deskline_contract::error::setup;
use deskline_contract::{Cancel, Error, Result};
use rustix::event::{PollFd, PollFlags};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ConnectionExt as _, CreateWindowAux, EventMask, Window, WindowClass,
};
use x11rb::reexports::x11rb_protocol::parse_display::{ConnectAddress, parse_display};
use x11rb::reexports::x11rb_protocol::xauth::Family;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;
use x11rb::wrapper::ConnectionExt as _;

use deskline_unix::{socket, wait};

use super::reply::During as _;
use super::xauth;

/// The longest time between two checks of a cancel flag.
pub(crate) const SLICE: Duration = Duration::from_millis(4);

/// How long the server may be silent while a reply is due. It usually takes well under a
/// millisecond, and a client that grabs the server does so for a fraction of a second.
const SILENCE: Duration = Duration::from_secs(3);

/// The next event; `None` after `limit`. Looks at the cancel flag at intervals of `every`.
pub(crate) fn event(
    c: &Connection,
    (limit, every): (Duration, Duration),
    cancel: &Cancel,
    what: &'static str,
) -> Result<Option<Event>> {
    let next = |c: &mut &Connection| c.poll_for_event().during(what);
    until(&mut { c }, |c| *c, (limit, every), (cancel, what), next)
}

/// Calls `look` after each event, and at least at intervals of `every`, until `look` finds
/// something. `None` after `limit`.
pub(crate) fn until<S, T>(
    state: &mut S,
    connection: impl Fn(&S) -> &Connection,
    (limit, every): (Duration, Duration),
    (cancel, what): (&Cancel, &'static str),
    mut look: impl FnMut(&mut S) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let end = Instant::now() + limit;
    loop {
        let found = look(state)?;
        if found.is_some() {
            return Ok(found);
        }
        cancel.check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let c = connection(state);
        c.flush().during(what)?;
        wait::readable(c.stream(), left.min(every)).map_err(Error::system(what))?;
    }
}

/// The highest display number whose TCP port exists (6000 + n).
const LAST_DISPLAY: u16 = u16::MAX - 6000;

const MAKING: &str = "making a window";

/// The type of all connections of this crate.
pub type Connection = RustConnection<BoundedStream>;

/// A [`DefaultStream`] whose waits time out after [`SILENCE`]. After a timeout, every call fails.
#[derive(Debug)]
pub struct BoundedStream {
    inner: DefaultStream,
    lost: AtomicBool,
}

impl BoundedStream {
    fn new(inner: DefaultStream) -> Self {
        Self {
            inner,
            lost: AtomicBool::new(false),
        }
    }

    /// Whether a wait has timed out or the server has closed the connection. Every call fails then.
    pub fn lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != ErrorKind::WouldBlock
        {
            self.lost.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl AsFd for BoundedStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        AsFd::as_fd(&self.inner)
    }
}

impl Stream for BoundedStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        if self.lost() {
            return Err(ErrorKind::NotConnected.into());
        }
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        let ready = wait::any(&mut [PollFd::new(self, flags)], Some(SILENCE))?;
        self.note(if ready {
            Ok(())
        } else {
            Err(io::Error::new(
                ErrorKind::TimedOut,
                "no answer from the X server within 3 s",
            ))
        })
    }

    fn read(&self, buf: &mut [u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        let read = self.note(self.inner.read(buf, fds));
        if matches!(read, Ok(0)) && !buf.is_empty() {
            self.lost.store(true, Ordering::Relaxed);
        }
        read
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.note(self.inner.write(buf, fds))
    }

    fn write_vectored(
        &self,
        bufs: &[IoSlice<'_>],
        fds: &mut Vec<RawFdContainer>,
    ) -> io::Result<usize> {
        self.note(self.inner.write_vectored(bufs, fds))
    }
}

/// The root window of a screen.
pub(crate) fn root_of(connection: &Connection, screen: usize) -> Result<Window> {
    let screen = connection.setup().roots.get(screen);
    let none = || Error::Unavailable("the X server has no such screen".to_owned());
    Ok(screen.ok_or_else(none)?.root)
}

/// Connects to `display` (`:0`, `host:1.0`) with its cookie in `xauthority`. Returns the screen
/// number too. Reads no environment variables.
pub fn open(display: &str, xauthority: Option<&Path>) -> Result<(Connection, usize)> {
    let unavailable =
        |why: &dyn std::fmt::Display| Error::Unavailable(setup::no_x_server(display, why));
    let parsed = parse_display(Some(display)).map_err(|e| unavailable(&e))?;
    if parsed.display > LAST_DISPLAY {
        return Err(unavailable(&"there is no such display number"));
    }
    let screen = usize::from(parsed.screen);
    let mut why = io::Error::from(ErrorKind::NotFound);
    for address in parsed.connect_instruction() {
        let (stream, (family, peer)) = match dial(&address) {
            Ok(dialled) => dialled,
            Err(error) => {
                why = error;
                continue;
            }
        };
        let (name, cookie) = xauthority
            .and_then(|file| xauth::cookie(file, family, &peer, parsed.display))
            .unwrap_or_default();
        return RustConnection::connect_to_stream_with_auth_info(
            BoundedStream::new(stream),
            screen,
            name,
            cookie,
        )
        .map(|connection| (connection, screen))
        .map_err(|e| unavailable(&e));
    }
    Err(unavailable(&why))
}

fn dial(address: &ConnectAddress<'_>) -> io::Result<(DefaultStream, (Family, Vec<u8>))> {
    match address {
        ConnectAddress::Socket(path) => {
            let stream = socket::connect(Path::new(path), SILENCE)?;
            DefaultStream::from_unix_stream(stream)
        }
        ConnectAddress::Hostname(host, port) => {
            let address = look_up(host, *port)?;
            DefaultStream::from_tcp_stream(TcpStream::connect_timeout(&address, SILENCE)?)
        }
        _ => Err(ErrorKind::Unsupported.into()),
    }
}

/// The host's first address. Looks it up on a thread of its own: a name server that does not answer
/// blocks the system's resolver for longer than [`SILENCE`].
fn look_up(host: &str, port: u16) -> io::Result<SocketAddr> {
    let (sender, found) = mpsc::sync_channel(1);
    let host = host.to_owned();
    thread::Builder::new().spawn(move || {
        let addresses = (host, port).to_socket_addrs();
        let _ = sender.send(addresses.map(|mut addresses| addresses.next()));
    })?;
    let addresses = found
        .recv_timeout(SILENCE)
        .map_err(|_| ErrorKind::TimedOut)?;
    Ok(addresses?.ok_or(ErrorKind::AddrNotAvailable)?)
}

/// Creates a resource by which another connection can name this one: a window.
pub(crate) fn mark(c: &Connection, root: Window) -> Result<Window> {
    let window = own_window(c, root, EventMask::NO_EVENT)?;
    c.sync().during(MAKING)?;
    Ok(window)
}

/// Creates a window that is never mapped.
pub(crate) fn own_window(c: &Connection, root: Window, events: EventMask) -> Result<Window> {
    let window = c.generate_id().during(MAKING)?;
    let aux = CreateWindowAux::new().event_mask(events);
    let class = WindowClass::INPUT_ONLY;
    c.create_window(0, window, root, -1, -1, 1, 1, 0, class, 0, &aux)
        .during(MAKING)?;
    Ok(window)
}
