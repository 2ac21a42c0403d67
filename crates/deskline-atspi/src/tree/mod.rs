//! Builds a tree of elements from the nodes that were read from the bus.

mod pairing;
mod scale;
mod shadow;
mod windows;

use std::collections::HashSet;
use std::time::Duration;

use deskline_core::{
    App, Cell, Coordinates, Element, ElementId, Rect, Role, States, Text, Tree, TreeWindow,
    document_order,
};

use crate::engine::Node;
use crate::names::{StateSet, role};
use crate::peer::Peer;
use crate::toolkits::{Toolkit, gtk, qt, vcl};

use pairing::{Learnt, Pair};
use scale::Map;
pub use windows::{InBuffer, Toplevel, Windows};

/// Knowledge about the windows of an app's toplevels that lasts from one reading to the next.
#[derive(Debug, Default)]
pub(crate) struct KnownWindows {
    /// What earlier readings have taught about which window belongs to which toplevel.
    learnt: Learnt,
    /// The paths of the toplevels and tool tips of the last reading that had no window yet. Without
    /// their windows their places are unknown.
    missing: HashSet<String>,
    /// The missing toplevels whose windows did not appear in time.
    given_up: HashSet<String>,
    /// Whether the compositor has told where pop-ups are. `None` for an app without native Wayland
    /// windows.
    pub(crate) tells_popups: Option<bool>,
}

impl KnownWindows {
    /// Whether the last reading has toplevels or tool tips whose windows may still appear.
    pub(crate) fn are_on_their_way(&self) -> bool {
        !self.missing.is_subset(&self.given_up)
    }

    /// Stops waiting for the windows that are missing now.
    pub fn give_up(&mut self) {
        self.given_up.clone_from(&self.missing);
    }
}

/// Builds the tree from the nodes that the engine has read.
pub fn build(
    peer: &Peer,
    known: &mut KnownWindows,
    nodes: &[Node],
    windows: &Windows,
    took: Duration,
) -> Tree {
    let order = document_order(nodes.len(), |at| {
        nodes[at].role.map(|_| &nodes[at].children[..])
    });
    let toplevels = toplevels(peer.toolkit, known, nodes, windows);
    let placements = placements(peer.toolkit, nodes, windows, &toplevels);
    let native = windows.unplaced || windows.toplevels.iter().any(|t| t.in_buffer.is_some());
    known.tells_popups = native.then_some(!windows.popups.is_empty());
    if !peer.toolkit.maps_before_it_tells() && !native {
        let unmapped = tool_tips_without_windows(nodes, &placements);
        known.missing.extend(unmapped.map(str::to_owned));
    }
    let mut elements = Vec::with_capacity(order.len());
    let mut position = vec![None; nodes.len()];
    let mut dialog = None;
    for index in order {
        let node = &nodes[index];
        let parent = node.parent.and_then(|p| position[p]);
        position[index] = Some(elements.len());
        let container = parent
            .and_then(|p: usize| elements.get(p))
            // In GTK 4, a `menu` below a menu item is the submenu that the item opens. The item
            // does not contain it on the screen.
            .filter(|e: &&Element| e.native_role != "menu item")
            .map(|e| e.role);
        let mut element = element(peer, node, parent, container);
        // GTK 4 returns an empty rectangle for a widget without a size. Not all such widgets are
        // asked for their extents, so it is dropped.
        let extents = node.extents.filter(|e| !(node.unallocated && e.is_empty()));
        element.extents = placements[index].zip(extents).map(|(p, e)| p.apply(e));
        if let Some(list) = parent.and_then(|p| elements.get(p)) {
            element.extents = element.extents.map(|e| qt::row_extents(e, &element, list));
        }
        if placements[index].is_some_and(|place| place.is_tool_tip) {
            element.role = Role::HELP_TAG;
        }
        // GTK 3 draws a popover inside its toplevel's window, as a modal panel.
        let is_modal_panel = node.role == Some(role::PANEL) && node.states.has(StateSet::MODAL);
        if is_modal_panel && peer.toolkit == Toolkit::Gtk3 {
            element.role = Role::POPOVER;
        }
        let pair = toplevels.iter().find(|(frame, _)| *frame == index);
        let sure = pair.and_then(|(_, pair)| match pair.windows.as_slice() {
            [window] => Some(&windows.toplevels[*window]),
            _ => None,
        });
        // The access bridge of Java (libatk-wrapper 0.40) adds the position of a dialog's owner to
        // that of the dialog.
        if let (Toolkit::Java, Some(window)) = (peer.toolkit, sure) {
            element.extents = Some(window.outer());
        }
        element.visible &= element.extents.is_some_and(|e| !e.is_empty());
        let window_is_modal = || node.name != peer.name && sure.is_some_and(|t| t.modal);
        if node.showing && is_modal(node, window_is_modal) {
            dialog = Some(elements.len());
        }
        elements.push(element);
    }
    let app = App::new(peer.pid, &peer.name);
    let mut tree = Tree {
        dialog,
        windows: tree_windows(windows, &toplevels, &position),
        coordinates: if windows.unplaced {
            Coordinates::Window
        } else {
            Coordinates::Screen
        },
        took,
        ..Tree::new(app, elements)
    };
    if windows.unplaced {
        for window in &mut tree.windows {
            let frame = window.elements.first().and_then(|f| tree.elements.get(*f));
            window.extents = frame.and_then(|f| f.extents).unwrap_or(window.extents);
        }
    }
    if !peer.toolkit.knows_the_screen() {
        gtk::drop_mnemonics(&mut tree.elements);
    }
    tree.complete(windows.screen);
    tree
}

