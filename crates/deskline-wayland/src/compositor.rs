//! What a display needs of a compositor: its windows, what lies over a place, and ways to raise, to
//! send and to take a picture. It checks nothing of where input goes:
//! [`WaylandDisplay`](crate::WaylandDisplay) does.

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_core::Point;
use deskline_input::{Part, Port};
use deskline_link::guard::Guards;
use deskline_link::{
    Aim, Cancel, DisplayError, Error, Missing, Offer, Other, Pictures, Pointer, Raising, Result,
    Window, WindowId, Workspaces,
};

/// A compositor, as a display uses it. All places are in logical pixels. No method has a default:
/// what a compositor may lack is a trait of its own, which it offers or does not.
pub trait Compositor: Raising + Send {
    /// Whether it takes this input, or why not.
    fn takes(&self, input: Input) -> Offer<()>;

    /// How it takes input.
    fn manner(&self) -> Manner<'_>;

    /// A link begins. With `acts`, input may follow.
    fn begin_link(&mut self, acts: bool);

    /// Keys and clicks are for this target from here on.
    fn set_aim(&mut self, aim: Aim);

    /// The toplevels of all apps, the frontmost first.
    fn windows(&mut self) -> Result<Vec<Window>>;

    /// The window in front, as of now.
    fn front(&mut self) -> Result<Option<Window>>;

    /// The window that keys reach, once the compositor and the apps agree on it (bounded).
    fn keyboard(&mut self, aim: Option<Aim>) -> Result<Keyboard>;

    /// `None` where it does not report the pointer.
    fn pointer(&mut self) -> Result<Option<Pointer>>;

    /// What a click at this place would reach instead of the target, as far as it reports that.
    fn over(&mut self, at: Point, aim: Aim) -> Result<Option<Other>>;

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
    fn ready(&mut self) -> Result<()>;

    /// The devices. Places are `offset` from those that are sent.
    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>>;

    /// Ends what lasts as long as a link sends.
    fn release(&mut self);

    /// The target's input is over. Keys that bring the person's window back may follow.
    fn end_input(&mut self);

    /// Without it all windows are on one workspace, and none is minimised.
    fn workspaces(&mut self) -> Option<&mut dyn Workspaces>;

    fn pictures(&mut self) -> Offer<&mut dyn Pictures>;

    fn guard(&mut self) -> Offer<&mut dyn Guards>;

    /// Where the guard keeps out the agent's events too.
    fn gate(&mut self) -> Option<&mut dyn Gate>;
}

/// The way of the agent's events through a guard that keeps them out too.
pub trait Gate {
    /// Lets them through.
    fn open(&mut self) -> Result<()>;

    /// Keeps them out again.
    fn close(&mut self) -> Result<()>;

    /// Puts the pointer at this place.
    fn put_pointer(&mut self, to: Point) -> Result<()>;
}

/// Input that a compositor, or a version of it, may not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    Pointer,
    Keys,
}

/// How a compositor takes input.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// Whether places count from the corner of the front window, and not of the screen.
    pub counts_from_window: bool,
    /// How long a text's parts are, between two looks at who has the keyboard.
    pub part: Part,
    /// Whether the keys of a part go in as fast as the compositor takes them, with the pause after
    /// them.
    pub types_at_once: bool,
    /// Where the compositor listens, if it ends the connection of an app that leaves too many keys
    /// unread.
    pub ends_slow_readers: Option<&'a Path>,
}

impl Manner<'_> {
    /// Places of the screen, and a look at who has the keyboard that takes no time.
    pub(crate) const PLAIN: Self = Self {
        counts_from_window: false,
        part: Part { least: 8, most: 8 },
        types_at_once: false,
        ends_slow_readers: None,
    };
}

/// The reason why there is no guard.
pub(crate) fn no_guard() -> Missing {
    Missing::new("the compositor keeps no input from apps without taking the agent's as well")
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
