//! The windows of compositors that report where windows are.

use std::ops::Deref;

use deskline_contract::{Place, Window, WindowId};
use deskline_core::Rect;
use serde::{Deserialize, Deserializer};

use crate::focus::Keyboard;

/// The kind of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An app's toplevel.
    Toplevel,
    /// A menu, a drop-down, a tooltip.
    Popup,
    Panel,
    Notification,
    /// The window below all others.
    Desktop,
    /// Anything else, such as a splash screen.
    Other,
}

impl Kind {
    /// Where windows of this kind are. `None` if lists of windows omit them.
    fn place(self) -> Option<Place> {
        match self {
            Self::Toplevel => Some(Place::App),
            Self::Panel => Some(Place::Panel),
            Self::Notification => Some(Place::Notification),
            Self::Desktop => Some(Place::Desktop),
            Self::Popup | Self::Other => None,
        }
    }

    /// Whether lists of windows contain windows of this kind.
    #[must_use]
    pub fn is_listed(self) -> bool {
        self.place().is_some()
    }

    /// Whether windows of this kind take clicks without coming to the front.
    pub(crate) fn stays_behind(self) -> bool {
        matches!(self, Self::Panel | Self::Notification)
    }

    /// The sort key of a window: windows that keys can go to come first, the desktop itself last.
    fn rank(self) -> u8 {
        match self {
            Self::Desktop => 2,
            _ => u8::from(self.stays_behind()),
        }
    }
}

/// A window of any app.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListedWindow {
    #[serde(skip)]
    pub id: u64,
    /// The process of the window's app; 0 if unknown.
    pub pid: u32,
    /// The title that the app has chosen: hostile data.
    pub title: String,
    pub kind: Kind,
    /// Whether the window is a Wayland window, not one of Xwayland's.
    pub native: bool,
    /// Whether the window has the keyboard.
    pub focused: bool,
    /// Whether the window is neither minimised nor on another workspace.
    pub visible: bool,
    pub minimised: bool,
    /// The window's workspace, counted from 1; 0 for the current workspace.
    pub workspace: u32,
    pub modal: bool,
    /// The bounds of the content, without border and shadow.
    #[serde(deserialize_with = "rect")]
    pub content: Rect,
    /// The bounds with the compositor's border.
    #[serde(deserialize_with = "rect")]
    pub frame: Rect,
    /// The bounds of the client's buffer, which includes the client's own shadow.
    #[serde(deserialize_with = "rect")]
    pub buffer: Rect,
    #[serde(skip)]
    pub corner: Corner,
}

/// What is known about where a native window's content begins in its buffer, after the shadow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Corner {
    /// The content begins exactly at the corner of [`ListedWindow::content`].
    #[default]
    Exact,
    /// As `Exact`, but the toolkit may draw a title bar and a border inside the content. One unit
    /// of the toolkit is `unit` units of the compositor.
    Framed { unit: i32 },
    /// The compositor does not report where the content begins.
    NotTold,
}

fn rect<'de, D: Deserializer<'de>>(from: D) -> Result<Rect, D::Error> {
    let [x, y, w, h] = Deserialize::deserialize(from)?;
    Ok(Rect { x, y, w, h })
}

/// A window, and what only its compositor reports about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    pub window: ListedWindow,
    pub own: T,
}

impl<T> Deref for Listed<T> {
    type Target = ListedWindow;

    fn deref(&self) -> &ListedWindow {
        &self.window
    }
}

impl ListedWindow {
    pub(crate) fn window(&self) -> Window {
        Window {
            id: WindowId(self.id),
            pid: Some(self.pid).filter(|pid| *pid > 0),
            title: self.title.clone(),
            extents: Some(self.content),
            workspace: Some(self.workspace).filter(|n| *n > 0),
            minimised: self.minimised,
            shaded: false,
            place: self.kind.place().unwrap_or_default(),
        }
    }

    pub(crate) fn keyboard(&self) -> Keyboard {
        Keyboard::Window {
            window: self.window(),
            popup: self.kind != Kind::Toplevel,
        }
    }
}

/// Those of `windows` that belong in lists of windows, the visible ones first.
pub(crate) fn toplevels(windows: &[ListedWindow]) -> Vec<Window> {
    let mut listed: Vec<_> = windows.iter().filter(|w| w.kind.is_listed()).collect();
    listed.sort_by_key(|w| (!w.visible, w.kind.rank()));
    listed.into_iter().map(ListedWindow::window).collect()
}
