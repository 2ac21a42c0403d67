//! The display: windows, the pointer, input, pictures, and the guard that keeps the person's input
//! out. A backend may lack any of it: see [`Display::capabilities`].

use std::time::Duration;

pub use deskline_core::WindowId;
use deskline_core::{KeyPress, Modifiers, Point, Rect};
use deskline_input::{Aim, Cancel, Click};

use crate::capabilities::{Capabilities, unsupported};
use crate::clipboard::Clipboard;
use crate::error::Result;
use crate::guard::{Grab, Task};

/// A toplevel window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub id: WindowId,
    /// The owner's pid; `None` if the display does not report it.
    pub pid: Option<u32>,
    /// Hostile data.
    pub title: String,
    /// The bounds without the shadow; `None` if the display does not report them.
    pub extents: Option<Rect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// Where it is, in screen coordinates.
    pub at: Point,
    /// Whether a button is down, whoever holds it.
    pub pressed: bool,
}

/// A picture of a window: 8-bit RGB rows without padding.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `3 × width × height` bytes.
    pub rgb: Vec<u8>,
    /// The screen coordinates of its first pixel.
    pub origin: Point,
    /// Pixels per screen unit: 1.0, or 2.0 on a Retina display.
    pub scale: f64,
}

/// The display. Each method is one bounded step; all look at `cancel` where they take one.
///
/// `impl Display for Backend {}` is a backend without a display: the defaults lack everything. The
/// link asks [`Display::capabilities`] before it calls what may be lacking.
pub trait Display {
    /// The abilities of this display. They stay the same while the connection lives.
    fn capabilities(&self) -> Capabilities {
        Capabilities::none(NONE)
    }

    /// Whether nobody can be sitting at this display: a link then guards against nobody, puts
    /// nothing back, and leaves its target in front.
    fn is_private(&self) -> bool {
        false
    }

    /// Called when a link begins. With `acts`, input may follow. The origin of coordinates stays
    /// the same until the next link begins: if it changes all the same, the link's calls fail.
    fn begin_link(&mut self, _acts: bool) {}

    /// The front window, if there is one.
    fn front(&mut self) -> Result<Option<Window>> {
        Ok(None)
    }

    /// Brings the window to the front and waits until it is there (bounded).
    fn activate(&mut self, _window: WindowId, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("bringing a window to the front", NONE))
    }

    /// The stand-in for the app itself, where an app can be in front without a window and its menu
    /// bar is in none: activating it brings the app to the front. `None` where input needs a
    /// window.
    fn app_itself(&mut self, _pid: u32) -> Result<Option<Window>> {
        Ok(None)
    }

    /// Where all windows of the app are on another virtual desktop, and accessibility lists them
    /// only there: goes there and waits until they are listed (bounded). `false` if there was
    /// nothing to do.
    fn reveal(&mut self, _pid: u32, _cancel: &Cancel) -> Result<bool> {
        Ok(false)
    }

    /// The app's windows on the screen, frontmost first.
    fn windows(&mut self, _pid: u32) -> Result<Vec<Window>> {
        Ok(Vec::new())
    }

    /// The windows of other processes that belong to the app, frontmost first: a process that it
    /// has started draws them (a plug-in), or they are dialogs of its windows.
    fn helper_windows(&mut self, _pid: u32) -> Result<Vec<Window>> {
        Ok(Vec::new())
    }

    /// Why the app's windows are not among [`Display::windows`]; `None` if it has no others.
    fn unseen(&mut self, _pid: u32) -> Option<&'static str> {
        None
    }

    /// Every app's windows on the screen, frontmost first.
    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(Vec::new())
    }

    /// Whether a menu, pop-up or drop-down of the app is open that would close if the pointer or
    /// the front window changed.
    fn popup_open(&mut self, _pid: u32) -> Result<bool> {
        Ok(false)
    }

    /// Where the pointer is, and whether a button is down; `None` where that cannot be asked.
    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(None)
    }

    /// Puts the pointer there.
    fn move_pointer(&mut self, _to: Point) -> Result<()> {
        Err(unsupported("moving the pointer", NONE))
    }

    /// Starts to watch whether the person presses a key or a button, until
    /// [`Display::unwatch_person`]. Presses during the guard reach no app and do not count.
    fn watch_person(&mut self) {}

    /// Stops watching the person, and listening for their Esc.
    fn unwatch_person(&mut self) {}

    /// Whether the person has pressed a key or a button since [`Display::watch_person`]; `None` if
    /// that is unknown.
    fn person_pressed(&mut self) -> Option<bool> {
        None
    }

    /// Outlines a place, or shows a caption, for `time`. Neither is in pictures or trees.
    fn show(
        &mut self,
        _place: Option<Rect>,
        _caption: &str,
        _time: Duration,
        _cancel: &Cancel,
    ) -> Result<()> {
        Ok(())
    }

    /// Grabs the person's devices, so that their input reaches no app. Released by
    /// [`Display::ungrab`], by the task's limit whatever hangs, and by the death of the process.
    /// Raises `cancel` when the person presses Esc without modifiers, and at the limit. Does
    /// nothing if they are grabbed already.
    ///
    /// An error means that nothing may be sent now.
    fn grab(&mut self, _task: &Task, _cancel: &Cancel) -> Result<Grab> {
        Ok(Grab::Unable(NONE.to_owned()))
    }

    /// Releases the person's devices. Their Esc still raises the flag that
    /// [`Display::grab`] was given, until [`Display::unwatch_person`].
    fn ungrab(&mut self) {}

    /// Why some of the person's input may have reached an app since the last [`Display::grab`]
    /// although their devices were grabbed. Asked once after each [`Display::ungrab`].
    fn guard_lapse(&mut self) -> Option<String> {
        None
    }

    /// From here on keys and clicks are for this target. Where they would go elsewhere they stop,
    /// with an [`InputError`](deskline_input::InputError).
    fn aim(&mut self, _aim: Aim) {}

    /// Moves the pointer there and clicks.
    fn click(&mut self, _click: Click, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("clicking", NONE))
    }

    /// Moves the pointer over a place and leaves it there.
    fn hover(&mut self, _at: Point, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("moving the pointer", NONE))
    }

    /// Presses the button at `from`, moves to `to`, releases.
    fn drag(&mut self, _from: Point, _to: Point, _: Modifiers, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("dragging", NONE))
    }

    /// Types any Unicode text into the focused element.
    fn type_text(&mut self, _text: &str, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("typing", NONE))
    }

    /// Presses one key, and holds it for `_held`.
    fn press_key(&mut self, _press: KeyPress, _held: Duration, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("typing", NONE))
    }

    /// The clipboard.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) where there is none that can be reached.
    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        Err(unsupported("pasting", NONE))
    }

    /// Turns the wheel by lines; positive is right and down.
    fn scroll(&mut self, _at: Point, _right: i32, _down: i32, _cancel: &Cancel) -> Result<()> {
        Err(unsupported("scrolling", NONE))
    }

    /// Releases every key and button that this process has pressed. Called on every way out.
    fn release_all(&mut self) {}

    /// Whether a picture of a window shows the same once its app is behind again, and takes so long
    /// that the person should have their window back first.
    fn pictures_behind(&self) -> bool {
        false
    }

    /// Whether a picture takes a few milliseconds, so that one more before each input costs little.
    fn pictures_are_quick(&self) -> bool {
        true
    }

    /// A picture of the window, also where others cover it.
    fn picture(&mut self, _window: WindowId) -> Result<Picture> {
        Err(unsupported("taking a picture", NONE))
    }
}

const NONE: &str = "this desktop has no display that Deskline can reach";
