//! A blocking D-Bus client that keeps any number of calls in flight on one socket.
//!
//! Reading an app's tree takes thousands of tiny calls to one peer. The cost is in the round trips
//! and in our own work per message, which is why this is not `zbus`. Measured with `zbus` and
//! `join_all` against this client: `gtk4-widget-factory` (906 nodes, 5 calls each) 518 ms and 335
//! ms; `gtk3-widget-factory` over its private socket, to which `zbus` cannot pipeline as tightly,
//! 73 ms and 36 ms.
//!
//! It has only what a client needs: little-endian messages, no file descriptors, EXTERNAL
//! authentication. Wire format: D-Bus specification, "Type system" and "Message protocol".

mod connect;
mod connection;
mod error;
mod wire;

pub(crate) use connection::SIGNALS_KEPT;
pub use connection::{Call, Connection, Message, Reply};
pub use error::{Error, Result};
pub use wire::{Body, Reader, WireError};
