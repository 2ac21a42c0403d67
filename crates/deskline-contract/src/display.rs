//! The display, divided into abilities: windows, the pointer, keys, pictures, and the guard that
//! keeps the person's input out of apps. A backend may lack any ability; the link works without it.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point, Rect};
pub use deskline_core::{Place, Window, WindowId};
use deskline_input::{Aim, Cancel, Click, Missed, Scene};

use crate::clipboard::Clipboard;
use crate::error::{Error, Missing, Result};
use crate::guard::Guards;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// The pointer's position, in screen coordinates.
    pub at: Point,
    /// Whether a mouse button is down, no matter who holds it.
    pub pressed: bool,
}

/// A picture of a window: 8-bit RGB rows without padding.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Pixels per row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// `3 × width × height` bytes.
    pub rgb: Vec<u8>,
    /// The screen coordinates of the picture's first pixel.
    pub origin: Point,
    /// Pixels per screen unit: 1.0, or 2.0 on a Retina display.
    pub scale: f64,
}

impl Picture {
    /// The pixels that show this part of the screen, also where that is outside.
    pub fn pixels(&self, part: Rect) -> Option<Rect> {
        let pixel = |v: i32| (f64::from(v) * self.scale).round() as i32;
        let x = pixel(part.x.checked_sub(self.origin.x)?);
        let y = pixel(part.y.checked_sub(self.origin.y)?);
        Rect::new(x, y, pixel(part.w), pixel(part.h))
    }
}

/// An ability, or why it is missing.
pub type Offer<T> = std::result::Result<T, Missing>;

/// Writes several methods of [`Display`] that return the same offer: `offers!(self => Ok(self);
/// guard Guards)`.
#[macro_export]
macro_rules! offers {
    ($this:ident => $offer:expr; $($method:ident $ability:ident),+) => {
        $(fn $method(&mut $this) -> $crate::Offer<&mut dyn $ability> {
            $offer
        })+
    };
}

/// The display. A method that returns an [`Offer`] has no default: each backend offers the ability,
/// or says why it is missing.
///
/// The same abilities are offered as long as a link runs. Each of their methods is one bounded
/// step; those that take `cancel` check it.
pub trait Display {
    /// Whether no person can be sitting at this display. A link then uses no guard, puts nothing
    /// back, and leaves its target in front.
    fn is_private(&self) -> bool {
        false
    }

    /// Called when a link begins. If `acts`, input may follow. Until the next link begins, the
    /// origin of coordinates stays the same. If it changes all the same, the calls of the link
    /// fail.
    fn begin_link(&mut self, acts: bool);

    /// From now on, keys and clicks are meant for this target. If they would go elsewhere, the
    /// action stops with an [`InputError`](deskline_input::InputError).
    fn set_aim(&mut self, aim: Aim);

    /// Releases every key and button that this process has pressed. Called however a link ends.
    fn release_all(&mut self);

    /// The screen, which knows where windows are. Without this ability no input is sent, because it
    /// could go anywhere, and an app counts as ended only if its process or its tree is gone.
    fn screen(&mut self) -> Offer<&mut dyn Screen>;

    /// Brings windows to the front. Without this ability, input goes only to the window in front.
    fn raising(&mut self) -> Offer<&mut dyn Raising>;

    /// Workspaces and minimised windows. Without this ability, a window that a link has raised is
    /// not minimised again, and the earlier workspace does not come back.
    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        None
    }

    /// Clicks, drags and the wheel.
    fn pointer_input(&mut self) -> Offer<&mut dyn PointerInput>;

    /// Keys and text.
    fn key_input(&mut self) -> Offer<&mut dyn KeyInput>;

    /// Pictures of windows. Without this ability, the answer has no picture, and gives the reason.
    fn pictures(&mut self) -> Offer<&mut dyn Pictures>;

    /// The guard. Without this ability, the answer reports that the person's input was not kept
    /// out.
    fn guard(&mut self) -> Offer<&mut dyn Guards>;

    /// The overlay. Without this ability, nothing is shown to the person.
    fn overlay(&mut self) -> Offer<&mut dyn Overlay>;

    /// The clipboard.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if no clipboard can be reached.
    fn clipboard(&mut self) -> Result<&mut dyn Clipboard>;
}

/// The windows and the pointer.
pub trait Screen {
    /// The front window, if there is one.
    fn front(&mut self) -> Result<Option<Window>>;

