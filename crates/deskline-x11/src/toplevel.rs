//! A toplevel window, as X11 knows it.

use deskline_core::Rect;
use deskline_link::{Window, WindowId};

/// The shadow that a window draws around itself, inside its X window (`_GTK_FRAME_EXTENTS`), in
/// pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shadow {
    /// On the left.
    pub left: i32,
    /// On the right.
    pub right: i32,
    /// Above.
    pub top: i32,
    /// Below.
    pub bottom: i32,
}

impl Shadow {
    /// Left, right, top, bottom.
    pub fn sides(self) -> [i32; 4] {
        [self.left, self.right, self.top, self.bottom]
    }

    /// What this shadow leaves of a window.
    pub(super) fn around(self, raw: Rect) -> Rect {
        Rect {
            x: raw.x + self.left,
            y: raw.y + self.top,
            w: (raw.w - self.left - self.right).max(0),
            h: (raw.h - self.top - self.bottom).max(0),
        }
    }
}

/// What a window says it is (`_NET_WM_WINDOW_TYPE`, the first type that EWMH knows).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A normal toplevel, or one that says nothing and is no dialog.
    Normal,
    /// A dialog, or one that says nothing and is transient for another window.
    Dialog,
    /// A palette or toolbox.
    Utility,
    /// A torn-off toolbar.
    Toolbar,
    /// A splash screen.
    Splash,
    /// The desktop's background.
    Desktop,
    /// A panel.
    Dock,
    /// A menu. GTK 4 says this of its tooltips too.
    Menu,
    /// A pop-up or drop-down menu, or the list of a combo box.
    Popup,
    /// A tooltip.
    Tooltip,
    /// A notification.
    Notification,
    /// What is being dragged.
    Dnd,
}

/// A toplevel window as X11 knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toplevel {
    /// Its X window.
    pub id: u32,
    /// The process that made it, 0 where that cannot be known.
    pub pid: u32,
    /// Its title. Hostile data.
    pub title: String,
    /// The X window, its shadow included, in root coordinates. GTK 4's accessible extents are
    /// relative to `(raw.x + shadow.left, raw.y + shadow.top)`.
    pub raw: Rect,
    /// The shadow inside it; `None` where the window does not have the property.
    pub shadow: Option<Shadow>,
    /// What the window manager puts around it (`_NET_FRAME_EXTENTS`).
    pub border: Shadow,
    /// Where its content is: `raw` without the shadow.
    pub extents: Rect,
    /// Whether it is minimised.
    pub minimised: bool,
    /// Whether it is mapped and everything around it too. A window on another workspace is not.
    pub viewable: bool,
    /// The window that it belongs to (`WM_TRANSIENT_FOR`).
    pub transient_for: Option<u32>,
    /// Whether it is modal to that window.
    pub modal: bool,
    /// What it says it is.
    pub kind: Kind,
}

impl Toplevel {
    /// The same in the terms of the desktop trait.
    pub fn window(&self) -> Window {
        Window {
            id: WindowId(self.id.into()),
            pid: Some(self.pid).filter(|pid| *pid != 0),
            title: self.title.clone(),
            extents: Some(self.extents),
        }
    }
}
