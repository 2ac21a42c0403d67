//! libei's client side: input through a socket from the compositor (KWin, Mutter). The protocol is
//! implemented by `reis`, in pure Rust.
//!
//! - `connection`: the socket, with a time limit on every wait.
//! - `device`: the devices that the compositor offers, and their state.
//! - `port`: [`Eis`], which sends single events of the pointer and the keyboard by these devices.

mod connection;
mod device;
mod port;

pub(crate) use connection::{Connection, Heard};
pub(crate) use port::Eis;
