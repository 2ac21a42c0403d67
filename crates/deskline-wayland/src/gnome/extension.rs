//! Deskline's extension of GNOME Shell (`extensions/gnome`), which the person may install. It lists
//! the windows with their positions, reports the window at a point, and raises windows.

use std::fmt::Display;
use std::time::{Duration, Instant};

use deskline_contract::{DisplayError, Error, Pointer, Result};
use deskline_core::{Point, Rect};
use zbus::zvariant::DynamicDeserialize;

use super::bus::Calls;
use crate::dbus::Arguments;
use crate::listed::{Corner, Kind, Listed, ListedWindow};

const NAME: &str = "org.deskline.Shell";
const PATH: &str = "/org/deskline/Shell";

/// The only version of the extension's interface that this Deskline uses.
const VERSION: u32 = 3;

/// How long the last answer about the windows is reused. A link asks about 30 times, often twice in
/// a row, and each request waits until the shell has painted.
pub(super) const RECENT: Duration = Duration::from_millis(5);

/// The extension. The person may switch it on and off at any time.
#[derive(Debug)]
pub(crate) struct Extension {
    bus: Calls,
    /// The unique name of the shell's connection, if the extension was on at the last check. Calls
    /// go to this connection, so that no other program can answer them.
    shell: Option<String>,
    /// The answer of the last check, unless an action may have made it outdated.
    last: Option<(Instant, Screen)>,
}

/// A window as the shell reports it, in the coordinates of the shell's stage, with the scale of its
/// monitor.
pub(crate) type ShellWindow = Listed<f64>;

/// The windows on the screen, and the pointer.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    pub(crate) pointer: Pointer,
    /// The windows, topmost first.
    pub(crate) windows: Vec<ShellWindow>,
}

/// The topmost thing at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// The window with this id.
    Window(u64),
    /// Part of the shell: its panel, a menu or a message.
    Shell,
    /// The background.
    Nothing,
}

/// Left, top, width and height on the screen.
type Rectangle = (i32, i32, i32, i32);

/// A window in the answer to `Screen`.
#[rustfmt::skip]
type Reported =
    (u64, i32, String, String, bool, bool, bool, bool, Rectangle, Rectangle, f64);

/// A window's id, its workspace (0 for the current one), and whether the window is minimised.
type Away = (u64, u32, bool);

impl Extension {
    /// The extension on this bus. [`Extension::look`] finds out whether it is on.
    pub(crate) fn on(bus: &Calls) -> Self {
        Self {
            bus: bus.clone(),
            shell: None,
            last: None,
        }
    }

    /// Drops the answer of the last check, because an action makes it outdated. Returns that
    /// answer.
    pub(crate) fn forget(&mut self) -> Option<Screen> {
        self.last.take().map(|(_, screen)| screen)
    }

    /// Checks whether the extension is on. The extension is on only if the shell's own connection
    /// owns the extension's bus name: any other program could own the name too.
    pub(crate) fn look(&mut self) -> bool {
        let owner = self.bus.owner(NAME).ok();
        let is_shell = |owner: &String| {
            self.bus
                .owner("org.gnome.Shell")
                .is_ok_and(|shell| shell == *owner)
        };
        if self.shell != owner {
            self.shell = owner.filter(is_shell);
        }
        self.shell.is_some()
    }

    /// Calls a method.
    ///
    /// # Errors
    ///
    /// [`DisplayError::ExtensionOff`] if the extension is off or of another version.
    fn ask<R>(&self, method: &str, body: &impl Arguments) -> Result<R>
    where
        R: for<'d> DynamicDeserialize<'d>,
    {
        let shell = self.shell.as_deref().ok_or(DisplayError::ExtensionOff)?;
        let answer = self.bus.ask((shell, PATH, NAME), method, body);
        answer.map_err(|e| if e.costs_connection() { e } else { off(&e) })
    }

    /// The windows, the pointer and the layout of the screen, as the shell reports them.
    ///
    /// # Errors
    ///
    /// Errors of the bus, and [`DisplayError::ExtensionOff`] if the extension is off or has another
    /// version. The other methods return the same errors.
    pub(crate) fn screen(&mut self) -> Result<Screen> {
        type Answer = (u32, (i32, i32, bool), Vec<Reported>);
        let (version, (x, y, pressed), windows): Answer = self.ask("Screen", &())?;
        if version != VERSION {
            let why = format!("its version is {version}, and {VERSION} is needed");
            return Err(off(&why));
        }
        let screen = Screen {
            pointer: Pointer {
                at: Point { x, y },
                pressed,
            },
            windows: windows.into_iter().map(window).collect(),
        };
        self.last = Some((Instant::now(), screen.clone()));
        Ok(screen)
    }

    /// Like [`Self::screen`], but may return an answer from a moment ago, so it does not serve for
    /// a check before input.
    pub(crate) fn recent(&mut self) -> Result<Screen> {
        match &self.last {
            Some((at, screen)) if at.elapsed() < RECENT => Ok(screen.clone()),
            _ => self.screen(),
        }
    }

    /// The receiver of a click at this point.
    pub(crate) fn over(&self, at: Point) -> Result<Over> {
        // Asks about the middle of the pixel: with a fractional scale, the corner may belong to
        // another pixel.
        let place = (f64::from(at.x) + 0.5, f64::from(at.y) + 0.5);
        let there: (u64, bool) = self.ask("At", &place)?;
        Ok(match there {
            (_, true) => Over::Shell,
            (0, false) => Over::Nothing,
            (id, false) => Over::Window(id),
        })
    }

    /// Has the shell raise a window. `false` if the window is gone.
    pub(crate) fn activate(&mut self, id: u64) -> Result<bool> {
        self.forget();
        self.ask("Activate", &(id,))
    }

    /// The current workspace, counted from 1, and the windows that are minimised or on another
    /// workspace.
    pub(crate) fn away(&self) -> Result<(u32, Vec<Away>)> {
        self.ask("Away", &())
    }

    pub(crate) fn minimise(&mut self, id: u64) -> Result<()> {
        self.forget();
        self.ask("Minimize", &(id,))
    }

    /// Shows a text at the top of the screen. An empty text removes it.
    pub(crate) fn announce(&self, text: &str) -> Result<()> {
        self.ask("Announce", &(text,))
    }

    pub(crate) fn show_workspace(&mut self, number: u32) -> Result<()> {
        self.forget();
        self.ask("ShowWorkspace", &(number,))
    }
}

fn off(why: &dyn Display) -> Error {
    tracing::debug!("the extension does not answer: {why}");
    DisplayError::ExtensionOff.into()
}

fn window(reported: Reported) -> ShellWindow {
    let (id, pid, title, kind, focused, visible, modal, native, frame, buffer, scale) = reported;
    let window = ListedWindow {
        id,
        pid: u32::try_from(pid).unwrap_or_default(),
        title,
        kind: match kind.as_str() {
            "toplevel" => Kind::Toplevel,
            "popup" => Kind::Popup,
            _ => Kind::Other,
        },
        native,
        focused,
        visible,
        // `Extension::away` reports `minimised` and `workspace`.
        minimised: false,
        workspace: 0,
        modal,
        content: rect(frame),
        // Uses the buffer's bounds, which include the shadow: a GTK 3 frame includes the shadow
        // too, and is recognised by its size.
        frame: rect(buffer),
        buffer: rect(buffer),
        corner: Corner::Framed { unit: 1 },
    };
    Listed { window, own: scale }
}

fn rect((x, y, w, h): Rectangle) -> Rect {
    Rect { x, y, w, h }
}
