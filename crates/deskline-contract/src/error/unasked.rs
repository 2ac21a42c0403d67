//! Why the person has not allowed something, and the next step.

use std::fmt;

/// Why no answer of the person allows the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unasked {
    /// They are asked only before a call begins, and the question came up in the middle of one.
    Yet,
    /// They were asked, and did not allow it.
    Declined,
    /// They cannot be asked: the reason as a clause, and the key of the app's grant, if one can be
    /// kept.
    Unable(String, Option<String>),
    /// Their answer could not be kept.
    NotKept(String),
}

impl fmt::Display for Unasked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yet => f.write_str(
                "They are asked before a call and not within one: do this in a call of its own, with \
                 the app's pid from list_applications",
            ),
            Self::Declined => f.write_str(
                "They were asked just now. Do not ask again unless they want you to, and do not \
                 look for a way around",
            ),
            Self::Unable(why, key) => {
                write!(f, "They cannot be asked, as {why}. Nothing was touched")?;
                let Some(key) = key else { return Ok(()) };
                write!(f, ". Ask them to run: deskline grants allow '{key}'")
            }
            Self::NotKept(why) => write!(f, "Their answer could not be kept: {why}"),
        }
    }
}
