//! A D-Bus connection: one socket, any number of calls in flight.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};

use super::connect::{authenticate, connect};
use super::error::{Error, Result};
use super::wire::{Body, Reader, WireError, pad, put_string};
use crate::names::PROPERTIES;

/// The maximum length of a message, in bytes: half the specification's limit. Longer messages are
/// dropped.
const LONGEST: usize = 64 << 20;

/// The maximum length of a signal's body, and that of its header, in bytes. No toolkit sends longer
/// signals.
const LONGEST_SIGNAL: usize = 4 << 10;

/// The maximum number of bytes to read after a deadline. That is enough for all that arrived before
/// it, and ends if an app floods the socket.
const OVERTIME: usize = 4 << 20;

/// How many bytes to read at once.
const CHUNK: usize = 64 << 10;

/// The maximum number of queued signals. If the queue is full, the oldest signal is dropped.
pub(crate) const SIGNALS_KEPT: usize = 10_000;

#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Bus name. Empty on a private socket.
    pub destination: &'a str,
    pub path: &'a str,
    pub interface: &'a str,
    pub member: &'a str,
    pub body: Body,
}

impl<'a> Call<'a> {
    pub fn new(
        destination: &'a str,
        path: &'a str,
        interface: &'a str,
        member: &'a str,
        body: Body,
    ) -> Self {
        Self {
            destination,
            path,
            interface,
            member,
            body,
        }
    }

    /// A call to the bus itself.
    pub fn to_bus(member: &'a str, body: Body) -> Self {
        let bus = "org.freedesktop.DBus";
        Self::new(bus, "/org/freedesktop/DBus", bus, member, body)
    }

    /// Reads a property of an interface.
    pub fn get(destination: &'a str, path: &'a str, interface: &str, name: &str) -> Self {
        let body = Body::new().str(interface).str(name);
        Self::new(destination, path, PROPERTIES, "Get", body)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Message {
    kind: u8,
    reply_to: u32,
    /// The object path of a signal.
    pub path: String,
    /// The interface of a signal.
    pub interface: String,
    /// The member of a signal.
    pub member: String,
    /// Bus name of the sender.
    pub sender: String,
    pub signature: String,
    error: String,
    body: Vec<u8>,
    big_endian: bool,
}

impl Message {
    pub fn reader(&self) -> Reader<'_> {
        Reader::at(&self.body, 0, self.big_endian)
    }

    /// The length of the body, in bytes.
    pub fn size(&self) -> usize {
        self.body.len()
    }

    /// Whether the message is of a kind that can be a reply. Any peer may send a message of another
    /// kind that claims to answer a call.
    fn is_reply(&self) -> bool {
        matches!(self.kind, METHOD_RETURN | ERROR)
    }
}

/// The result of a call.
pub type Reply = Result<Message>;

const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;
const SIGNAL: u8 = 4;

/// A connection to a bus, or to one app over its private socket.
#[derive(Debug)]
pub struct Connection {
    socket: UnixStream,
    serial: u32,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    parsed: usize,
    /// How many bytes of a message that is too long are still to be received and dropped.
    dropped: usize,
    /// How many bytes have been read since the deadline has passed.
    overtime: usize,
    pending: HashMap<u32, u64>,
    /// The tags of calls that no bus would accept. They are refused here: a bus that got one would
    /// close the connection.
    unsendable: VecDeque<u64>,
    signals: VecDeque<Message>,
    /// Our unique name on the bus.
    pub(crate) name: String,
    /// The server's globally unique id. It changes with each start of the bus.
    pub guid: String,
}

impl Connection {
    /// Connects to a message bus and sends `Hello`. `timeout` bounds connecting and authentication
    /// together, and then the call of `Hello`.
    pub fn open(address: &str, timeout: Duration) -> Result<Self> {
        let mut connection = Self::private(address, timeout)?;
        let hello = Call::to_bus("Hello", Body::new());
        connection.name = connection.call(&hello, timeout)?.reader().str()?.to_owned();
        Ok(connection)
    }

