//! One traversal of one app.

use std::collections::HashMap;
use std::time::Duration;

use crate::{Element, ElementId, Point, Rect, Role, WindowId};

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct App {
    /// The app's own name for itself. Hostile data.
    pub name: String,
    pub pid: u32,
}

impl App {
    pub fn new(pid: u32, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { name, pid }
    }
}

/// A window of the app, as the window system reported it when the tree was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeWindow {
    pub id: WindowId,
    /// The bounds, without the shadow.
    pub extents: Rect,
    /// Whether the window is neither minimised nor on another workspace.
    pub on_screen: bool,
    /// The toplevel elements that may be this window, as indexes into the tree. Several if they
    /// cannot be distinguished, none if no element fits.
    pub elements: Vec<usize>,
}

/// The origin of the extents of a tree's elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Coordinates {
    #[default]
    Screen,
    /// The element's own window, whose position on the screen is unknown.
    Window,
}

/// The result of one traversal, in document order: a container comes before its contents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    pub app: App,
    pub elements: Vec<Element>,
    /// The open modal dialog or sheet, as an index into `elements`. It covers other elements, so
    /// they are not `visible`.
    pub dialog: Option<usize>,
    /// The app's windows, frontmost first; empty if the platform does not list them.
    pub windows: Vec<TreeWindow>,
    pub coordinates: Coordinates,
    /// The missing parts of the tree and why, one sentence each; empty if the tree is complete.
    pub partial: Vec<String>,
    /// The elements that were taken from earlier readings; `None` if all were read in this call.
    pub older: Option<Older>,
    /// Parts of the picture that the tree does not describe, largest first: `(x,y w×h) [role]`.
    /// Empty if there is no picture.
    pub blind: Vec<String>,
    /// The fields that are named by a text beside them, which the app does not report as their
    /// label.
    pub labelled_by_place: Vec<usize>,
    /// The other processes whose objects the app shows as its own, except processes that it has
    /// started.
    pub shows: Vec<u32>,
    /// Why accessibility does not know the app, and what would help. `None` if it does know the
    /// app. If set, the elements are windows whose content is only in the picture.
    pub no_tree: Option<String>,
    pub took: Duration,
}

/// Elements taken from earlier readings: hidden elements that no event has announced a change of,
/// and elements of windows that nobody sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Older {
    pub elements: usize,
    /// The age of the oldest of these elements.
    pub by: Duration,
    /// The toplevels that no user sees now, as indexes into the tree.
    pub windows: Vec<usize>,
}

/// The first of `count` nodes and all nodes below it, in document order: each node comes before its
/// children. Leaves out nodes without a list of children, and everything below them.
pub fn document_order<'n>(
    count: usize,
    children: impl Fn(usize) -> Option<&'n [usize]>,
) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    let mut stack = if count == 0 { vec![] } else { vec![0] };
    while let Some(index) = stack.pop() {
        let Some(children) = children(index) else {
            continue;
        };
        order.push(index);
        stack.extend(children.iter().rev());
    }
    order
}

/// With this name, an editor of VS Code or Cursor hides its text from accessibility.
const KEEPS_TEXT: &str = "The editor is not accessible at this time";

impl Tree {
    /// Derives what no app reports: which elements show, labels of fields, numbers of cells.
    /// `within` is the screen, if elements beyond it count as hidden.
    pub fn complete(&mut self, within: Option<Rect>) {
        self.scope_visible();
        if let Some(screen) = within {
            self.hide_beyond(screen);
        }
        self.number_cells();
        self.label_fields();
        let keeps_text = |e: &Element| {
            let mut texts = [&e.title, &e.description].into_iter();
            e.visible && texts.any(|text| text.shown.starts_with(KEEPS_TEXT))
        };
        if self.elements.iter().any(keeps_text) {
            self.partial.push(String::from(
                "the editor shows its text only to screen readers: ask the user to set \
                 \"editor.accessibilitySupport\": \"on\" in its settings",
            ));
        }
    }

    /// A complete tree without known windows.
    pub fn new(app: App, elements: Vec<Element>) -> Self {
        Self {
            app,
            elements,
            ..Self::default()
        }
    }

    /// Whether only the picture shows the content of the app's windows.
    pub fn is_picture_only(&self) -> bool {
        self.no_tree.is_some()
    }

