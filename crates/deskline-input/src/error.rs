//! The reasons why input stopped. A crate above turns them into messages with the next step.

use std::fmt;

use deskline_core::{KeyPress, Point};

use crate::cancel::Cancelled;

/// A window other than the input's target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Its title. Hostile data.
    pub title: String,
    /// The pid of the process that owns it.
    pub pid: u32,
}

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
        progress: Progress,
    },
    /// Another window of the target's process has the keyboard.
    #[error("another window of the process has the keyboard. {progress}")]
    OtherWindow {
        /// Its title. Hostile data.
        title: String,
        /// How far the input came.
        progress: Progress,
    },
    /// No window has the keyboard.
    #[error("no window has the keyboard. {progress}")]
    NoKeyboard {
        /// How far the input came.
        progress: Progress,
    },
    /// It is unknown which window has the keyboard.
    #[error("{why}. {progress}")]
    Unclear {
        /// Why: a clause.
        why: String,
        /// How far the input came.
        progress: Progress,
    },
    /// A program has grabbed a device, and gets its events.
    #[error("{holder} has grabbed the {device}. {progress}")]
    Grabbed {
        /// The device.
        device: Device,
        /// The program, as a phrase for an error.
        holder: String,
        /// How far the input came.
        progress: Progress,
    },
    /// Another app's window lies where a button would be pressed.
    #[error("a window of pid {} covers ({}, {})", other.pid, at.x, at.y)]
    Covered {
        /// The window.
        other: Other,
        /// The place.
        at: Point,
    },
    /// The target's window has moved, so another element may be at the place. Nothing was sent.
    #[error("the window at ({}, {}) has moved", at.x, at.y)]
    Moved {
        /// The place.
        at: Point,
    },
    /// Another app's window lies where a drag would end.
    #[error("a window of pid {} covers the end of the drag", other.pid)]
    EndCovered {
        /// The window.
        other: Other,
        /// The place.
        at: Point,
    },
    /// A place is not on the screen.
    #[error("({}, {}) is not on the screen", at.x, at.y)]
    OffScreen {
        /// The place.
        at: Point,
        /// The width and height of the screen.
        screen: (i32, i32),
    },
    /// The pointer did not arrive where it was sent.
    #[error("the pointer was sent to ({}, {}) and is at ({}, {})", to.x, to.y, at.x, at.y)]
    Confined {
        /// Where it was sent.
        to: Point,
        /// Where it is.
        at: Point,
    },
    /// The app does not read its input.
    #[error("the app has not read its input. {progress}")]
    NotReading {
        /// How far the input came.
        progress: Progress,
    },
    /// The text has a character that no key gives, such as an escape.
    #[error("U+{:04X} cannot be typed", u32::from(*.0))]
    Untypeable(char),
    /// The keyboard cannot type some characters of the text. Nothing was typed.
    #[error("the keyboard lacks characters {at:?} of the text")]
    Lacks {
        /// The places of the characters in the text, from 1. The text may be a password.
        at: Vec<usize>,
        /// Why.
        why: Gap,
    },
    /// The keyboard has no such key.
    #[error("{press} cannot be pressed")]
    NoKey {
        /// The key and its modifiers.
        press: KeyPress,
        /// Why.
        why: Gap,
    },
    /// The keyboard has no key for this modifier.
    #[error("the keyboard has no {0} key")]
    NoModifier(&'static str),
}

/// A device that a program can grab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The keyboard.
    Keyboard,
    /// The pointer.
    Pointer,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyboard => "keyboard",
            Self::Pointer => "pointer",
        })
    }
}

/// Why a keyboard cannot type a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The layout has no key for it, and the display takes no others.
    Layout,
    /// The layout has no key for it, and no spare key code to bind it to.
    NoSpareKey,
    /// No keyboard has such a key.
    NoSuchKey,
    /// The app takes no character above U+FFFF from a key.
    AboveFfff,
}

/// How far input came before it stopped. `Display` gives a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// No event of the pointer was sent.
    NothingSent,
    /// Events of the pointer were sent, but not all.
    PartlySent,
    /// A key was not pressed.
    NotPressed,
    /// A key was pressed, and perhaps held for a while.
    Pressed,
    /// This many characters of a text were typed.
    Typed {
        /// The number of typed characters.
        typed: usize,
        /// The length of the text in characters.
        all: usize,
        /// How many of the last typed characters may have gone to another window.
        unsure: usize,
    },
    /// All characters of a text were typed.
    AllTyped {
        /// The length of the text in characters.
        all: usize,
        /// How many of the last typed characters may have gone to another window.
        unsure: usize,
    },
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingSent => f.write_str("Nothing was sent there"),
            Self::PartlySent => f.write_str("Some of the input was sent, the rest was not"),
            Self::NotPressed => f.write_str("The key was not pressed"),
            Self::Pressed => f.write_str("The key was pressed"),
            Self::Typed { typed: 0, .. } => f.write_str("Nothing was typed"),
            Self::Typed {
                typed,
                all,
                unsure: 0,
            } => write!(f, "The first {typed} of {all} characters were typed"),
            Self::Typed { typed, all, unsure } => write!(
                f,
                "The first {typed} of {all} characters were typed, {} into it, and the rest was not",
                perhaps(*unsure)
            ),
            Self::AllTyped { all, unsure: 0 } => write!(f, "All {all} characters were typed"),
            Self::AllTyped { all, unsure } => write!(
                f,
                "All {all} characters were typed, {} into it",
                perhaps(*unsure)
            ),
        }
    }
}

/// A clause about the last typed characters, which may have gone to another window.
fn perhaps(unsure: usize) -> String {
    match unsure {
        1 => "perhaps the last".to_owned(),
        _ => format!("perhaps some of the last {unsure}"),
    }
}
