//! Why serving over HTTP failed.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Serving over HTTP failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// No token could be made or read.
    #[error("the token {path}: {source}. Name another in DESKLINE_TOKEN", path = path.display())]
    Token { path: PathBuf, source: io::Error },
    /// Others can read the token.
    #[error("others can read the token {path}: chmod 600 it, or remove it for a new one", path = .0.display())]
    Exposed(PathBuf),
    /// The token is too short to be secret: the fewest characters.
    #[error("a token needs {0} characters or more: letters, digits, - and _")]
    Weak(usize),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    /// A desktop did not start.
    #[error("a desktop did not start: {0}")]
    Desktop(String),
}
