//! Where input is meant to go, and the words for input that would go elsewhere. A backend checks at
//! the last moment before an event is sent; what it says then is the same on each.

use deskline_core::{Point, WindowId};

use crate::error::Error;

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
