//! The parts of a display that differ between compositors: listing and raising windows, sending
//! input, taking pictures. Where input goes is not checked here, but in
//! [`WaylandDisplay`](crate::WaylandDisplay).

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
    /// `Ok` if the compositor accepts this kind of input, otherwise the reason why not.
    fn takes(&self, _input: Input) -> Offer<()> {
        Ok(())
    }

    /// The peculiarities of the compositor's input.
    fn manner(&self) -> Manner<'_> {
        Manner::PLAIN
    }

    /// Called when a link begins. If `acts` is set, input may follow.
    fn begin_link(&mut self, _acts: bool) {}

    /// Called between links: frees resources that have been kept for long enough. Returns how long
    /// to wait before the next call; `None` if no resource is kept.
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

    /// All windows. They may be as they were a moment ago: the checks before input call
    /// [`Compositor::keyboard`] and [`Compositor::over`] instead.
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

    /// Whether a menu or another pop-up of the app is open. `None` if only the app's tree can tell.
    fn popup_open(&mut self, _pid: u32) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Records that the app's tree was just read, and whether it shows an open menu.
    fn menu_read(&mut self, _pid: u32, _open: bool) {}

    /// Whether the compositor does not report when a launcher or a lock screen takes the keyboard
    /// from the front window. Then only the app can tell whether it has the keyboard.
    fn misses_launchers(&mut self) -> bool {
        false
    }

    /// The app whose keys bypass the compositor's input method until [`Self::give_keys_back`].
    fn keys_taken_in(&self) -> Option<u32> {
        None
    }

    /// Gives the keys of [`Self::keys_taken_in`] back to the input method if `to_text`: the keys
    /// still go to a text field of that app.
    fn give_keys_back(&mut self, _to_text: bool) {}

    /// The window that receives keys. Waits, for a limited time, until the compositor and the apps
    /// agree on that window.
    fn keyboard(&mut self, aim: Option<Aim>, cancel: &Cancel) -> Result<Keyboard>;

    /// The pointer; `None` if the compositor does not report it.
    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(None)
    }

    /// The window of another app than the target that a click at this point would reach. `None` if
    /// there is none, or if the compositor does not report it.
    fn over(&mut self, _at: Point, _aim: Aim) -> Result<Option<Window>> {
        Ok(None)
    }

    /// Prepares the pointer for these points. If points are relative to the front window, that is
    /// the window which the last [`Compositor::keyboard`] returned.
    ///
    /// # Errors
    ///
    /// [`Error::Display`] if the pointer cannot go to one of the points.
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

    /// The input devices. They add `offset` to the points that they are given.
    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>>;

    /// Ends temporary states, such as full screen, that a link's input needs.
    fn release(&mut self) {}

    /// Called when the target's input is over. Keys that bring the person's window back may follow.
    fn end_input(&mut self) {}

    /// The workspaces; `None` if all windows are on one workspace and no window can be minimised.
    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        None
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures>;

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        Err(no_guard())
    }

    /// Opens and closes the guard for the agent's own events. `None` if the guard lets these
    /// through anyway.
    fn gate(&mut self) -> Option<&mut dyn Gate> {
        None
    }

    /// Shows a caption that says what the agent does; an empty one removes it. Returns `false` if
    /// the compositor itself cannot show captions.
    fn announce(&mut self, _caption: &str) -> Result<bool> {
        Ok(false)
    }

    /// The facts that the doctor reports.
    fn findings(&mut self) -> Findings {
        Findings::by_protocols(self.guard())
    }
}

/// The windows of all apps.
pub enum Listing {
    /// Windows as the compositor lists them, with their places, frontmost first.
    Listed(Vec<ListedWindow>),
    /// Windows as apps describe them to assistive technology, if the compositor does not report
    /// places.
    Described(Vec<AppToplevel>),
}

impl Listing {
    pub(crate) fn listed<T>(all: Vec<Listed<T>>) -> Self {
        Self::Listed(all.into_iter().map(|listed| listed.window).collect())
    }
}

/// Selects the [`Compositor`] of a display. GNOME has two: one for a session with Deskline's
/// extension, and one for a session without it.
pub trait Current: Raising {
    /// The compositor that is in use now.
    fn current(&self) -> &dyn Compositor;

    /// The compositor that is in use now.
    fn current_mut(&mut self) -> &mut dyn Compositor;

    /// Called when a link begins. If `acts` is set, input may follow.
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

/// Opens a guard for the agent's events, if it blocks these as well as the person's.
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
    /// How many characters of a text are sent between two checks of where the keyboard is.
    pub part: Part,
    /// Whether to send the keys of a part without pauses, and to pause after the part.
    pub types_at_once: bool,
    /// The compositor's socket, if the compositor disconnects apps that leave too many keys unread.
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
    Missing::new("the compositor cannot block the user's input without blocking the agent's too")
}

/// Devices borrowed from a compositor.
pub(crate) type BoxedPort<'a> = Box<dyn Port<Error = Error, Key = u32> + 'a>;

/// The result of [`Compositor::locate`]: the offset to add to points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    pub offset: (f64, f64),
    /// Whether locating took so long that another window may have come to the front meanwhile.
    pub late: bool,
}

impl Located {
    /// The offset to the middle of a pixel. At fractional scales, the corner of a pixel may belong
    /// to another one.
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
/// `often` instead of waiting for an event.
///
/// # Errors
///
/// [`Error::Display`] with the clause `failure` if the window is not in front after `longest`.
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

// What the doctor reports about a display system.

/// The doctor's words about input and pictures on most display systems.
pub const BY_PROTOCOLS: &str = "by the compositor's own protocols";

/// The facts about a display system that the doctor reports.
pub struct Findings {
    /// What the doctor says about the guard: what the guard does, or why there is none.
    pub guard: Result<String, String>,
    /// How windows are brought to the front.
    pub raise: &'static str,
    /// How pointer input reaches apps; `keys` says how keys do.
    pub pointer: &'static str,
    pub keys: &'static str,
    /// Whether the doctor gives the reason for each missing ability separately.
    pub has_reasons: bool,
    /// The one fix that makes the compositor give Deskline pictures, if only permission is missing.
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
