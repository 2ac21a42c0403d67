//! From objects on the bus to elements of a tree.

use std::time::Duration;

use deskline_core::{App, Element, ElementId, Rect, Role, States, Text, Tree};

use super::names::{StateSet, role};
use super::peer::Peer;
use super::place::{self, Toplevel, Windows};
use super::walk::Node;

/// Builds the tree of what a walk has read.
pub fn build(peer: &Peer, nodes: &[Node], windows: &Windows, took: Duration) -> Tree {
    let order = document_order(nodes);
    let toplevels = &windows.toplevels;
    let offsets = offsets(peer, nodes, windows);
    let mut elements = Vec::with_capacity(order.len());
    let mut position = vec![None; nodes.len()];
    let mut dialog = None;
    for index in order {
        let node = &nodes[index];
        let parent = node.parent.and_then(|p| position[p]);
        position[index] = Some(elements.len());
        let (dx, dy) = offsets[index].unwrap_or_default();
        let container = parent
            .and_then(|p: usize| elements.get(p))
            // GTK 4's `menu` in a menu item is the menu that the item opens.
            .filter(|e: &&Element| e.native_role != "menu item")
            .map(|e| e.role);
        let mut element = element(peer, node, parent, container);
        element.extents = match offsets[index] {
            // GTK 4 without its X window: the numbers would be wrong, so there are none.
            None if peer.is_gtk4() => None,
            _ => node.extents.map(|e| e.offset(dx, dy)),
        };
        if let Some(list) = parent.and_then(|p| elements.get(p)) {
            element.extents = element.extents.map(|e| within_list(e, &element, list));
        }
        element.visible &= element.extents.is_some_and(|e| !e.is_empty());
        if node.showing && is_modal(node, &peer.name, toplevels) {
            dialog = Some(elements.len());
        }
        elements.push(element);
    }
    let app = App {
        name: peer.name.clone(),
        pid: peer.pid,
    };
    let mut tree = Tree {
        app,
        elements,
        dialog,
        partial: Vec::new(),
        took,
    };
    tree.scope_visible();
    tree
}

/// A row that is wider than its list is where the list shows it: Qt 5 makes the rows of a drop-down
/// twice as wide as the drop-down, and their centres would lie outside.
fn within_list(extents: Rect, row: &Element, list: &Element) -> Rect {
    let Some(area) = list.extents.filter(|area| !area.is_empty()) else {
        return extents;
    };
    if row.role != Role::ROW || list.role != Role::LIST || extents.w <= area.w {
        return extents;
    }
    let cut = extents.intersect(&Rect {
        y: extents.y,
        h: extents.h,
        ..area
    });
    if cut.is_empty() { extents } else { cut }
}

/// Depth first, children in their order; only what can be reached and was read.
fn document_order(nodes: &[Node]) -> Vec<usize> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack = if nodes.is_empty() { vec![] } else { vec![0] };
    while let Some(index) = stack.pop() {
        if nodes[index].role.is_none() {
            continue;
        }
        order.push(index);
        stack.extend(nodes[index].children.iter().rev());
    }
    order
}

/// What to add to each node's coordinates: nothing but for GTK 4; `None` where it is not known.
fn offsets(peer: &Peer, nodes: &[Node], windows: &Windows) -> Vec<Option<(i32, i32)>> {
    if !peer.is_gtk4() {
        return root_pane_offsets(nodes);
    }
    let frames: Vec<usize> = nodes
        .first()
        .map(|root| root.children.clone())
        .unwrap_or_default();
    let shown: Vec<usize> = frames.into_iter().filter(|&f| nodes[f].showing).collect();
    let described: Vec<(&str, Option<Rect>)> = shown
        .iter()
        .map(|&f| (nodes[f].name.as_str(), nodes[f].extents))
        .collect();
    let mut offsets = vec![None; nodes.len()];
    for (&frame, offset) in shown
        .iter()
        .zip(place::offsets(&described, &windows.toplevels))
    {
        offsets[frame] = offset;
    }
    inherit(nodes, &mut offsets);
    if !windows.popups.is_empty() {
        let at = |index: usize| {
            let (dx, dy) = offsets[index]?;
            Some(nodes[index].extents?.offset(dx, dy))
        };
        let placed: Vec<Option<(Rect, Rect)>> = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| Some((at(index).filter(|_| node.showing)?, at(node.parent?)?)))
            .collect();
        let found = place::popup_offsets(&placed, &windows.popups);
        let moved = |index: usize| {
            found
                .iter()
                .find(|(node, _)| *node == index)
                .map(|(_, by)| *by)
        };
        let mut by = vec![None; nodes.len()];
        (0..nodes.len()).for_each(|index| by[index] = moved(index));
        inherit(nodes, &mut by);
        for (offset, by) in offsets.iter_mut().zip(by) {
            if let (Some((x, y)), Some((dx, dy))) = (offset.as_mut(), by) {
                (*x, *y) = (*x + dx, *y + dy);
            }
        }
    }
    offsets
}

/// LibreOffice does not know of its own menu bar until its window is resized: its root pane fills
/// the panel that it is in, and says that it begins higher. What is in it and outside its container
/// as it says, but inside as it is, is a widget of GTK's and right.
fn root_pane_offsets(nodes: &[Node]) -> Vec<Option<(i32, i32)>> {
    let within = |inner: Rect, outer: Rect| inner.intersect(&outer) == inner;
    let mut offsets = vec![Some((0, 0)); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        let (Some(own), Some(outer)) = (node.extents, nodes[parent].extents) else {
            offsets[index] = offsets[parent];
            continue;
        };
        let same_size = (own.w, own.h) == (outer.w, outer.h);
        let by = offsets[parent].unwrap_or_default();
        offsets[index] = if node.role == Some(role::ROOT_PANE) && same_size {
            Some((outer.x + by.0 - own.x, outer.y + by.1 - own.y))
        } else if by != (0, 0) && !within(own, outer) && within(own, outer.offset(by.0, by.1)) {
            Some((0, 0))
        } else {
            Some(by)
        };
    }
    offsets
}