    /// Connects to a peer that is not a bus: an app's private accessibility socket. `timeout`
    /// bounds connecting and authentication together.
    pub fn private(address: &str, timeout: Duration) -> Result<Self> {
        let deadline = Instant::now() + timeout;
        let mut socket = connect(address, timeout)?;
        let guid = authenticate(&mut socket, deadline)?;
        socket.set_nonblocking(true)?;
        Ok(Self::over(socket, guid))
    }

    fn over(socket: UnixStream, guid: String) -> Self {
        Self {
            socket,
            serial: 0,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            parsed: 0,
            dropped: 0,
            overtime: 0,
            pending: HashMap::new(),
            unsendable: VecDeque::new(),
            signals: VecDeque::new(),
            name: String::new(),
            guid,
        }
    }

    /// The number of calls in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.pending.len() + self.unsendable.len()
    }

    /// Abandons the calls in flight: their replies are dropped on arrival. Returns their tags.
    pub(crate) fn forget_calls(&mut self) -> Vec<u64> {
        let tags = self.pending.drain().map(|(_, tag)| tag);
        tags.chain(self.unsendable.drain(..)).collect()
    }

    /// Queues a call. [`Self::next_reply`] returns its reply with this tag.
    pub fn send(&mut self, tag: u64, call: &Call<'_>) {
        if !is_sendable(call) {
            return self.unsendable.push_back(tag);
        }
        self.serial = self.serial.checked_add(1).unwrap_or(1);
        self.pending.insert(self.serial, tag);
        write_call(&mut self.outgoing, self.serial, call);
    }

    /// Waits for the next reply to any call in flight.
    ///
    /// # Errors
    /// [`Error::Timeout`] at `deadline`. The calls in flight are then abandoned: their replies are
    /// dropped on arrival. [`Error::Io`] if the connection is lost.
    pub fn next_reply(&mut self, deadline: Instant) -> Result<(u64, Reply)> {
        self.reply_until(deadline)?.ok_or_else(|| {
            self.forget_calls();
            Error::Timeout
        })
    }

    /// Like [`Self::next_reply`], but at `deadline` it returns `None` and the calls stay in flight.
    ///
    /// # Errors
    /// [`Error::Io`] if the connection is lost.
    pub(crate) fn reply_until(&mut self, deadline: Instant) -> Result<Option<(u64, Reply)>> {
        if let Some(tag) = self.unsendable.pop_front() {
            return Ok(Some((tag, Err(unsendable()))));
        }
        loop {
            while let Some(message) = self.parse()? {
                if message.kind == SIGNAL {
                    self.keep_signal(message);
                } else if message.is_reply()
                    && let Some(tag) = self.pending.remove(&message.reply_to)
                {
                    return Ok(Some((tag, into_reply(message))));
                }
            }
            if !self.exchange(deadline)? {
                return Ok(None);
            }
        }
    }

    /// Makes one call and waits for its reply.
    pub fn call(&mut self, call: &Call<'_>, timeout: Duration) -> Reply {
        // The calls of a batch have their indices as tags, so none has this one.
        const ALONE: u64 = u64::MAX;
        self.send(ALONE, call);
        let deadline = Instant::now() + timeout;
        loop {
            if let (ALONE, reply) = self.next_reply(deadline)? {
                return reply;
            }
        }
    }

