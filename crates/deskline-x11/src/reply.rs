//! Errors of requests.

use deskline_link::{Error, Result};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};

/// Converts the result of a request into an [`Error`].
pub(crate) trait During<T> {
    /// A lost connection is [`Error::Unavailable`], anything else [`Error::System`].
    fn during(self, what: &'static str) -> Result<T>;
}

fn lost(what: &'static str, error: &ConnectionError) -> Error {
    Error::Unavailable(format!(
        "lost the X server while {what}: {error}. If the desktop session has ended, start it again; the next call reconnects"
    ))
}

impl<T> During<T> for Result<T, ConnectionError> {
    fn during(self, what: &'static str) -> Result<T> {
        self.map_err(|error| lost(what, &error))
    }
}

impl<T> During<T> for Result<T, ReplyError> {
    fn during(self, what: &'static str) -> Result<T> {
        self.map_err(|error| match error {
            ReplyError::ConnectionError(error) => lost(what, &error),
            ReplyError::X11Error(_) => Error::system(what)(error),
        })
    }
}

impl<T> During<T> for Result<T, ReplyOrIdError> {
    fn during(self, what: &'static str) -> Result<T> {
        self.map_err(|error| match error {
            ReplyOrIdError::ConnectionError(error) => lost(what, &error),
            other => Error::system(what)(other),
        })
    }
}

/// For requests about windows of other clients, which may be gone by then.
pub(crate) trait Present<T> {
    /// `None` if the server answered with an error.
    fn present(self, what: &'static str) -> Result<Option<T>>;
}

impl<T> Present<T> for Result<T, ReplyError> {
    fn present(self, what: &'static str) -> Result<Option<T>> {
        match self {
            Err(ReplyError::X11Error(_)) => Ok(None),
            other => other.during(what).map(Some),
        }
    }
}
