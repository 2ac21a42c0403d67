//! One traversal of one app.

use std::time::Duration;

use crate::{Element, Point, Rect, Role};

/// A running app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct App {
    /// The name that the app gives itself. Hostile data.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

/// The window system's id of a toplevel window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(pub u64);

/// A window of the app, as the window system reported it when the tree was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeWindow {
    /// Its id.
    pub id: WindowId,
    /// Its bounds, without its shadow.
    pub extents: Rect,
    /// Whether it is on the screen: neither minimised nor on another workspace.
    pub on_screen: bool,
    /// The toplevel elements that may be this window, as indexes into the tree: one if it is known,
    /// several if nothing tells them apart, none if no element fits.
    pub elements: Vec<usize>,
}

/// What the extents of a tree's elements are relative to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// The screen.
    #[default]
    Screen,
    /// The element's own window, whose place on the screen is not known.
    Window,
}

/// What one traversal read, in document order: a container comes before its contents.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The app.
    pub app: App,
    /// The elements, in document order.
    pub elements: Vec<Element>,
    /// The open modal dialog or sheet, as an index into `elements`. It scopes `visible`.
    pub dialog: Option<usize>,
    /// The app's windows, frontmost first; empty if the platform cannot tell.
    pub windows: Vec<TreeWindow>,
    /// What the extents are relative to.
    pub coordinates: Coordinates,
    /// What the tree lacks and why, one sentence each; empty if the tree is complete.
    pub partial: Vec<String>,
    /// What was not read in this call.
    pub older: Option<Older>,
    /// Where the picture shows something that the tree does not describe, largest first:
    /// `(x,y w×h) [role]`. Empty if there is no picture.
    pub blind: Vec<String>,
    /// How long the traversal took.
    pub took: Duration,
}

/// Elements that do not show, taken from readings before the call: the app has told of no change in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Older {
    /// How many.
    pub elements: usize,
    /// The age of the oldest.
    pub by: Duration,
}

impl Tree {
    /// The toplevel that contains an element: its outermost ancestor below the application.
    pub fn toplevel(&self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            match self.elements.get(at)?.parent {
                Some(parent) if self.elements.get(parent)?.role == Role::APPLICATION => {
                    return Some(at);
                }
                // A container comes before its contents, so this ends.
                Some(parent) if parent < at => at = parent,
                _ => return (self.elements[at].role != Role::APPLICATION).then_some(at),
            }
        }
    }

    /// The windows that may contain an element: one if it is known.
    pub fn windows_of(&self, index: usize) -> Vec<&TreeWindow> {
        let top = self.toplevel(index);
        let holds = |w: &&TreeWindow| top.is_some_and(|top| w.elements.contains(&top));
        self.windows.iter().filter(holds).collect()
    }

    /// Whether the app has windows, but none of them on the screen or among its elements: they are
    /// where accessibility does not list them, such as another Space of macOS.
    pub fn is_elsewhere(&self) -> bool {
        let away = |w: &TreeWindow| !w.on_screen && w.elements.is_empty();
        !self.windows.is_empty() && self.windows.iter().all(away)
    }

    /// The window with this id.
    pub fn window(&self, id: WindowId) -> Option<&TreeWindow> {
        self.windows.iter().find(|w| w.id == id)
    }

    /// The app's topmost window at a point.
    pub fn window_at(&self, point: Point) -> Option<&TreeWindow> {
        let mut windows = self.windows.iter();
        windows.find(|w| w.on_screen && w.extents.contains(point))
    }

    /// Whether the element can be on top in `window`: it is inside it, or inside a toplevel that is
    /// no window in the list, such as an open menu.
    pub(crate) fn may_be_in(&self, index: usize, window: &TreeWindow) -> bool {
        let Some(top) = self.toplevel(index) else {
            return true;
        };
        window.elements.is_empty()
            || window.elements.contains(&top)
            || self.windows.iter().all(|w| !w.elements.contains(&top))
    }
}
