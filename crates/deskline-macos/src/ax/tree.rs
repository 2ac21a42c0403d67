//! Builds a tree from the nodes of a traversal.

use std::collections::{HashMap, HashSet};

use deskline_contract::{Result, Scope};
use deskline_core::{
    App, Element, Role, States, Text, Tree, TreeWindow, WindowId, document_order, escape, summary,
};
use deskline_input::clock::Instant;

use super::facts::Facts;
use super::identity::Identities;
use super::node::Node;
use super::reuse::Last;
use super::walk::Walk;
use super::{name_of, wake};
use crate::front;
use crate::os::Os;
use crate::windows::{self, AxWindow};

/// The facts that are known before a traversal.
pub(crate) struct Known<'l, E> {
    /// The elements of an earlier traversal, without those that events have invalidated since. The
    /// new traversal reuses hidden elements from it.
    pub(crate) last: Option<&'l Last<E>>,
    /// The app's open menus that notifications have named.
    pub(crate) menus: Vec<E>,
}

/// The result of a traversal.
pub(crate) struct Reading<E> {
    pub(crate) tree: Tree,
    /// The elements that the next traversal may reuse.
    pub(crate) last: Last<E>,
    /// The other processes that elements belong to.
    pub(crate) helpers: HashSet<u32>,
}

/// Reads an app.
pub(crate) fn read<O: Os>(
    os: &O,
    identities: &mut Identities<O>,
    pid: u32,
    scope: Scope,
    Known { last, menus }: Known<'_, O::Element>,
) -> Result<Reading<O::Element>> {
    let start = Instant::now();
    let front = front::is(os, pid);
    let mut walk = Walk::new(os, pid, front, last);
    walk.showing(menus)?;
    if let Scope::Whole { budget } | Scope::Again { budget } = scope {
        walk.hidden(Instant::now() + budget)?;
    }
    let unread = walk.unread();
    identities.begin(pid, os.process(pid).map_or(0, |p| p.started));

    let order = document_order(walk.nodes.len(), |at| Some(&walk.nodes[at].children));
    let labels = labels(&walk.nodes);
    let mut position = vec![None; walk.nodes.len()];
    let mut elements: Vec<Element> = Vec::with_capacity(order.len());
    let mut dialog = None;
    for index in order {
        let node = &walk.nodes[index];
        let Some(facts) = &node.facts else { continue };
        position[index] = Some(elements.len());
        let parent = node.parent.and_then(|p| position[p]);
        if node.showing && is_dialog(facts) {
            dialog = better_dialog(dialog, (elements.len(), facts), &elements, parent);
        }
        elements.push(Element {
            id: identities.id(os, pid, &node.element),
            reference: None,
            parent,
            role: facts.role,
            native_role: facts.native_role.clone(),
            title: title(facts, &labels),
            value: facts.value.clone(),
            description: facts.description.clone(),
            cell: None,
            extents: facts.extents,
            visible: node.showing && facts.extents.is_some_and(|e| !e.is_empty()),
            states: states(node, facts),
            children_read: node.children_read,
        });
    }
    let name = name_of(os, pid)
        .or_else(|| elements.first().map(|e| e.title.shown.clone()))
        .unwrap_or_default();
    let windows = tree_windows(os, pid, &walk.nodes, &position);
    let mut tree = Tree {
        dialog: dialog.map(|(index, _)| index),
        windows,
        took: start.elapsed(),
        ..Tree::new(App { name, pid }, elements)
    };
    for (table, more) in walk.unread_rows() {
        if let Some(index) = position[table] {
            let name = summary::name_of(&tree, index);
            let rows = escape::count(more, "hidden row");
            tree.partial.push(format!("not read: {rows} of {name}"));
        }
    }
    if unread > 0 && !matches!(scope, Scope::Showing) {
        tree.partial.push(format!(
            "not read within the time budget: {}, not counting descendants",
            escape::count(unread, "hidden element")
        ));
    }
    note_unlisted(os, &mut tree, walk.silent);
    if scope != Scope::Showing && tree.partial.is_empty() {
        identities.sweep(pid);
    }
    tree.complete(None);
    wake::note_covered(os, &mut tree);
    Ok(Reading {
        tree,
        last: Last::new(pid, &walk.nodes),
        helpers: walk.helpers,
    })
}

