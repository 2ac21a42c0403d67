//! An app's windows as the window system knows them, and where GTK 4's pop-ups are.

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

/// A pop-up's size may be told with a pixel more or less.
const LEEWAY: i32 = 2;

/// For each pop-up that is found among `nodes` (the extents of each and of its container, as their
/// toplevel places them): its node, and what to add to the coordinates of it and of all that is in
/// it, in pixels.
///
/// GTK 4 gives the extents of a popover as if its window began where the widget begins that it
/// belongs to, and the popover ends where its window ends.
pub fn popup_offsets(nodes: &[Option<(Rect, Rect)>], popups: &[Rect]) -> Vec<(usize, (i32, i32))> {
    let mut found: Vec<(usize, (i32, i32))> = Vec::new();
    for popup in popups {
        let ends_with_it = |own: Rect, container: Rect| {
            let (x, y) = (own.x - container.x, own.y - container.y);
            let (right, bottom) = (x + own.w - popup.w, y + own.h - popup.h);
            x >= 0 && y >= 0 && right.abs() <= LEEWAY && bottom.abs() <= LEEWAY
        };
        let node = nodes.iter().enumerate().find_map(|(i, node)| {
            let (own, container) = (*node)?;
            let free = found.iter().all(|(taken, _)| *taken != i);
            (free && ends_with_it(own, container)).then_some((i, container))
        });
        if let Some((node, container)) = node {
            found.push((node, (popup.x - container.x, popup.y - container.y)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_popover_is_where_its_window_is() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let file = rect(1161, 539, 23, 16);
        let menu = rect(1161, 539, 130, 108);
        let nodes = [None, Some((menu, file)), Some((menu, menu))];
        let window = rect(1150, 557, 130, 108);
        assert_eq!(popup_offsets(&nodes, &[window]), [(1, (-11, 18))]);
        assert_eq!(popup_offsets(&nodes, &[rect(0, 0, 1, 1)]), []);
        // A drop-down begins below the top of its window.
        let combo = rect(194, 129, 79, 34);
        let list = rect(194, 135, 93, 120);
        let nodes = [Some((list, combo))];
        assert_eq!(
            popup_offsets(&nodes, &[rect(191, 161, 93, 126)]),
            [(0, (-3, 32))]
        );
    }
}
