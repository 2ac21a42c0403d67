//! Where keys go in an app: its front window, the focused element in it, and the other windows.

use crate::escape::short_escaped;
use crate::fold::fold;
use crate::texts::own_text;
use crate::{Element, Role, States, Texts, Tree, tag};

/// A summary names at most this many windows.
const MOST: usize = 6;

impl Tree {
    /// The visible toplevel elements, frontmost first. If the platform does not report the order,
    /// the toplevel with the focus comes first, and the others follow in tree order.
    pub fn toplevels(&self) -> Vec<usize> {
        let shows = |w: &&crate::TreeWindow| w.on_screen;
        let mut found: Vec<usize> = Vec::new();
        for window in self.windows.iter().filter(shows) {
            for &top in &window.elements {
                if !found.contains(&top) {
                    found.push(top);
                }
            }
        }
        if !found.is_empty() {
            return found;
        }
        let visible = (0..self.elements.len()).filter(|&i| self.elements[i].visible);
        for top in visible.filter_map(|i| self.toplevel(i)) {
            let passing = matches!(self.elements[top].role, Role::MENU | Role::HELP_TAG);
            if !passing && !found.contains(&top) {
                found.push(top);
            }
        }
        let focused = self.focused_in(None).and_then(|i| self.toplevel(i));
        found.sort_by_key(|top| Some(*top) != focused);
        found
    }

    /// The toplevel that keys go to: that of the open dialog, or else the frontmost one.
    pub fn active_toplevel(&self) -> Option<usize> {
        let open = self.dialog.filter(|&dialog| self.has_window(dialog));
        let dialog = open.and_then(|dialog| self.toplevel(dialog));
        dialog.or_else(|| self.toplevels().first().copied())
    }

    /// The innermost focused element of `toplevel`, or of the whole app if `toplevel` is `None`. An
    /// element that takes text comes first, because toolkits mark ancestors of the focus too. Any
    /// other control comes before a tab: Qt 5 marks the current one. Fields and buttons of the
    /// browser itself come before those of pages: Chromium also reports the last focused element of
    /// each page. The list of completions below the address field is such a page.
    pub fn focused_in(&self, toplevel: Option<usize>) -> Option<usize> {
        let focused = |&i: &usize| {
            self.elements[i].states.contains(States::FOCUSED)
                && toplevel.is_none_or(|top| self.toplevel(i) == Some(top))
        };
        let all = || (0..self.elements.len()).rev().filter(focused);
        let outside = |&i: &usize| self.page_around(i).is_none();
        let takes_text = |&i: &usize| self.elements[i].states.contains(States::EDITABLE);
        let takes_keys = |&i: &usize| self.elements[i].role.is_interactive();
        let is_tab = |i: usize| self.elements[i].role == Role::TAB;
        let beside_tab = || all().find(|i| takes_keys(i) && !is_tab(*i));
        let last = all().next()?;
        let last = if is_tab(last) {
            beside_tab().unwrap_or(last)
        } else {
            last
        };
        let own_field = all().filter(outside).find(takes_text);
        let own_button = || {
            all().find(|i| !outside(i))?;
            all().filter(outside).find(|i| takes_keys(i) && !is_tab(*i))
        };
        let moves_inside = || match self.elements[last].role {
            Role::WEB_AREA => all().find(takes_keys),
            _ => None,
        };
        let own = own_field.or_else(own_button);
        let text = own.or_else(|| all().find(takes_text));
        text.or_else(moves_inside).or(Some(last))
    }

    /// The element that has the keyboard focus. The toplevel that keys go to, and a menu or list
    /// over it, come first, because windows behind keep a focus of their own.
    pub fn focus(&self) -> Option<usize> {
        let active = self.active_toplevel();
        let found = active.and_then(|top| focused(self, top));
        found.or_else(|| self.focused_in(None))
    }

    /// The toplevels whose text equals `title`, or if there are none, those whose text contains it.
    /// Compares by [`fold`]. The frontmost comes first.
    pub fn toplevels_titled(&self, title: &str) -> Vec<usize> {
        let wanted = fold(title);
        let text = |top: usize| Some(fold(&own_text(&self.elements[top])?.shown).into_owned());
        let with = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let is = |top: &usize| text(*top).is_some_and(|text| fits(&text));
            self.toplevels().into_iter().filter(is).collect()
        };
        let exact = with(&|text| text == wanted);
        if exact.is_empty() {
            return with(&|text| text.contains(&*wanted));
        }
        exact
    }
}

/// `"sales.csv – LibreOffice Calc" › [AXTextField] "Name" #e33`: the window that keys go to, and
/// the focused element. `None` if the app shows no window.
pub fn focus(tree: &Tree) -> Option<String> {
    let top = tree.active_toplevel()?;
    let window = title(&tree.elements[top], 60);
    let Some(index) = focused(tree, top).filter(|&index| index != top) else {
        return Some(window);
    };
    let element = &tree.elements[index];
    let name = match Texts::new(tree).text(tree, index) {
        Some(text) => format!(" \"{}\"", short_escaped(text.shown.trim(), 40)),
        None => String::new(),
    };
    let role = element.role.ax();
    let tag = tag(element.reference);
    Some(format!("{window} › [{role}]{name}{tag}"))
}

/// The element that keys go to while this toplevel is active.
fn focused(tree: &Tree, top: usize) -> Option<usize> {
    tree.focused_in(Some(top)).or_else(|| {
        // An open menu or a list of completions is a toplevel of its own, and takes the keys.
        let windows = tree.toplevels();
        let other = |index: &usize| !tree.toplevel(*index).is_some_and(|t| windows.contains(&t));
        tree.focused_in(None).filter(other)
    })
}

/// The app's windows, the front window first: `"Messages" #e2 (front), "Preferences" #e77`. `None`
/// unless the app has several windows.
pub fn windows(tree: &Tree) -> Option<String> {
    let mut tops = tree.toplevels();
    if tops.len() < 2 {
        return None;
    }
    let active = tree.active_toplevel();
    tops.sort_by_key(|top| Some(*top) != active);
    let more = tops.len().saturating_sub(MOST);
    let mut names: Vec<String> = tops
        .iter()
        .take(MOST)
        .map(|&top| {
            let window = &tree.elements[top];
            let front = if Some(top) == active { " (front)" } else { "" };
            format!("{}{}{front}", title(window, 40), tag(window.reference))
        })
        .collect();
    if more > 0 {
        names.push(format!("… (+{more} more)"));
    }
    Some(names.join(", "))
}

fn title(window: &Element, most: usize) -> String {
    match own_text(window) {
        Some(text) => format!("\"{}\"", short_escaped(text.shown.trim(), most)),
        None => format!("[{}]", window.role.ax()),
    }
}
