//! An app's windows, as the window system reports them.

use deskline_core::{Rect, WindowId};

/// An app's windows, as the window system reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    /// Frontmost first, including minimised ones.
    pub toplevels: Vec<Toplevel>,
    /// The open pop-ups (menus, drop-downs), including shadows, in root coordinates.
    pub popups: Vec<Rect>,
    /// The front window, which may be another app's. Only set if this app has several windows.
    pub front: Option<WindowId>,
    /// Whether it is unknown, and will stay so, where the app's windows are on the screen. On
    /// Wayland toolkits report coordinates relative to the window only.
    pub unplaced: bool,
    /// The bounds of all monitors together, if known.
    pub screen: Option<Rect>,
}

impl Windows {
    /// The windows of an app, at known places. `front` is the front window, which may be another
    /// app's.
    pub fn placed(toplevels: Vec<Toplevel>, popups: Vec<Rect>, front: Option<WindowId>) -> Self {
        Self {
            // A single window need not be distinguished from others.
            front: front.filter(|_| toplevels.len() > 1),
            toplevels,
            popups,
            unplaced: false,
            screen: None,
        }
    }
}

/// A toplevel, as the window system reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toplevel {
    pub id: WindowId,
    pub title: String,
    /// The X window's bounds, including the shadow, in root coordinates.
    pub window: Rect,
    /// `_GTK_FRAME_EXTENTS`: left, right, top, bottom.
    pub shadow: Option<[i32; 4]>,
    /// `_NET_FRAME_EXTENTS`, the window manager's border: left, right, top, bottom.
    pub border: [i32; 4],
    /// Whether the window is marked as modal.
    pub modal: bool,
    /// Whether the window is neither minimised nor on another workspace.
    pub on_screen: bool,
    /// Where the content begins in the buffer of a native Wayland window. The toolkit counts
    /// coordinates from the content or from the buffer. `None` for any other window.
    pub in_buffer: Option<InBuffer>,
    /// The object path of the window's accessible frame, if nothing else identifies the window.
    pub frame: Option<String>,
}

/// Where a window's content begins in its buffer, after the shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InBuffer {
    /// At this distance from the left and the top.
    At(i32, i32),
    /// At this distance from the left and the top, and the toolkit may draw a title bar and a
    /// border inside. The distances and the window's bounds are in the compositor's units.
    Framed {
        left: i32,
        top: i32,
        /// The size of the toolkit's unit, in the compositor's units.
        unit: i32,
    },
    /// Unknown: the compositor does not report it.
    NotTold,
}

impl Toplevel {
    /// A window on the screen without further properties.
    pub fn new(id: WindowId, title: String, window: Rect) -> Self {
        Self {
            id,
            title,
            window,
            shadow: None,
            border: [0; 4],
            modal: false,
            on_screen: true,
            in_buffer: None,
            frame: None,
        }
    }

    /// Whether `in_buffer` is [`InBuffer::Framed`].
    pub(crate) fn is_framed(&self) -> bool {
        matches!(self.in_buffer, Some(InBuffer::Framed { .. }))
    }

    /// The window's bounds without the shadow.
    pub fn content(&self) -> Rect {
        let [left, right, top, bottom] = self.shadow.unwrap_or_default();
        let Rect { x, y, w, h } = self.window;
        Rect::at(x + left, y + top, w - left - right, h - top - bottom)
    }

    /// The window's bounds with the window manager's border.
    pub fn outer(&self) -> Rect {
        let [left, right, top, bottom] = self.border;
        let Rect { x, y, w, h } = self.content();
        Rect::at(x - left, y - top, w + left + right, h + top + bottom)
    }
}
