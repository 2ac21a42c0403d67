//! A window, as its display reports it.

use crate::Rect;

/// The window system's id of a toplevel window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(pub u64);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    pub id: WindowId,
    /// The owner's pid; `None` if the display does not report it.
    pub pid: Option<u32>,
    /// Hostile data.
    pub title: String,
    /// The bounds without the shadow; `None` if the display does not report them.
    pub extents: Option<Rect>,
    /// The window's workspace, counted from 1; `None` if that workspace is visible.
    pub workspace: Option<u32>,
    pub minimised: bool,
    /// Whether the window is rolled up to its title bar.
    pub shaded: bool,
    pub place: Place,
}

/// Whether a window belongs to an app, or is a part of the desktop, which never becomes the front
/// window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    App,
    Panel,
    Notification,
    /// The window below all others, with the icons.
    Desktop,
    /// Not a window, but an item of the tray.
    Tray,
}

impl Window {
    /// Whether bringing the window to the front changes more than the order of windows.
    pub fn is_away(&self) -> bool {
        self.workspace.is_some() || self.minimised || self.shaded
    }

    /// Whether this is an app's window, and neither minimised, shaded nor on another workspace.
    pub fn is_plain(&self) -> bool {
        !self.is_away() && self.place == Place::App
    }

    /// The window's state, such as `(workspace 2, minimised)`; empty for a plain window.
    pub fn state(&self) -> String {
        let place = match self.place {
            Place::App => None,
            Place::Panel => Some("panel"),
            Place::Notification => Some("notification"),
            Place::Desktop => Some("desktop"),
            Place::Tray => Some("tray"),
        };
        let workspace = self.workspace.map(|n| format!("workspace {n}"));
        let minimised = self.minimised.then_some("minimised");
        let shaded = self.shaded.then_some("shaded");
        let words = [place, workspace.as_deref(), minimised, shaded];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        if words.is_empty() {
            return String::new();
        }
        format!("({})", words.join(", "))
    }
}
