//! The parts of a display that differ between compositors: listing and raising windows, sending
//! input, taking pictures. [`WaylandDisplay`](crate::WaylandDisplay) checks where input goes, not
//! the compositor.

use std::path::Path;
use std::time::Duration;

use deskline_contract::doctor::Fix;
use deskline_contract::guard::Guards;
use deskline_contract::{
    Aim, AppToplevel, Cancel, DisplayError, Error, Missing, Offer, Pictures, Pointer, Raising,
    Result, Window, WindowId, Workspaces, wait,
};
use deskline_core::Point;
use deskline_input::{Part, Port};

use crate::described;
use crate::focus::Keyboard;
use crate::listed::{self, Listed, ListedWindow};

/// A compositor. All coordinates are logical pixels.
pub trait Compositor: Raising + Send {
    /// Whether the compositor accepts this input, or why not.
    fn takes(&self, _input: Input) -> Offer<()> {
        Ok(())
    }

    /// The peculiarities of the compositor's input.
    fn manner(&self) -> Manner<'_> {
        Manner::PLAIN
    }

    /// Called when a link begins. With `acts`, input may follow.
    fn begin_link(&mut self, _acts: bool) {}

    /// Called between links: frees kept resources whose time is over. Returns the time until the
    /// next call; `None` if nothing is kept.
    fn idle(&mut self) -> Option<Duration> {
        None
    }

    /// Creates the input devices that the seat lacks, so that apps know them before the first link.
    /// Returns whether a device was missing.
    fn prepare(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Sets the target of keys and clicks.
    fn set_aim(&mut self, _aim: Aim) {}

    /// All windows. They may be of a moment ago: input is checked by [`Compositor::keyboard`] and
    /// [`Compositor::over`].
    fn windows(&mut self) -> Result<Listing>;

    /// The toplevels of all apps, frontmost first.
    fn toplevels(&mut self) -> Result<Vec<Window>> {
        Ok(match self.windows()? {
            Listing::Listed(all) => listed::toplevels(&all),
            Listing::Described(all) => described::windows(all),
        })
    }

    /// The window that is in front now.
    fn front(&mut self) -> Result<Option<Window>> {
        Ok(match self.windows()? {
            Listing::Listed(all) => all.iter().find(|w| w.focused).map(ListedWindow::window),
            Listing::Described(all) => described::front(&all).cloned().map(AppToplevel::window),
        })
    }

    /// Whether a menu or another pop-up of the app is open. `None` if only the app's tree shows
    /// that.
    fn popup_open(&mut self, _pid: u32) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Records whether the app's tree, which was just read, shows an open menu.
    fn menu_read(&mut self, _pid: u32, _open: bool) {}

    /// Whether the reported front window may have lost the keyboard to a launcher or a lock screen
    /// without a report by the compositor. The app then reports it.
    fn misses_launchers(&mut self) -> bool {
        false
    }

    /// The app whose keys this link has taken from the compositor's input method.
    fn keys_taken_in(&self) -> Option<u32> {
        None
    }

    /// Gives the input method these keys back, if they still go `to_text` in that app.
    fn give_keys_back(&mut self, _to_text: bool) {}

    /// The window that receives keys. Waits, for a limited time, until the compositor and the apps
    /// agree on it.
    fn keyboard(&mut self, aim: Option<Aim>, cancel: &Cancel) -> Result<Keyboard>;

    /// `None` if the compositor does not report the pointer.
    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(None)
    }

    /// The other app's window that a click at this point would reach, if the compositor reports it.
    fn over(&mut self, _at: Point, _aim: Aim) -> Result<Option<Window>> {
        Ok(None)
    }

    /// Prepares the pointer for these points. If points are relative to the front window, that is
    /// the window returned by the last [`Compositor::keyboard`].
    ///
    /// # Errors
    ///
    /// [`Error::Display`] if the pointer cannot go to one of them.
    fn locate(
        &mut self,
        _aim: Option<Aim>,
        _places: &[Point],
        _cancel: &Cancel,
    ) -> Result<Located> {
        Ok(Located::MIDDLE)
    }

    /// Prepares the keyboard. Called before [`Compositor::keyboard`].
    ///
    /// # Errors
    ///
    /// [`Error::Display`] if the keyboard does not reach the target.
    fn ready(&mut self) -> Result<()> {
        Ok(())
    }

    /// The devices. They add `offset` to the points that they are given.
    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>>;

    /// Ends temporary states, such as full screen, that a link's input needs.
    fn release(&mut self) {}

    /// Called when the target's input is over. Keys that bring the person's window back may follow.
    fn end_input(&mut self) {}

    /// `None` if all windows are on one workspace and none can be minimised.
    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        None
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures>;

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        Err(no_guard())
    }

    /// `Some` if the guard blocks the agent's events too.
    fn gate(&mut self) -> Option<&mut dyn Gate> {
        None
    }

    /// Shows what the agent does, until it is called with an empty text. `false` if the compositor
    /// itself shows nothing.
    fn announce(&mut self, _caption: &str) -> Result<bool> {
        Ok(false)
    }

    /// For the doctor.
    fn findings(&mut self) -> Findings {
        Findings::by_protocols(self.guard())
    }
}

