//! The errors of a connection.

use std::io;

use deskline_core::escape;

use super::wire::WireError;

/// What a call returns.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// An error of a bus connection.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No reply in time.
    #[error("no reply within the time limit")]
    Timeout,
    /// The socket failed, or the peer closed it.
    #[error("the D-Bus connection failed: {0}")]
    Io(#[from] io::Error),
    /// The peer answered with an error.
    #[error("{} {}", escape::name(name, 80), escape::quoted(message, 160))]
    Remote {
        /// The D-Bus error name. It is hostile data, as is `message`.
        name: String,
        /// The error's text.
        message: String,
    },
    /// The peer sent bytes that are not D-Bus.
    #[error(transparent)]
    Malformed(#[from] WireError),
    /// The address cannot be used.
    #[error("cannot use the D-Bus address {0:?}")]
    Address(String),
}