    /// Sends `calls` with at most `window` in flight, and passes each reply with its index to
    /// `each`.
    pub fn batch<'a>(
        &mut self,
        calls: impl IntoIterator<Item = Call<'a>>,
        window: usize,
        deadline: Instant,
        mut each: impl FnMut(usize, Reply),
    ) -> Result {
        let mut calls = calls.into_iter().enumerate();
        loop {
            while self.in_flight() < window {
                let Some((index, call)) = calls.next() else {
                    break;
                };
                self.send(index as u64, &call);
            }
            if self.in_flight() == 0 {
                return Ok(());
            }
            let (tag, reply) = self.next_reply(deadline)?;
            each(tag as usize, reply);
        }
    }

    /// Waits until a signal is queued, or until `deadline`. Returns whether a signal is queued.
    pub(crate) fn wait_for_signal(&mut self, deadline: Instant) -> Result<bool> {
        loop {
            while let Some(message) = self.parse()? {
                if message.kind == SIGNAL {
                    self.keep_signal(message);
                } else if message.is_reply() {
                    self.pending.remove(&message.reply_to);
                }
            }
            if !self.signals.is_empty() {
                return Ok(true);
            }
            if !self.exchange(deadline)? {
                return Ok(false);
            }
        }
    }

    /// Drops all messages until `deadline`. Returns whether there were method calls of other peers
    /// among them: only a connection that monitors the bus gets these.
    pub fn take_calls(&mut self, deadline: Instant) -> Result<bool> {
        let mut any = false;
        loop {
            while let Some(message) = self.parse()? {
                any |= message.kind == METHOD_CALL;
            }
            if !self.exchange(deadline)? {
                return Ok(any);
            }
        }
    }

    /// Waits for signals without a time limit, and takes them.
    pub fn signals(&mut self) -> Result<VecDeque<Message>> {
        let never = Instant::now() + Duration::from_secs(u32::MAX.into());
        self.wait_for_signal(never)?;
        Ok(self.take_signals())
    }

    pub(crate) fn take_signals(&mut self) -> VecDeque<Message> {
        std::mem::take(&mut self.signals)
    }

    fn keep_signal(&mut self, mut message: Message) {
        if self.signals.len() == SIGNALS_KEPT {
            self.signals.pop_front();
        }
        if message.body.len() > LONGEST_SIGNAL {
            message.body = Vec::new();
        }
        self.signals.push_back(message);
    }

    /// Waits until the socket is ready, then writes and reads as much as it is ready for. `false`
    /// if the socket was not ready by `deadline`.
    fn exchange(&mut self, deadline: Instant) -> Result<bool> {
        let mut flags = PollFlags::IN;
        if !self.outgoing.is_empty() {
            flags |= PollFlags::OUT;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            self.overtime = 0;
        } else if self.overtime >= OVERTIME {
            return Ok(false);
        }
        let mut fds = [PollFd::new(&self.socket, flags)];
        if !wait::any(&mut fds, Some(left))? {
            return Ok(false);
        }
        let ready = fds[0].revents();
        if ready.contains(PollFlags::OUT) {
            match self.socket.write(&self.outgoing) {
                Ok(n) => drop(self.outgoing.drain(..n)),
                Err(e) if retry(&e) => {}
                Err(e) => return Err(e.into()),
            }
        }
        if ready.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            self.receive()?;
        }
        Ok(true)
    }

    fn receive(&mut self) -> Result {
        self.incoming.drain(..self.parsed);
        self.parsed = 0;
        let had = self.incoming.len();
        if had < CHUNK {
            // Gives back the memory that a long message has taken.
            self.incoming.shrink_to(16 * CHUNK);
        }
        self.incoming.resize(had + CHUNK, 0);
        let read = self.socket.read(&mut self.incoming[had..]);
        self.incoming.truncate(had + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(n) => {
                self.overtime += n;
                Ok(())
            }
            Err(e) if retry(&e) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Parses the next complete message in the buffer. Drops messages that are too long.
    fn parse(&mut self) -> Result<Option<Message>> {
        loop {
            let skipped = self.dropped.min(self.incoming.len() - self.parsed);
            self.parsed += skipped;
            self.dropped -= skipped;
            let bytes = &self.incoming[self.parsed..];
            let Some(&[endian, kind, _, _]) = bytes.first_chunk::<4>() else {
                return Ok(None);
            };
            if bytes.len() < 16 {
                return Ok(None);
            }
            // The bus passes a message on in the byte order of its sender.
            let big_endian = match endian {
                b'l' => false,
                b'B' => true,
                _ => return Err(WireError.into()),
            };
            let mut head = Reader::at(bytes, 4, big_endian);
            let body_len = head.u32()? as usize;
            let _serial = head.u32()?;
            let fields_end = 16 + head.u32()? as usize;
            let body_start = fields_end.next_multiple_of(8);
            let end = body_start + body_len;
            let is_long_signal = kind == SIGNAL && fields_end > LONGEST_SIGNAL;
            if end > LONGEST || is_long_signal {
                self.dropped = end;
                continue;
            }
            if bytes.len() < end {
                return Ok(None);
            }
            let message = parse(&bytes[..end], (fields_end, body_start))?;
            self.parsed += end;
            return Ok(Some(message));
        }
    }
}

/// Parses a message, given where its header fields end and where its body begins.
fn parse(bytes: &[u8], (fields_end, body_start): (usize, usize)) -> Result<Message, WireError> {
    let big_endian = bytes.first() == Some(&b'B');
    let mut message = Message {
        kind: bytes.get(1).copied().unwrap_or_default(),
        big_endian,
        ..Message::default()
    };
    let mut fields = Reader::at(&bytes[..fields_end], 16, big_endian);
    while fields.position() < fields_end {
        fields.align(8)?;
        let code = fields.u8()?;
        match (fields.signature()?, code) {
            ("u", 5) => message.reply_to = fields.u32()?,
            ("u", _) => drop(fields.u32()?),
            ("g", 8) => message.signature = fields.signature()?.to_owned(),
            ("o", 1) => message.path = fields.str()?.to_owned(),
            ("s", 2) => message.interface = fields.str()?.to_owned(),
            ("s", 3) => message.member = fields.str()?.to_owned(),
            ("s", 4) => message.error = fields.str()?.to_owned(),
            ("s", 7) => message.sender = fields.str()?.to_owned(),
            ("s" | "o", _) => drop(fields.str()?),
            _ => return Err(WireError),
        }
    }
    message.body = bytes[body_start..].to_vec();
    Ok(message)
}

/// Whether a bus accepts this call. Names and paths come from apps, and may be invalid. D-Bus
/// specification, "Valid Names" and "Valid Object Paths".
fn is_sendable(call: &Call<'_>) -> bool {
    let word = |word: &str, more: u8| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == more;
        !word.is_empty() && word.bytes().all(fits)
    };
    let path = |path: &str| path.is_empty() || path.split('/').all(|part| word(part, b'_'));
    let name = |name: &str| {
        let (words, is_unique) = match name.strip_prefix(':') {
            Some(words) => (words, true),
            None => (name, false),
        };
        let digit = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        name.len() <= 255
            && words.contains('.')
            && words
                .split('.')
                .all(|part| word(part, b'-') && (is_unique || !digit(part)))
    };
    call.path.strip_prefix('/').is_some_and(path)
        && (call.destination.is_empty() || name(call.destination))
        && !call.body.has_nul
}

