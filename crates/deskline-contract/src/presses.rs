//! What a person presses, for a recording.

use std::time::Duration;

use deskline_core::{ElementId, Modifiers};

use crate::{Cancel, Result};

/// A press, and the process whose window gets it, as far as that is known.
#[derive(Debug, Clone)]
pub struct Press {
    pub pid: Option<u32>,
    pub what: Pressed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// A button of the mouse, from 1, and the place of the pointer. Without a place, the next is
    /// [`Pressed::Named`]; of the left one with a place, a later one is [`Pressed::Up`].
    Button { number: u32, at: Option<(i32, i32)> },
    /// The left button went up; at this place if the pointer has moved so far that an app drags.
    Up { dropped: Option<(i32, i32)> },
    /// What the app's events named around the last button.
    Named(Named),
    /// A key by XKB's name, the character that it gives, and the modifiers that are held.
    Key(String, Option<char>, Modifiers),
}

/// The pointer's place, and the process whose window is there.
pub type There = (Option<(i32, i32)>, Option<u32>);

/// How far the pointer moves for a drag, in units of the screen: GTK drags from 9 on, Qt from 10.
const DRAGS: i32 = 9;

impl Pressed {
    /// The left button went up here, which had gone down there.
    pub fn up(up: (i32, i32), down: (i32, i32)) -> Self {
        let far = (up.0 - down.0).abs().max((up.1 - down.1).abs());
        let dropped = (far >= DRAGS).then_some(up);
        Self::Up { dropped }
    }

    /// A key that gives this symbol, by its name, while the modifiers of `state` are held.
    pub fn key(name: Option<&str>, char: Option<char>, state: u32) -> Self {
        let name = name.unwrap_or_default().trim_start_matches("XK_");
        let char = char.filter(|c| !c.is_control());
        Self::Key(name.to_owned(), char, Modifiers::of_state(state))
    }
}

/// The elements that apps' events named around a press of a button.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// As of [`Desktop::id`](crate::Desktop::id).
    pub desktop: String,
    /// The one that was selected or focused before.
    pub before: Vec<ElementId>,
    /// Those that got the focus or were pressed while the button was down.
    pub pressed: Vec<ElementId>,
    /// Those that got the focus in the moment after.
    pub late: Vec<ElementId>,
    /// Those that were checked, selected or opened, until then.
    pub on: Vec<ElementId>,
    /// Those that were unchecked, deselected or closed.
    pub off: Vec<ElementId>,
    /// Whether the mouse was moved meanwhile, as far as for a drag.
    pub dragged: bool,
}

/// Hears every press on a desktop.
pub trait Presses: Send {
    /// The next press, waited for at most this long.
    ///
    /// # Errors
    /// The connection is lost, or the wait is cancelled.
    fn next(&mut self, limit: Duration, cancel: &Cancel) -> Result<Option<Press>>;
}