/// The showing accessible toplevels, each paired with its windows.
fn toplevels(
    toolkit: Toolkit,
    known: &mut KnownWindows,
    nodes: &[Node],
    windows: &Windows,
) -> Vec<(usize, Pair)> {
    let all = nodes.first().map_or(&[][..], |root| &root.children);
    let is_frame = |f: &usize| nodes[*f].showing && !nodes[*f].role.is_some_and(role::pops_up);
    let shown: Vec<usize> = all.iter().copied().filter(is_frame).collect();
    let frames: Vec<&Node> = shown.iter().map(|f| &nodes[*f]).collect();
    let pairs = pairing::pair(toolkit, &frames, windows, &mut known.learnt);
    if !toolkit.maps_before_it_tells() && !windows.unplaced {
        let mut of: Vec<&[usize]> = Vec::new();
        let missing = frames.iter().zip(&pairs).filter(|(_, pair)| {
            // If two frames match only the same window, the window of one of them is missing.
            let alone = of.contains(&pair.windows.as_slice()) && pair.windows.len() == 1;
            of.push(&pair.windows);
            alone || pair.windows.is_empty()
        });
        known.missing = missing.map(|(frame, _)| frame.path.to_string()).collect();
    }
    shown.into_iter().zip(pairs).collect()
}

/// The app's windows, as the tree describes them.
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

/// Maps a node's coordinates to the screen's.
#[derive(Debug, Clone, Copy)]
struct Placement {
    /// The offset that is added before the map, in the toolkit's units.
    before: (i32, i32),
    map: Map,
    /// The offset that is added after the map, in pixels.
    after: (i32, i32),
    /// Whether the node is a tool tip of GTK 4, which gives tool tips no role of their own.
    is_tool_tip: bool,
}

impl Placement {
    fn apply(&self, extents: Rect) -> Rect {
        let (x, y) = self.before;
        let (dx, dy) = self.after;
        self.map.apply(extents.offset(x, y)).offset(dx, dy)
    }
}

