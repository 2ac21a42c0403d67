//! Builds a tree from the items of a traversal.

use std::time::Instant;

use deskline_contract::Scope;
use deskline_core::{App, Element, Role, States, Text, Tree, escape, summary};

use super::facts;
use super::identity::{Identities, Ids, Known};
use super::uia::{Patterns, Process, Raw, Uia};
use super::walk::{Item, Walk};
use crate::display::privilege;
use crate::os;

/// Patterns that a control may have, but no part of a control's template.
const USEFUL: Patterns = Patterns::all()
    .difference(Patterns::LEGACY)
    .difference(Patterns::SCROLL_ITEM)
    .difference(Patterns::TEXT);

/// Builds the tree, and keeps its elements for actions.
pub fn tree<U: Uia>(
    walk: &Walk<'_, U>,
    (pid, process): (u32, &Process),
    identities: &mut Identities<U::Element>,
    scope: Scope,
    start: Instant,
) -> Tree {
    let mut build = Build {
        walk,
        pid,
        ids: Ids::new(pid, process.started),
        identities,
        elements: Vec::new(),
        place: vec![None; walk.items.len()],
    };
    build.app(&process.name);
    for &(root, _) in &walk.roots {
        build.below(root);
    }
    let Build {
        mut elements,
        place,
        ..
    } = build;
    set_choices(&mut elements);
    set_scroll_areas(&mut elements);
    let mut windows = walk.toplevels.clone();
    for &(root, toplevel) in &walk.roots {
        windows[toplevel].elements.extend(place[root]);
    }
    let mut tree = Tree {
        dialog: dialog(walk).and_then(|item| place[item]),
        windows,
        took: start.elapsed(),
        ..Tree::new(App::new(pid, &process.name), elements)
    };
    tree.partial = partial(walk, &tree, &place, scope, privilege::is_above(pid));
    tree.complete(None);
    tree.took = start.elapsed();
    tree
}

struct Build<'b, 'u, U: Uia> {
    walk: &'b Walk<'u, U>,
    pid: u32,
    ids: Ids,
    identities: &'b mut Identities<U::Element>,
    elements: Vec<Element>,
    /// The element of each item; `None` for items that were left out.
    place: Vec<Option<usize>>,
}

impl<U: Uia> Build<'_, '_, U> {
    fn app(&mut self, name: &str) {
        let (role, native_role) = (Role::APPLICATION, "application");
        self.elements.push(Element {
            title: Text::new(name),
            visible: false,
            children_read: self.walk.hung.is_empty() && self.walk.failed.is_none(),
            ..Element::new(self.ids.app(), role, native_role)
        });
    }

    /// Adds an item and its descendants, in document order.
    fn below(&mut self, root: usize) {
        let mut open = vec![(root, 0)];
        while let Some((index, parent)) = open.pop() {
            let item = &self.walk.items[index];
            let at = if self.is_template(item, parent) {
                // Leave the item out, and attach its children to its parent.
                self.elements[parent].children_read &= item.children_read;
                parent
            } else {
                self.add(index, parent)
            };
            open.extend(item.children.iter().rev().map(|&child| (child, at)));
        }
    }

    /// Whether the item is only a part of a control's template, such as the text inside a button
    /// that has this text as its name.
    fn is_template(&self, item: &Item<U::Element>, parent: usize) -> bool {
        let raw = &item.raw;
        let name = raw.name.trim();
        let above = &self.elements[parent];
        let says_more = !name.is_empty()
            && !above.title.shown.contains(name)
            && !above.value.shown.contains(name);
        item.parent.is_some()
            && !raw.is_control
            && !raw.focusable
            && !raw.patterns.intersects(USEFUL)
            && !says_more
    }

    fn add(&mut self, index: usize, parent: usize) -> usize {
        let item = &self.walk.items[index];
        let container = self.elements[parent].role;
        let id = self.ids.id(&item.raw.runtime_id, &self.elements[parent].id);
        let is_toplevel = item.parent.is_none();
        let mut element = facts::element(id, &item.raw, Some(container), is_toplevel);
        if let Some(part) = &item.text {
            let shown = part.text.trim_end_matches(['\r', '\n']);
            let total = part.before + part.text.chars().count() + part.after;
            element.value = Text::part(shown, part.before, total);
        }
        let at = self.elements.len();
        self.identities.insert(
            element.id.clone(),
            Known {
                pid: self.pid,
                element: item.element.clone(),
                parent: Some(self.elements[parent].id.clone()),
                role: element.role,
            },
        );
        element.parent = Some(parent);
        element.visible = item.shows && element.extents.is_some();
        element.children_read = item.children_read && !is_virtual(&item.raw);
        self.elements.push(element);
        self.place[index] = Some(at);
        at
    }
}

