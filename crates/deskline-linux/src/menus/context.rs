//! Finds the position of GTK 3's context menus on Wayland.
//!
//! GTK reports a pop-up's place relative to the corner of the GDK window in which it opens, as if
//! that were the corner of the toplevel, and without the pop-up's own shadow. No interface reports
//! which GDK window that is. But a context menu opens beside the clicked pixel, and some
//! compositors list pop-ups.

use deskline_core::{Element, ElementId, Point, Rect, Role, Tree};

/// The source of a context menu's position.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// The compositor: the app's pop-ups with their shadows, frontmost first.
    Popups(&'a [Rect]),
    /// The right click that has opened it, and the screen that the menu stays on, if it is known.
    Click(Point, Option<Rect>),
    /// There is no source.
    Nothing,
}

/// How certain the position of a context menu is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The compositor reports it.
    Reported,
    /// Computed from a right click, which may not have opened it.
    Inferred,
    /// Unknown.
    Not,
}

/// A visible item of a context menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) id: ElementId,
    /// The assumed bounds.
    pub(crate) place: Rect,
    /// How certain the bounds are.
    pub(crate) known: Known,
}

/// Corrects the positions of items of GTK 3's context menus. Returns the visible ones.
pub(crate) fn place(tree: &mut Tree, source: Source<'_>) -> Vec<Item> {
    let menus: Vec<usize> = (0..tree.elements.len())
        .filter(|index| is_context_menu(tree, *index))
        .collect();
    let mut items = Vec::new();
    for menu in menus {
        let offset = offset(tree, menu, source);
        let known = match source {
            _ if offset.is_none() => Known::Not,
            Source::Popups(_) => Known::Reported,
            Source::Click(..) => Known::Inferred,
            Source::Nothing => Known::Not,
        };
        let below = below_first_item(tree, menu);
        // Descendants follow their ancestor.
        for index in menu..tree.elements.len() {
            let Some(depth) = depth(tree, menu, index) else {
                break;
            };
            let element = &mut tree.elements[index];
            if let (Some(extents), Some((x, y))) = (&mut element.extents, offset) {
                *extents = extents.offset(x + depth * below.0, y + depth * below.1);
            }
            if let (true, Role::MENU_ITEM, Some(place)) =
                (element.visible, element.role, element.extents)
            {
                items.push(Item {
                    id: element.id.clone(),
                    place,
                    known,
                });
            }
        }
        let window = tree.elements[menu].parent.filter(|w| is_window(tree, *w));
        if let (Some(window), Some((x, y))) = (window, offset) {
            let extents = &mut tree.elements[window].extents;
            *extents = extents.map(|e| e.offset(x, y));
        }
    }
    items
}

/// The open pop-ups of GTK 4.8, whose places are unknown. It reports each of them at the corner of
/// the widget that it belongs to. GTK 4.18 reports their places.
pub(crate) fn without_places(tree: &Tree) -> Vec<Item> {
    let corner = |e: &Element| e.extents.map(|e| (e.x, e.y));
    let is_lost = |e: &&Element| {
        let parent = e.parent.and_then(|at| tree.elements.get(at));
        let pops_up = e.visible && matches!(e.role, Role::MENU | Role::POPOVER);
        pops_up && parent.and_then(corner) == corner(e)
    };
    let item = |e: &Element| {
        let (id, place, known) = (e.id.clone(), e.extents?, Known::Not);
        Some(Item { id, place, known })
    };
    let lost = tree.elements.iter().filter(is_lost);
    lost.filter_map(item).collect()
}

/// Whether this is an open menu that is in no window's menu bar and no combo box.
fn is_context_menu(tree: &Tree, index: usize) -> bool {
    let element = &tree.elements[index];
    element.role == Role::MENU
        && element.visible
        && element.parent.is_some_and(|parent| is_window(tree, parent))
        && !is_of_window(tree, element)
        && !in_page(tree, element.parent)
}

/// Whether this is the window of a pop-up. GTK 3 gives other windows the role of a frame or a
/// dialog.
fn is_window(tree: &Tree, index: usize) -> bool {
    let element = &tree.elements[index];
    element.role == Role::WINDOW && &*element.native_role == "window"
}

/// The difference between the menu's real position and GTK's.
fn offset(tree: &Tree, menu: usize, source: Source<'_>) -> Option<(i32, i32)> {
    let window = tree.elements[menu].parent?;
    let outer = tree.elements[window].extents?;
    let inner = tree.elements[menu].extents?;
    match source {
        Source::Popups(popups) => {
            // The pop-ups of its submenus are in front of its own.
            let its = popups
                .iter()
                .rev()
                .find(|p| (p.w, p.h) == (outer.w, outer.h))?;
            Some((its.x - outer.x, its.y - outer.y))
        }
        Source::Click(at, screen) => {
            let corner = opens_at(at, inner, screen);
            Some((corner.x - inner.x, corner.y - inner.y))
        }
        Source::Nothing => None,
    }
}

