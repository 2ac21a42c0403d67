//! Derives an element's role, states and texts from its properties.

use std::borrow::Cow;

use deskline_core::{Cell, Element, ElementId, Rect, Role, States, Text, number};

use super::uia::{Patterns, Raw};

/// The toolkits whose `Document` is a web page.
const BROWSERS: [&str; 3] = ["Chrome", "Gecko", "InternetExplorer"];

/// Describes an element. `container` is the parent's role. `is_toplevel` says whether the element
/// is a toplevel window.
pub fn element(id: ElementId, raw: &Raw, container: Option<Role>, is_toplevel: bool) -> Element {
    let (role, native_role) = role(raw, container, is_toplevel);
    let title = Text::new(raw.name.as_str());
    let value = if raw.password {
        Text::default()
    } else {
        value(raw, role)
    };
    Element {
        value: if value.shown == title.shown {
            Text::default()
        } else {
            value
        },
        title,
        description: Text::new(raw.help.as_str()),
        extents: extents(raw),
        states: states(raw, role),
        cell: cell(raw),
        ..Element::new(id, role, native_role)
    }
}

fn role(raw: &Raw, container: Option<Role>, is_toplevel: bool) -> (Role, Cow<'static, str>) {
    let has = |pattern| raw.patterns.contains(pattern);
    let (role, native) = Role::from_uia(raw.control_type);
    let is_web = is_web(raw);
    let editable = has(Patterns::VALUE) && !raw.read_only;
    let refined = match role {
        Role::MENU | Role::HELP_TAG if is_toplevel => role,
        _ if is_toplevel => Role::WINDOW,
        // A panel or document inside a window.
        Role::WINDOW => Role::GROUP,
        Role::BUTTON if has(Patterns::TOGGLE) => Role::CHECK_BOX,
        // Qt's buttons with a menu and WinUI's drop-down buttons can be expanded.
        Role::BUTTON if expandable(raw) && !has(Patterns::GRID_ITEM) => Role::MENU_BUTTON,
        Role::MENU_ITEM if container == Some(Role::MENU_BAR) => Role::MENU_BAR_ITEM,
        Role::TEXT_AREA if is_web && !editable => Role::WEB_AREA,
        // Cells have the type Custom in WPF and WinForms, and DataItem in Qt.
        Role::GROUP | Role::ROW if has(Patterns::GRID_ITEM) && is_cell(raw) => Role::CELL,
        Role::GROUP if has(Patterns::SCROLL) => Role::SCROLL_AREA,
        role => role,
    };
    (refined, native)
}

fn is_web(raw: &Raw) -> bool {
    BROWSERS.contains(&raw.framework.as_str())
}

/// Whether the element is a browser's page.
pub fn is_page(raw: &Raw) -> bool {
    is_web(raw) && Role::from_uia(raw.control_type).0 == Role::TEXT_AREA
}

/// Whether an element with a grid position is a cell. Items of one-column lists have a grid
/// position too.
fn is_cell(raw: &Raw) -> bool {
    const LIST_ITEM: i32 = 50_007;
    const TREE_ITEM: i32 = 50_024;
    !matches!(raw.control_type, LIST_ITEM | TREE_ITEM)
}

fn expandable(raw: &Raw) -> bool {
    const LEAF: i32 = 3;
    raw.patterns.contains(Patterns::EXPAND_COLLAPSE) && raw.expand != LEAF
}

fn states(raw: &Raw, role: Role) -> States {
    const ON: i32 = 1;
    const MIXED: i32 = 2;
    let has = |pattern| raw.patterns.contains(pattern);
    let toggle = has(Patterns::TOGGLE).then_some(raw.toggle);
    let is_selected = has(Patterns::SELECTION_ITEM) && raw.selected;
    let excludes_others = matches!(role, Role::RADIO_BUTTON | Role::MENU_ITEM);
    let takes_text = matches!(
        role,
        Role::TEXT_FIELD | Role::TEXT_AREA | Role::INCREMENTOR | Role::DATE_FIELD
    );
    let value_is_editable = if has(Patterns::VALUE) {
        !raw.read_only
    } else {
        raw.range.is_some_and(|range| !range.read_only)
    };
    let mut states = States::empty();
    states.set(States::FOCUSED, raw.focused && role != Role::WINDOW);
    states.set(States::SELECTED, is_selected && !excludes_others);
    states.set(
        States::CHECKED,
        toggle == Some(ON) || is_selected && excludes_others,
    );
    states.set(States::MIXED, toggle == Some(MIXED));
    states.set(
        States::EXPANDED,
        expandable(raw) && matches!(raw.expand, 1 | 2),
    );
    states.set(States::COLLAPSED, expandable(raw) && raw.expand == 0);
    states.set(States::DISABLED, !raw.enabled);
    states.set(States::EDITABLE, takes_text && value_is_editable);
    states.set(States::SECURE, raw.password);
    states
}

fn value(raw: &Raw, role: Role) -> Text {
    // The value of elements with these roles is an address, or repeats the state.
    if matches!(
        role,
        Role::LINK | Role::CHECK_BOX | Role::RADIO_BUTTON | Role::WINDOW | Role::BUTTON
    ) {
        return Text::default();
    }
    if raw.patterns.contains(Patterns::VALUE) && !raw.value.is_empty() {
        return Text::new(raw.value.as_str());
    }
    raw.range
        .map_or_else(Text::default, |range| Text::new(number::plain(range.value)))
}

/// The bounds in whole pixels. Providers report infinite, empty or far-off bounds for elements
/// without a position; `Rect::around` refuses infinite and far-off bounds.
pub fn extents(raw: &Raw) -> Option<Rect> {
    let [left, top, width, height] = raw.bounds?;
    let rect = Rect::around(left, top, width, height)?;
    (!rect.is_empty()).then_some(rect)
}

fn cell(raw: &Raw) -> Option<Cell> {
    let (row, column) = raw.cell;
    let from_one = |n: i32| u32::try_from(n.checked_add(1)?).ok().filter(|n| *n > 0);
    if !raw.patterns.contains(Patterns::GRID_ITEM) || !is_cell(raw) {
        return None;
    }
    Some(Cell {
        row: from_one(row)?,
        column: from_one(column)?,
    })
}
