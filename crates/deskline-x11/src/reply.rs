//! Errors of requests.

use deskline_contract::{Error, Result};
use x11rb::connection::RequestConnection;
use x11rb::cookie::Cookie;
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::x11_utils::TryParse;

/// Converts the result of a request into an [`Error`].
pub(crate) trait During<T>: Sized {
    /// A lost connection is [`Error::Unavailable`], anything else [`Error::System`].
    fn during(self, what: &'static str) -> Result<T>;

    /// Converts the result of a request whose answer nobody waits for.
    fn sent(self, what: &'static str) -> Result<()> {
        self.during(what).map(drop)
    }
}

impl<T, E: Into<ReplyOrIdError>> During<T> for Result<T, E> {
    fn during(self, what: &'static str) -> Result<T> {
        self.map_err(|error| match error.into() {
            ReplyOrIdError::ConnectionError(error) => Error::Unavailable(format!(
                "lost the X server while {what}: {error}. If the desktop session has ended, start \
                 it again. The next call reconnects"
            )),
            other => Error::system(what)(other),
        })
    }
}

/// For requests about windows of other clients, which may be gone meanwhile.
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

/// Sends a request and waits for its reply. For requests that cannot be sent together with others.
pub(crate) trait Answer<T> {
    fn answer(self, what: &'static str) -> Result<T>;

    /// `None` if the server answered with an error, as for windows that are gone.
    fn answer_if_present(self, what: &'static str) -> Result<Option<T>>;
}

impl<C: RequestConnection, T: TryParse> Answer<T> for Result<Cookie<'_, C, T>, ConnectionError> {
    fn answer(self, what: &'static str) -> Result<T> {
        self.during(what)?.reply().during(what)
    }

    fn answer_if_present(self, what: &'static str) -> Result<Option<T>> {
        self.during(what)?.reply().present(what)
    }
}
