//! The floor: the least that a complete reading of an app can cost. It reads everything blindly:
//! one `Cache.GetItems` and the extents of all objects in it, with as many requests in flight as
//! the app can take; or five pipelined requests a node, if the app's cache is empty.

use std::time::{Duration, Instant};

use deskline_atspi::bus::{Body, Call, Connection, Error, Message, Reader};

const ROOT: &str = "/org/a11y/atspi/accessible/root";
const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
const LIMIT: Duration = Duration::from_secs(60);
const WINDOW: usize = 512;

/// An app on the bus.
pub struct Floor {
    connection: Connection,
    /// The destination of calls; empty on its own socket.
    name: String,
    /// Its bus name.
    owner: String,
    /// Whether it has a socket of its own.
    pub private: bool,
}

pub struct Read {
    /// In milliseconds.
    pub ms: f64,
    /// Objects that were read.
    pub nodes: usize,
    /// Whether it came from the app's cache, as opposed to walking.
    pub bulk: bool,
}

impl Floor {
    /// Finds the app on the bus at `address`, and connects to its private socket if it has one.
    pub fn connect(address: &str, pid: u32) -> Result<Self, Error> {
        let mut bus = Connection::open(address, LIMIT)?;
        let call = |destination, path, interface, member, body| Call {
            destination,
            path,
            interface,
            member,
            body,
        };
        let apps = call(
            "org.a11y.atspi.Registry",
            ROOT,
            ACCESSIBLE,
            "GetChildren",
            Body::new(),
        );
        let apps = objects(&bus.call(&apps, LIMIT)?)?;
        let mut found = String::new();
        for (name, _) in apps {
            const DBUS: &str = "org.freedesktop.DBus";
            let body = Body::new().str(&name);
            let ask = call(
                DBUS,
                "/org/freedesktop/DBus",
                DBUS,
                "GetConnectionUnixProcessID",
                body,
            );
            let owner = bus.call(&ask, LIMIT);
            if owner.is_ok_and(|m| m.reader().u32() == Ok(pid)) {
                found = name;
            }
        }
        let interface = "org.a11y.atspi.Application";
        let ask = call(
            &found,
            ROOT,
            interface,
            "GetApplicationBusAddress",
            Body::new(),
        );
        let socket = bus.call(&ask, LIMIT).ok();
        let socket = socket.and_then(|m| m.reader().str().ok().map(str::to_owned));
        let private = socket
            .filter(|a| !a.is_empty())
            .and_then(|a| Connection::private(&a, LIMIT).ok());
        Ok(match private {
            Some(connection) => Self {
                connection,
                name: String::new(),
                owner: found,
                private: true,
            },
            None => Self {
                connection: bus,
                owner: found.clone(),
                name: found,
                private: false,
            },
        })
    }

    /// Reads the app once.
    pub fn read(&mut self) -> Result<Read, Error> {
        let start = Instant::now();
        let mut paths = self.items().unwrap_or_default();
        let bulk = paths.len() > 1;
        if bulk {
            let mut extents = 0;
            self.ask(
                &paths,
                "org.a11y.atspi.Component",
                "GetExtents",
                true,
                |_, m| {
                    extents += usize::from(m.reader().i32().is_ok());
                },
            )?;
        } else {
            paths = self.walk()?;
        }
        let ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(Read {
            ms,
            nodes: paths.len(),
            bulk,
        })
    }

    fn items(&mut self) -> Option<Vec<String>> {
        let call = Call {
            destination: &self.name,
            path: "/org/a11y/atspi/cache",
            interface: "org.a11y.atspi.Cache",
            member: "GetItems",
            body: Body::new(),
        };
        let message = self.connection.call(&call, LIMIT).ok()?;
        let items = message.reader().array(8, |r| {
            r.align(8)?;
            let path = r.object()?.1.to_owned();
            r.object()?;
            r.object()?;
            r.i32()?;
            r.i32()?;
            r.array(4, |r| r.str().map(drop))?;
            r.str()?;
            r.u32()?;
            r.str()?;
            r.array(4, Reader::u32)?;
            Ok(path)
        });
        items.ok()
    }

    /// Reads five properties a node, level by level. Does not list children of containers that
    /// manage their own.
    fn walk(&mut self) -> Result<Vec<String>, Error> {
        const MANAGES_DESCENDANTS: u32 = 31;
        let mut found = vec![];
        let mut level = vec![ROOT.to_owned()];
        while !level.is_empty() {
            let mut listed: Vec<bool> = vec![true; level.len()];
            self.ask(&level, ACCESSIBLE, "GetState", false, |i, m| {
                let low = m.reader().array(4, Reader::u32).unwrap_or_default();
                let low = low.first().copied().unwrap_or(0);
                listed[i] = low >> MANAGES_DESCENDANTS & 1 == 0;
            })?;
            self.ask(&level, ACCESSIBLE, "GetRole", false, |_, _| {})?;
            self.ask(
                &level,
                "org.a11y.atspi.Component",
                "GetExtents",
                true,
                |_, _| {},
            )?;
            self.ask(&level, ACCESSIBLE, "GetAttributes", false, |_, _| {})?;
            let open: Vec<String> = level
                .iter()
                .zip(&listed)
                .filter(|(_, listed)| **listed)
                .map(|(path, _)| path.clone())
                .collect();
            found.append(&mut level);
            let owner = self.owner.clone();
            self.ask(&open, ACCESSIBLE, "GetChildren", false, |_, m| {
                let children = objects(m).unwrap_or_default();
                level.extend(children.into_iter().filter(|c| c.0 == owner).map(|c| c.1));
            })?;
        }
        Ok(found)
    }

    fn ask(
        &mut self,
        paths: &[String],
        interface: &str,
        member: &str,
        screen: bool,
        mut each: impl FnMut(usize, &Message),
    ) -> Result<(), Error> {
        let calls = paths.iter().map(|path| Call {
            destination: &self.name,
            path,
            interface,
            member,
            body: if screen {
                Body::new().u32(0)
            } else {
                Body::new()
            },
        });
        let deadline = Instant::now() + LIMIT;
        self.connection.batch(calls, WINDOW, deadline, |i, reply| {
            if let Ok(message) = reply {
                each(i, &message);
            }
        })
    }
}

fn objects(message: &Message) -> Result<Vec<(String, String)>, Error> {
    let pair = |(name, path): (&str, &str)| (name.to_owned(), path.to_owned());
    Ok(message.reader().array(8, |r| r.object().map(pair))?)
}
