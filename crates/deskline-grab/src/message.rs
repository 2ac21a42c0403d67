//! The messages between server and keeper: [`SIZE`] bytes each, on a socket that keeps messages
//! apart (`SOCK_SEQPACKET`).
//!
//! Orders are obeyed in sequence. [`Order::Look`], [`Order::Grab`], [`Order::Release`] and
//! [`Order::Pressed`] are answered, except a `Grab` that a `Release` or `Rest` overtakes.
//! [`Report::Escape`], [`Report::Limit`] and [`Report::Lost`] are unsolicited. No message contains
//! which key was pressed.

use std::io;
use std::mem::discriminant;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, socketpair};

/// The length of every message.
pub const SIZE: usize = 12;

type Bytes = [u8; SIZE];

/// From the server to the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Count the devices.
    Look,
    /// Grab the person's devices.
    Grab {
        /// The server's number of the link; unsolicited reports carry it too.
        link: u32,
        /// Whether to refuse the grab while the person holds a mouse button.
        pointer: bool,
        /// The devices are released after this long, in whole milliseconds.
        limit: Duration,
    },
    Release,
    /// Start recording whether the person presses anything.
    Watch,
    /// Ask whether the person has pressed anything.
    Pressed,
    /// Stop listening for Esc, stop watching the person, and close the devices.
    Rest,
}

/// From the keeper to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The answer to [`Order::Look`].
    Seen(Seen),
    /// The answer to [`Order::Grab`].
    Grabbed(Outcome),
    /// The answer to [`Order::Release`].
    Released,
    /// The answer to [`Order::Pressed`]. `None`: the person is not watched.
    Pressed(Option<bool>),
    /// The person has pressed Esc during this link.
    Escape(u32),
    /// The devices are released, because this link has held them for the limit.
    Limit(u32),
    /// The devices are released, because the caller's session is no longer the one at the seat.
    Lost(u32),
}

/// The devices in `/dev/input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// How many keyboards and pointers the keeper may read.
    pub readable: u16,
    /// How many devices of any kind it may not read.
    pub closed: u16,
    /// Whether it may grab them for this user now.
    pub allowed: bool,
}

impl Seen {
    /// Whether all of the person's devices can be grabbed.
    pub fn can_guard(&self) -> bool {
        self.allowed && self.readable > 0 && self.closed == 0
    }
}

/// The result of [`Order::Grab`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All devices are grabbed.
    Held,
    /// All devices are grabbed except those on which the person holds a key down.
    HeldBut,
    /// All devices are grabbed except this number, which this process may not read.
    Closed(u16),
    /// There is no device to grab.
    NoDevice,
    /// No device may be read.
    Unreadable,
    /// The person holds a key down on every device.
    KeyDown,
    /// The caller's session is not the one at the seat.
    NotAtSeat,
    /// Nothing is grabbed, as the person holds a mouse button down.
    ButtonDown,
    /// Nothing is grabbed, as the person has just pressed Esc.
    Escaped,
}

/// All outcomes. A message has the number of one, counted from 1.
#[rustfmt::skip]
const OUTCOMES: [Outcome; 9] = [
    Outcome::Held, Outcome::HeldBut, Outcome::Closed(0), Outcome::NoDevice, Outcome::Unreadable,
    Outcome::KeyDown, Outcome::NotAtSeat, Outcome::ButtonDown, Outcome::Escaped,
];

/// The fields of a message. Unused ones are 0.
#[derive(Default)]
struct Fields {
    kind: u8,
    flag: u8,
    count: u16,
    link: u32,
    millis: u32,
}

impl Fields {
    fn write(&self) -> Bytes {
        let mut bytes = Bytes::default();
        let parts = [self.kind, self.flag]
            .into_iter()
            .chain(self.count.to_le_bytes())
            .chain(self.link.to_le_bytes())
            .chain(self.millis.to_le_bytes());
        for (to, byte) in bytes.iter_mut().zip(parts) {
            *to = byte;
        }
        bytes
    }

    fn read(bytes: Bytes) -> Self {
        let [kind, flag, c0, c1, l0, l1, l2, l3, m0, m1, m2, m3] = bytes;
        Self {
            kind,
            flag,
            count: u16::from_le_bytes([c0, c1]),
            link: u32::from_le_bytes([l0, l1, l2, l3]),
            millis: u32::from_le_bytes([m0, m1, m2, m3]),
        }
    }
}

/// A message of either direction.
pub trait Message: Sized + Copy {
    fn bytes(self) -> Bytes;

    /// `None` if [`Self::bytes`] cannot have written these bytes.
    fn parse(bytes: Bytes) -> Option<Self>;
}

