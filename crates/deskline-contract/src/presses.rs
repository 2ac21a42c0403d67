//! What a person presses, for a recording.

use std::time::Duration;

use deskline_core::{ElementId, Modifiers, Point};

use crate::{Cancel, Result};

/// A press, and the process whose window gets it, as far as that is known.
#[derive(Debug, Clone)]
pub struct Press {
    pub pid: Option<u32>,
    pub what: Pressed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// A mouse button, counted from 1, went down, with the pointer at this place. If the place is
    /// unknown, the next press is a [`Pressed::Named`]. If the place is known and the button is the
    /// left one, a [`Pressed::Up`] follows later.
    Button { number: u32, at: Option<Point> },
    /// The left button went up. `dropped` is the place, if the pointer moved far enough for a drag.
    Up { dropped: Option<Point> },
    /// The elements that apps' events named around the last press of a button.
    Named(Named),
    /// A key by XKB's name, the character that it gives, and the modifiers that are held.
    Key(String, Option<char>, Modifiers),
}

/// How far the pointer must move for a drag, in screen units. GTK starts a drag at 9, Qt at 10.
const DRAGS: i32 = 9;

impl Pressed {
    /// The left button went down at `down` and up at `up`.
    pub fn up(up: Point, down: Point) -> Self {
        let far = (up.x - down.x).abs().max((up.y - down.y).abs());
        let dropped = (far >= DRAGS).then_some(up);
        Self::Up { dropped }
    }

    /// A key, by the name of its symbol and its character, while the modifiers of `state` are held.
    pub fn key(name: Option<&str>, char: Option<char>, state: u32) -> Self {
        let name = name.unwrap_or_default().trim_start_matches("XK_");
        let char = char.filter(|c| !c.is_control());
        Self::Key(name.to_owned(), char, Modifiers::of_state(state))
    }
}

/// The elements that apps' events named around a press of a button.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The id of the elements' desktop, as [`Desktop::id`](crate::Desktop::id) gives it.
    pub desktop: String,
    /// The element that was selected or focused before the press, if there was one.
    pub before: Vec<ElementId>,
    /// The elements that got the focus or were pressed while the button was down. If there are
    /// none, those that were pressed in the moment after.
    pub pressed: Vec<ElementId>,
    /// The elements that got the focus in the moment after the button went up.
    pub late: Vec<ElementId>,
    /// The elements that were checked, selected or opened while the button was down or just after.
    pub on: Vec<ElementId>,
    /// The elements that were unchecked, deselected or closed in the same time.
    pub off: Vec<ElementId>,
    /// Whether the mouse moved far enough for a drag while the button was down.
    pub dragged: bool,
}

/// Hears every press on a desktop.
pub trait Presses: Send {
    /// Waits for the next press, for at most `limit`. `None` if there is none.
    ///
    /// # Errors
    /// The connection is lost, or the wait is cancelled.
    fn next(&mut self, limit: Duration, cancel: &Cancel) -> Result<Option<Press>>;
}
