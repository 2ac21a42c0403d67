//! One traversal of one app.

use std::time::Duration;

use crate::{Element, Point, Rect, Role};

/// A running app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct App {
    /// The name that it gives itself. Hostile data.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

/// A toplevel window, as the platform identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WindowId(pub u64);

/// A window of the app, as the window system knew it when the tree was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeWindow {
    /// Which.
    pub id: WindowId,
    /// Where it is, without its shadow.
    pub extents: Rect,
    /// Whether it is on the screen: neither minimised nor on another workspace.
    pub on_screen: bool,
    /// The toplevel elements that it may be, as indexes into the tree: one where that is known,
    /// several where nothing tells these from each other, none where no element fits.
    pub elements: Vec<usize>,
}

/// What one traversal read, in document order (a container comes before what it contains).
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Whose tree it is.
    pub app: App,
    /// The elements, in document order.
    pub elements: Vec<Element>,
    /// The open modal dialog or sheet, as an index into `elements`. It scopes `visible`.
    pub dialog: Option<usize>,
    /// The app's windows, frontmost first; empty where the platform does not say.
    pub windows: Vec<TreeWindow>,
    /// What the tree lacks and why, one sentence each; empty for a complete tree.
    pub partial: Vec<String>,
    /// Where the picture shows more than the tree says, biggest first: `(x,y w×h) [role]`. Empty
    /// where there is no picture.
    pub blind: Vec<String>,
    /// How long the traversal took.
    pub took: Duration,
}

impl Tree {
    /// The toplevel that an element is in: its outermost container but for the app itself.
    pub fn toplevel(&self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            match self.elements.get(at)?.parent {
                Some(parent) if self.elements.get(parent)?.role == Role::APPLICATION => {
                    return Some(at);
                }
                // A container always comes before what it contains, so this ends.
                Some(parent) if parent < at => at = parent,
                _ => return (self.elements[at].role != Role::APPLICATION).then_some(at),
            }
        }
    }

    /// The windows that an element may be in: one where that is known.
    pub fn windows_of(&self, index: usize) -> Vec<&TreeWindow> {
        let top = self.toplevel(index);
        let holds = |w: &&TreeWindow| top.is_some_and(|top| w.elements.contains(&top));
        self.windows.iter().filter(holds).collect()
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

    /// Whether the element can be what lies at the top of `window`: it is in it, or in what has
    /// no window of its own in the list (an open menu).
    pub(crate) fn may_be_in(&self, index: usize, window: &TreeWindow) -> bool {
        let Some(top) = self.toplevel(index) else {
            return true;
        };
        window.elements.is_empty()
            || window.elements.contains(&top)
            || self.windows.iter().all(|w| !w.elements.contains(&top))
    }
}
