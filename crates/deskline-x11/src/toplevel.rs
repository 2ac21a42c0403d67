use deskline_contract::{Place, Window, WindowId};
use deskline_core::Rect;

/// The widths of an invisible or decorative border, in pixels, such as the shadow that a window
/// draws inside its X window (`_GTK_FRAME_EXTENTS`): left, right, top, bottom.
pub(crate) type Sides = [i32; 4];

/// The part of `raw` that is inside this border.
pub(super) fn inside([left, right, top, bottom]: Sides, raw: Rect) -> Rect {
    Rect {
        x: raw.x + left,
        y: raw.y + top,
        w: (raw.w - left - right).max(0),
        h: (raw.h - top - bottom).max(0),
    }
}

/// The type of a window: the first known type in `_NET_WM_WINDOW_TYPE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A normal toplevel, or a window that has no type and is not a dialog.
    Normal,
    /// A dialog, or a window that has no type and is transient for another window.
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
    /// A menu. GTK 4 uses this type for tooltips too.
    Menu,
    /// A pop-up or drop-down menu, or the list of a combo box.
    Popup,
    /// A tooltip.
    Tooltip,
    /// A notification.
    Notification,
    /// The icon of a drag.
    Dnd,
}

/// A toplevel window in X11's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toplevel {
    /// The id of the X window.
    pub id: u32,
    /// The process that created the window; 0 if unknown.
    pub pid: u32,
    /// The title. It may be hostile.
    pub title: String,
    /// The X window's bounds, including its shadow, in root coordinates. GTK 4's accessible extents
    /// are relative to the corner inside the shadow.
    pub raw: Rect,
    /// The shadow inside the X window (`_GTK_FRAME_EXTENTS`); `None` if the window lacks the
    /// property.
    pub shadow: Option<Sides>,
    /// The window manager's border around the window (`_NET_FRAME_EXTENTS`).
    pub border: Sides,
    /// The bounds of the window's content: `raw` without the shadow.
    pub extents: Rect,
    pub minimised: bool,
    /// Whether the window is rolled up to its title bar.
    pub shaded: bool,
    /// The window's workspace, counted from 1; `None` if that workspace is on the screen.
    pub workspace: Option<u32>,
    /// Whether the window and its ancestors are mapped. A window on another workspace is not.
    pub viewable: bool,
    /// The window that this one is a dialog or pop-up of (`WM_TRANSIENT_FOR`).
    pub transient_for: Option<u32>,
    /// Whether the window is modal to the window that it is transient for.
    pub modal: bool,
    pub kind: Kind,
    pub(super) override_redirect: bool,
    pub(super) input_only: bool,
}

impl Toplevel {
    /// Whether the window can become the front window. Panels and notifications cannot, but take
    /// clicks without being in front.
    pub(super) fn takes_front(&self) -> bool {
        !matches!(self.kind, Kind::Dock | Kind::Notification)
    }

    /// The place of the window in the order of an app's windows: first windows that keys can go to,
    /// then panels and notifications, which are above the former, and last the desktop's own.
    pub fn rank(&self) -> u8 {
        match self.kind {
            Kind::Dock | Kind::Notification => 1,
            Kind::Desktop => 2,
            _ => 0,
        }
    }

    /// Converts the window to the type of the contract.
    pub fn window(&self) -> Window {
        Window {
            id: WindowId(self.id.into()),
            pid: Some(self.pid).filter(|pid| *pid != 0),
            title: self.title.clone(),
            extents: Some(self.extents),
            workspace: self.workspace,
            minimised: self.minimised,
            shaded: self.shaded,
            place: match self.kind {
                Kind::Dock => Place::Panel,
                Kind::Notification => Place::Notification,
                Kind::Desktop => Place::Desktop,
                _ => Place::App,
            },
        }
    }
}
