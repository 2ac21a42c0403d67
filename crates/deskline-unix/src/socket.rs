//! Connects to a Unix socket with a time limit, and finds the process at its other end.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

/// Connects within `limit`. Without a limit, a client of a listener that accepts no connections,
/// such as a stopped compositor, blocks once the backlog is full.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`] at the limit, otherwise the system's error.
pub fn connect(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    connect_to(&SocketAddrUnix::new(path)?, limit)
}

/// Like [`connect`], to any kind of address.
///
/// # Errors
///
/// As [`connect`].
pub fn connect_to(address: &SocketAddrUnix, limit: Duration) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // unix(7): this option bounds `connect` too.
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    match rustix::net::connect(&socket, address) {
        Ok(()) => {}
        Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
        Err(e) => return Err(e.into()),
    }
    set_socket_timeout(&socket, Timeout::Send, None)?;
    Ok(socket.into())
}

/// The process that has bound or connected the other end of a socket, and its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// `None` if the peer is in no process namespace that this process sees: the kernel's id is 0
    /// then. (rustix would report an error.)
    pub pid: Option<u32>,
    pub uid: u32,
}

/// The process at the other end of a socket, and its user: `SO_PEERCRED`, unix(7).
///
/// # Errors
///
/// The system's error.
pub fn peer(socket: &impl AsFd) -> io::Result<Peer> {
    let credentials = getsockopt(socket, PeerCredentials)?;
    Ok(Peer {
        pid: u32::try_from(credentials.pid())
            .ok()
            .filter(|pid| *pid != 0),
        uid: credentials.uid(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen};
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    #[test]
    fn connecting_to_a_listener_that_accepts_nobody_times_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = socket_with(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        );
        let listener = listener.unwrap();
        bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&listener, 0).unwrap();
        let limit = Duration::from_millis(50);
        let start = Instant::now();
        let waiting: Vec<_> = (0..5).map(|_| connect(&path, limit)).collect();
        let last = waiting.last().unwrap().as_ref().unwrap_err();
        assert_eq!(last.kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_connected_socket_reads_and_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let mut ours = connect(&path, Duration::from_secs(2)).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        let ourselves = Some(std::process::id());
        assert_eq!(peer(&theirs).unwrap().pid, ourselves);
        ours.write_all(b"x").unwrap();
        theirs.read_exact(&mut [0]).unwrap();
    }
}
