//! Open menus: by the app's tree, on a display system that tells no pop-ups, and when a click in one counts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::{Role, Tree};

/// On Wayland GTK 3 ignores a click in a menu for this long after the click that has opened it: 500 ms
/// (`MENU_SHELL_TIMEOUT` in gtkmenushell.c), and some for the way to the app.
const IGNORES: Duration = Duration::from_millis(520);

/// What is known of the apps' menus.
#[derive(Debug, Default)]
pub(crate) struct Menus {
    /// Whether one was open at the app's last reading.
    open: HashMap<u32, bool>,
    /// The app that was clicked last, and when.
    clicked: Option<(u32, Instant)>,
}

impl Menus {
    /// Notes what a reading of the app shows.
    pub(crate) fn read(&mut self, pid: u32, tree: &Tree) {
        self.open.insert(pid, is_open(tree));
    }

    /// Whether a menu of the app was open at its last reading.
    pub(crate) fn is_open(&self, pid: u32) -> bool {
        self.open.get(&pid).is_some_and(|open| *open)
    }

    /// Notes a click in the app.
    pub(crate) fn clicked(&mut self, pid: u32) {
        self.clicked = Some((pid, Instant::now()));
    }

    /// How long a GTK 3 app will ignore a click in a menu that the last click has opened.
    pub(crate) fn ignores(&self, pid: u32) -> Duration {
        match self.clicked {
            Some((last, at)) if last == pid => IGNORES.saturating_sub(at.elapsed()),
            _ => Duration::ZERO,
        }
    }
}

/// Whether a menu of the app is open. A web page's own menus close by no other window, and may always show.
fn is_open(tree: &Tree) -> bool {
    tree.elements.iter().any(|element| {
        let entry = matches!(element.role, Role::MENU | Role::MENU_ITEM);
        entry && element.visible && !in_page(tree, element.parent)
    })
}

fn in_page(tree: &Tree, parent: Option<usize>) -> bool {
    let next = |index: &usize| tree.elements.get(*index)?.parent;
    let mut chain = std::iter::successors(parent, next);
    chain.any(|index| tree.elements[index].role == Role::WEB_AREA)
}
