//! Calls to one app: one at a time, or many in flight.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::bus::{Body, Call, Connection, Error, Message, Reply, Result};
use crate::names::ROOT;
use crate::request::Request;

/// How long an app may take for any one reply before it counts as not answering. The limit is the
/// same on every platform.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How long connecting to a private socket may take. If it takes longer, the bus is used.
pub(crate) const PRIVATE_CONNECT: Duration = Duration::from_millis(300);

/// The maximum number of private sockets that are set aside. If an action runs a dialog, its socket
/// is closed after this many further actions in the dialog.
const MOST_ASIDE: usize = 16;

/// If no reply comes for this long, the app's root is requested, to see whether the app is alive.
/// It has the rest of [`PATIENCE`] to answer.
const SILENCE: Duration = Duration::from_millis(1_700);

/// The tag of the request to the root. The tags of other requests count up from 0.
const CONTROL: u64 = u64::MAX;

/// The maximum number of requests in flight. More than 64 to 256 gain little. 1,024 were safe with
/// every toolkit.
pub(crate) const MOST_IN_FLIGHT: usize = 512;

/// The quickest way to an app's objects: its private socket, else the bus.
pub(crate) struct AppConnection<'a> {
    connection: &'a mut Connection,
    /// The app's bus name; empty on a private socket.
    destination: String,
    /// Whether the request to the root is in flight.
    controlled: bool,
    /// The address of the private socket, and where the socket goes after an action.
    successor: Option<(&'a str, &'a mut VecDeque<Connection>)>,
}

/// The result of waiting for a reply.
#[derive(Debug)]
pub enum Next {
    /// The reply to the request with this tag.
    Reply(u64, Reply),
    /// The app answers other requests, but not those with these tags. These requests are no longer
    /// in flight.
    Unanswered(Vec<u64>),
    /// The deadline has passed. Requests stay in flight.
    End,
}

impl<'a> AppConnection<'a> {
    /// A connection to the app with that name on the bus.
    pub(crate) fn by_bus(connection: &'a mut Connection, bus_name: &str) -> Self {
        Self {
            connection,
            destination: bus_name.to_owned(),
            controlled: false,
            successor: None,
        }
    }

    /// A connection to the app at the other end of a private socket.
    pub fn private(connection: &'a mut Connection) -> Self {
        Self::by_bus(connection, "")
    }

    /// After each action a new private socket takes the place of this one, which goes to `aside`.
    pub(crate) fn with_successor(
        self,
        address: &'a str,
        aside: &'a mut VecDeque<Connection>,
    ) -> Self {
        let successor = Some((address, aside));
        Self { successor, ..self }
    }

    /// Queues a request to an object of this app. The reply will have the tag `tag`.
    pub fn send(&mut self, tag: u64, path: &str, request: Request) {
        let (interface, member, body) = request.call();
        let call = Call::new(&self.destination, path, interface, member, body);
        self.connection.send(tag, &call);
    }

    /// Whether another request may be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight() < MOST_IN_FLIGHT
    }

    /// Whether no request waits for its reply.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    fn in_flight(&self) -> usize {
        let control = usize::from(self.controlled);
        self.connection.in_flight().saturating_sub(control)
    }

    /// Drops the requests in flight, and returns their tags. Late replies are ignored.
    pub fn forget(&mut self) -> Vec<u64> {
        self.controlled = false;
        let mut tags = self.connection.forget_calls();
        tags.retain(|&tag| tag != CONTROL);
        tags
    }

    /// The next reply to any request in flight, until `end`. Some apps are alive but never answer
    /// some requests, as GTK 4.8 does not answer `GetOffsetAtPoint`. So if an app is silent for
    /// most of [`PATIENCE`], its root is requested.
    ///
    /// # Errors
    /// [`Error::Timeout`] if the app was silent for [`PATIENCE`]; [`Error::Io`] if the connection
    /// is lost.
    pub fn next_reply(&mut self, end: Instant) -> Result<Next> {
        let start = Instant::now();
        let (mut deadline, mut asked) = (start + SILENCE, false);
        loop {
            match self.connection.reply_until(deadline.min(end))? {
                Some((CONTROL, _)) => {
                    self.controlled = false;
                    if asked {
                        return Ok(Next::Unanswered(self.forget()));
                    }
                    // A late reply to a request to the root, which an earlier wait has sent.
                    if self.is_idle() {
                        return Ok(Next::Unanswered(Vec::new()));
                    }
                }
                Some((tag, reply)) => return Ok(Next::Reply(tag, reply)),
                None if deadline >= end => return Ok(Next::End),
                None if asked => {
                    self.forget();
                    return Err(Error::Timeout);
                }
                None => {
                    asked = true;
                    if !std::mem::replace(&mut self.controlled, true) {
                        self.send(CONTROL, ROOT, Request::Role);
                    }
                    deadline = start + PATIENCE;
                }
            }
        }
    }

    /// Sends one request and returns its reply, within [`PATIENCE`].
    pub fn ask(&mut self, path: &str, request: Request) -> Reply {
        let (interface, member, body) = request.call();
        self.call(path, interface, member, body)
    }

    /// Makes one call of any method, within [`PATIENCE`].
    pub fn call(&mut self, path: &str, interface: &str, member: &str, body: Body) -> Reply {
        self.call_within(PATIENCE, path, interface, member, body)
    }

    /// Makes one call of any method.
    pub(crate) fn call_within(
        &mut self,
        limit: Duration,
        path: &str,
        interface: &str,
        member: &str,
        body: Body,
    ) -> Reply {
        let call = Call::new(&self.destination, path, interface, member, body);
        let reply = self.connection.call(&call, limit);
        // GTK replies to an action before it carries it out, and may use the socket until then.
        if member == "DoAction" || matches!(reply, Err(Error::Timeout)) {
            self.set_aside();
        }
        reply
    }

    /// Replaces a private socket over which the app may still carry out a call. While a GTK 3 app
    /// runs a modal dialog in that call (`gtk_dialog_run`), it answers over other sockets only. If
    /// a message or the end of the connection arrives in this socket meanwhile, the app hangs for
    /// ever at the next key.
    fn set_aside(&mut self) {
        let Some((address, aside)) = &mut self.successor else {
            return;
        };
        if let Ok(new) = Connection::private(address, PRIVATE_CONNECT) {
            aside.truncate(MOST_ASIDE - 1);
            aside.push_front(std::mem::replace(self.connection, new));
        }
    }

    /// Sends requests to many objects at once. Returns the replies in order, `None` for a request
    /// that was refused or not answered. The `bool` is `false` if, at `end`, requests were still in
    /// flight or not sent.
    pub(crate) fn ask_each(
        &mut self,
        requests: impl IntoIterator<Item = (Arc<str>, Request)>,
        end: Instant,
    ) -> Result<(Vec<Option<Message>>, bool)> {
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
            match self.next_reply(end)? {
                Next::Reply(tag, reply) => {
                    if let Some(slot) = replies.get_mut(tag as usize) {
                        *slot = reply.ok();
                    }
                }
                Next::Unanswered(_) => {}
                Next::End => {
                    self.forget();
                    return Ok((replies, false));
                }
            }
        }
    }
}
