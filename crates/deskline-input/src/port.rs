//! The traits of a display: single events, and facts about where they go.

use std::fmt;
use std::ops::DerefMut;
use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point, Window};

use crate::cancel::{Cancel, Cancelled};
use crate::clicks::Button;
use crate::error::{Gap, InputError};
use crate::pressed::Hands;

/// The pointer and the keyboard of a display. Each method is one bounded step.
pub trait Port {
    /// Why an event was not sent.
    type Error: From<InputError> + From<Cancelled> + fmt::Display;

    /// How an event names a key: by a key code or, on systems whose events carry text, also by a
    /// text.
    type Key: Clone + PartialEq + fmt::Debug;

    /// Moves the pointer, with or without a button down, and waits until it has arrived.
    fn go(&mut self, to: Point) -> Result<(), Self::Error>;

    /// Presses or releases a button where the pointer is. `nth` is 2 in the second click of a
    /// double click, else 1.
    fn button(&mut self, button: Button, down: bool, nth: u8) -> Result<(), Self::Error>;

    /// Presses or releases a key.
    fn key(&mut self, key: &Self::Key, down: bool) -> Result<(), Self::Error>;

    /// Turns the wheel where the pointer is, by at most [`Rhythm::notches`] lines to the right or
    /// down; negative is left and up. One of the two arguments is 0.
    fn wheel(&mut self, right: i32, down: i32) -> Result<(), Self::Error>;

    /// Waits until the display has taken all events so far.
    fn sync(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Called before a text is typed: reads the keyboard's layout. Returns the characters that no
    /// stroke gives, by their positions in the text, and why.
    fn lacks(&mut self, _text: &[char]) -> Result<Option<(Vec<usize>, Gap)>, Self::Error> {
        Ok(None)
    }

    /// The stroke that types the start of this text, and how many characters it types. A keyboard
    /// that lacks a character may bind it to a spare key first. `None` if no stroke types the
    /// start.
    #[allow(clippy::type_complexity)]
    fn stroke(
        &mut self,
        text: &[char],
        cancel: &Cancel,
    ) -> Result<Option<(Stroke<Self::Key>, usize)>, Self::Error>;

    /// The stroke that presses this key with its modifiers.
    ///
    /// # Errors
    /// [`InputError::NoKey`] and [`InputError::NoModifier`].
    fn press(&mut self, press: KeyPress, cancel: &Cancel)
    -> Result<Stroke<Self::Key>, Self::Error>;

    /// The keys that hold these modifiers, in the order in which to press them.
    ///
    /// # Errors
    /// [`InputError::NoModifier`].
    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<Self::Key>, Self::Error>;
}

/// A key, pressed and released while others are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stroke<K> {
    /// The key.
    pub key: K,
    /// The keys that are held, in the order in which to press them.
    pub held: Vec<K>,
}

/// What an action on a scene returns.
pub(crate) type Done<S, T = ()> = Result<T, <S as Scene>::Error>;

/// Where input goes. The target is the aim of its [`Hands`].
pub trait Scene {
    /// Why a step failed.
    type Error: From<InputError> + From<Cancelled> + fmt::Display;

    /// A key in an event.
    type Key: Clone + PartialEq + fmt::Debug;

    /// The devices, borrowed or boxed.
    type Port<'p>: DerefMut<Target: Port<Error = Self::Error, Key = Self::Key>>
    where
        Self: 'p;

    /// The devices. They may be created at the first use.
    fn port(&mut self) -> Result<Self::Port<'_>, Self::Error>;

    /// The pressed keys and buttons, and the target.
    fn hands(&mut self) -> &mut Hands<Self::Key>;

    /// The speed at which apps take input here. Asked once for each action.
    fn rhythm(&self) -> Rhythm;

    /// An action begins. [`Scene::end`] follows, also where a step fails.
    fn begin(&mut self, doing: Doing) -> Result<(), Self::Error>;

    /// The action has ended, and everything is released: restores what [`Scene::begin`] and the
    /// action have changed, such as locks.
    fn end(&mut self) -> Result<(), Self::Error>;