    /// Replaces the ids of re-created elements, given as pairs (old, new), so that a later tree is
    /// matched with this one.
    pub fn rename(&mut self, renamed: &[(ElementId, ElementId)]) {
        if renamed.is_empty() {
            return;
        }
        let new: HashMap<&ElementId, &ElementId> = renamed.iter().map(|(a, b)| (a, b)).collect();
        for element in &mut self.elements {
            if let Some(id) = new.get(&element.id) {
                element.id = (*id).clone();
            }
        }
    }

    /// The parent of an element. Parents come before their children. If a cyclic tree has one that
    /// comes later, there is no parent.
    pub fn parent(&self, index: usize) -> Option<usize> {
        self.elements.get(index)?.parent.filter(|p| *p < index)
    }

    /// An element and its ancestors, the innermost first.
    pub fn outwards(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |at| self.parent(*at))
    }

    /// The elements inside this one, at any depth.
    pub fn inside(&self, index: usize) -> impl Iterator<Item = usize> {
        (index + 1..self.elements.len()).take_while(move |at| self.is_inside(*at, index))
    }

    /// This element and those inside it.
    pub fn with_inside(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::once(index).chain(self.inside(index))
    }

    /// The innermost web page that an element is, or is in.
    pub fn page_around(&self, index: usize) -> Option<usize> {
        let is_page = |at: &usize| self.elements[*at].role == Role::WEB_AREA;
        self.outwards(index).find(is_page)
    }

    /// Whether an element is in a question that Firefox itself asks, for example for a permission:
    /// an alert inside a window of Firefox and outside of its web pages.
    pub fn is_in_question(&self, index: usize) -> bool {
        let is_within = |at: usize| self.toplevel(at) != Some(at);
        let asks = |at: usize| self.elements[at].native_role == "alert" && is_within(at);
        self.page_around(index).is_none() && self.outwards(index).any(asks)
    }

    /// Whether an element may be one of the windows on the screen.
    pub(crate) fn is_own_window(&self, index: usize) -> bool {
        self.windows.iter().any(|w| w.elements.contains(&index))
    }

    /// The toplevel that contains an element: its outermost ancestor below the application.
    pub fn toplevel(&self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            match self.elements.get(at)?.parent {
                Some(parent) if self.elements.get(parent)?.role == Role::APPLICATION => {
                    return Some(at);
                }
                // A container comes before its contents, so this loop ends.
                Some(parent) if parent < at => at = parent,
                _ => return (self.elements[at].role != Role::APPLICATION).then_some(at),
            }
        }
    }

    /// Whether an element is, or is in, a tool tip. The pointer makes tool tips appear and
    /// disappear.
    pub fn is_in_tool_tip(&self, index: usize) -> bool {
        let role = |at: usize| Some(self.elements.get(at)?.role);
        self.outwards(index)
            .any(|at| role(at) == Some(Role::HELP_TAG))
    }

    /// The windows that may contain an element: a single window if the element's window is known.
    pub fn windows_of(&self, index: usize) -> Vec<&TreeWindow> {
        let top = self.toplevel(index);
        let holds = |w: &&TreeWindow| top.is_some_and(|top| w.elements.contains(&top));
        self.windows.iter().filter(holds).collect()
    }

    /// Whether one of the windows has other bounds than in an earlier tree.
    pub fn has_moved_window(&self, before: &Self) -> bool {
        let was = |now: &TreeWindow| Some(before.window(now.id)?.extents);
        let mut windows = self.windows.iter();
        windows.any(|now| was(now).is_some_and(|was| was != now.extents))
    }

    /// Whether the app has windows, but none of them on the screen or among its elements.
    /// Accessibility does not list such windows, for example on another Space of macOS.
    pub fn is_elsewhere(&self) -> bool {
        let away = |w: &TreeWindow| !w.on_screen && w.elements.is_empty();
        !self.windows.is_empty() && self.windows.iter().all(away)
    }

    pub fn window(&self, id: WindowId) -> Option<&TreeWindow> {
        self.windows.iter().find(|w| w.id == id)
    }

    /// The app's topmost window at a point.
    pub fn window_at(&self, point: Point) -> Option<&TreeWindow> {
        let mut windows = self.windows.iter();
        windows.find(|w| w.on_screen && w.extents.contains(point))
    }

    /// Whether the element can be on top in `window`: it is inside that window, or inside a
    /// toplevel that is not in the list of windows, such as an open menu.
    pub(crate) fn may_be_in(&self, index: usize, window: &TreeWindow) -> bool {
        let Some(top) = self.toplevel(index) else {
            return true;
        };
        window.elements.is_empty()
            || window.elements.contains(&top)
            || self.windows.iter().all(|w| !w.elements.contains(&top))
    }
}
