//! One app on the accessibility bus: its identity and its connection.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::bus::{Body, Call, Connection, Result};
use crate::connection::{AppConnection, PRIVATE_CONNECT};
use crate::decode::kept;
use crate::names::{ACCESSIBLE, APPLICATION, ROOT};
use crate::toolkits::Toolkit;

/// An app: its bus name, its private socket if it has one, and the properties that it reports.
#[derive(Debug)]
pub struct Peer {
    /// The unique name on the accessibility bus.
    pub bus_name: String,
    /// The process id, as the bus daemon reports it.
    pub pid: u32,
    pub name: String,
    /// The toolkit, according to `Application.ToolkitName` and `Application.Version`.
    pub toolkit: Toolkit,
    /// The private socket. A call over it takes half the time of a call over the bus, as there is
    /// no daemon in between.
    private: Option<Connection>,
    /// The address of the private socket; empty if there is none.
    address: String,
}

impl Peer {
    /// Reads an app's name, toolkit and private address, and connects to that address. The requests
    /// take at most `patience`.
    pub(crate) fn meet(
        bus: &mut Connection,
        bus_name: &str,
        pid: u32,
        patience: Duration,
    ) -> Result<Self> {
        let property = |interface, name| Call::get(bus_name, ROOT, interface, name);
        let member = "GetApplicationBusAddress";
        let address = Call::new(bus_name, ROOT, APPLICATION, member, Body::new());
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
                    kept(text).clone_into(&mut answers[i]);
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
            toolkit: Toolkit::from_name(&toolkit, &version),
            private,
            address,
        })
    }

    /// The connection to use: the private socket if there is one, else the bus.
    pub fn connection<'a>(&'a mut self, bus: &'a mut Connection) -> AppConnection<'a> {
        match &mut self.private {
            Some(private) => AppConnection::private(private),
            None => AppConnection::by_bus(bus, &self.bus_name),
        }
    }

    /// The connection for an action. Private sockets that the app may still use are moved to
    /// `aside`.
    pub(crate) fn connection_to_act<'a>(
        &'a mut self,
        bus: &'a mut Connection,
        aside: &'a mut VecDeque<Connection>,
    ) -> AppConnection<'a> {
        match &mut self.private {
            Some(private) => AppConnection::private(private).with_successor(&self.address, aside),
            None => AppConnection::by_bus(bus, &self.bus_name),
        }
    }
}
