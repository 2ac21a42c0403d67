//! One app on the accessibility bus: who it is, and how to reach it.

use std::time::{Duration, Instant};

use crate::bus::{Body, Call, Connection, Error};
use crate::connection::AppConnection;
use crate::names::{ACCESSIBLE, APPLICATION, PROPERTIES, ROOT};
use crate::toolkits::Toolkit;

/// How long connecting to a private socket may take; the bus will do where it does not.
const PRIVATE_CONNECT: Duration = Duration::from_millis(300);

/// An app: its bus name, its private socket where it has one, and what it said of itself.
#[derive(Debug)]
pub struct Peer {
    /// Its unique name on the accessibility bus.
    pub bus_name: String,
    /// Its process id, as the bus daemon knows it.
    pub pid: u32,
    /// The name that it gives itself.
    pub name: String,
    /// Its toolkit, by `Application.ToolkitName` and `Application.Version`.
    pub toolkit: Toolkit,
    /// Its own socket: half the cost of a call, as no daemon is in between.
    private: Option<Connection>,
}

impl Peer {
    /// Asks an app what it is. Bounded by `patience`.
    pub fn meet(
        bus: &mut Connection,
        bus_name: &str,
        pid: u32,
        patience: Duration,
    ) -> Result<Self, Error> {
        let property = |interface, name| Call {
            destination: bus_name,
            path: ROOT,
            interface: PROPERTIES,
            member: "Get",
            body: Body::new().str(interface).str(name),
        };
        let address = Call {
            destination: bus_name,
            path: ROOT,
            interface: APPLICATION,
            member: "GetApplicationBusAddress",
            body: Body::new(),
        };
        let calls = [
            property(ACCESSIBLE, "Name"),
            property(APPLICATION, "ToolkitName"),
            property(APPLICATION, "Version"),
            address,
        ];
        let mut answers: [String; 4] = Default::default();
        bus.batch(calls, 4, Instant::now() + patience, |i, reply| {
            if let Ok(message) = reply {
                let mut reader = message.reader();
                let text = if i == 3 {
                    reader.str()
                } else {
                    reader.variant_str()
                };
                if let Ok(text) = text {
                    text.clone_into(&mut answers[i]);
                }
            }
        })?;
        let [name, toolkit, version, address] = answers;
        let private = (!address.is_empty())
            .then(|| Connection::private(&address, PRIVATE_CONNECT).ok())
            .flatten();
        Ok(Self {
            bus_name: bus_name.to_owned(),
            pid,
            name,
            toolkit: Toolkit::of(&toolkit, &version),
            private,
        })
    }

    /// The connection to use: its private socket where it has one.
    pub fn connection<'a>(&'a mut self, bus: &'a mut Connection) -> AppConnection<'a> {
        match &mut self.private {
            Some(private) => AppConnection::private(private),
            None => AppConnection::by_bus(bus, &self.bus_name),
        }
    }
}
