//! Connects to a D-Bus bus and calls methods there, with a time limit on every wait. zbus has no
//! limit for the connection and its handshake.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use async_io::Timer;
use deskline_unix::socket;
use futures_lite::future;
use serde::Serialize;
use zbus::Address;
use zbus::address::transport::{Transport, UnixSocket};
use zbus::blocking::Connection;
use zbus::connection::Builder;
use zbus::zvariant::{DynamicDeserialize, DynamicType, OwnedValue};

/// A bus name, an object's path and an interface.
pub type On<'o> = (&'o str, &'o str, &'o str);

/// The arguments of a method.
pub trait Arguments: Serialize + DynamicType {}

impl<A: Serialize + DynamicType> Arguments for A {}

/// The result of a method.
pub trait Reply: for<'d> DynamicDeserialize<'d> {}

impl<R: for<'d> DynamicDeserialize<'d>> Reply for R {}

/// The bus itself.
pub const DAEMON: On<'static> = (
    "org.freedesktop.DBus",
    "/org/freedesktop/DBus",
    "org.freedesktop.DBus",
);

pub const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Connects to the bus at `address` within `patience`, which is also the limit of each method call.
///
/// # Errors
///
/// If there is no bus, or it does not answer in time.
pub fn connect(address: &str, patience: Duration) -> zbus::Result<Connection> {
    with_socket(address, patience).map(|(bus, _)| bus)
}

/// Like [`connect`]. Also returns a copy of the connection's socket if the bus listens on a path in
/// the file system.
pub(crate) fn with_socket(
    address: &str,
    patience: Duration,
) -> zbus::Result<(Connection, Option<UnixStream>)> {
    let parsed: Address = address.parse()?;
    let stream = match parsed.transport() {
        Transport::Unix(unix) => match unix.path() {
            UnixSocket::File(path) => Some(socket::connect(path, patience)?),
            _ => None,
        },
        _ => None,
    };
    let copy = stream.as_ref().map(UnixStream::try_clone).transpose()?;
    let builder = match stream {
        Some(stream) => Builder::async_io_unix_stream(stream),
        None => Builder::address(address)?,
    };
    let build = builder.method_timeout(patience).build();
    let limit = async {
        Timer::after(patience).await;
        Err(io::Error::from(io::ErrorKind::TimedOut).into())
    };
    // When the time is over, `or` drops `build`, and that closes the socket.
    let bus = async_io::block_on(future::or(build, limit))?;
    Ok((bus.into(), copy))
}

/// Calls a method and returns its result.
///
/// # Errors
///
/// If the method fails, or its result is of another type.
pub fn ask<R: Reply>(
    bus: &Connection,
    (name, path, interface): On<'_>,
    method: &str,
    body: &impl Arguments,
) -> zbus::Result<R> {
    let answer = bus.call_method(Some(name), path, Some(interface), method, body)?;
    answer.body().deserialize()
}

/// Reads a property.
///
/// # Errors
///
/// If the object does not have the property.
pub fn property(bus: &Connection, on: On<'_>, property: &str) -> zbus::Result<OwnedValue> {
    let (name, path, interface) = on;
    ask(bus, (name, path, PROPERTIES), "Get", &(interface, property))
}

/// The unique name of the connection that owns the bus name `name`.
///
/// # Errors
///
/// If no connection owns it.
pub fn owner(bus: &Connection, name: &str) -> zbus::Result<String> {
    ask(bus, DAEMON, "GetNameOwner", &name)
}

/// The process whose connection owns the bus name `name`.
///
/// # Errors
///
/// If no connection owns it.
pub fn pid_of(bus: &Connection, name: &str) -> zbus::Result<u32> {
    ask(bus, DAEMON, "GetConnectionUnixProcessID", &name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    #[test]
    fn a_bus_that_does_not_answer_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        let silent = UnixListener::bind(&path).unwrap();
        let start = Instant::now();
        let address = format!("unix:path={}", path.display());
        let failed = connect(&address, Duration::from_millis(100)).unwrap_err();
        let timed_out = |e: &io::Error| e.kind() == io::ErrorKind::TimedOut;
        assert!(
            matches!(&failed, zbus::Error::InputOutput(e) if timed_out(e)),
            "{failed}"
        );
        assert!(start.elapsed() < Duration::from_secs(5));
        // The connection is closed.
        let mut read = Vec::new();
        silent.accept().unwrap().0.read_to_end(&mut read).unwrap();
    }
}
