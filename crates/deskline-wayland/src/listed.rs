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
    /// Another part of the desktop.
    Other,
}

impl Kind {
    /// The place of its windows. `None` if they are not listed.
    fn place(self) -> Option<Place> {
        match self {
            Self::Toplevel => Some(Place::App),
            Self::Panel => Some(Place::Panel),
            Self::Notification => Some(Place::Notification),
            Self::Desktop => Some(Place::Desktop),
            Self::Popup | Self::Other => None,
        }
    }

    /// Whether its windows are in lists of windows.
    #[must_use]
    pub fn is_listed(self) -> bool {
        self.place().is_some()
    }

    /// Whether its windows take clicks without coming to the front.
    pub(crate) fn stays_behind(self) -> bool {
        matches!(self, Self::Panel | Self::Notification)
    }

    /// Sorts the windows of an app: those that keys can go to come first, the desktop's own last.
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
    /// 0 if unknown.
    pub pid: u32,
    /// Hostile data.
    pub title: String,
    pub kind: Kind,
    /// Whether it is a Wayland window, not one of Xwayland's.
    pub native: bool,
    /// Whether it has the keyboard.
    pub focused: bool,
    /// Whether it is neither minimised nor on another workspace.
    pub visible: bool,
    pub minimised: bool,
    /// Its workspace, counted from 1; 0 if that is the current one.
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

/// What is known of where the content of a native window begins in its buffer, after the shadow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Corner {
    /// The content begins at its place.
    #[default]
    Exact,
    /// The same, and the toolkit may draw a title bar and a border inside. One of the toolkit's
    /// units has this many of the compositor's.
    Framed { unit: i32 },
    /// The compositor does not report it.
    NotTold,
}

fn rect<'de, D: Deserializer<'de>>(from: D) -> Result<Rect, D::Error> {
    let [x, y, w, h] = Deserialize::deserialize(from)?;
    Ok(Rect { x, y, w, h })
}

/// A window, and what only its compositor reports of it.
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

/// The windows of these that are listed.
pub(crate) fn toplevels(windows: &[ListedWindow]) -> Vec<Window> {
    let mut listed: Vec<_> = windows.iter().filter(|w| w.kind.is_listed()).collect();
    listed.sort_by_key(|w| (!w.visible, w.kind.rank()));
    listed.into_iter().map(ListedWindow::window).collect()
}
