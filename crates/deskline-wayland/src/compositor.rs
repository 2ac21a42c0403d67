//! What a display needs of a compositor: its windows, what lies over a place, and ways to raise, to
//! send and to take a picture. It checks nothing of where input goes:
//! [`WaylandDisplay`](crate::WaylandDisplay) does.

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_core::Point;
use deskline_input::{Part, Port};
use deskline_link::guard::Guards;
use deskline_link::{
    Aim, Cancel, DisplayError, Error, Missing, Offer, Other, Picture, Pointer, Result, Window,
    WindowId, WindowState,
};

/// A compositor, as a display uses it. All places are in logical pixels.
pub trait Compositor: Send {
    /// Whether it has an ability, or why not.
    fn offers(&self, ability: Ability) -> Offer<()>;

    /// A link begins. With `acts`, input may follow.
    fn begin_link(&mut self, _acts: bool) {}

    /// Keys and clicks are for this target from here on.
    fn set_aim(&mut self, _aim: Aim) {}

    /// The toplevels of all apps, the frontmost first.
    fn windows(&mut self) -> Result<Vec<Window>>;

    /// See [`Screen::window_states`](deskline_link::Screen::window_states).
    fn states(&mut self) -> Result<Vec<(WindowId, WindowState)>> {
        Ok(Vec::new())
    }

    /// The workspace that shows, counted from 1, if there are several.
    fn workspace(&mut self) -> Result<Option<u32>> {
        Ok(None)
    }

    /// Shows the workspace with this number, and waits until it does (bounded).
    fn show_workspace(&mut self, _workspace: u32, _cancel: &Cancel) -> Result<()> {
        Ok(())
    }

    /// Minimises a window again that [`Compositor::raise`] has brought up.
    fn minimise(&mut self, _window: WindowId) -> Result<()> {
        Ok(())
    }

    /// The window in front, as of now.
    fn front(&mut self) -> Result<Option<Window>>;

    /// The window that keys reach, once the compositor and the apps agree on it (bounded).
    fn keyboard(&mut self, aim: Option<Aim>) -> Result<Keyboard>;

    /// Whether a menu or another pop-up of the app is open.
    fn popup_open(&mut self, _pid: u32) -> Result<bool> {
        Ok(false)
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(None)
    }

    /// Brings a window to the front and waits until it is there (bounded).
    fn raise(&mut self, window: WindowId, cancel: &Cancel) -> Result<()>;

    /// What a click at this place would reach instead of the target.
    fn over(&mut self, _at: Point, _aim: Aim) -> Result<Option<Other>> {
        Ok(None)
    }

    /// Whether places count from the corner of the front window, and not of the screen.
    fn counts_from_window(&self) -> bool {
        false
    }

    /// Makes the pointer ready for these places. Where they count from the front window, that is
    /// the one of the last [`Compositor::keyboard`].
    ///
    /// # Errors
    ///
    /// [`Error::Display`] where it cannot go to one of them.
    fn locate(&mut self, aim: Option<Aim>, places: &[Point], cancel: &Cancel) -> Result<Located>;

    /// Makes the keyboard ready, before who has it is looked at.
    ///
    /// # Errors
    ///
    /// [`Error::Display`] where it does not reach the target.
    fn ready(&mut self) -> Result<()> {
        Ok(())
    }

    /// The devices. Places are `offset` from those that are sent.
    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>>;

    /// Lets the agent's events through the guard, where that keeps them out too.
    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    /// Closes the guard again.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    /// Puts the pointer at this place, which is `offset` from the one that is sent.
    fn put_pointer(&mut self, to: Point, offset: (f64, f64)) -> Result<()> {
        let opened = self.open();
        let moved = opened.and_then(|()| self.devices(offset)?.go(to));
        let closed = self.close();
        moved.and(closed)
    }

    /// Ends what lasts as long as a link sends.
    fn release(&mut self);

    /// The target's input is over. Keys that bring the person's window back may follow.
    fn end_input(&mut self) {
        self.release();
    }

    /// How long a text's parts are, between two looks at who has the keyboard.
    fn part(&self) -> Part {
        Part { least: 8, most: 8 }
    }

    /// Whether the keys of a part go in as fast as the compositor takes them, with the pause after
    /// them.
    fn types_at_once(&self) -> bool {
        false
    }

    /// Where the compositor listens, if it ends the connection of an app that leaves too many keys
    /// unread.
    fn ends_slow_readers(&self) -> Option<&Path> {
        None
    }

    fn pictures_are_quick(&self) -> bool {
        true
    }

    /// A picture of a window.
    fn capture(&mut self, window: WindowId) -> Result<Picture>;

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        Err(Missing::new(
            "the compositor keeps no input from apps without taking the agent's as well",
        ))
    }
}

/// An ability that a compositor, or a version of it, may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    Raise,
    Pointer,
    Keys,
    Pictures,
}

/// Devices that are lent.
pub type BoxedPort<'a> = Box<dyn Port<Error = Error, Key = u32> + 'a>;

/// Who has the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keyboard {
    /// A window.
    Window(Holder),
    /// No window.
    Nobody,
    /// It is not known: why, as a clause.
    Unclear(String),
}

/// The window with the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub id: WindowId,
    pub pid: u32,
    /// Hostile data.
    pub title: String,
    /// Whether it is a menu or another pop-up.
    pub popup: bool,
}

/// How far the places of [`Compositor::locate`] are from those that input is sent to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    pub offset: (f64, f64),
    /// Whether that took so long that another window may have come to the front meanwhile.
    pub late: bool,
}

impl Located {
    /// The middle of a pixel: with fractional scales its corner may be another one's.
    pub(crate) const MIDDLE: Self = Self {
        offset: (0.5, 0.5),
        late: false,
    };
}

/// The error where a window that was to be raised is not there any more.
pub(crate) fn gone() -> Error {
    DisplayError::Gone.into()
}

/// A point that is `offset` from this one.
pub(crate) fn plus(at: Point, (x, y): (f64, f64)) -> (f64, f64) {
    (f64::from(at.x) + x, f64::from(at.y) + y)
}

/// Waits until `front` returns this window: the compositor was asked to bring it there. Looks every
/// `often`, as no event reports it.
///
/// # Errors
///
/// [`Error::Display`] with `failure`, a clause, where that takes longer than `longest`.
pub(crate) fn await_front(
    window: WindowId,
    (failure, longest, often): (&'static str, Duration, Duration),
    cancel: &Cancel,
    mut front: impl FnMut() -> Result<Option<WindowId>>,
) -> Result<()> {
    let start = Instant::now();
    while front()? != Some(window) {
        if start.elapsed() >= longest {
            return Err(DisplayError::NotRaised(failure, longest).into());
        }
        cancel.wait(often)?;
    }
    Ok(())
}
