//! An app's windows as the window system knows them.

use deskline_core::{Rect, WindowId};

/// An app's windows, as the window system knows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    /// Its toplevels, frontmost first, minimised ones too.
    pub toplevels: Vec<Toplevel>,
    /// Its open pop-ups (menus, drop-downs), shadows included, in root coordinates.
    pub popups: Vec<Rect>,
    /// The front window, whoever has it. Only told where the app has several windows.
    pub front: Option<WindowId>,
}

/// A toplevel as the window system knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toplevel {
    /// Which.
    pub id: WindowId,
    /// Its title.
    pub title: String,
    /// The X window, shadow included, in root coordinates.
    pub window: Rect,
    /// `_GTK_FRAME_EXTENTS`: left, right, top, bottom.
    pub shadow: Option<[i32; 4]>,
    /// `_NET_FRAME_EXTENTS`, what the window manager puts around it: left, right, top, bottom.
    pub border: [i32; 4],
    /// Whether it says that it is modal.
    pub modal: bool,
    /// Whether it is on the screen: neither minimised nor on another workspace.
    pub on_screen: bool,
}

impl Toplevel {
    /// The window without its shadow.
    pub fn content(&self) -> Rect {
        let [left, right, top, bottom] = self.shadow.unwrap_or_default();
        let Rect { x, y, w, h } = self.window;
        Rect {
            x: x + left,
            y: y + top,
            w: w - left - right,
            h: h - top - bottom,
        }
    }

    /// The window with what the window manager puts around it.
    pub fn outer(&self) -> Rect {
        let [left, right, top, bottom] = self.border;
        let Rect { x, y, w, h } = self.content();
        Rect {
            x: x - left,
            y: y - top,
            w: w + left + right,
            h: h + top + bottom,
        }
    }
}
