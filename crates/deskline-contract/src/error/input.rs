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
        // Where another window covers the place of a click, nothing has been sent. Where another
        // window has the keyboard, a part of the input may have been.
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
