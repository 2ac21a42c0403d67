//! Finds the accessibility bus, and turns accessibility on.
//!
//! `org.a11y.Bus` on the session bus returns the address of the accessibility bus, which it starts
//! if necessary. A property of `org.a11y.Status` asks apps to join the accessibility bus.

use std::time::Duration;

use deskline_contract::{Error, Result};

use crate::bus::{self, Body, Call, Connection};
use crate::names::PROPERTIES;

/// Starting the accessibility bus may take this long.
const START: Duration = Duration::from_secs(5);

const BUS: &str = "org.a11y.Bus";
const PATH: &str = "/org/a11y/bus";
const STATUS: &str = "org.a11y.Status";

/// The address of the accessibility bus of a session.
///
/// # Errors
/// [`Error::Unavailable`], which says what to install or start.
pub fn address(session_bus: &str) -> Result<String> {
    address_on(&mut open(session_bus)?, START).map_err(|e| none(&e))
}

/// The address of the accessibility bus of a session, with accessibility turned on.
///
/// # Errors
/// [`Error::Unavailable`], which says what to install or start.
pub fn enabled(session_bus: &str) -> Result<String> {
    let mut bus = open(session_bus)?;
    let address = address_on(&mut bus, START).map_err(|e| none(&e))?;
    if !is_enabled_on(&mut bus) {
        enable_on(&mut bus, START)?;
    }
    Ok(address)
}

/// Whether apps are asked to join the bus.
pub fn is_enabled(session_bus: &str) -> Result<bool> {
    Ok(is_enabled_on(&mut open(session_bus)?))
}

/// Requests the address of the accessibility bus over a connected session bus. The request starts
/// the accessibility bus.
pub fn address_on(bus: &mut Connection, limit: Duration) -> bus::Result<String> {
    let call = Call::new(BUS, PATH, BUS, "GetAddress", Body::new());
    Ok(bus.call(&call, limit)?.reader().str()?.to_owned())
}

/// Asks apps to join the bus. An app that reads this request only at its start joins when it is
/// restarted.
pub fn enable_on(bus: &mut Connection, limit: Duration) -> Result<()> {
    let body = Body::new().str(STATUS).str("IsEnabled").variant_bool(true);
    property(bus, "Set", body, limit)
        .map(drop)
        .map_err(Error::system("turning accessibility on (org.a11y.Status)"))
}

fn is_enabled_on(bus: &mut Connection) -> bool {
    let body = Body::new().str(STATUS).str("IsEnabled");
    property(bus, "Get", body, START).is_ok_and(|m| m.reader().variant_i32() == Ok(1))
}

fn property(bus: &mut Connection, member: &str, body: Body, limit: Duration) -> bus::Reply {
    bus.call(&Call::new(BUS, PATH, PROPERTIES, member, body), limit)
}

fn none(e: &bus::Error) -> Error {
    Error::Unavailable(format!(
        "no accessibility bus: asking org.a11y.Bus on the session bus failed: {e}. Install \
         at-spi2-core, then log in again. Or use a private desktop: the option --desktop private"
    ))
}

fn open(session_bus: &str) -> Result<Connection> {
    Connection::open(session_bus, START).map_err(|e| {
        Error::Unavailable(format!(
            "the D-Bus session bus at {session_bus} does not answer: {e}. Set \
             DBUS_SESSION_BUS_ADDRESS in the server's environment to the desktop session's address"
        ))
    })
}