/// How each node's extents map to the screen. `None` if unknown.
fn placements(
    toolkit: Toolkit,
    nodes: &[Node],
    windows: &Windows,
    toplevels: &[(usize, Pair)],
) -> Vec<Option<Placement>> {
    let gtk4 = !toolkit.knows_the_screen();
    if windows.unplaced {
        return placements_from_corners(nodes, toplevels);
    }
    if windows.toplevels.iter().any(|t| t.in_buffer.is_some()) {
        let mut places = placements_in_windows(nodes, windows, toplevels);
        if gtk4 && windows.toplevels.iter().any(Toplevel::is_framed) {
            let moved = beside_popups(nodes, windows, &places);
            move_by(nodes, moved, &mut places);
        } else if gtk4 && !windows.popups.is_empty() {
            place_popups(nodes, windows, &mut places);
        }
        return places;
    }
    // A node whose window is not in the list, such as a menu, uses the map of the app's window with
    // the largest scale. In GTK 4 it gets no bounds, because coordinates are relative to the
    // unknown window.
    let scaled = || {
        let maps = toplevels.iter().filter_map(|(_, pair)| pair.map);
        maps.max_by(|a, b| a.scale.total_cmp(&b.scale))
            .filter(|map| map.scale > 1.0)
            .unwrap_or(Map::SAME)
    };
    let elsewhere = (!gtk4).then(scaled);
    // Screen coordinates that are in pixels already are used as they are.
    let believed = |map: Map| {
        if gtk4 || map.scale > 1.0 {
            map
        } else {
            Map::SAME
        }
    };
    let map = |_, pair: &Pair| pair.map.map(believed).or(elsewhere);
    let mut places = placements_by(nodes, toplevels, map, |_| elsewhere);
    if toolkit == Toolkit::Chromium {
        unscale_pages(nodes, windows, &mut places);
    }
    if gtk4 {
        for place in places.iter_mut().flatten() {
            place.before = (0, 0);
        }
        if !windows.popups.is_empty() {
            place_popups(nodes, windows, &mut places);
        }
    }
    places
}

/// Maps the nodes of each toplevel by `map`, which is called with the toplevel's frame. Elements
/// outside these toplevels, such as an open menu, are mapped by `outside`, which gets the first
/// toplevel's map.
fn placements_by(
    nodes: &[Node],
    toplevels: &[(usize, Pair)],
    map: impl Fn(usize, &Pair) -> Option<Map>,
    outside: impl Fn(Option<Map>) -> Option<Map>,
) -> Vec<Option<Placement>> {
    let mut maps: Vec<Option<Map>> = vec![None; nodes.len()];
    for (frame, pair) in toplevels {
        maps[*frame] = map(*frame, pair);
    }
    let first = toplevels.iter().find_map(|(frame, _)| maps[*frame]);
    let outside = outside(first);
    inherit(nodes, &mut maps);
    let place = |(map, before): (Option<Map>, (i32, i32))| {
        Some(Placement {
            before,
            map: map.or(outside)?,
            after: (0, 0),
            is_tool_tip: false,
        })
    };
    maps.into_iter().zip(offsets(nodes)).map(place).collect()
}

/// Chromium 156 reports its windows in scaled units, but its pages in pixels. If a page that is
/// mapped like its window would reach out of all windows, all pages are taken to be in pixels.
fn unscale_pages(nodes: &[Node], windows: &Windows, places: &mut [Option<Placement>]) {
    let mut pages = vec![None; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        let around = node.parent.and_then(|parent| pages[parent]);
        pages[at] = around.or((node.role == Some(role::DOCUMENT_WEB)).then_some(at));
    }
    let reaches_out = |at: &usize| {
        let scaled = places[*at].filter(|place| place.map.scale > 1.0);
        let page = scaled.zip(nodes[*at].extents.filter(|e| !e.is_empty()));
        let page = page.map(|(place, extents)| place.apply(extents));
        let mut windows = windows.toplevels.iter().map(|t| t.window);
        page.is_some_and(|page| windows.all(|window| window.intersect(&page) != page))
    };
    if pages.iter().flatten().any(reaches_out) {
        let pages = places
            .iter_mut()
            .zip(pages)
            .filter(|(_, page)| page.is_some());
        for place in pages.filter_map(|(place, _)| place.as_mut()) {
            place.map = Map::SAME;
        }
    }
}

/// Maps the extents in each toplevel to coordinates relative to the toplevel's corner.
fn placements_from_corners(nodes: &[Node], toplevels: &[(usize, Pair)]) -> Vec<Option<Placement>> {
    let map = |frame: usize, _: &Pair| nodes[frame].extents.map(Map::from_corner);
    placements_by(nodes, toplevels, map, |first| {
        Some(first.unwrap_or(Map::SAME))
    })
}

