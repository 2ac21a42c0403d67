//! From objects on the bus to elements of a tree.

use std::time::Duration;

use deskline_core::{App, Element, ElementId, Rect, Role, States, Text, Tree, TreeWindow};

use super::names::{StateSet, role};
use super::pair::{self, Frame, Pair};
use super::peer::Peer;
use super::place::{self, Windows};
use super::scale::{Map, Units};
use super::walk::Node;

/// Builds the tree of what a walk has read.
pub fn build(peer: &mut Peer, nodes: &[Node], windows: &Windows, took: Duration) -> Tree {
    let order = document_order(nodes);
    let toplevels = toplevels(peer, nodes, windows);
    let peer = &*peer;
    let places = places(peer, nodes, windows, &toplevels);
    let mut elements = Vec::with_capacity(order.len());
    let mut position = vec![None; nodes.len()];
    let mut dialog = None;
    for index in order {
        let node = &nodes[index];
        let parent = node.parent.and_then(|p| position[p]);
        position[index] = Some(elements.len());
        let container = parent
            .and_then(|p: usize| elements.get(p))
            // GTK 4's `menu` in a menu item is the menu that the item opens.
            .filter(|e: &&Element| e.native_role != "menu item")
            .map(|e| e.role);
        let mut element = element(peer, node, parent, container);
        element.extents = places[index].zip(node.extents).map(|(p, e)| p.apply(e));
        if let Some(list) = parent.and_then(|p| elements.get(p)) {
            element.extents = element.extents.map(|e| within_list(e, &element, list));
        }
        element.visible &= element.extents.is_some_and(|e| !e.is_empty());
        let window_is_modal = || {
            let pair = toplevels.iter().find(|(frame, _)| *frame == index);
            let sure = pair.and_then(|(_, pair)| match pair.windows.as_slice() {
                [window] => Some(&windows.toplevels[*window]),
                _ => None,
            });
            node.name != peer.name && sure.is_some_and(|t| t.modal)
        };
        if node.showing && is_modal(node, window_is_modal) {
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
        windows: tree_windows(windows, &toplevels, &position),
        partial: Vec::new(),
        blind: Vec::new(),
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

/// The accessible toplevels that show, and the windows that they are.
fn toplevels(peer: &mut Peer, nodes: &[Node], windows: &Windows) -> Vec<(usize, Pair)> {
    let all = nodes.first().map_or(&[][..], |root| &root.children);
    // Qt and GTK 3 hang open menus and tool tips there too; no window manager knows theirs.
    let pops_up = |n: &Node| {
        use role::{COMBO_BOX, LIST, LIST_BOX, MENU, POPUP_MENU, TOOL_TIP};
        matches!(
            n.role,
            Some(COMBO_BOX | LIST | LIST_BOX | MENU | POPUP_MENU | TOOL_TIP)
        )
    };
    let is_frame = |f: &usize| nodes[*f].showing && !pops_up(&nodes[*f]);
    let shown: Vec<usize> = all.iter().copied().filter(is_frame).collect();
    let described: Vec<Frame<'_>> = shown
        .iter()
        .map(|&f| Frame {
            path: &nodes[f].path,
            title: &nodes[f].name,
            extents: nodes[f].extents,
            active: nodes[f].states.has(StateSet::ACTIVE),
        })
        .collect();
    let pairs = pair::pair(peer.units(), &described, windows, &mut peer.learnt);
    if peer.units() == Units::Gtk4 {
        let mut of: Vec<&[usize]> = Vec::new();
        let missing = described.iter().zip(&pairs).filter(|(_, pair)| {
            // Two frames that can only be the same window: one of theirs is missing.
            let alone = of.contains(&pair.windows.as_slice()) && pair.windows.len() == 1;
            of.push(&pair.windows);
            alone || pair.windows.is_empty()
        });
        peer.missing = missing.map(|(frame, _)| frame.path.to_owned()).collect();
    }
    shown.into_iter().zip(pairs).collect()
}

/// The app's windows as the tree tells of them.
fn tree_windows(
    windows: &Windows,
    toplevels: &[(usize, Pair)],
    position: &[Option<usize>],
) -> Vec<TreeWindow> {
    let windows = windows.toplevels.iter().enumerate();
    let frames = |window: usize| {
        let its = toplevels
            .iter()
            .filter(|(_, pair)| pair.windows.contains(&window));
        its.filter_map(|(frame, _)| position[*frame]).collect()
    };
    windows
        .map(|(window, toplevel)| TreeWindow {
            id: toplevel.id,
            extents: toplevel.content(),
            on_screen: toplevel.on_screen,
            elements: frames(window),
        })
        .collect()
}

/// From a node's coordinates to the screen's.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// What to add in the toolkit's own units.
    before: (i32, i32),
    map: Map,
    /// What to add in pixels.
    after: (i32, i32),
}

impl Place {
    fn apply(&self, extents: Rect) -> Rect {
        let (x, y) = self.before;
        let (dx, dy) = self.after;
        self.map.apply(extents.offset(x, y)).offset(dx, dy)
    }
}

/// The place of each node; `None` where it is not known.
fn places(
    peer: &Peer,
    nodes: &[Node],
    windows: &Windows,
    toplevels: &[(usize, Pair)],
) -> Vec<Option<Place>> {
    let gtk4 = peer.units() == Units::Gtk4;
    // What has no window of its own in the list (a menu) is on the screen of one that has. GTK 4
    // without its window has no place: the numbers would be wrong.
    let scaled = || {
        let maps = toplevels.iter().filter_map(|(_, pair)| pair.map);
        maps.max_by(|a, b| a.scale.total_cmp(&b.scale))
            .filter(|map| map.scale > 1.0)
            .unwrap_or(Map::SAME)
    };
    let elsewhere = (!gtk4).then(scaled);
    let mut maps: Vec<Option<Map>> = vec![None; nodes.len()];
    for (frame, pair) in toplevels {
        // A toolkit that counts in pixels and knows the screen is believed.
        let believed = |map: Map| {
            if gtk4 || map.scale > 1.0 {
                map
            } else {
                Map::SAME
            }
        };
        maps[*frame] = pair.map.map(believed).or(elsewhere);
    }
    inherit(nodes, &mut maps);
    let before = if gtk4 {
        vec![(0, 0); nodes.len()]
    } else {
        root_pane_offsets(nodes)
    };
    let mut places: Vec<Option<Place>> = maps
        .into_iter()
        .zip(before)
        .map(|(map, before)| {
            Some(Place {
                before,
                map: map.or(elsewhere)?,
                after: (0, 0),
            })
        })
        .collect();
    if gtk4 && !windows.popups.is_empty() {
        place_popups(nodes, windows, &mut places);
    }
    places
}

/// Moves GTK 4's popovers, and what is in them, to where their windows are.
fn place_popups(nodes: &[Node], windows: &Windows, places: &mut [Option<Place>]) {
    let at = |index: usize| Some(places[index]?.apply(nodes[index].extents?));
    let known: Vec<Option<(Rect, Rect)>> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| Some((at(index).filter(|_| node.showing)?, at(node.parent?)?)))
        .collect();
    let mut by = vec![None; nodes.len()];
    for (node, moved) in place::popup_offsets(&known, &windows.popups) {
        by[node] = Some(moved);
    }
    inherit(nodes, &mut by);
    for (place, by) in places.iter_mut().zip(by) {
        if let (Some(place), Some(by)) = (place, by) {
            place.after = by;
        }
    }
}

/// LibreOffice does not know of its own menu bar until its window is resized: its root pane fills
/// the panel that it is in, and says that it begins higher. What is in it and outside its container
/// as it says, but inside as it is, is a widget of GTK's and right.
fn root_pane_offsets(nodes: &[Node]) -> Vec<(i32, i32)> {
    let within = |inner: Rect, outer: Rect| inner.intersect(&outer) == inner;
    let mut offsets = vec![(0, 0); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        let (Some(own), Some(outer)) = (node.extents, nodes[parent].extents) else {
            offsets[index] = offsets[parent];
            continue;
        };
        let same_size = (own.w, own.h) == (outer.w, outer.h);
        let by = offsets[parent];
        offsets[index] = if node.role == Some(role::ROOT_PANE) && same_size {
            (outer.x + by.0 - own.x, outer.y + by.1 - own.y)
        } else if by != (0, 0) && !within(own, outer) && within(own, outer.offset(by.0, by.1)) {
            (0, 0)
        } else {
            by
        };
    }
    offsets
}

/// Gives each node what its container has, where it has nothing of its own.
fn inherit<T: Copy>(nodes: &[Node], all: &mut [Option<T>]) {
    // A container always comes before what is in it.
    for index in 0..nodes.len() {
        if let (None, Some(parent)) = (all[index], nodes[index].parent) {
            all[index] = all[parent];
        }
    }
}

/// A modal dialog: it, or its window, says so.
fn is_modal(node: &Node, window_says: impl Fn() -> bool) -> bool {
    let dialog = matches!(
        node.role,
        Some(role::DIALOG | role::FILE_CHOOSER | role::ALERT | role::FRAME | role::WINDOW)
    );
    let says = node.states.has(StateSet::MODAL);
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
    // The bulk cache describes elements with a name too. Only those without one are asked for a
    // description, so a kept one would come and go with the way that the element was read.
    let description = if name.is_empty() {
        node.description.as_str()
    } else {
        ""
    };
    let owner = node.owner.as_deref().unwrap_or(&peer.bus_name);
    Element {
        id: element_id(owner, node.place.as_deref().unwrap_or(&node.path)),
        reference: None,
        parent,
        role: ax,
        native_role: native,
        title: Text::new(title),
        value: node.value.clone(),
        description: Text::new(description),
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
