//! What an action has opened: a dialog, another window, a pop-up. And what an agent is to see first.

use crate::{Diff, Role, Tree};

/// Native roles of dialogs, modal or not: AT-SPI's, then AX subroles.
const DIALOGS: [&str; 8] = [
    "dialog",
    "alert",
    "file chooser",
    "color chooser",
    "font chooser",
    "option pane",
    "AXDialog",
    "AXSystemDialog",
];

impl Tree {
    /// The topmost window, dialog or pop-up that `before` did not show. `diff` is that of the two.
    pub fn opened_since(&self, before: &Tree, diff: &Diff) -> Option<usize> {
        let came = diff.added.iter().copied();
        let appeared = diff.appeared(before, self).into_iter();
        let appeared = appeared.filter(|&index| self.has_come_up(before, index));
        let mut came: Vec<usize> = came.chain(appeared).collect();
        came.retain(|&index| self.opens(index));
        // A window comes before what has opened in it.
        came.sort_unstable();
        let tops = self.toplevels();
        let rank = |index: usize| {
            let top = self.toplevel(index);
            tops.iter().position(|known| Some(*known) == top)
        };
        came.into_iter().min_by_key(|&index| rank(index))
    }

    /// Whether an element that came into view was opened. When a modal dialog closes, what it had
    /// covered comes into view too.
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

    /// Whether the element is a window, a dialog or a pop-up that shows. A toolkit may not know the
    /// extents of a window that it has just opened.
    fn opens(&self, index: usize) -> bool {
        let Some(element) = self.elements.get(index) else {
            return false;
        };
        let top = self.toplevel(index) == Some(index);
        let window = match element.role {
            Role::WINDOW => element.native_role != "internal frame",
            Role::SHEET | Role::DRAWER | Role::POPOVER => true,
            Role::APPLICATION | Role::HELP_TAG => false,
            _ => top,
        };
        window && (element.visible || top && element.extents.is_none())
    }

    /// The open modal dialog, or the dialog that is the front window.
    pub fn dialog_in_front(&self) -> Option<usize> {
        let is_dialog = |&top: &usize| {
            let window = self.elements.get(top);
            window.is_some_and(|window| DIALOGS.contains(&&*window.native_role))
        };
        self.dialog
            .or_else(|| self.active_toplevel().filter(is_dialog))
    }

    /// Puts these elements into the order in which an agent needs them: what is in `opened`, then what
    /// is `new`, then what is in pop-ups, then window by window, frontmost first. In a browser's
    /// window the page comes before what is around it. The items of menu bars come last.
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
        let pages = self.pages();
        let around_page = |index: usize| {
            let top = self.toplevel(index);
            let mut pages = pages.iter();
            pages.any(|&(of, page)| Some(of) == top && !self.is_in(index, page))
        };
        indices.sort_by_cached_key(|&index| {
            let rank = rank(index);
            let (old, around) = (rank > 0 && !new(index), rank > 0 && around_page(index));
            (is_menu(index), rank > 0, old, rank, around)
        });
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
            // The outermost comes first: a frame in a page is a part of it.
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
        let mut at = Some(index);
        while let Some(index) = at.filter(|index| *index >= container) {
            if index == container {
                return true;
            }
            // A container comes before its contents.
            let parent = self.elements.get(index).and_then(|e| e.parent);
            at = parent.filter(|parent| *parent < index);
        }
        false
    }
}
