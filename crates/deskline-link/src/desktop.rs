//! What an operating system does for a link.

use std::time::Duration;

pub use deskline_core::WindowId;
use deskline_core::{App, ElementId, KeyPress, Modifiers, Point, Rect, Tree};

use crate::cancel::Cancel;
use crate::error::Result;
use crate::guard::{Kept, Task};

/// A toplevel window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Which.
    pub id: WindowId,
    /// Whose.
    pub pid: u32,
    /// Its title. Hostile data.
    pub title: String,
    /// Where it is, without the shadow that it may draw around itself.
    pub extents: Rect,
}

/// The pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// Where it is, in screen coordinates.
    pub at: Point,
    /// Whether a button is down, whoever holds it.
    pub pressed: bool,
}

/// A running app with windows, for `list_applications`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Its name and pid.
    pub app: App,
    /// Its window titles.
    pub windows: Vec<String>,
    /// Whether one of them is the front window.
    pub front: bool,
}

/// How much of an app a traversal reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// What is showing completely, then the rest as far as this time goes.
    Whole {
        /// For what is not showing.
        budget: Duration,
    },
    /// The same of the app that is listened to, once more: what does not show and of which no
    /// event told since it was last read may be taken from then, where it still is in its place.
    Again {
        /// For what is not showing.
        budget: Duration,
    },
    /// What is showing, nothing else.
    Showing,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Button {
    /// The main button.
    Left,
    /// The context button.
    Right,
}

/// How often a button is clicked in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clicks {
    /// Once.
    Single,
    /// Twice, within the toolkit's double-click time.
    Double,
}

/// Whether an app may be opened that goes by these names: its own, its desktop file's or bundle's,
/// its program's. None where it is not known which app it would be.
pub type Permit<'a> = &'a dyn Fn(&[&str]) -> Result<()>;

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

/// How to reach the desktop. Connects when a call first needs it and again after a loss, so that a
/// server can start before the desktop does.
pub trait Platform: Send + Sync {
    /// Connects, or says what is missing and how to get it.
    fn connect(&self) -> Result<Box<dyn Desktop>>;

    /// Whether the app answers at all, within 2 s. Called before a link waits for its turn, on a
    /// connection of its own, so that a hung app delays no call about another app.
    fn ping(&self, pid: u32) -> Result<()>;
}

/// What one link needs of an operating system. Each method is one bounded step; none waits longer
/// than it says, and all of them look at `cancel` where they take one.
///
/// The order in which a link calls them, and what is put back when one fails, is the link's
/// business: an implementation only does what it is told.
pub trait Desktop: Send {
    /// A name for this desktop that no other has, and that the next server process on it finds
    /// again. Scopes refs.
    fn id(&self) -> String;

    /// The running apps that have windows.
    fn applications(&mut self) -> Result<Vec<Application>>;

    /// Starts an app or finds a running one by name, desktop-file or bundle id, path or command,
    /// brings its window to the front, and answers with its pid once it has a tree. `permit` is
    /// asked before anything is started or brought forward.
    fn open(&mut self, identifier: &str, permit: Permit<'_>, cancel: &Cancel) -> Result<u32>;

    /// One traversal. `visible` is set for what shows; the link narrows it by geometry. The tree
    /// says which window each of its toplevels is, as far as that can be known.
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree>;

    /// Starts to listen for the app's changes, and to no other app's.
    fn listen(&mut self, pid: u32) -> Result<()>;

    /// Stops listening, to the person's Esc too, so that nothing piles up between links.
    fn stop_listening(&mut self);

    /// Waits until the app that is listened to has said that something changed, or `time` has
    /// passed: `true` if it has. A hint only; toolkits forget to say.
    fn wait_for_change(&mut self, time: Duration) -> Result<bool>;

    /// Whether the app has been computing for a good part of the time since this was last asked. A
    /// hint: an app that computes may be about to show something.
    fn is_busy(&mut self, pid: u32) -> Result<bool>;

    /// Whether something is known to be on its way to the screen because of the app's last action:
    /// a portal dialog that was asked for, a process that is starting.
    fn handoff_pending(&mut self) -> Result<bool>;

    /// The front window, if there is one.
    fn front(&mut self) -> Result<Option<Window>>;

    /// Brings the window to the front and waits until it is there (bounded).
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()>;

    /// The app's windows on the screen, frontmost first.
    fn windows(&mut self, pid: u32) -> Result<Vec<Window>>;

    /// Every app's windows on the screen, frontmost first.
    fn every_window(&mut self) -> Result<Vec<Window>>;

    /// Starts to note whether the person presses a key or a button, until
    /// [`Desktop::stop_listening`]. What they press while the guard holds reaches no app and does
    /// not count.
    fn watch_person(&mut self);

    /// Whether the person has pressed a key or a button since [`Desktop::watch_person`]; `None`
    /// where this platform cannot tell.
    fn person_pressed(&mut self) -> Option<bool>;

    /// Whether a menu, pop-up or drop-down of the app is open that would close if the pointer or
    /// the front window changed.
    fn popup_open(&mut self, pid: u32) -> Result<bool>;

    /// Where the pointer is, and whether a button is down.
    fn pointer(&mut self) -> Result<Pointer>;

    /// Puts the pointer there.
    fn move_pointer(&mut self, to: Point) -> Result<()>;

    /// Outlines a place, or captions what is about to be typed, for `time`. In no picture and no
    /// tree.
    fn show(
        &mut self,
        place: Option<Rect>,
        caption: &str,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<()>;

    /// Keeps the person's keyboard and pointer from every app, until [`Desktop::let_in`] or until
    /// the task's limit, whatever hangs. Raises `cancel` when the person presses Esc without
    /// modifiers, and at the limit. Taken already, it stays as it is.
    ///
    /// An error means that nothing may be sent now.
    fn keep_out(&mut self, task: &Task, cancel: &Cancel) -> Result<Kept>;

    /// Lets the person's input in again. Their Esc goes on raising the flag that
    /// [`Desktop::keep_out`] was given, until [`Desktop::stop_listening`].
    fn let_in(&mut self);

    /// From here on keys and clicks are for this process: where its window is no longer where
    /// they go, they stop with an error that says so. With a `window` what is clicked must be in
    /// that one, or in an open menu of the process, too. `menu` says that a menu of the process is
    /// active, so that a grab of keyboard or pointer is its own.
    fn aim(&mut self, pid: u32, window: Option<WindowId>, menu: bool);

    /// Moves the pointer there and clicks.
    fn click(&mut self, at: Point, button: Button, clicks: Clicks, cancel: &Cancel) -> Result<()>;

    /// Presses the button at `from`, moves to `to`, releases.
    fn drag(&mut self, from: Point, to: Point, modifiers: Modifiers, cancel: &Cancel)
    -> Result<()>;

    /// Types text into what has the focus, any Unicode.
    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()>;

    /// Presses one key.
    fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()>;

    /// Turns the wheel by lines; positive is right and down.
    fn scroll(&mut self, at: Point, delta_x: i32, delta_y: i32, cancel: &Cancel) -> Result<()>;

    /// Scrolls the element into view through the accessibility API; `false` where the toolkit
    /// cannot.
    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool>;

    /// Presses through the accessibility API.
    fn press(&mut self, element: &ElementId) -> Result<()>;

    /// Sets a value through the accessibility API.
    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()>;

    /// Selects or deselects through the accessibility API.
    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()>;

    /// A picture of the window, also where others cover it.
    fn picture(&mut self, window: WindowId) -> Result<Picture>;

    /// Releases every key and button that this process has pressed. Called on every way out.
    fn release_all(&mut self);
}
