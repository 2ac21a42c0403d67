//! libei's client side: input through a socket that the compositor hands out (KWin, Mutter, the
//! portals). The protocol is `reis`'s, in pure Rust.
//!
//! - `connection`: the socket, with a time limit on every wait.
//! - `device`: the devices that the compositor offers, and what has been said about each.
//! - `layout`: which keys type a character, by the compositor's own keymap.
//! - `sender`: [`Sender`], the pointer and the keyboard over them.

mod connection;
mod device;
mod layout;
mod sender;

pub(crate) use connection::{Connection, Heard};
pub(crate) use sender::Sender;