    /// Opens a guard that would block the agent's events too. [`Scene::close`] follows.
    fn open(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Closes the guard again that [`Scene::open`] has opened.
    fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Which window gets keys now. Waits (bounded) while the focus moves from one window to
    /// another.
    fn keyboard(&mut self, cancel: &Cancel) -> Result<Receiver, Self::Error>;

    /// The receiver of the pointer's events at a place, and at the end of a drag from there. Also
    /// finds the screen positions of these places, if points are relative to something else.
    fn under(
        &mut self,
        at: Point,
        end: Option<Point>,
        cancel: &Cancel,
    ) -> Result<Under, Self::Error>;

    /// Whether the window that [`Scene::under`] found is still there: the app may have ended while
    /// the pointer went there. Displays whose events name their window keep the default.
    ///
    /// # Errors
    /// [`InputError::Moved`] if the window has moved.
    fn is_as_found(&mut self, _at: Point) -> Result<bool, Self::Error> {
        Ok(true)
    }

    /// The program, other than the target, that has grabbed the keyboard, as a phrase for an error.
    /// `None` if there is none, or if programs cannot grab it.
    fn grabber(&mut self, _cancel: &Cancel) -> Result<Option<String>, Self::Error> {
        Ok(None)
    }

    /// Waits (bounded) until the app has read its input. `false` if it is known that the app has
    /// not read it in time.
    fn await_reader(&mut self, wait: Wait, cancel: &Cancel) -> Result<bool, Self::Error>;
}

/// An action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// The pointer moves, clicks or turns the wheel, with these modifiers.
    Point(Modifiers),
    /// A button stays down for a while, with these modifiers.
    Drag(Modifiers),
    /// A text is typed.
    Text,
    /// A key is pressed.
    Key(KeyPress),
}

/// The window that gets keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receiver {
    /// The target's window, or any window if there is no target.
    Target,
    /// Another app's window.
    Other(Window),
    /// Another window of the target's process, with this title.
    OtherWindow(String),
    /// A program that has grabbed the keyboard, named by a phrase.
    Grab(String),
    /// No window.
    Nobody,
    /// The window is unknown. The text is the reason, as a clause.
    Unclear(String),
}

/// The receiver of the pointer's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Under {
    /// The target, or anything if there is no target.
    Target,
    /// Another app's window.
    Other(Window),
    /// Another app's window, at the end of the drag.
    EndOther(Window),
    /// A program that has grabbed the pointer, named by a phrase.
    Grab(String),
}

/// The input that an app must have read before more is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The turns of the wheel so far, if they are many.
    Wheel,
    /// The keys so far, if they are many.
    Part,
    /// All keys so far. The app must also have acted on them, because the last one was Return or
    /// Tab.
    Effect,
    /// All keys so far. Keys that were bound to other characters get their former meaning back
    /// after this wait.
    All,
    /// The motion of a drag, which the app that is dragged from must have read.
    Motion,
    /// The motion to the end of a drag, which the app that is dragged from and the app at this
    /// point must have read.
    Drop(Point),
}

/// The speed of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// The length of a text's parts.
    pub part: Part,
    /// The speed of a text's keys.
    pub keys: Tempo,
    /// The time between modifiers and their key, and how long a key is down.
    pub chord: Duration,
    /// The time for which a button is down.
    pub dwell: Duration,
    /// The time between the two clicks of a double click.
    pub between: Duration,
    /// The most lines by which one event turns the wheel.
    pub notches: i32,
    /// The speed of a drag.
    pub drag: Pace,
    /// Whether a button's event carries the number of the click. Otherwise apps count clicks by
    /// time and distance, and a click waits until it would no longer count as the second click of a
    /// double click.
    pub counted: bool,
}

/// The speed of a drag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The number of motions.
    pub steps: u8,
    /// The time after each motion.
    pub pause: Duration,
    /// The time after the press and before the release.
    pub dwell: Duration,
}

/// The length of a text's parts. Before each part, the receiver of keys is checked. A part also
/// ends after Return and Tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From this many characters on, the part ends at the next white space.
    pub least: usize,
    /// The most characters of a part.
    pub most: usize,
}

impl Part {
    /// The length of the first part of a text.
    pub(crate) fn length_in(self, text: &[char]) -> usize {
        let ends = |(i, char): (usize, &char)| {
            let length = i + 1;
            length >= self.most || char.is_control() || length >= self.least && char.is_whitespace()
        };
        let end = text.iter().enumerate().position(ends);
        end.map_or(text.len(), |end| end + 1)
    }
}

/// The speed of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tempo {
    /// Waits after each key until the display has taken it, and then for this time.
    Each(Duration),
    /// Sends all keys of a part without a pause, and then pauses for this long for each sent key.
    Burst(Duration),
}