/// Maps the extents of native Wayland windows to the screen: each toplevel by its window.
fn placements_in_windows(
    nodes: &[Node],
    windows: &Windows,
    toplevels: &[(usize, Pair)],
) -> Vec<Option<Placement>> {
    let map = |frame: usize, pair: &Pair| {
        let window = &windows.toplevels[*pair.windows.first()?];
        let before = shadow::before_content(nodes, frame, window)?;
        let unit = shadow::unit(window);
        let frame = nodes[frame].extents?;
        Some(Map::in_window(frame, window.content(), before, unit))
    };
    placements_by(nodes, toplevels, map, |first| first)
}

/// Moves GTK 4's popovers and their subtrees to the positions of their windows.
fn place_popups(nodes: &[Node], windows: &Windows, places: &mut [Option<Placement>]) {
    let at = |index: usize| Some(places[index]?.apply(nodes[index].extents?));
    let known: Vec<Option<(Rect, Rect)>> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| Some((at(index).filter(|_| node.showing)?, at(node.parent?)?)))
        .collect();
    let mut moved = gtk::popup_offsets(&known, &windows.popups);
    if moved.is_empty() {
        moved = beside_popups(nodes, windows, places);
    }
    let is_in_toplevel = |parent: usize| nodes[parent].parent.is_some_and(|app| app == 0);
    let tips = nodes.iter().enumerate().filter(|(index, node)| {
        let free = moved.iter().all(|(taken, _)| taken != index);
        let bare = node.role == Some(role::FILLER) && node.showing;
        free && bare && node.parent.is_some_and(is_in_toplevel)
    });
    let tips = tips.filter_map(|(index, _)| Some((index, at(index)?)));
    let tips = gtk::tool_tips(&tips.collect::<Vec<_>>(), &windows.popups);
    moved.extend(&tips);
    move_by(nodes, moved, places);
    for (index, _) in tips {
        if let Some(place) = &mut places[index] {
            place.is_tool_tip = true;
        }
    }
}

/// The paths of GTK 4's tool tips that had no window when the windows were listed: GTK 4 reports a
/// tip first, and opens its window after that. A tip lies over an earlier child of its toplevel.
fn tool_tips_without_windows<'n>(
    nodes: &'n [Node],
    places: &[Option<Placement>],
) -> impl Iterator<Item = &'n str> {
    let place = |index: usize| nodes[index].extents.filter(|_| nodes[index].showing);
    // While a tip opens, its contents may be SHOWING before the tip itself is.
    let within = move |node: &Node| node.children.iter().find_map(|child| place(*child));
    let lost = move |&(index, node): &(usize, &Node)| {
        let own = || place(index).or_else(|| within(node));
        let is_filler = node.role == Some(role::FILLER);
        let Some((toplevel, own)) = node.parent.filter(|_| is_filler).zip(own()) else {
            return false;
        };
        let lies_over = |&other: &usize| {
            other < index && place(other).is_some_and(|it| !it.intersect(&own).is_empty())
        };
        nodes[toplevel].parent == Some(0)
            && places[index].is_some_and(|place| place.after == (0, 0))
            && nodes[toplevel].children.iter().any(lies_over)
    };
    let nodes = nodes.iter().enumerate();
    nodes.filter(lost).map(|(_, node)| &*node.path)
}

/// How far GTK 4's popovers in native Wayland windows have to be moved to their pop-up windows. GTK
/// 4 reports a popover next to its pop-up window (from 4.18 on, because of the popover's shadow).
fn beside_popups(
    nodes: &[Node],
    windows: &Windows,
    places: &[Option<Placement>],
) -> Vec<(usize, (i32, i32))> {
    let at = |index: usize| {
        let place = places[index]?.apply(nodes[index].extents?);
        Some((index, place)).filter(|_| nodes[index].showing)
    };
    let shown: Vec<(usize, Rect)> = (0..nodes.len()).filter_map(at).collect();
    gtk::beside_popups(&shown, &windows.popups)
}

/// Moves nodes, each with all its descendants, by an offset in pixels.
fn move_by(nodes: &[Node], moved: Vec<(usize, (i32, i32))>, places: &mut [Option<Placement>]) {
    let mut by = vec![None; nodes.len()];
    for (node, moved) in moved {
        by[node] = Some(moved);
    }
    inherit(nodes, &mut by);
    for (place, by) in places.iter_mut().zip(by) {
        if let (Some(place), Some(by)) = (place, by) {
            place.after = by;
        }
    }
}