/// Whether the container creates its children only as they scroll into view.
fn is_virtual(raw: &Raw) -> bool {
    raw.patterns.contains(Patterns::ITEM_CONTAINER)
}

/// Gives a combo box without a value the title of its selected item.
fn set_choices(elements: &mut [Element]) {
    for index in 0..elements.len() {
        let is_choice = elements[index].role == Role::ROW
            && elements[index].states.contains(States::SELECTED)
            && !elements[index].title.is_blank();
        let mut at = elements[index].parent;
        while let Some(above) = at.filter(|_| is_choice) {
            let combo = &elements[above];
            if combo.role == Role::COMBO_BOX {
                if combo.value.is_blank() {
                    elements[above].value = elements[index].title.clone();
                }
                break;
            }
            at = combo.parent;
        }
    }
}

/// Gives Qt's scroll areas their role. They lack the scroll pattern, but each of their scroll bars
/// is in a group with the same extents.
fn set_scroll_areas(elements: &mut [Element]) {
    for index in 0..elements.len() {
        let bar = &elements[index];
        let group = |at: &usize| elements[*at].role == Role::GROUP;
        let own = bar.parent.filter(group).map(|at| &elements[at]);
        let own = own.filter(|own| bar.role == Role::SCROLL_BAR && own.extents == bar.extents);
        if let Some(area) = own.and_then(|own| own.parent).filter(group) {
            elements[area].role = Role::SCROLL_AREA;
        }
    }
}

/// The open modal dialog: the frontmost window that is marked modal, or whose owner is disabled.
fn dialog<U: Uia>(walk: &Walk<'_, U>) -> Option<usize> {
    let is_modal = |&&(item, toplevel): &&(usize, usize)| {
        let top = &walk.toplevels[toplevel];
        let owner =
            os::owning(top.id).filter(|owner| walk.toplevels.iter().any(|t| t.id == *owner));
        let over = owner.is_some_and(|owner| !os::is_enabled(owner)) && os::is_enabled(top.id);
        top.on_screen && (walk.items[item].raw.modal || over)
    };
    walk.roots.iter().find(is_modal).map(|(item, _)| *item)
}

fn partial<U: Uia>(
    walk: &Walk<'_, U>,
    tree: &Tree,
    place: &[Option<usize>],
    scope: Scope,
    is_above: bool,
) -> Vec<String> {
    let mut partial = Vec::new();
    if is_above {
        partial.push(
            "the app runs as administrator: Windows may hide elements from Deskline, and blocks \
             Deskline's input"
                .into(),
        );
    }
    if walk.page_is_late {
        partial.push(
            "the page is not in the tree yet. A browser may take 20 s to describe it. Read again \
             in a few seconds"
                .into(),
        );
    }
    for &index in &walk.hung {
        partial.push(format!(
            "the window '{}' does not answer",
            escape::short(&os::title(walk.toplevels[index].id), 40)
        ));
    }
    let mut lacks = |count, before: &str, after: &str| {
        let elements = escape::count(count, "element");
        partial.extend((count > 0).then(|| format!("{before}{elements} {after}")));
    };
    lacks(walk.silent, "", "did not answer, though the app does");
    let too_slow = "were not read: the app answers too slowly";
    lacks(walk.cut_off, "the visible contents of ", too_slow);
    if scope == Scope::Showing {
        return partial;
    }
    let late = "were not read within the time limit";
    lacks(walk.unread, "the hidden contents of ", late);
    for (index, item) in walk.items.iter().enumerate() {
        if let Some((at, more)) = place[index].zip(rows_left(walk, item)) {
            partial.push(format!(
                "the app does not list {} of its {}",
                escape::count(more, "hidden row"),
                summary::name_of(tree, at)
            ));
        }
    }
    partial
}

/// The number of rows of a grid that are not among its listed children.
fn rows_left<U: Uia>(walk: &Walk<'_, U>, grid: &Item<U::Element>) -> Option<usize> {
    // Counts the rows of tables only: Qt's trees count the rows of one level, but list those of
    // several levels.
    let is_table = Role::from_uia(grid.raw.control_type).0 == Role::TABLE;
    if !is_table || !grid.raw.patterns.contains(Patterns::GRID) || !grid.children_read {
        return None;
    }
    let last = |item: &Item<U::Element>| {
        let own = item.raw.patterns.contains(Patterns::GRID_ITEM);
        own.then_some(item.raw.cell.0)
    };
    let mut rows = std::collections::HashSet::new();
    for &child in &grid.children {
        let child = &walk.items[child];
        rows.extend(last(child));
        let cells = child.children.iter().map(|&cell| &walk.items[cell]);
        rows.extend(cells.filter_map(last));
    }
    let all = usize::try_from(grid.raw.size.0).ok()?;
    let left = all.saturating_sub(rows.len());
    (left > 0 && !rows.is_empty()).then_some(left)
}
