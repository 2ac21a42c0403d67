//! Why serving over HTTP failed.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::profile::Profile;

/// Serving over HTTP failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No token could be made or read.
    #[error(
        "cannot read or make the token {path}: {source}. Pass a token in {variable}",
        path = path.display()
    )]
    Token {
        path: PathBuf,
        /// The environment variable that passes the token.
        variable: &'static str,
        source: io::Error,
    },
    /// Others can read the token.
    #[error(
        "others can read the token {}. Run chmod 600 on the file, or remove the file to get a new \
        token",
        .0.display()
    )]
    Exposed(PathBuf),
    /// The token is too short to be secret. The number is the minimum of characters.
    #[error("a token needs {0} characters or more: letters, digits, - and _")]
    Weak(usize),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    /// The number of a desktop's processes cannot be limited.
    #[error(
        "--processes needs a control group that this server may write to. Start it with \
         systemd-run --user --scope -p Delegate=yes, or omit --processes and have the service \
         manager or container limit the processes"
    )]
    NoGroups,
    /// A desktop did not start.
    #[error("a desktop did not start: {0}")]
    Desktop(String),
}

/// Why there is no desktop.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoDesktop {
    #[error("all {most} desktops are taken. Try again in {} s", again.as_secs().max(1))]
    Taken { most: usize, again: Duration },
    #[error(
        "your desktop and its apps have ended: the desktop crashed, or was not used for too long. \
        Nothing was done. The next call gets a new desktop"
    )]
    Ended,
    #[error(
        "another desktop uses the profile {0}. Try again when that desktop has ended, or use another profile"
    )]
    ProfileTaken(Profile),
    #[error(
        "your desktop was started with another profile, or without a profile. Use the address of \
        the first call, or connect with another handle"
    )]
    OtherProfile,
    #[error("{0}. Nothing was done. Try again. If it fails again, ask whoever runs the server")]
    Failed(HttpError),
}
