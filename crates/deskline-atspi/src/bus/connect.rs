//! Connects to the server of an address, and authenticates.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use deskline_core::escape::{self, percent_decode};
use deskline_unix::socket::connect_to;
use rustix::net::SocketAddrUnix;

use super::error::{Error, Result};
use super::wire::WireError;

/// The Unix sockets in a list of addresses. D-Bus specification, "Server Addresses".
pub fn sockets(addresses: &str) -> impl Iterator<Item = rustix::io::Result<SocketAddrUnix>> {
    let addresses = addresses.split(';');
    let keys = addresses.filter_map(|address| address.strip_prefix("unix:"));
    let pairs = keys.flat_map(|keys| keys.split(','));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.filter_map(|(key, value)| match (key, percent_decode(value)?) {
        ("path", path) => Some(SocketAddrUnix::new(path)),
        ("abstract", name) => Some(SocketAddrUnix::new_abstract_name(&name)),
        _ => None,
    })
}

/// Connects to the first reachable address of the list. All attempts together take at most
/// `timeout`, as the list may come from an app, with any number of addresses.
pub(super) fn connect(addresses: &str, timeout: Duration) -> Result<UnixStream> {
    let deadline = Instant::now() + timeout;
    let mut last = None;
    for address in sockets(addresses) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Timeout);
        }
        let address = address.map_err(io::Error::from);
        match address.and_then(|address| connect_to(&address, left)) {
            Ok(socket) => return Ok(socket),
            Err(e) => last = Some(e),
        }
    }
    Err(last.map_or_else(|| Error::Address(addresses.to_owned()), Error::Io))
}

/// Authenticates by EXTERNAL with our uid, until `deadline`. Returns the server's GUID.
/// D-Bus specification, "Authentication Protocol".
pub(super) fn authenticate(socket: &mut UnixStream, deadline: Instant) -> Result<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    // Encodes ASCII digits in hex. Their codes are 0x30 to 0x39, so each is a 3 and the digit.
    let hex: String = uid.chars().flat_map(|digit| ['3', digit]).collect();
    socket.write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes())?;
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Timeout);
        }
        socket.set_read_timeout(Some(left))?;
        socket.read_exact(&mut byte)?;
        line.push(byte[0]);
        if line.len() > 512 {
            return Err(WireError.into());
        }
    }
    let line = String::from_utf8_lossy(&line);
    let guid = line.trim_end().strip_prefix("OK ").ok_or_else(|| {
        Error::Io(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("authentication refused: {}", escape::quoted(&line, 120)),
        ))
    })?;
    let guid = guid.to_owned();
    socket.write_all(b"BEGIN\r\n")?;
    Ok(guid)
}