/// Gives each node what its container has, where it has nothing of its own.
fn inherit(nodes: &[Node], offsets: &mut [Option<(i32, i32)>]) {
    // A container always comes before what is in it.
    for index in 0..nodes.len() {
        if let (None, Some(parent)) = (offsets[index], nodes[index].parent) {
            offsets[index] = offsets[parent];
        }
    }
}

/// A modal dialog: it, or its window, says so.
fn is_modal(node: &Node, app: &str, toplevels: &[Toplevel]) -> bool {
    let dialog = matches!(
        node.role,
        Some(role::DIALOG | role::FILE_CHOOSER | role::ALERT | role::FRAME | role::WINDOW)
    );
    let says = node.states.has(StateSet::MODAL);
    let window_says =
        || node.name != app && toplevels.iter().any(|t| t.modal && t.title == node.name);
    dialog && (says || node.parent == Some(0) && window_says())
}

/// The id of an object: bus name and path as one.
pub fn element_id(bus_name: &str, path: &str) -> ElementId {
    ElementId::new(format!("{bus_name}{path}"))
}

/// The bus name and path of an id.
pub fn split_id(id: &ElementId) -> Option<(&str, &str)> {
    let id = id.as_str();
    id.find('/').map(|at| id.split_at(at))
}

fn element(peer: &Peer, node: &Node, parent: Option<usize>, container: Option<Role>) -> Element {
    let number = node.role.unwrap_or_default();
    let (mut ax, native) = Role::from_atspi(number);
    if let Some(container) = container {
        ax = ax.inside(container, &native);
    }
    if ax == Role::TEXT_FIELD && node.states.has(StateSet::MULTI_LINE) {
        ax = Role::TEXT_AREA;
    }
    let name = match node.name.as_str() {
        // What GTK 4.8 calls each tab of a notebook; its label says which one.
        "Tab" if peer.is_gtk4() && number == role::PAGE_TAB => "",
        name if peer.is_gtk4() => gtk4_name(name),
        name => name,
    };
    let title = if name.is_empty() { &node.label } else { name };
    let owner = node.owner.as_deref().unwrap_or(&peer.bus_name);
    Element {
        id: element_id(owner, node.place.as_deref().unwrap_or(&node.path)),
        reference: None,
        parent,
        role: ax,
        native_role: native,
        title: Text::new(title),
        value: node.value.clone(),
        description: Text::new(node.description.as_str()),
        extents: None,
        visible: node.showing && !node.states.has(StateSet::ICONIFIED),
        states: states(node.states, number, peer.is_gtk4()),
        children_read: node.children_read,
    }
}

/// GTK 4 names a widget that has no name after its class (`GtkButton`), and joins a name that it
/// finds twice (`5 5`).
fn gtk4_name(name: &str) -> &str {
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

fn states(set: StateSet, number: u32, gtk4: bool) -> States {
    let mut states = States::empty();
    // GTK 4.8 calls a toggle button a push button, and no other button of its is ever pressed.
    let toggles = number == role::TOGGLE_BUTTON || gtk4 && number == role::PUSH_BUTTON;
    let pressed = toggles && set.has(StateSet::PRESSED);
    states.set(States::FOCUSED, set.has(StateSet::FOCUSED));
    states.set(States::SELECTED, set.has(StateSet::SELECTED));
    states.set(States::CHECKED, set.has(StateSet::CHECKED) || pressed);
    let can_be_mixed = matches!(
        number,
        role::CHECK_BOX | role::CHECK_MENU_ITEM | role::TOGGLE_BUTTON | role::TABLE_CELL
    );
    states.set(
        States::MIXED,
        can_be_mixed && set.has(StateSet::INDETERMINATE),
    );
    let expandable = set.has(StateSet::EXPANDABLE) || set.has(StateSet::COLLAPSED);
    states.set(States::EXPANDED, set.has(StateSet::EXPANDED));
    states.set(
        States::COLLAPSED,
        expandable && !set.has(StateSet::EXPANDED),
    );
    // Windows and plain containers say neither; only what takes input can be disabled.
    let enabled = set.has(StateSet::ENABLED) || set.has(StateSet::SENSITIVE);
    states.set(States::DISABLED, !enabled && takes_input(number));
    let editable = set.has(StateSet::EDITABLE) && !set.has(StateSet::READ_ONLY);
    states.set(States::EDITABLE, editable);
    states.set(States::SECURE, number == role::PASSWORD_TEXT);
    states
}

fn takes_input(number: u32) -> bool {
    let (ax, _) = Role::from_atspi(number);
    ax.is_interactive()
}

#[cfg(test)]
mod tests {
    use super::gtk4_name;

    #[test]
    fn a_gtk4_name_is_said_once_and_is_no_class() {
        assert_eq!(gtk4_name("5 5"), "5");
        assert_eq!(gtk4_name("Save as Save as"), "Save as");
        assert_eq!(gtk4_name("÷ ÷"), "÷");
        assert_eq!(gtk4_name("GtkMenuButton"), "");
        assert_eq!(gtk4_name("Gtk Demo"), "Gtk Demo");
        assert_eq!(gtk4_name("Gtk"), "Gtk");
        assert_eq!(gtk4_name("a b"), "a b");
        assert_eq!(gtk4_name(""), "");
    }
}
