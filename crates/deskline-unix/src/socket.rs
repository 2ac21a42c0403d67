//! Connecting to a Unix socket, with a time limit.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

/// Connects within `limit`. A listener that accepts nobody, such as a stopped compositor, blocks
/// its clients once its backlog is full.
///
/// # Errors
///
/// [`io::ErrorKind::TimedOut`] at the limit, else the system's.
pub fn connect(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // unix(7): it bounds `connect` too.
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) => {}
        Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
        Err(e) => return Err(e.into()),
    }
    set_socket_timeout(&socket, Timeout::Send, None)?;
    Ok(socket.into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen};
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    #[test]
    fn a_listener_that_accepts_nobody_is_given_up() {
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
        ours.write_all(b"x").unwrap();
        theirs.read_exact(&mut [0]).unwrap();
    }
}
