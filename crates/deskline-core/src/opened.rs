//! Finds the dialog, window or pop-up that an action has opened, and sorts elements so that an
//! agent sees those in the opened window first.

use std::collections::HashSet;

use crate::{Diff, Element, ElementId, Role, Tree};

/// Native roles of dialogs, modal or not: AT-SPI's, then AX subroles.
#[rustfmt::skip]
const DIALOGS: [&str; 8] = [
    "dialog", "alert", "file chooser", "color chooser", "font chooser", "option pane", "AXDialog",
    "AXSystemDialog",
];

/// Whether a native role is a dialog's, modal or not.
pub fn is_dialog(native_role: &str) -> bool {
    DIALOGS.contains(&native_role)
}

/// A window that is thinner than this is a separator or a resize handle, not a window to act in.
const THIN: i32 = 8;

/// A window that is less high than this has one line to read, such as the one in which Chromium
/// shows the address of the link under the pointer.
const LINE: i32 = 40;

impl Tree {
    /// The topmost window, dialog or pop-up that `before` did not show. `diff` compares the two
    /// trees.
    pub fn opened_since(&self, before: &Tree, diff: &Diff) -> Option<usize> {
        let came = diff.added.iter().copied();
        let appeared = diff.appeared(before, self).into_iter();
        let appeared = appeared.filter(|&index| self.has_come_up(before, index));
        let mut came: Vec<usize> = came.chain(appeared).collect();
        came.retain(|&index| self.opens(index));
        // In tree order a window comes before the menus and dialogs that have opened in it, and so
        // is found before them.
        came.sort_unstable();
        let tops = self.toplevels();
        let rank = |index: usize| {
            let top = self.toplevel(index);
            tops.iter().position(|known| Some(*known) == top)
        };
        came.into_iter().min_by_key(|&index| rank(index))
    }

    /// Whether an element that came into view was opened. When a modal dialog closes, the elements
    /// that it covered come into view too.
    fn has_come_up(&self, before: &Self, index: usize) -> bool {
        let id = |tree: &Self, index: usize| tree.elements.get(index).map(|e| e.id.clone());
        let was = before.dialog.and_then(|dialog| id(before, dialog));
        let uncovered = was.is_some() && was != self.dialog.and_then(|dialog| id(self, dialog));
        if self.toplevel(index) != Some(index) {
            return !uncovered;
        }
        let mut shown = before.toplevels().into_iter();
        let new = !shown.any(|top| id(before, top) == id(self, index));
        new && !(uncovered && before.windows.is_empty())
    }

    /// Whether the element is a visible window, dialog or pop-up. Its extents may be missing: a
    /// toolkit may not know them right after it has opened a window.
    fn opens(&self, index: usize) -> bool {
        let Some(element) = self.elements.get(index) else {
            return false;
        };
        let top = self.toplevel(index) == Some(index);
        let window = match element.role {
            Role::WINDOW => element.native_role != "internal frame" && self.says_or_takes(index),
            Role::SHEET | Role::DRAWER | Role::POPOVER => true,
            // The list of completions below a browser's address field is a `WEB_AREA` of its own.
            Role::APPLICATION | Role::HELP_TAG | Role::SPLITTER | Role::WEB_AREA => false,
            _ => top,
        };
        let thin = |extents: crate::Rect| extents.w < THIN || extents.h < THIN;
        window
            && (element.visible || top && element.extents.is_none())
            && !element.extents.is_some_and(thin)
            && self.has_window(index)
    }

    /// Whether a window has a name, or contains something to read or to act on. A frame around the
    /// list of a combo box has neither, and so has the icon of a drag in GTK 3.
    fn says_or_takes(&self, index: usize) -> bool {
        let tells = |e: &Element| {
            let reads = e.role == Role::STATIC_TEXT && !e.title.is_blank();
            e.role.is_interactive() || reads || e.role.is_progress()
        };
        let in_list = |at: usize| {
            let outer = self.parent(at).map(|outer| self.elements[outer].role);
            matches!(
                outer,
                Some(Role::LIST | Role::ROW | Role::MENU | Role::TABLE | Role::OUTLINE)
            )
        };
        let window = &self.elements[index];
        let mut its = self.inside(index);
        let is_empty = window.children_read && self.inside(index).next().is_none();
        if window.extents.is_some_and(|place| place.h < LINE) {
            return its.any(|at| self.elements[at].role.is_interactive());
        }
        !window.title.is_blank()
            || window.extents.is_none() && !is_empty
            || its.any(|at| tells(&self.elements[at]) && !in_list(at))
    }

    /// Whether the window or dialog may have a window on the screen. An app may still describe a
    /// dialog whose window has just closed.
    pub(crate) fn has_window(&self, index: usize) -> bool {
        let Some(top) = self.toplevel(index) else {
            return true;
        };
        let is_window = self.elements[top].role == Role::WINDOW;
        let unknown = |w: &crate::TreeWindow| w.on_screen && w.elements.is_empty();
        let its = |w: &crate::TreeWindow| w.elements.contains(&top);
        !is_window
            || !is_dialog(&self.elements[top].native_role)
            || self.windows.is_empty()
            || self.windows.iter().any(|w| its(w) || unknown(w))
    }