/// The position of a menu of this size for a click: below and to the right, and if it does not fit
/// there, where it fits. GTK requests this with an xdg_positioner that flips, then slides.
fn opens_at(at: Point, size: Rect, screen: Option<Rect>) -> Point {
    let along = |at: i32, size: i32, keeps: Option<(i32, i32)>| {
        let after = at.saturating_add(1);
        match keeps {
            Some((start, end)) if after.saturating_add(size) > end => {
                let flipped = at.saturating_sub(size);
                if flipped >= start {
                    flipped
                } else {
                    end.saturating_sub(size).max(start)
                }
            }
            _ => after,
        }
    };
    let screen = screen.filter(|screen| screen.contains(at));
    Point {
        x: along(at.x, size.w, screen.map(|s| (s.x, s.x.saturating_add(s.w)))),
        y: along(at.y, size.h, screen.map(|s| (s.y, s.y.saturating_add(s.h)))),
    }
}

/// The distance from the menu's corner to its first item. GTK reports a submenu relative to the
/// first item as if that were the corner of the menu's window.
fn below_first_item(tree: &Tree, menu: usize) -> (i32, i32) {
    let corner = tree.elements[menu].extents;
    let first = tree
        .elements
        .iter()
        .filter(|e| e.parent == Some(menu) && e.visible)
        .find_map(|e| e.extents);
    match (corner, first) {
        (Some(menu), Some(first)) => (first.x - menu.x, first.y - menu.y),
        _ => (0, 0),
    }
}

/// The depth of an element in submenus; `None` if it is not in the menu.
fn depth(tree: &Tree, menu: usize, index: usize) -> Option<i32> {
    if index == menu {
        return Some(0);
    }
    let mut depth = 0;
    for ancestor in above(tree, tree.elements[index].parent) {
        if ancestor == menu {
            return Some(depth);
        }
        depth += i32::from(tree.elements[ancestor].role == Role::MENU_ITEM);
    }
    None
}

/// Whether a menu item belongs to a menu bar or a combo box of a window. GTK 3's context menus are
/// toplevels.
pub(crate) fn is_of_window(tree: &Tree, item: &Element) -> bool {
    let mut above = above(tree, item.parent);
    above.any(|index| matches!(tree.elements[index].role, Role::MENU_BAR | Role::COMBO_BOX))
}

pub(super) fn in_page(tree: &Tree, parent: Option<usize>) -> bool {
    above(tree, parent).any(|index| tree.elements[index].role == Role::WEB_AREA)
}

/// The ancestors of an element, from its parent upwards.
pub(super) fn above(tree: &Tree, parent: Option<usize>) -> impl Iterator<Item = usize> {
    std::iter::successors(parent, |index| tree.elements.get(*index)?.parent)
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
    fn a_menu_is_beside_the_pixel_that_was_clicked() {
        let mut tree = menu();
        let items = place(&mut tree, Source::Click(Point { x: 860, y: 261 }, None));
        assert_eq!(corners(&tree, [2, 3, 4, 5, 6]), THERE);
        assert_eq!(corners(&tree, [1, 1, 1, 1, 7])[4], (410, 190));
        let places: Vec<_> = items.iter().map(|i| (i.place.x, i.known)).collect();
        assert_eq!(places, [861, 861, 1024].map(|x| (x, Known::Inferred)));
    }

    #[test]
    fn a_menu_is_placed_at_its_pop_up() {
        let popups = [Rect::at(1018, 335, 167, 98), Rect::at(855, 257, 177, 124)];
        let mut tree = menu();
        let items = place(&mut tree, Source::Popups(&popups));
        assert_eq!(corners(&tree, [2, 3, 4, 5, 6]), THERE);
        assert!(items.iter().all(|item| item.known == Known::Reported));
        // Its own pop-up has not opened yet.
        let mut tree = menu();
        let items = place(&mut tree, Source::Popups(&popups[..1]));
        assert_eq!(corners(&tree, [2, 3, 4, 5, 6])[1], (511, 241));
        assert!(items.iter().all(|item| item.known == Known::Not) && items.len() == 3);
    }

    #[test]
    fn a_menu_at_the_edge_of_the_screen_opens_to_the_other_side() {
        let screen = Some(Rect::at(0, 0, 1600, 900));
        let opens = |x, y, size| {
            let corner = opens_at(Point { x, y }, size, screen);
            (corner.x, corner.y)
        };
        let menu = Rect::at(0, 0, 165, 112);
        assert_eq!(opens(1434, 787, menu), (1435, 788));
        assert_eq!(opens(1435, 788, menu), (1270, 676));
        assert_eq!(opens(1599, 100, menu), (1434, 101));
        // The menu fits on neither side.
        assert_eq!(opens(100, 450, Rect::at(0, 0, 165, 700)), (101, 200));
        assert_eq!(opens(100, 450, Rect::at(0, 0, 165, 1000)), (101, 0));
    }
}
