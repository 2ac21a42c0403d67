//! Where the accessibility bus is, and turning it on.
//!
//! `org.a11y.Bus` on the session bus gives the address and starts the bus where it is not running;
//! `org.a11y.Status` says whether apps are to put themselves on it.

use std::time::Duration;

use deskline_link::{Error, Result};

use crate::bus::{self, Body, Call, Connection};

/// Starting the accessibility bus may take this long.
const START: Duration = Duration::from_secs(5);

const BUS: &str = "org.a11y.Bus";
const PATH: &str = "/org/a11y/bus";
const STATUS: &str = "org.a11y.Status";

/// The address of the accessibility bus of a session.
///
/// # Errors
/// [`Error::Unavailable`] with what to install or start.
pub fn address(session_bus: &str) -> Result<String> {
    let mut connection = open(session_bus)?;
    let call = Call {
        destination: BUS,
        path: PATH,
        interface: BUS,
        member: "GetAddress",
        body: Body::new(),
    };
    let found = connection.call(&call, START);
    found.and_then(|m| Ok(m.reader().str()?.to_owned())).map_err(|e| {
        Error::Unavailable(format!(
            "no accessibility bus: org.a11y.Bus on the session bus says: {e}. Install at-spi2-core, \
             then log in again; or use a private desktop: deskline serve --desktop private"
        ))
    })
}

/// Whether apps are told to put themselves on the bus.
pub fn is_enabled(session_bus: &str) -> Result<bool> {
    let mut connection = open(session_bus)?;
    let body = Body::new().str(STATUS).str("IsEnabled");
    let reply = property(&mut connection, "Get", body);
    Ok(reply.is_ok_and(|m| m.reader().variant_i32() == Ok(1)))
}

/// Tells apps to put themselves on the bus. Those that read this only at their start follow when
/// they are started again.
pub fn enable(session_bus: &str) -> Result<()> {
    let mut connection = open(session_bus)?;
    let body = Body::new().str(STATUS).str("IsEnabled").variant_bool(true);
    property(&mut connection, "Set", body)
        .map(drop)
        .map_err(Error::system("turning accessibility on (org.a11y.Status)"))
}

fn property(connection: &mut Connection, member: &str, body: Body) -> bus::Reply {
    let interface = "org.freedesktop.DBus.Properties";
    connection.call(
        &Call {
            destination: BUS,
            path: PATH,
            interface,
            member,
            body,
        },
        START,
    )
}

fn open(session_bus: &str) -> Result<Connection> {
    Connection::open(session_bus, START).map_err(|e| {
        Error::Unavailable(format!(
            "the D-Bus session bus at {session_bus} does not answer: {e}. Set \
             DBUS_SESSION_BUS_ADDRESS to the desktop session's in the server's environment"
        ))
    })
}
