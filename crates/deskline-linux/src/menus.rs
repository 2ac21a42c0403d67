//! Finds open menus in the app's tree, for display systems that report no pop-ups. Also finds the
//! time from which a menu takes clicks.

pub(crate) mod context;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use deskline_core::{Element, Role, States, Tree};

/// How long GTK 3 ignores clicks in a menu on Wayland, after the click that opened it: 500 ms
/// (`MENU_SHELL_TIMEOUT` in gtkmenushell.c), and the time that a click takes to reach the app. GTK
/// compares the times at which the compositor handled the clicks. A busy compositor handles the
/// first one late, but before the menu shows.
const IGNORES: Duration = Duration::from_millis(520);

/// The state of the apps' menus.
#[derive(Debug, Default)]
pub(crate) struct Menus {
    /// The apps that had a menu open when their tree was last read.
    open: HashSet<u32>,
    clicked: Option<Clicked>,
    /// The app whose tree, when last read, had an open menu at an unknown place.
    lost: Option<u32>,
}

#[derive(Debug)]
struct Clicked {
    pid: u32,
    /// The latest possible time of the click. Once a menu is seen open after the click, the time at
    /// which the menu was seen.
    at: Instant,
    /// Whether a menu was seen open after the click.
    opened: bool,
}

impl Menus {
    /// Records the open menus in an app's tree, and whether the place of a menu is unknown
    /// (`lost`). Forgets apps that have ended.
    pub(crate) fn read(&mut self, pid: u32, tree: &Tree, lost: bool, lives: impl Fn(u32) -> bool) {
        self.lost = lost.then_some(pid);
        self.open.retain(|known| *known != pid && lives(*known));
        if is_open(tree) {
            self.open.insert(pid);
            let clicked = self.clicked.as_mut();
            if let Some(clicked) = clicked.filter(|c| c.pid == pid && !c.opened) {
                clicked.at = Instant::now();
                clicked.opened = true;
            }
        }
    }

    /// Whether a menu of the app was open when its tree was last read.
    pub(crate) fn is_open(&self, pid: u32) -> bool {
        self.open.contains(&pid)
    }

    /// Whether the app's tree, when last read, had an open menu at an unknown place.
    pub(crate) fn is_lost(&self, pid: u32) -> bool {
        self.lost == Some(pid)
    }

    /// Records a click in the app.
    pub(crate) fn clicked(&mut self, pid: u32) {
        self.clicked = Some(Clicked {
            pid,
            at: Instant::now(),
            opened: false,
        });
    }

    /// How long a GTK 3 app still ignores a click in a menu that the last click has opened.
    pub(crate) fn ignores(&self, pid: u32) -> Duration {
        match &self.clicked {
            Some(clicked) if clicked.pid == pid => IGNORES.saturating_sub(clicked.at.elapsed()),
            _ => Duration::ZERO,
        }
    }
}

/// Whether a menu of the app, the list of a combo box or a button's popover is open. When another
/// window gets the keyboard, such a pop-up closes, or in GTK 4 keeps the other window from getting
/// it. Menus and lists of a web page do not count: they do not close then, and may show all the
/// time.
pub(crate) fn is_open(tree: &Tree) -> bool {
    let is_entry = |(index, element): (usize, &Element)| match element.role {
        Role::MENU | Role::MENU_ITEM => true,
        Role::ROW => in_open_combo_box(tree, index),
        _ => tree.is_popover(index),
    };
    let mut all = tree.elements.iter().enumerate();
    all.any(|each| each.1.visible && is_entry(each) && tree.page_around(each.0).is_none())
}

/// Whether an element is in the list that a combo box has opened. GTK 4 and Qt 6 have list items
/// there.
fn in_open_combo_box(tree: &Tree, row: usize) -> bool {
    tree.outwards(row).any(|index| {
        let element = &tree.elements[index];
        element.role == Role::COMBO_BOX && element.states.contains(States::EXPANDED)
    })
}