impl Message for Order {
    fn bytes(self) -> Bytes {
        let kind = |kind| Fields {
            kind,
            ..Fields::default()
        };
        let fields = match self {
            Self::Look => kind(1),
            Self::Grab {
                link,
                pointer,
                limit,
            } => Fields {
                kind: 2,
                flag: pointer.into(),
                link,
                millis: u32::try_from(limit.as_millis()).unwrap_or(u32::MAX),
                ..Fields::default()
            },
            Self::Release => kind(3),
            Self::Watch => kind(4),
            Self::Pressed => kind(5),
            Self::Rest => kind(6),
        };
        fields.write()
    }

    fn parse(bytes: Bytes) -> Option<Self> {
        let fields = Fields::read(bytes);
        let order = match fields.kind {
            1 => Self::Look,
            2 => Self::Grab {
                link: fields.link,
                pointer: fields.flag == 1,
                limit: Duration::from_millis(fields.millis.into()),
            },
            3 => Self::Release,
            4 => Self::Watch,
            5 => Self::Pressed,
            6 => Self::Rest,
            _ => return None,
        };
        (order.bytes() == bytes).then_some(order)
    }
}

impl Message for Report {
    fn bytes(self) -> Bytes {
        let flagged = |kind, flag| Fields {
            kind,
            flag,
            ..Fields::default()
        };
        let about = |kind, link| Fields {
            kind,
            link,
            ..Fields::default()
        };
        let fields = match self {
            Self::Seen(seen) => Fields {
                kind: 1,
                flag: seen.allowed.into(),
                count: seen.readable,
                link: seen.closed.into(),
                millis: 0,
            },
            Self::Grabbed(outcome) => {
                let is = |known: &Outcome| discriminant(known) == discriminant(&outcome);
                let number = OUTCOMES.iter().position(is).unwrap_or_default();
                let flag = u8::try_from(number + 1).unwrap_or_default();
                let count = match outcome {
                    Outcome::Closed(count) => count,
                    _ => 0,
                };
                Fields {
                    count,
                    ..flagged(2, flag)
                }
            }
            Self::Released => flagged(3, 0),
            Self::Pressed(pressed) => flagged(4, pressed.map_or(0, |yes| 1 + u8::from(yes))),
            Self::Escape(link) => about(5, link),
            Self::Limit(link) => about(6, link),
            Self::Lost(link) => about(7, link),
        };
        fields.write()
    }

    fn parse(bytes: Bytes) -> Option<Self> {
        let fields = Fields::read(bytes);
        let report = match fields.kind {
            1 => Self::Seen(Seen {
                readable: fields.count,
                closed: fields.link.try_into().ok()?,
                allowed: fields.flag == 1,
            }),
            2 => Self::Grabbed(
                match OUTCOMES.get(usize::from(fields.flag).checked_sub(1)?)? {
                    Outcome::Closed(_) => Outcome::Closed(fields.count),
                    outcome => *outcome,
                },
            ),
            3 => Self::Released,
            4 => Self::Pressed(match fields.flag {
                0 => None,
                flag => Some(flag == 2),
            }),
            5 => Self::Escape(fields.link),
            6 => Self::Limit(fields.link),
            7 => Self::Lost(fields.link),
            _ => return None,
        };
        (report.bytes() == bytes).then_some(report)
    }
}

/// A connected pair of sockets: the server's and the keeper's. Both are closed on exec.
///
/// # Errors
///
/// If the system has no descriptor left.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Sends a message. Does not wait: a peer that reads nothing for hundreds of messages is an error.
///
/// # Errors
///
/// If the peer has closed its end, or reads nothing.
pub fn send(socket: impl AsFd, message: impl Message) -> io::Result<()> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    loop {
        match rustix::net::send(&socket, &message.bytes(), flags) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Receives the next message. `None` if there is none and `wait` is false.
///
/// # Errors
///
/// [`io::ErrorKind::UnexpectedEof`] if the peer has gone, [`io::ErrorKind::InvalidData`] if it sent
/// an invalid message.
pub fn receive<M: Message>(socket: impl AsFd, wait: bool) -> io::Result<Option<M>> {
    let mut flags = RecvFlags::TRUNC;
    flags.set(RecvFlags::DONTWAIT, !wait);
    let mut bytes = Bytes::default();
    let length = loop {
        // TRUNC: the length of the whole message, even if it is longer than the buffer.
        match recv(&socket, &mut bytes, flags) {
            Ok((_, length)) => break length,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::CONNRESET) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => return Err(error.into()),
        }
    };
    match length {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        SIZE => M::parse(bytes)
            .map(Some)
            .ok_or_else(|| io::ErrorKind::InvalidData.into()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests;
