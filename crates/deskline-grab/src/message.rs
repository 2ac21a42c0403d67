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

/// A message as numbers: its kind, and three facts. Facts that the kind lacks are 0.
type Numbers = [u32; 4];

/// The length of every message.
pub const SIZE: usize = size_of::<Numbers>();

type Bytes = [u8; SIZE];

/// A message from the server to the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Count the devices.
    Look,
    /// Grab the person's devices.
    Grab {
        /// The number that the server gave to the link. Unsolicited reports repeat it.
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

/// A message from the keeper to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The answer to [`Order::Look`].
    Seen(Seen),
    /// The answer to [`Order::Grab`].
    Grabbed(Outcome),
    /// The answer to [`Order::Release`].
    Released,
    /// The answer to [`Order::Pressed`]. `None` if the person is not watched.
    Pressed(Option<bool>),
    /// The person has pressed Esc during the link with this number.
    Escape(u32),
    /// The devices are released, because the link with this number has held them for the limit.
    Limit(u32),
    /// The devices of the link with this number are released, because the caller's session is no
    /// longer the one at the seat.
    Lost(u32),
}

/// The devices in `/dev/input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// How many keyboards and pointers the keeper may read.
    pub readable: u16,
    /// How many devices of any kind the keeper may not read.
    pub closed: u16,
    /// Whether the keeper may grab devices for this user now.
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
    /// All devices are grabbed except this many, which this process may not read.
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

/// All outcomes. A message contains an outcome as its index in this array.
#[rustfmt::skip]
const OUTCOMES: [Outcome; 9] = [
    Outcome::Held, Outcome::HeldBut, Outcome::Closed(0), Outcome::NoDevice, Outcome::Unreadable,
    Outcome::KeyDown, Outcome::NotAtSeat, Outcome::ButtonDown, Outcome::Escaped,
];

/// An [`Order`] or a [`Report`].
pub trait Message: Sized + Copy {
    fn numbers(self) -> Numbers;

    /// The message with these numbers; `None` if they are invalid. Ignores facts that the kind
    /// lacks.
    fn of(numbers: Numbers) -> Option<Self>;

    fn bytes(self) -> Bytes {
        let numbers = self.numbers().map(u32::to_le_bytes);
        numbers.as_flattened().try_into().unwrap_or_default()
    }

    /// `None` unless these are exactly the bytes of a message.
    fn parse(bytes: Bytes) -> Option<Self> {
        let mut numbers = Numbers::default();
        for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
            *number = u32::from_le_bytes(*bytes);
        }
        Self::of(numbers).filter(|message| message.bytes() == bytes)
    }
}

impl Message for Order {
    fn numbers(self) -> Numbers {
        match self {
            Self::Look => [1, 0, 0, 0],
            Self::Grab {
                link,
                pointer,
                limit,
            } => {
                let limit = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
                [2, link, pointer.into(), limit]
            }
            Self::Release => [3, 0, 0, 0],
            Self::Watch => [4, 0, 0, 0],
            Self::Pressed => [5, 0, 0, 0],
            Self::Rest => [6, 0, 0, 0],
        }
    }

    fn of([kind, link, pointer, limit]: Numbers) -> Option<Self> {
        let (pointer, limit) = (pointer == 1, Duration::from_millis(limit.into()));
        Some(match kind {
            1 => Self::Look,
            2 => Self::Grab {
                link,
                pointer,
                limit,
            },
            3 => Self::Release,
            4 => Self::Watch,
            5 => Self::Pressed,
            6 => Self::Rest,
            _ => return None,
        })
    }
}

impl Message for Report {
    fn numbers(self) -> Numbers {
        match self {
            Self::Seen(seen) => [
                1,
                seen.readable.into(),
                seen.closed.into(),
                seen.allowed.into(),
            ],
            Self::Grabbed(outcome) => {
                let is = |known: &Outcome| discriminant(known) == discriminant(&outcome);
                let number = OUTCOMES.iter().position(is).unwrap_or_default() as u32;
                match outcome {
                    Outcome::Closed(count) => [2, number, count.into(), 0],
                    _ => [2, number, 0, 0],
                }
            }
            Self::Released => [3, 0, 0, 0],
            Self::Pressed(pressed) => [4, pressed.map_or(0, |yes| 1 + u32::from(yes)), 0, 0],
            Self::Escape(link) => [5, link, 0, 0],
            Self::Limit(link) => [6, link, 0, 0],
            Self::Lost(link) => [7, link, 0, 0],
        }
    }

    fn of([kind, fact, count, allowed]: Numbers) -> Option<Self> {
        Some(match kind {
            1 => Self::Seen(Seen {
                readable: fact.try_into().ok()?,
                closed: count.try_into().ok()?,
                allowed: allowed == 1,
            }),
            2 => Self::Grabbed(match OUTCOMES.get(fact as usize)? {
                Outcome::Closed(_) => Outcome::Closed(count.try_into().ok()?),
                outcome => *outcome,
            }),
            3 => Self::Released,
            4 => Self::Pressed(fact.checked_sub(1).map(|yes| yes == 1)),
            5 => Self::Escape(fact),
            6 => Self::Limit(fact),
            7 => Self::Lost(fact),
            _ => return None,
        })
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

/// Sends a message without waiting. Fails if the peer has left hundreds of messages unread.
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

/// Receives the next message. Without `wait`, returns `None` if no message has arrived.
///
/// # Errors
///
/// [`io::ErrorKind::UnexpectedEof`] if the peer has gone, [`io::ErrorKind::InvalidData`] if the
/// peer sent an invalid message.
pub fn receive<M: Message>(socket: impl AsFd, wait: bool) -> io::Result<Option<M>> {
    let mut flags = RecvFlags::TRUNC;
    flags.set(RecvFlags::DONTWAIT, !wait);
    let mut bytes = Bytes::default();
    let length = loop {
        // TRUNC: `length` is that of the whole message, even if the message is longer than the
        // buffer.
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