/// Corrects the positions of the items of GTK 3's menu bars on Wayland. GTK reports an item from
/// the corner of the bar, the GDK window that the menu opens from, as if that were the corner of
/// the toplevel.
pub(crate) fn place_in_bars(tree: &mut Tree) {
    let corner = |index: usize| tree.elements[index].extents.map(|e| (e.x, e.y));
    let offset = |index: usize| {
        let is_bar = |index: &usize| tree.elements[*index].role == Role::MENU_BAR;
        // Elements of the bar itself have correct places.
        let bar = tree.outwards(index).skip(2).find(is_bar)?;
        let (x, y) = corner(bar)?;
        let (left, top) = corner(tree.toplevel(bar)?)?;
        Some((x - left, y - top))
    };
    let offsets: Vec<Option<(i32, i32)>> = (0..tree.elements.len()).map(offset).collect();
    for (element, offset) in tree.elements.iter_mut().zip(offsets) {
        if let (Some(extents), Some((x, y))) = (&mut element.extents, offset) {
            *extents = extents.offset(x, y);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use deskline_core::{App, Coordinates, ElementId, Rect};

    use super::context::is_of_window;
    use super::*;

    pub(super) fn tree(elements: &[(Option<usize>, Role, (i32, i32))]) -> Tree {
        let element = |(n, (parent, role, (x, y))): (usize, &(_, _, _))| Element {
            parent: *parent,
            extents: Rect::new(*x, *y, 40, 26),
            ..Element::new(ElementId::new(format!("/{n}")), *role, "")
        };
        Tree {
            coordinates: Coordinates::Window,
            ..Tree::new(
                App::new(7, ""),
                elements.iter().enumerate().map(element).collect(),
            )
        }
    }

    #[test]
    fn a_menu_of_a_menu_bar_is_placed_at_the_bar() {
        let mut tree = tree(&[
            (None, Role::APPLICATION, (0, 0)),
            (Some(0), Role::WINDOW, (100, 50)),
            (Some(1), Role::MENU_BAR, (126, 110)),
            (Some(2), Role::MENU_BAR_ITEM, (126, 110)),
            (Some(3), Role::MENU_ITEM, (106, 81)),
            (Some(4), Role::MENU_ITEM, (243, 81)),
            (Some(1), Role::COMBO_BOX, (200, 200)),
            (Some(6), Role::MENU_ITEM, (206, 209)),
            (Some(0), Role::MENU_ITEM, (300, 300)),
        ]);
        place_in_bars(&mut tree);
        let at = |index: usize| tree.elements[index].extents.map(|e| (e.x, e.y));
        assert_eq!([at(2), at(3)], [Some((126, 110)); 2]);
        assert_eq!([at(4), at(5)], [Some((132, 141)), Some((269, 141))]);
        assert_eq!([at(7), at(8)], [Some((206, 209)), Some((300, 300))]);
        let of_window = |index: usize| is_of_window(&tree, index);
        assert_eq!([4, 5, 7, 8].map(of_window), [true, true, true, false]);
    }

    #[test]
    fn the_list_of_a_combo_box_is_open_while_the_box_is_expanded() {
        let mut combo = tree(&[
            (None, Role::WINDOW, (0, 0)),
            (Some(0), Role::COMBO_BOX, (10, 10)),
            (Some(1), Role::LIST, (10, 40)),
            (Some(2), Role::ROW, (10, 40)),
        ]);
        assert!(!is_open(&combo));
        combo.elements[1].states = States::EXPANDED;
        assert!(is_open(&combo));
        combo.elements[0].role = Role::WEB_AREA;
        assert!(!is_open(&combo));
    }

    #[test]
    fn an_app_that_has_ended_has_no_menu() {
        let open = tree(&[(None, Role::MENU_ITEM, (0, 0))]);
        let closed = tree(&[(None, Role::BUTTON, (0, 0))]);
        let mut menus = Menus::default();
        menus.read(7, &open, false, |_| true);
        menus.read(8, &open, false, |_| true);
        assert!(menus.is_open(7) && menus.is_open(8));
        menus.read(8, &closed, false, |_| true);
        assert!(menus.is_open(7) && !menus.is_open(8));
        menus.read(8, &closed, false, |pid| pid != 7);
        assert!(menus.open.is_empty());
    }

    #[test]
    fn a_menu_accepts_clicks_only_some_time_after_it_is_first_seen() {
        let open = tree(&[(None, Role::MENU_ITEM, (0, 0))]);
        let mut menus = Menus::default();
        let at = |menus: &Menus| menus.clicked.as_ref().map(|clicked| clicked.at);
        menus.clicked(7);
        let clicked = at(&menus);
        menus.read(8, &open, false, |_| true);
        assert_eq!(at(&menus), clicked);
        menus.read(7, &open, false, |_| true);
        let seen = at(&menus);
        assert!(seen > clicked && menus.ignores(7) > Duration::ZERO);
        menus.read(7, &open, false, |_| true);
        assert_eq!(at(&menus), seen);
        assert_eq!(menus.ignores(8), Duration::ZERO);
    }
}