/// The windows of all apps.
pub enum Listing {
    /// As the compositor lists them with their places, frontmost first.
    Listed(Vec<ListedWindow>),
    /// As apps describe them, where the compositor reports no more.
    Described(Vec<AppToplevel>),
}

impl Listing {
    pub(crate) fn listed<T>(all: Vec<Listed<T>>) -> Self {
        Self::Listed(all.into_iter().map(|listed| listed.window).collect())
    }
}

/// The compositor of a display. GNOME has two: one for each way in which it is used.
pub trait Current: Raising {
    /// The compositor as it is used now.
    fn current(&self) -> &dyn Compositor;

    /// The compositor as it is used now.
    fn current_mut(&mut self) -> &mut dyn Compositor;

    /// Called when a link begins. With `acts`, input may follow.
    fn begin(&mut self, acts: bool);
}

impl<C: Compositor> Current for C {
    fn current(&self) -> &dyn Compositor {
        self
    }

    fn current_mut(&mut self) -> &mut dyn Compositor {
        self
    }

    fn begin(&mut self, acts: bool) {
        self.begin_link(acts);
    }
}

/// Lets the agent's events through a guard that blocks them too.
pub trait Gate {
    /// Opens the guard for events.
    fn open(&mut self) -> Result<()>;

    /// Closes the guard again.
    fn close(&mut self) -> Result<()>;

    /// Moves the pointer to this point.
    fn put_pointer(&mut self, to: Point) -> Result<()>;
}

/// The kinds of input. Some compositors or versions do not accept both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    Pointer,
    Keys,
}

/// The peculiarities of a compositor's input.
#[derive(Debug, Clone, Copy)]
pub struct Manner<'a> {
    /// Whether points are relative to the corner of the front window instead of the screen.
    pub counts_from_window: bool,
    /// How many characters of a text to send between two checks of the keyboard focus.
    pub part: Part,
    /// Whether to send the keys of a part without pauses, and to pause after the part.
    pub types_at_once: bool,
    /// The compositor's socket, if it disconnects apps that leave too many keys unread.
    pub ends_slow_readers: Option<&'a Path>,
}

impl Manner<'_> {
    /// For compositors with screen coordinates and a fast check of the keyboard focus.
    pub(crate) const PLAIN: Self = Self {
        counts_from_window: false,
        part: Part { least: 8, most: 8 },
        types_at_once: false,
        ends_slow_readers: None,
    };
}

pub(crate) fn no_guard() -> Missing {
    Missing::new("the compositor keeps no input from apps without taking the agent's as well")
}

/// Devices borrowed from a compositor.
pub(crate) type BoxedPort<'a> = Box<dyn Port<Error = Error, Key = u32> + 'a>;

/// The result of [`Compositor::locate`]: the offset to add to points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    pub offset: (f64, f64),
    /// Whether it took so long that another window may have come to the front meanwhile.
    pub late: bool,
}

impl Located {
    /// The middle of a pixel: with fractional scales its corner may belong to another pixel.
    pub(crate) const MIDDLE: Self = Self {
        offset: (0.5, 0.5),
        late: false,
    };
}

/// The error for a window that has closed before it could be raised.
pub(crate) fn gone() -> Error {
    DisplayError::Gone.into()
}

/// Adds an offset to a point.
pub(crate) fn plus(at: Point, (x, y): (f64, f64)) -> (f64, f64) {
    (f64::from(at.x) + x, f64::from(at.y) + y)
}

/// Waits until `front` returns this window, after the compositor was asked to raise it. Polls every
/// `often`, as no event reports it.
///
/// # Errors
///
/// [`Error::Display`] with `failure`, a clause, after `longest`.
pub(crate) fn await_front(
    window: WindowId,
    (failure, longest, often): (&'static str, Duration, Duration),
    cancel: &Cancel,
    mut front: impl FnMut() -> Result<Option<WindowId>>,
) -> Result<()> {
    let came = wait::holds(cancel, longest, often, || Ok(front()? == Some(window)))?;
    came.then_some(())
        .ok_or_else(|| DisplayError::NotRaised(failure, longest).into())
}

// The facts about a display system that the doctor reports.

/// The doctor's words about input and pictures on most display systems.
pub const BY_PROTOCOLS: &str = "by the compositor's own protocols";

/// The facts about a display system that the doctor reports.
pub struct Findings {
    /// The input that the guard keeps out, or why it keeps out none.
    pub guard: Result<String, String>,
    /// How windows are brought to the front.
    pub raise: &'static str,
    /// How the pointer and the keys reach apps.
    pub pointer: &'static str,
    pub keys: &'static str,
    /// Whether each ability that it lacks has a reason of its own.
    pub has_reasons: bool,
    /// The single step that would grant it pictures, if it lacks that right.
    pub mends_pictures: Option<Fix>,
}

impl Findings {
    /// The findings for a system that works through the compositor's protocols only.
    pub fn by_protocols(guard: Offer<&mut dyn Guards>) -> Self {
        Self {
            guard: guard
                .map(|_| "yes".into())
                .map_err(|why| why.0.into_owned()),
            raise: BY_PROTOCOLS,
            pointer: BY_PROTOCOLS,
            keys: BY_PROTOCOLS,
            has_reasons: false,
            mends_pictures: None,
        }
    }
}
