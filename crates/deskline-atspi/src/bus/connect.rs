//! Connects to the server of an address, and authenticates.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use deskline_core::escape::{self, percent_decode};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use super::error::{Error, Result};
use super::wire::WireError;

/// Connects to the first reachable address of the list. All attempts together take at most
/// `timeout`, as the list may come from an app, with any number of addresses. D-Bus specification,
/// "Server Addresses".
pub(super) fn connect(addresses: &str, timeout: Duration) -> Result<UnixStream> {
    let deadline = Instant::now() + timeout;
    let mut last = None;
    for address in addresses.split(';') {
        let Some(keys) = address.strip_prefix("unix:") else {
            continue;
        };
        for pair in keys.split(',') {
            let Some((key, Some(value))) = pair
                .split_once('=')
                .map(|(key, value)| (key, percent_decode(value)))
            else {
                continue;
            };
            let tried = match key {
                "path" => SocketAddrUnix::new(value),
                "abstract" => SocketAddrUnix::new_abstract_name(&value),
                _ => continue,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Timeout);
            }
            match tried.and_then(|address| connect_to(&address, left)) {
                Ok(socket) => return Ok(socket),
                Err(e) => last = Some(e.into()),
            }
        }
    }
    Err(last.map_or_else(|| Error::Address(addresses.to_owned()), Error::Io))
}

/// Connects within `timeout`: connecting blocks while the listener accepts no connections and its
/// backlog is full. Later writes to the socket have the same limit.
fn connect_to(address: &SocketAddrUnix, timeout: Duration) -> rustix::io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(timeout))?;
    rustix::net::connect(&socket, address)?;
    Ok(socket.into())
}

/// Authenticates by EXTERNAL with our uid, until `deadline`. Returns the server's GUID.
/// D-Bus specification, "Authentication Protocol".
pub(super) fn authenticate(socket: &mut UnixStream, deadline: Instant) -> Result<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    // Hex-encodes ASCII digits, whose codes are 0x30 to 0x39.
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
