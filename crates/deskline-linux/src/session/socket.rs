//! Checks whether a process of this user or root listens on a socket.

use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskline_atspi::bus;
use deskline_unix::socket::{self, Peer};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// The connection timeout for displays on TCP, such as those that ssh forwards.
const TCP_TIMEOUT: Duration = Duration::from_millis(200);

/// The process that listens at `address`, and its user. Does not block: a full queue (EAGAIN) is an
/// error too, because the listener is unknown then.
fn peer(address: &SocketAddrUnix) -> Result<Peer, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, address)?;
    socket::peer(&socket).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))
}

/// Whether `uid` or root listens at `address`.
fn answers(address: Result<SocketAddrUnix, Errno>, uid: u32) -> bool {
    let peer = address.and_then(|address| peer(&address));
    peer.is_ok_and(|peer| [uid, 0].contains(&peer.uid))
}

/// Whether `uid` or root listens on the unix socket at `path`.
pub(super) fn path_answers(path: &Path, uid: u32) -> bool {
    answers(SocketAddrUnix::new(path), uid)
}

/// Whether `uid` itself listens on the unix socket at `path`.
pub(super) fn path_is_of(path: &Path, uid: u32) -> bool {
    peer_at(path).is_ok_and(|peer| peer.uid == uid)
}

/// Whether there is a socket at `path` on which nobody listens any more.
pub(crate) fn is_dead(path: &Path) -> bool {
    path.exists() && peer_at(path).is_err_and(|e| e == Errno::CONNREFUSED)
}

fn peer_at(path: &Path) -> Result<Peer, Errno> {
    peer(&SocketAddrUnix::new(path)?)
}

/// Whether a bus of `uid` answers at a D-Bus address.
pub(crate) fn bus_answers(address: &str, uid: u32) -> bool {
    bus::sockets(address).any(|address| answers(address, uid))
}

/// Whether an X display of `uid` answers. X(7), "Display names". `sockets` is `/tmp/.X11-unix`.
pub(super) fn display_answers(display: &str, sockets: &Path, uid: u32) -> bool {
    let Some((host, rest)) = display.rsplit_once(':') else {
        return false;
    };
    let Ok(number) = rest.split('.').next().unwrap_or_default().parse::<u16>() else {
        return false;
    };
    if host.is_empty() || host == "unix" {
        let path = sockets.join(format!("X{number}"));
        let name = SocketAddrUnix::new_abstract_name(path.as_os_str().as_bytes());
        return path_answers(&path, uid) || answers(name, uid);
    }
    let local = matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "::1");
    let Some(port) = 6000_u16.checked_add(number).filter(|_| local) else {
        return false;
    };
    ["127.0.0.1", "[::1]"].iter().any(|ip| {
        format!("{ip}:{port}")
            .parse::<SocketAddr>()
            .is_ok_and(|address| TcpStream::connect_timeout(&address, TCP_TIMEOUT).is_ok())
    })
}

/// Whether a Wayland compositor of `uid` answers.
pub(super) fn wayland_answers(name: &str, runtime_dir: Option<&Path>, uid: u32) -> bool {
    wayland_path(name, runtime_dir).is_some_and(|path| path_answers(&path, uid))
}

/// The pid of the compositor that listens on a Wayland socket.
pub(super) fn compositor(name: &str, runtime_dir: Option<&Path>) -> Option<u32> {
    peer_at(&wayland_path(name, runtime_dir)?).ok()?.pid
}

/// The path of a Wayland socket, as in `wl_display_connect(3)`.
pub(super) fn wayland_path(name: &str, runtime_dir: Option<&Path>) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_absolute() {
        return Some(path.to_owned());
    }
    Some(runtime_dir?.join(path))
}
