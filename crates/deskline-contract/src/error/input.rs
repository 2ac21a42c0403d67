//! Turns errors of input into errors of a call.

use deskline_input::{Cancelled, InputError};

use super::Error;

impl From<Cancelled> for Error {
    fn from(Cancelled(reason): Cancelled) -> Self {
        Self::Cancelled(reason)
    }
}

impl From<InputError> for Error {
    fn from(e: InputError) -> Self {
        let why = e.to_string();
        // Another window over the place is noticed before anything is sent.
        let unsent = !matches!(e, InputError::Elsewhere { .. });
        match e {
            InputError::Cancelled(cancelled) => cancelled.into(),
            InputError::Elsewhere { other, .. }
            | InputError::Covered { other, .. }
            | InputError::EndCovered { other, .. } => Self::Elsewhere {
                title: other.title,
                pid: other.pid.unwrap_or_default(),
                why,
                unsent,
            },
            _ => Self::Input(why),
        }
    }
}
