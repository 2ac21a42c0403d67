//! Finds the position of GTK 3's context menus on Wayland.
//!
//! GTK reports the place of a pop-up from the corner of a GDK window as if that were the corner of
//! the toplevel, and without the pop-up's shadow. No interface tells which GDK window that is. But
//! some compositors list pop-ups.

use deskline_core::{Element, Rect, Role, Tree};

/// Corrects the positions of the items of GTK 3's context menus. `popups` are the app's pop-ups
/// with their shadows, frontmost first. Returns whether the place of a menu is still unknown.
pub(crate) fn place(tree: &mut Tree, popups: &[Rect]) -> bool {
    let menus: Vec<usize> = (0..tree.elements.len())
        .filter(|index| is_context_menu(tree, *index))
        .collect();
    let mut lost = false;
    for menu in menus {
        let Some((x, y)) = offset(tree, menu, popups) else {
            lost = true;
            continue;
        };
        let below = below_first_item(tree, menu);
        // In the list of elements, descendants follow their ancestor.
        for index in menu..tree.elements.len() {
            let Some(depth) = depth(tree, menu, index) else {
                break;
            };
            if let Some(extents) = &mut tree.elements[index].extents {
                *extents = extents.offset(x + depth * below.0, y + depth * below.1);
            }
        }
        if let Some(window) = tree.elements[menu].parent.filter(|w| is_window(tree, *w)) {
            let extents = &mut tree.elements[window].extents;
            *extents = extents.map(|e| e.offset(x, y));
        }
    }
    lost
}

/// Whether a pop-up is open whose place GTK does not report. GTK 4.8 reports every pop-up at the
/// corner of the widget that the pop-up belongs to. GTK 4.18 reports the real place.
pub(crate) fn has_lost(tree: &Tree) -> bool {
    let corner = |e: &Element| e.extents.map(|e| (e.x, e.y));
    let is_lost = |e: &Element| {
        let parent = e.parent.and_then(|at| tree.elements.get(at));
        let pops_up = e.visible && matches!(e.role, Role::MENU | Role::POPOVER);
        pops_up && e.extents.is_some() && parent.and_then(corner) == corner(e)
    };
    tree.elements.iter().any(is_lost)
}

/// Whether this is an open menu that is in no window's menu bar and no combo box.
fn is_context_menu(tree: &Tree, index: usize) -> bool {
    let element = &tree.elements[index];
    element.role == Role::MENU
        && element.visible
        && element.parent.is_some_and(|parent| is_window(tree, parent))
        && !is_of_window(tree, index)
        && tree.page_around(index).is_none()
}

/// Whether this is the window of a pop-up. GTK 3 gives other windows the role of a frame or a
/// dialog.
fn is_window(tree: &Tree, index: usize) -> bool {
    let element = &tree.elements[index];
    element.role == Role::WINDOW && &*element.native_role == "window"
}

/// The difference between the menu's real position and the one that GTK reports.
fn offset(tree: &Tree, menu: usize, popups: &[Rect]) -> Option<(i32, i32)> {
    let outer = tree.elements[tree.elements[menu].parent?].extents?;
    // The pop-ups of submenus are in front of that of the menu, so this searches from the back.
    let mut all = popups.iter().rev();
    let its = all.find(|p| (p.w, p.h) == (outer.w, outer.h))?;
    Some((its.x - outer.x, its.y - outer.y))
}

/// The distance from the menu's corner to its first item. GTK reports the place of a submenu from
/// the first item as if that were the corner of the menu's window.
fn below_first_item(tree: &Tree, menu: usize) -> (i32, i32) {
    let corner = tree.elements[menu].extents;
    let first = tree
        .elements
        .iter()
        .filter(|e| e.parent == Some(menu) && e.visible)
        .find_map(|e| e.extents);
    let offset = corner.zip(first);
    offset.map_or((0, 0), |(menu, first)| (first.x - menu.x, first.y - menu.y))
}

/// How many submenus deep an element is in the menu; `None` if it is not in the menu.
fn depth(tree: &Tree, menu: usize, index: usize) -> Option<i32> {
    if index == menu {
        return Some(0);
    }
    let mut depth = 0;
    for ancestor in tree.outwards(index).skip(1) {
        if ancestor == menu {
            return Some(depth);
        }
        depth += i32::from(tree.elements[ancestor].role == Role::MENU_ITEM);
    }
    None
}

/// Whether a menu item belongs to a menu bar or a combo box of a window. GTK 3's context menus are
/// toplevels.
pub(crate) fn is_of_window(tree: &Tree, item: usize) -> bool {
    let mut around = tree.outwards(item).skip(1);
    around.any(|index| matches!(tree.elements[index].role, Role::MENU_BAR | Role::COMBO_BOX))
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    /// GTK 3.24's description of a menu that has opened for a click at (860, 261), in the middle of
    /// a list whose corner is at (356, 26) of the window, and of a submenu of it.
    fn menu() -> Tree {
        let mut tree = tree(&[
            (None, Role::APPLICATION, (0, 0)),
            (Some(0), Role::WINDOW, (404, 180)),
            (Some(0), Role::WINDOW, (505, 236)),
            (Some(2), Role::MENU, (511, 241)),
            (Some(3), Role::MENU_ITEM, (511, 245)),
            (Some(3), Role::MENU_ITEM, (511, 323)),
            (Some(5), Role::MENU_ITEM, (674, 319)),
            (Some(1), Role::BUTTON, (410, 190)),
        ]);
        tree.elements[2].native_role = "window".into();
        tree.elements[2].extents = Some(Rect::at(505, 236, 177, 124));
        tree.elements[3].extents = Some(Rect::at(511, 241, 165, 112));
        tree
    }

    fn corners(tree: &Tree, of: [usize; 5]) -> [(i32, i32); 5] {
        of.map(|i| tree.elements[i].extents.map_or((0, 0), |e| (e.x, e.y)))
    }

    const THERE: [(i32, i32); 5] = [(855, 257), (861, 262), (861, 266), (861, 344), (1024, 344)];

    #[test]
    fn a_menu_is_placed_at_its_pop_up() {
        let popups = [Rect::at(1018, 335, 167, 98), Rect::at(855, 257, 177, 124)];
        let mut tree = menu();
        assert!(!place(&mut tree, &popups));
        assert_eq!(corners(&tree, [2, 3, 4, 5, 6]), THERE);
        assert_eq!(corners(&tree, [7; 5])[0], (410, 190));
        // The pop-up of the menu has not opened yet.
        let mut tree = menu();
        assert!(place(&mut tree, &popups[..1]));
        assert_eq!(corners(&tree, [2, 3, 4, 5, 6])[1], (511, 241));
    }
}
