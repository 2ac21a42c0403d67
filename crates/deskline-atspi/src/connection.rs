//! The calls to one app: single ones, and many in flight.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::bus::{Body, Call, Connection, Error, Message, Reply};
use crate::request::Request;

/// How long an app may take for any one reply before it counts as not answering (SPEC §4).
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Requests in flight: the gain flattens at 64 to 256, and 1,024 is safe with every toolkit.
pub const MOST_IN_FLIGHT: usize = 512;

/// The quickest way to an app's objects: its private socket, else the bus.
pub struct AppConnection<'a> {
    connection: &'a mut Connection,
    /// Its bus name; empty on a private socket.
    destination: String,
}

impl<'a> AppConnection<'a> {
    /// To the app of that name on the bus.
    pub fn by_bus(connection: &'a mut Connection, bus_name: &str) -> Self {
        Self {
            connection,
            destination: bus_name.to_owned(),
        }
    }

    /// To the app at the other end of a private socket.
    pub fn private(connection: &'a mut Connection) -> Self {
        Self {
            connection,
            destination: String::new(),
        }
    }

    /// Queues a request to an object of this app. Its reply comes with this tag.
    pub fn send(&mut self, tag: u64, path: &str, request: Request) {
        let call = call(&self.destination, path, request.call());
        self.connection.send(tag, &call);
    }

    /// Whether another request may be sent.
    pub fn has_room(&self) -> bool {
        self.connection.in_flight() < MOST_IN_FLIGHT
    }

    /// Whether no request waits for its reply.
    pub fn is_idle(&self) -> bool {
        self.connection.in_flight() == 0
    }

    /// Drops the requests in flight; gives their tags. Their replies are ignored when they come.
    pub fn forget(&mut self) -> Vec<u64> {
        self.connection.forget_calls()
    }

    /// The next reply to any request in flight: an app that gives one within [`PATIENCE`] is alive.
    /// `None` at `end`: what was asked and not answered is still in flight.
    ///
    /// # Errors
    /// [`Error::Timeout`] where the app was silent for [`PATIENCE`]; [`Error::Io`] where the
    /// connection is lost.
    pub fn next_reply(&mut self, end: Instant) -> Result<Option<(u64, Reply)>, Error> {
        let silence = Instant::now() + PATIENCE;
        if silence < end {
            return self.connection.next_reply(silence).map(Some);
        }
        self.connection.reply_until(end)
    }

    /// One request and its reply, within [`PATIENCE`].
    pub fn ask(&mut self, path: &str, request: Request) -> Reply {
        let (interface, member, body) = request.call();
        self.call(path, interface, member, body)
    }

    /// One call of any method, within [`PATIENCE`].
    pub fn call(&mut self, path: &str, interface: &str, member: &str, body: Body) -> Reply {
        self.call_within(PATIENCE, path, interface, member, body)
    }

    /// One call of any method.
    pub fn call_within(
        &mut self,
        limit: Duration,
        path: &str,
        interface: &str,
        member: &str,
        body: Body,
    ) -> Reply {
        let call = call(&self.destination, path, (interface, member, body));
        self.connection.call(&call, limit)
    }

    /// Requests to many objects at once; their replies in order, `None` where one was refused. At
    /// `end` the replies to all that were sent until then, and `false` where any is missing or was
    /// not sent.
    pub fn ask_each(
        &mut self,
        requests: impl IntoIterator<Item = (Rc<str>, Request)>,
        end: Instant,
    ) -> Result<(Vec<Option<Message>>, bool), Error> {
        let mut requests = requests.into_iter();
        let mut replies: Vec<Option<Message>> = Vec::new();
        loop {
            while self.has_room() && Instant::now() < end {
                let Some((path, request)) = requests.next() else {
                    break;
                };
                self.send(replies.len() as u64, &path, request);
                replies.push(None);
            }
            if self.is_idle() {
                return Ok((replies, requests.next().is_none()));
            }
            let Some((tag, reply)) = self.next_reply(end)? else {
                self.forget();
                return Ok((replies, false));
            };
            if let Some(slot) = replies.get_mut(tag as usize) {
                *slot = reply.ok();
            }
        }
    }
}

fn call<'a>(
    destination: &'a str,
    path: &'a str,
    (interface, member, body): (&'a str, &'a str, Body),
) -> Call<'a> {
    Call {
        destination,
        path,
        interface,
        member,
        body,
    }
}