/// Records which parts of the app Accessibility did not return. `silent` is the number of elements
/// that did not answer.
fn note_unlisted<O: Os>(os: &O, tree: &mut Tree, silent: usize) {
    if silent > 0 {
        tree.partial.push(format!(
            "{} did not answer, though the app does",
            escape::count(silent, "element")
        ));
    }
    let is_menu = |e: &Element| e.role == Role::MENU && e.visible;
    if !tree.elements.iter().any(is_menu) && windows::popup_open(os, tree.app.pid) {
        tree.partial.push(
            "a menu or pop-up is open that is not in the tree. Look at the screenshot".into(),
        );
    }
    for window in windows::away(os, tree) {
        tree.partial.push(format!(
            "'{}' is on another Space or in full screen, where accessibility lists it only while \
             it shows, or Stage Manager has set it aside: a tool that sends input, such as click or \
             press_key, goes there and comes back",
            escape::short(&window, 40)
        ));
    }
}

/// The app's windows, each with its own element.
fn tree_windows<O: Os>(
    os: &O,
    pid: u32,
    nodes: &[Node<O::Element>],
    position: &[Option<usize>],
) -> Vec<TreeWindow> {
    // An app's menu bars and its part of the Touch Bar have bounds too, but are no windows.
    let is_bar = |n: &Node<O::Element>| {
        let facts = n.facts.as_ref();
        facts
            .is_some_and(|f| f.role == Role::MENU_BAR || f.native_role.starts_with("AXFunctionRow"))
    };
    let of_app = |n: &&Node<O::Element>| n.parent == Some(0) && !is_bar(n);
    let known = nodes.iter().filter(of_app).filter_map(|node| {
        let facts = node.facts.as_ref()?;
        Some(AxWindow {
            number: os.window_of(&node.element),
            element: node.element.clone(),
            title: facts.title.shown.clone(),
            extents: facts.extents,
            minimised: false,
        })
    });
    let mut windows = windows::matched(os, pid, known.collect());
    // Sheets and popovers are windows of their own to the `WindowServer`. Here they count as parts
    // of the window below them, so they do not cover their own elements.
    let listed = windows.iter().filter(|(_, known)| known.is_some());
    let listed: Vec<_> = listed.map(|(w, _)| windows::extents(w)).collect();
    windows.retain(|(window, known)| {
        let at = windows::extents(window);
        known.is_some()
            || !listed
                .iter()
                .any(|window| !window.intersect(&at).is_empty())
    });
    windows
        .into_iter()
        .map(|(window, known)| {
            let is_tile = windows::is_tile(&window, known.as_ref().and_then(|w| w.extents));
            let known = known.filter(|_| !is_tile);
            let node = known.and_then(|w| nodes.iter().position(|n| n.element == w.element));
            TreeWindow {
                id: WindowId(u64::from(window.number)),
                extents: windows::extents(&window),
                on_screen: window.on_screen && !is_tile,
                elements: node.and_then(|n| position[n]).into_iter().collect(),
            }
        })
        .collect()
}

/// The text of each static text, by its element: other elements may refer to it as their label.
fn labels<E: Clone + Eq + std::hash::Hash>(nodes: &[Node<E>]) -> HashMap<E, &Text> {
    let facts = nodes
        .iter()
        .filter_map(|node| Some((node.element.clone(), node.facts.as_ref()?)));
    facts
        .filter(|(_, f)| f.role == Role::STATIC_TEXT)
        .map(|(element, f)| {
            (
                element,
                if f.value.is_blank() {
                    &f.title
                } else {
                    &f.value
                },
            )
        })
        .collect()
}

fn title<E: Eq + std::hash::Hash>(facts: &Facts<E>, labels: &HashMap<E, &Text>) -> Text {
    if !facts.title.is_blank() {
        return facts.title.clone();
    }
    let label = facts.label.as_ref().and_then(|label| labels.get(label));
    label.map_or_else(Text::default, |&text| text.clone())
}

fn states<E>(node: &Node<E>, facts: &Facts<E>) -> States {
    let mut states = facts.states;
    states.set(States::EDITABLE, node.editable == Some(true));
    states
}

fn is_dialog<E>(facts: &Facts<E>) -> bool {
    facts.role == Role::SHEET || facts.role == Role::WINDOW && facts.modal
}

/// Prefers a modal window to a sheet, and of several sheets the innermost one of the frontmost
/// window.
fn better_dialog(
    known: Option<(usize, Role)>,
    (index, facts): (usize, &Facts<impl Sized>),
    elements: &[Element],
    parent: Option<usize>,
) -> Option<(usize, Role)> {
    let new = (index, facts.role);
    let Some((old, role)) = known else {
        return Some(new);
    };
    let mut at = parent;
    while let Some(i) = at {
        if i == old {
            return Some(new);
        }
        at = elements[i].parent;
    }
    match (role, facts.role) {
        (Role::SHEET, Role::WINDOW) => Some(new),
        _ => known,
    }
}
