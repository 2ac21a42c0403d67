//! Where input is meant to go, and the words for input that would go elsewhere. A backend checks at
//! the last moment before an event is sent; what it says then is the same on each.

use deskline_core::{Point, WindowId, escape};

use crate::error::{Error, Result};

/// What keys and clicks are for.
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
    /// An error if another window of the process than the one that is aimed at has the keyboard: it would
    /// get the rest of a text. `progress` says how far the input came, as a sentence without its full stop.
    ///
    /// # Errors
    /// [`Error::Input`].
    pub fn check_window(&self, front: WindowId, title: &str, progress: &str) -> Result<()> {
        if self.window.is_none_or(|window| window == front) {
            return Ok(());
        }
        Err(Error::Input(format!(
            "another window of the app, '{}', is in front now. {progress}. Call refresh_traversal to see it",
            escape::short(title, 40)
        )))
    }
}

/// The error where no window has the keyboard. `progress` as in [`Aim::check_window`].
pub fn no_keyboard(progress: &str) -> Error {
    Error::Input(format!(
        "no window has the keyboard: a panel, a launcher, a menu of the desktop or the lock screen may have it. {progress}"
    ))
}

/// Another window than the one that input is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Its title. Hostile data.
    pub title: String,
    /// Whose it is.
    pub pid: u32,
}

impl Other {
    fn elsewhere(self, why: String) -> Error {
        Error::Elsewhere {
            title: self.title,
            pid: self.pid,
            why,
        }
    }

    /// The error where it has the keyboard. `progress` says how far the input came, as a sentence
    /// without its full stop.
    pub fn has_keyboard(self, progress: &str) -> Error {
        self.elsewhere(format!(
            "is in front now, and input would not reach the target any more. {progress}"
        ))
    }

    /// The error where it lies at a place that was to be clicked.
    pub fn lies_over(self, at: Point) -> Error {
        let Point { x, y } = at;
        self.elsewhere(format!(
            "lies over ({x}, {y}), where this was to go. Nothing was sent there; press_ax_and_traverse works also where something lies over it"
        ))
    }

    /// The error where it lies at the end of a drag.
    pub fn lies_over_end(self, at: Point) -> Error {
        let Point { x, y } = at;
        self.elsewhere(format!(
            "lies over ({x}, {y}), where the drag was to end. Nothing was dragged. Move one of the two windows"
        ))
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
        aim.check_window(WindowId(1), "Notes", "").unwrap();
        let typed = "The first 8 of 20 characters were typed";
        let other = aim
            .check_window(WindowId(2), "Find\u{202e}", typed)
            .unwrap_err();
        let said = other.to_string();
        assert!(
            said.starts_with("another window of the app, 'Find"),
            "{said}"
        );
        assert!(said.contains(typed) && !said.contains('\u{202e}'), "{said}");
        aim.window = None;
        aim.check_window(WindowId(2), "Find", "").unwrap();
    }
}