fn unsendable() -> Error {
    Error::Remote {
        name: "org.freedesktop.DBus.Error.InvalidArgs".into(),
        message: "a name, path or text in this call is not valid in D-Bus".into(),
    }
}

fn retry(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn into_reply(message: Message) -> Reply {
    if message.kind == ERROR {
        let text = message.reader().str().unwrap_or_default().to_owned();
        return Err(Error::Remote {
            name: message.error,
            message: text,
        });
    }
    Ok(message)
}

fn write_call(out: &mut Vec<u8>, serial: u32, call: &Call<'_>) {
    // Alignment counts from the start of the message, so the message gets a buffer of its own.
    let mut m = Vec::with_capacity(192 + call.body.bytes.len());
    m.extend([b'l', METHOD_CALL, 0, 1]);
    m.extend((call.body.bytes.len() as u32).to_le_bytes());
    m.extend(serial.to_le_bytes());
    m.extend([0; 4]);
    let mut field = |code: u8, kind: u8, value: &str| {
        if !value.is_empty() {
            pad(&mut m, 8);
            m.extend([code, 1, kind, 0]);
            put_string(&mut m, value);
        }
    };
    field(1, b'o', call.path);
    field(2, b's', call.interface);
    field(3, b's', call.member);
    field(6, b's', call.destination);
    if !call.body.signature.is_empty() {
        pad(&mut m, 8);
        m.extend([8, 1, b'g', 0, call.body.signature.len() as u8]);
        m.extend(call.body.signature.as_bytes());
        m.push(0);
    }
    let fields = (m.len() - 16) as u32;
    m[12..16].copy_from_slice(&fields.to_le_bytes());
    pad(&mut m, 8);
    m.extend(&call.body.bytes);
    out.extend(m);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    fn connection() -> Connection {
        Connection::over(UnixStream::pair().unwrap().0, String::new())
    }

    /// A message of this kind. A reply answers call 7.
    fn message(kind: u8, body: Body) -> Vec<u8> {
        let path = "/org/a11y/atspi/accessible/7";
        let interface = "org.a11y.atspi.Event.Object";
        let call = Call::new(":1.2345", path, interface, "StateChanged", body);
        let mut bytes = Vec::new();
        write_call(&mut bytes, 3, &call);
        bytes[1] = kind;
        // Makes the message a reply: the destination (field 6) is replaced by a reply serial (field
        // 5) and a field of an unknown code (200).
        let at = bytes.windows(3).position(|w| w == [6, 1, b's']).unwrap();
        if kind != SIGNAL {
            bytes[at..at + 8].copy_from_slice(&[5, 1, b'u', 0, 7, 0, 0, 0]);
            bytes[at + 8..at + 16].copy_from_slice(&[200, 1, b'u', 0, 9, 0, 0, 0]);
        }
        bytes
    }

    #[test]
    fn fuzz_any_bytes_are_messages_or_an_error() {
        let bodies = [
            Body::new().str("Send").i32(-3),
            Body::new().strs(&["org.a11y.atspi.Text", "b"]),
            Body::new().empty_dict().str("toolkit"),
            Body::new().variant_f64(1.5),
            Body::new().no_conditions(),
            Body::new().u32(8).u32(1 << 25).u32(0),
        ];
        let kinds = [METHOD_RETURN, ERROR, SIGNAL, METHOD_CALL];
        let corpus: Vec<Vec<u8>> = kinds
            .iter()
            .flat_map(|kind| bodies.iter().map(|body| message(*kind, body.clone())))
            .collect();
        let mut read = 0;
        deskline_fuzz::fuzz("D-Bus messages", &corpus, |input| {
            let mut connection = connection();
            connection.incoming = input.to_vec();
            while let Ok(Some(message)) = connection.parse() {
                read += 1;
                let _ = decode::states(&mut message.reader());
                let _ = decode::extents(&message);
                let _ = decode::object(&message);
                let _ = decode::object_property(&message);
                let _ = decode::objects(&message);
                let _ = decode::number_property(&message);
                let _ = message.reader().variant_f64();
                let _ = message
                    .reader()
                    .array(8, |r| Ok((r.str()?, r.variant_str()?)));
            }
        });
        assert!(read > corpus.len());
    }

    #[test]
    fn only_a_reply_answers_a_call() {
        let mut connection = connection();
        connection.pending.insert(7, 42);
        for kind in [METHOD_CALL, 0, 9, METHOD_RETURN] {
            connection
                .incoming
                .extend(message(kind, Body::new().str("x")));
        }
        let (tag, reply) = connection.next_reply(Instant::now()).unwrap();
        assert_eq!((tag, reply.unwrap().kind), (42, METHOD_RETURN));
    }
}
