//! Why input stopped. Their words, with the next step for the agent, are written above.

use deskline_core::Point;

use crate::aim::Other;
use crate::cancel::Cancelled;

/// Why input stopped. In each, `progress` says how far it came, as a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The call was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Another app's window has the keyboard.
    #[error("a window of pid {} has the keyboard. {progress}", other.pid)]
    Elsewhere {
        /// The window.
        other: Other,
        /// How far the input came.
        progress: String,
    },
    /// Another window of the target's process has the keyboard.
    #[error("another window of the process has the keyboard. {progress}")]
    OtherWindow {
        /// Its title. Hostile data.
        title: String,
        /// How far the input came.
        progress: String,
    },
    /// No window has the keyboard.
    #[error("no window has the keyboard. {progress}")]
    NoKeyboard {
        /// How far the input came.
        progress: String,
    },
    /// Another app's window lies where a button would be pressed.
    #[error("a window of pid {} lies over ({}, {})", other.pid, at.x, at.y)]
    Covered {
        /// The window.
        other: Other,
        /// The place.
        at: Point,
    },
    /// Another app's window lies where a drag would end.
    #[error("a window of pid {} lies over the end of the drag", other.pid)]
    EndCovered {
        /// The window.
        other: Other,
        /// The place.
        at: Point,
    },
}