    /// Every app's windows, frontmost first.
    fn every_window(&mut self) -> Result<Vec<Window>>;

    /// The app's windows, frontmost first.
    fn windows_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut windows = self.every_window()?;
        windows.retain(|window| window.pid == Some(pid));
        Ok(windows)
    }

    /// The pointer's position, and whether a button is down. `None` if the display does not report
    /// them. The pointer is then not put back, and no link waits for a button that the person
    /// holds.
    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(None)
    }

    fn move_pointer(&mut self, to: Point) -> Result<()>;
}

/// Brings windows to the front.
pub trait Raising {
    /// Brings the window to the front and waits until it is there (bounded).
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()>;
}

/// Workspaces, and windows that are minimised or shaded.
pub trait Workspaces {
    /// The number of the workspace that shows, counted from 1. `None` if the display has no
    /// workspaces, or if the number is unknown.
    fn workspace(&mut self) -> Result<Option<u32>> {
        Ok(None)
    }

    /// Minimises or shades a window again, as it was before [`Raising::activate`] brought it to the
    /// front.
    fn put_away(&mut self, window: &Window) -> Result<()>;

    /// Shows the workspace with this number, and waits until the workspace shows (bounded).
    fn show_workspace(&mut self, _workspace: u32, _cancel: &Cancel) -> Result<()> {
        Ok(())
    }
}

/// Clicks, drags and the wheel.
pub trait PointerInput {
    /// Moves the pointer to the place of the click, and clicks.
    fn click(&mut self, click: Click, missed: Missed<'_>, cancel: &Cancel) -> Result<()>;

    /// Moves the pointer over a place and leaves it there.
    fn hover(&mut self, at: Point, cancel: &Cancel) -> Result<()>;

    /// Presses the button at the first place, moves to the second, and releases the button there.
    fn drag(&mut self, way: [Point; 2], held: Modifiers, cancel: &Cancel) -> Result<()>;

    /// Turns the wheel by lines; positive is right and down.
    fn scroll(&mut self, at: Point, lines: (i32, i32), cancel: &Cancel) -> Result<()>;
}

impl<S: Scene<Error = Error>> PointerInput for S {
    fn click(&mut self, click: Click, missed: Missed<'_>, cancel: &Cancel) -> Result<()> {
        deskline_input::click(self, click, missed, cancel)
    }

    fn hover(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        deskline_input::hover(self, at, cancel)
    }

    fn drag(&mut self, way: [Point; 2], held: Modifiers, cancel: &Cancel) -> Result<()> {
        deskline_input::drag(self, way, held, cancel)
    }

    fn scroll(&mut self, at: Point, lines: (i32, i32), cancel: &Cancel) -> Result<()> {
        deskline_input::scroll(self, at, lines, cancel)
    }
}

/// Keys and text.
pub trait KeyInput {
    /// Types any Unicode text into the focused element.
    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()>;

    /// Presses one key, and holds it for `held`.
    fn press_key(&mut self, press: KeyPress, held: Duration, cancel: &Cancel) -> Result<()>;
}

impl<S: Scene<Error = Error>> KeyInput for S {
    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        deskline_input::type_text(self, text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, held: Duration, cancel: &Cancel) -> Result<()> {
        deskline_input::press_key(self, press, held, cancel)
    }
}

pub trait Pictures {
    /// A picture of the window. It is complete even if other windows cover the window.
    fn picture(&mut self, window: WindowId) -> Result<Picture>;

    fn nature(&self) -> PictureNature {
        PictureNature::Slow
    }
}

/// How long a display's pictures take, and what they show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureNature {
    /// A picture takes a few milliseconds, so one more picture before each input costs little.
    Quick,
    /// As quick as [`Self::Quick`], but cut from the screen. So it also shows the windows that
    /// cover the wanted one.
    QuickOfScreen,
    Slow,
    /// A picture takes so long that the person should get their window back first. The app's window
    /// looks the same in it when it is behind again.
    SlowFromBehind,
}

/// What an overlay shows: the outline of a place, or a caption.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub place: Option<Rect>,
    pub caption: &'a str,
    pub time: Duration,
}

/// Shows the person what happens.
pub trait Overlay {
    /// Shows `what`, for the time that it names. An overlay is in no picture and in no tree.
    fn show(&mut self, what: Shown<'_>, cancel: &Cancel) -> Result<()>;
}
