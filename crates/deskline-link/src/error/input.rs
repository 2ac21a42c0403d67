//! The words for input that stopped, and what to do next.

use deskline_core::{Point, escape};
use deskline_input::{Cancelled, InputError, Other};

use super::Error;

impl From<Cancelled> for Error {
    fn from(Cancelled(reason): Cancelled) -> Self {
        Self::Cancelled(reason)
    }
}

impl From<InputError> for Error {
    fn from(e: InputError) -> Self {
        match e {
            InputError::Cancelled(cancelled) => cancelled.into(),
            InputError::Elsewhere { other, progress } => elsewhere(
                other,
                format!(
                    "is in front now, and input would not reach the target any more. {progress}"
                ),
            ),
            InputError::OtherWindow { title, progress } => Self::Input(format!(
                "another window of the app, '{}', is in front now. {progress}. Call refresh_traversal to see it",
                escape::short(&title, 40)
            )),
            InputError::NoKeyboard { progress } => Self::Input(format!(
                "no window has the keyboard: a panel, a launcher, a menu of the desktop or the lock screen may have it. {progress}"
            )),
            InputError::Covered {
                other,
                at: Point { x, y },
            } => elsewhere(
                other,
                format!(
                    "lies over ({x}, {y}), where this was to go. Nothing was sent there; press_ax_and_traverse works also where something lies over it"
                ),
            ),
            InputError::EndCovered {
                other,
                at: Point { x, y },
            } => elsewhere(
                other,
                format!(
                    "lies over ({x}, {y}), where the drag was to end. Nothing was dragged. Move one of the two windows"
                ),
            ),
            e => Self::Input(e.to_string()),
        }
    }
}

fn elsewhere(Other { title, pid }: Other, why: String) -> Error {
    Error::Elsewhere { title, pid, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_title_of_another_window_is_escaped() {
        let progress = "The first 8 of 20 characters were typed".to_owned();
        let title = "Find\u{202e}".to_owned();
        let said = Error::from(InputError::OtherWindow { title, progress }).to_string();
        assert!(
            said.starts_with("another window of the app, 'Find"),
            "{said}"
        );
        assert!(
            said.contains("8 of 20") && !said.contains('\u{202e}'),
            "{said}"
        );
    }
}