    /// The open modal dialog, or the dialog that is the front window.
    pub fn dialog_in_front(&self) -> Option<usize> {
        let is_dialog = |&top: &usize| {
            let window = self.elements.get(top);
            window.is_some_and(|window| is_dialog(&window.native_role))
        };
        let open = self.dialog.filter(|&dialog| self.has_window(dialog));
        open.or_else(|| self.active_toplevel().filter(is_dialog))
    }

    /// The dialog that has opened since `before` was read, but not a page's own.
    pub fn dialog_since(&self, before: &Tree) -> Option<usize> {
        let dialog = self.dialog_in_front()?;
        let id = &self.elements[dialog].id;
        let mut known = before.elements.iter();
        let is_new = known.all(|e| e.id != *id || !e.visible);
        (is_new && self.page_around(dialog).is_none()).then_some(dialog)
    }

    /// The menu or list that `before` showed and this tree does not: some of its items were
    /// visible, and none of them is now. Returns an index into `before`; of nested menus, that of
    /// the outermost.
    pub fn menu_closed_since(&self, before: &Tree) -> Option<usize> {
        let is_item = |e: &Element| {
            e.visible && matches!(e.role, Role::MENU_ITEM | Role::MENU_BAR_ITEM | Role::MENU)
        };
        let now = self.elements.iter().filter(|e| is_item(e));
        let now: HashSet<&ElementId> = now.map(|e| &e.id).collect();
        let is_app = |at: usize| {
            let element = before.elements.get(at);
            element.is_some_and(|e| e.role == Role::APPLICATION)
        };
        let items = before.elements.iter().enumerate();
        let mut closed = Vec::new();
        let mut open = HashSet::new();
        for (at, item) in items.filter(|(_, e)| is_item(e)) {
            let Some(parent) = item.parent else { continue };
            // The menus of a panel are children of the application itself. There each item stands
            // for its menu.
            let menu = if is_app(parent) { at } else { parent };
            // A menu bar does not close. If its items do not show, a modal dialog covers them.
            if before.elements[menu].role == Role::MENU_BAR {
                continue;
            }
            if now.contains(&item.id) {
                open.insert(menu);
            } else {
                closed.push(menu);
            }
        }
        closed.retain(|menu| !open.contains(menu));
        let outermost = closed.into_iter().min()?;
        // A menu without a text is named by the element that opened it.
        let named = |index: &usize| {
            let element = before.elements.get(*index);
            element.is_some_and(|e| !e.title.is_blank())
        };
        let mut up = before.outwards(outermost).take(2);
        let named = up.find(|at| named(at) && (*at == outermost || !is_app(*at)));
        named.or(Some(outermost))
    }

    /// Sorts elements as an agent needs them: those in `opened` first, then `new` ones, then those
    /// in pop-ups, then window by window, frontmost first. In a browser's window the page comes
    /// before its toolbars. The items of menu bars come last.
    pub(crate) fn sort_for_reading(
        &self,
        indices: &mut [usize],
        opened: Option<usize>,
        new: impl Fn(usize) -> bool,
    ) {
        let mut tops = self.toplevels();
        let active = self.active_toplevel();
        tops.sort_by_key(|top| Some(*top) != active);
        let rank = |index: usize| {
            if opened.is_some_and(|opened| self.is_in(index, opened)) {
                return 0;
            }
            let top = self.toplevel(index);
            let window = tops.iter().position(|known| Some(*known) == top);
            window.map_or(1, |window| window + 2)
        };
        let is_menu = |index: usize| {
            let element = self.elements.get(index);
            element.is_some_and(|e| e.role == Role::MENU_BAR_ITEM)
        };
        let around_page = self.around_pages();
        indices.sort_by_cached_key(|&index| {
            let rank = rank(index);
            let (old, around) = (rank > 0 && !new(index), rank > 0 && around_page(index));
            (is_menu(index), rank > 0, around, old, rank)
        });
    }

    /// Returns whether an element is in a window with a large web page, but not in that page.
    pub(crate) fn around_pages(&self) -> impl Fn(usize) -> bool {
        let pages = self.pages();
        move |index| {
            let top = self.toplevel(index);
            let mut pages = pages.iter();
            pages.any(|&(of, page)| Some(of) == top && !self.is_in(index, page))
        }
    }

    /// The web pages that take up most of a window, each with its toplevel.
    fn pages(&self) -> Vec<(usize, usize)> {
        let area = |index: usize| {
            let extents = self.elements.get(index).and_then(|e| e.extents);
            extents.map_or(0, |e| i64::from(e.w.max(0)) * i64::from(e.h.max(0)))
        };
        let mut pages: Vec<(usize, usize)> = Vec::new();
        for (index, element) in self.elements.iter().enumerate() {
            if element.role != Role::WEB_AREA || !element.visible {
                continue;
            }
            // The outermost page of a window comes first. A frame inside it is a part of it.
            if let Some(top) = self.toplevel(index)
                && pages.iter().all(|(of, _)| *of != top)
                && area(index) * 2 > area(top)
            {
                pages.push((top, index));
            }
        }
        pages
    }

    fn is_in(&self, index: usize, container: usize) -> bool {
        index == container || self.is_inside(index, container)
    }
}
