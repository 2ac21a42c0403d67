//! Open menus, by the app's tree: on a display system that tells no pop-ups.

use deskline_core::{Role, Tree};

/// Whether a menu of the app is open. A web page's own menus close by no other window, and may always show.
pub(crate) fn is_open(tree: &Tree) -> bool {
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
