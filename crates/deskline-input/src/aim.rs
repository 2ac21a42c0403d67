//! The target of input, and the errors for input that would go elsewhere. A display checks at the
//! last moment before an event is sent.

use deskline_core::{Point, WindowId};

use crate::error::{InputError, Other, Progress};

/// The target of keys and clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aim {
    /// The process. Its window must have the keyboard, and lie where something is clicked.
    pub pid: u32,
    /// The window that must be clicked in, where that is known; an open menu of the process will do
    /// too.
    pub window: Option<WindowId>,
    /// Whether a menu of the process is active, so that a grab of keyboard or pointer is its own.
    pub menu: bool,
}

impl Aim {
    /// Fails if another window of the process than the target has the keyboard: it would get the
    /// rest of a text. `progress` says how far the input came, as a sentence without its full stop.
    ///
    /// # Errors
    /// [`InputError::OtherWindow`].
    pub fn check_window(
        &self,
        front: WindowId,
        title: &str,
        progress: impl Into<Progress>,
    ) -> Result<(), InputError> {
        if self.window.is_none_or(|window| window == front) {
            return Ok(());
        }
        Err(InputError::OtherWindow {
            title: title.to_owned(),
            progress: progress.into(),
        })
    }
}

/// The error where no window has the keyboard. `progress` as in [`Aim::check_window`].
pub fn no_keyboard<E: From<InputError>>(progress: impl Into<Progress>) -> E {
    E::from(InputError::NoKeyboard {
        progress: progress.into(),
    })
}

impl Other {
    /// The error where it has the keyboard. `progress` as in [`Aim::check_window`].
    pub fn has_keyboard<E: From<InputError>>(self, progress: impl Into<Progress>) -> E {
        E::from(InputError::Elsewhere {
            other: self,
            progress: progress.into(),
        })
    }

    /// The error where it lies at a place that was to be clicked.
    pub fn lies_over<E: From<InputError>>(self, at: Point) -> E {
        E::from(InputError::Covered { other: self, at })
    }

    /// The error where it lies at the end of a drag.
    pub fn lies_over_end<E: From<InputError>>(self, at: Point) -> E {
        E::from(InputError::EndCovered { other: self, at })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn another_window_of_the_process_gets_nothing() {
        let mut aim = Aim {
            pid: 7,
            window: Some(WindowId(1)),
            menu: false,
        };
        let check = |aim: Aim, front| aim.check_window(WindowId(front), "Find", "Typed 8 of 20");
        assert_eq!(check(aim, 1), Ok(()));
        let other = InputError::OtherWindow {
            title: "Find".into(),
            progress: "Typed 8 of 20".into(),
        };
        assert_eq!(check(aim, 2), Err(other));
        aim.window = None;
        assert_eq!(check(aim, 2), Ok(()));
    }
}
