//! GTK 3 and GTK 4.

use deskline_core::{Element, Rect, Role};

use crate::names::{StateSet, role};

/// Whether an object of that role clips its contents. GTK 3's page tab contains its page, and has
/// the extents of its label alone.
pub(crate) fn clips_children(number: Option<u32>) -> bool {
    number != Some(role::PAGE_TAB)
}

/// Whether an object is a viewport that shows although it lacks the state SHOWING. GTK 3.24 clears
/// that state on a viewport that was scrolled by more than its height.
pub(crate) fn viewport_shows(number: u32, states: StateSet) -> bool {
    number == role::VIEWPORT && states.has(StateSet::VISIBLE)
}

/// A name without GTK 4's additions. GTK 4 names a widget without a name after its class
/// (`GtkButton`), and doubles a name that it finds twice (`5 5`):
/// `gtk_at_context_get_name_accumulate` in gtkatcontext.c. GTK 4.8 names each tab of a notebook
/// `Tab`, though the tab's label has the real name.
pub(super) fn gtk4_name(name: &str, number: u32) -> &str {
    if name == "Tab" && number == role::PAGE_TAB {
        return "";
    }
    let class = ["Gtk", "Adw"].iter().any(|prefix| {
        let rest = name.strip_prefix(prefix).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_uppercase())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    if class {
        return "";
    }
    let middle = name.len() / 2;
    match (name.get(..middle), name.get(middle..)) {
        (Some(first), Some(second)) if second.strip_prefix(' ') == Some(first) => first,
        _ => name,
    }
}

/// Names the buttons of stack switchers by the labels in them. GTK 4 names such a button by the
/// title of its page, with the underscore of the mnemonic. The label has the title as it is shown.
pub(crate) fn drop_mnemonics(elements: &mut [Element]) {
    for index in 1..elements.len() {
        let (before, after) = elements.split_at_mut(index);
        let label = &after[0].title;
        let tab = after[0].parent.and_then(|parent| before.get_mut(parent));
        let is_its = |tab: &&mut Element| {
            let title = &tab.title.shown;
            tab.role == Role::TAB
                && title.contains('_')
                && title.replacen('_', "", 1) == label.shown
        };
        if let Some(tab) = tab.filter(is_its) {
            tab.title = label.clone();
        }
    }
}

/// The tolerance for a pop-up's reported size, which may be off by a pixel.
const LEEWAY: i32 = 2;

/// The offsets, in pixels, of GTK 4's popovers and their contents from their reported extents.
/// `nodes` has the extents of each node and of its container, mapped by their toplevel. Each result
/// is a node that belongs to a pop-up window, and its offset.
///
/// GTK 4 reports a popover's extents as if the popover's window began at the corner of its
/// container. The extents end where that window ends.
pub(crate) fn popup_offsets(
    nodes: &[Option<(Rect, Rect)>],
    popups: &[Rect],
) -> Vec<(usize, (i32, i32))> {
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

/// A tool tip's window is larger than its text by at most this, in pixels at scale 2.
const PADDING: i32 = 60;

/// The offsets of GTK 4's tool tips among `nodes`, which are children of toplevels. Each tool tip
/// lies in the middle of a pop-up window, and its reported extents are relative to that window.
pub(crate) fn tool_tips(nodes: &[(usize, Rect)], popups: &[Rect]) -> Vec<(usize, (i32, i32))> {
    let fits = |own: &Rect, popup: &Rect| {
        let (x, y) = (popup.w - own.w, popup.h - own.h);
        (1..=PADDING).contains(&x) && (1..=PADDING).contains(&y)
    };
    let place = |(node, own): &(usize, Rect)| {
        let popup = popups.iter().find(|popup| fits(own, popup))?;
        let (x, y) = ((popup.w - own.w) / 2, (popup.h - own.h) / 2);
        Some((*node, (popup.x + x - own.x, popup.y + y - own.y)))
    };
    nodes.iter().filter_map(place).collect()
}

/// The maximum distance, in pixels, of a popover's reported extents from its pop-up window, in a
/// native Wayland window. At scale 1 the distance is 9 pixels.
const BESIDE: i32 = 40;

/// The offsets, in pixels, of GTK 4's popovers in native Wayland windows, and of their contents,
/// from their reported extents. Each result is one of `nodes` that belongs to a pop-up window, and
/// its offset.
///
/// GTK 4.18 reports a popover's extents with its shadow, shifted against the popover's window by a
/// part of the shadow.
pub(crate) fn beside_popups(nodes: &[(usize, Rect)], popups: &[Rect]) -> Vec<(usize, (i32, i32))> {
    let mut found: Vec<(usize, (i32, i32))> = Vec::new();
    for popup in popups {
        let off = |own: &Rect| (popup.x.saturating_sub(own.x), popup.y.saturating_sub(own.y));
        let far = |own: &Rect| off(own).0.saturating_abs().max(off(own).1.saturating_abs());
        let same = |a: i32, b: i32| a.saturating_sub(b).saturating_abs() <= LEEWAY;
        let fits = |(node, own): &&(usize, Rect)| {
            same(own.w, popup.w)
                && same(own.h, popup.h)
                && far(own) <= BESIDE
                && found.iter().all(|(taken, _)| taken != node)
        };
        let nearest = nodes.iter().filter(fits).min_by_key(|(_, own)| far(own));
        if let Some((node, own)) = nearest {
            found.push((*node, off(own)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_gtk4_name_is_halved_and_a_class_name_is_dropped() {
        let name = |name| gtk4_name(name, role::PUSH_BUTTON);
        assert_eq!(name("5 5"), "5");
        assert_eq!(name("Save as Save as"), "Save as");
        assert_eq!(name("÷ ÷"), "÷");
        assert_eq!(name("GtkMenuButton"), "");
        assert_eq!(name("Gtk Demo"), "Gtk Demo");
        assert_eq!(name("Gtk"), "Gtk");
        assert_eq!(name("a b"), "a b");
        assert_eq!(name("Tab"), "Tab");
        assert_eq!(gtk4_name("Tab", role::PAGE_TAB), "");
        assert_eq!(name(""), "");
    }

    #[test]
    fn a_tool_tip_is_moved_to_the_middle_of_its_own_window() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let nodes = [(1, rect(5, 5, 690, 510)), (2, rect(16, 12, 205, 16))];
        assert_eq!(tool_tips(&nodes, &[rect(1, 50, 225, 28)]), [(2, (-5, 44))]);
        assert_eq!(tool_tips(&nodes, &[rect(1, 50, 205, 16)]), []);
    }

    #[test]
    fn a_wayland_popover_is_moved_to_the_place_of_its_own_window() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        // GTK 4.18, and the popover's contents.
        let menu = (5, rect(406, 267, 138, 108));
        let nodes = [
            (1, rect(403, 196, 795, 540)),
            menu,
            (6, rect(409, 269, 120, 30)),
        ];
        let window = rect(400, 259, 138, 108);
        assert_eq!(beside_popups(&nodes, &[window]), [(5, (-6, -8))]);
        assert_eq!(beside_popups(&nodes, &[rect(700, 259, 138, 108)]), []);
        let far = rect(i32::MIN, i32::MAX, 138, 108);
        assert_eq!(beside_popups(&nodes, &[far]), []);
    }

    #[test]
    fn a_popover_is_moved_to_the_place_of_its_own_window() {
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