/// The offset of each node from the position that it reports.
fn offsets(nodes: &[Node]) -> Vec<(i32, i32)> {
    let mut offsets = vec![(0, 0); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        offsets[index] = match (node.extents, nodes[parent].extents) {
            (Some(own), Some(outer)) => vcl::offset(node.role, own, outer, offsets[parent]),
            _ => offsets[parent],
        };
    }
    offsets
}

/// Gives each node without a value the value of its parent.
fn inherit<T: Copy>(nodes: &[Node], all: &mut [Option<T>]) {
    // Parents always precede their children.
    for index in 0..nodes.len() {
        if let (None, Some(parent)) = (all[index], nodes[index].parent) {
            all[index] = all[parent];
        }
    }
}

/// Whether the node is a modal dialog, by its own state or its window's.
fn is_modal(node: &Node, window_says: impl Fn() -> bool) -> bool {
    let dialog = matches!(
        node.role,
        Some(role::DIALOG | role::FILE_CHOOSER | role::ALERT | role::FRAME | role::WINDOW)
    );
    let says = node.states.has(StateSet::MODAL);
    dialog && (says || node.parent == Some(0) && window_says())
}

/// The id of an object: bus name and path, concatenated.
pub(crate) fn element_id(bus_name: &str, path: &str) -> ElementId {
    ElementId::new(format!("{bus_name}{path}"))
}

/// Splits an id into bus name and path.
pub(crate) fn split_id(id: &ElementId) -> Option<(&str, &str)> {
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
    let name = peer.toolkit.plain_name(&node.name, number);
    let mut title = if name.is_empty() { &node.label } else { name };
    let mut value = node.value.clone();
    // If the name is the chosen item, the label becomes the name. A GTK combo box without a label
    // may have a real name, and keeps it.
    let is_qt = peer.toolkit == Toolkit::Qt;
    let is_choice = !node.label.is_empty() || is_qt;
    if number == role::COMBO_BOX && peer.toolkit.names_by_choice() && is_choice {
        // In Qt the name is the choice: the list's selected row is only the one that was last
        // chosen in the list.
        if value.is_blank() || is_qt && !name.is_empty() {
            value = Text::new(name);
        }
        title = &node.label;
    }
    // Descriptions are kept only for elements without a name. The bulk cache has them for others
    // too, but they are not requested one by one, so they would come and go.
    let mut description = "";
    if name.is_empty() {
        description = &node.description;
    } else if peer.toolkit.describes_icons()
        && role::is_icon(number, name)
        && !node.description.is_empty()
    {
        (title, description) = (&node.description, name);
    }
    let owner = node.owner.as_deref().unwrap_or(&peer.bus_name);
    Element {
        id: element_id(owner, node.id.as_deref().unwrap_or(&node.path)),
        reference: None,
        parent,
        role: ax,
        native_role: native,
        title: Text::new(title),
        value,
        description: Text::new(description),
        cell: cell(node),
        extents: None,
        visible: node.showing && !node.states.has(StateSet::ICONIFIED),
        states: states(node.states, number, peer.toolkit),
        children_read: node.children_read,
    }
}

/// Row and column, if the cell was found by its row and column.
fn cell(node: &Node) -> Option<Cell> {
    let (row, column) = node.cell?;
    let from_one = |i: i32| u32::try_from(i).ok()?.checked_add(1);
    Some(Cell {
        row: from_one(row)?,
        column: from_one(column)?,
    })
}

fn states(set: StateSet, number: u32, toolkit: Toolkit) -> States {
    let mut states = States::empty();
    let pressed = toolkit.toggles(number) && set.has(StateSet::PRESSED);
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
    // Windows and plain containers have neither ENABLED nor SENSITIVE, so only an element that
    // takes input can be disabled. Read-only fields of Chromium have neither state too, and are not
    // disabled.
    let on = [StateSet::ENABLED, StateSet::SENSITIVE, StateSet::READ_ONLY];
    let enabled = on.into_iter().any(|state| set.has(state));
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
