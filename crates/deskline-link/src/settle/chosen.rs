//! The current choice of a combo box, a drop-down or a list.

use deskline_core::{Element, Role, States, Texts, Tree, fold};

/// How many levels a combo box may be above its parts, such as a label or a field.
const LEVELS: usize = 3;

/// The element from which a choice is picked, given the element at `index`: that element itself, or
/// a container of it.
pub(crate) fn chooser(tree: &Tree, index: usize) -> usize {
    let mut around = tree.outwards(index).take(LEVELS + 1);
    // If the element is a button in a row or a cell, the list around it does not count: the button
    // has a menu of its own, and the cell may have choices of its own.
    let own = &tree.elements[index];
    let in_list = !own.role.is_interactive() && own.role != Role::CELL;
    let chooses = |at: &usize| {
        let role = tree.elements[*at].role;
        matches!(
            role,
            Role::COMBO_BOX | Role::POP_UP_BUTTON | Role::MENU_BUTTON
        ) || in_list && is_list(role)
            || has_hidden_list(tree, *at)
    };
    around.find(chooses).unwrap_or(index)
}

/// Whether the element's parts are a field, a button and a combo box that never shows, as
/// LibreOffice builds its combo boxes on GTK 3.
fn has_hidden_list(tree: &Tree, index: usize) -> bool {
    let part = |role, visible| {
        let mut parts = tree.elements.iter().skip(index + 1).take(8);
        parts.any(|e| e.parent == Some(index) && e.role == role && e.visible == visible)
    };
    part(Role::TEXT_FIELD, true) && part(Role::COMBO_BOX, false)
}

/// Whether the choices of an element of this role are visible without opening it.
pub(crate) fn is_list(role: Role) -> bool {
    matches!(
        role,
        Role::LIST | Role::TABLE | Role::OUTLINE | Role::GRID | Role::MENU | Role::RADIO_GROUP
    )
}

/// Whether an element may be a choice.
pub(crate) fn is_choice(element: &Element) -> bool {
    #[rustfmt::skip]
    const CHOICES: [Role; 13] = [
        Role::MENU_ITEM, Role::ROW, Role::CELL, Role::RADIO_BUTTON, Role::CHECK_BOX, Role::BUTTON,
        Role::LINK, Role::STATIC_TEXT, Role::IMAGE, Role::LAYOUT_ITEM, Role::TAB, Role::GROUP,
        Role::UNKNOWN,
    ];
    CHOICES.contains(&element.role)
}

/// The item of this text, in the menu at `index`, that is switched on and off.
pub(crate) fn switch_in(tree: &Tree, index: usize, text: &str) -> Option<usize> {
    let wanted = fold(text);
    let is_switch = |element: &Element| {
        let native = &*element.native_role;
        matches!(native, "check menu item" | "radio menu item")
            && fold(&element.title.shown) == wanted
    };
    tree.inside(index).find(|at| is_switch(&tree.elements[*at]))
}

/// Whether `choice` is the current choice of the element at `index`. `None` if the element reports
/// no choice, as menu buttons do.
pub(crate) fn has_chosen(tree: &Tree, index: usize, choice: &str) -> Option<bool> {
    let wanted = fold(choice);
    let is = |text: &str| fold(text) == wanted;
    let element = &tree.elements[index];
    if !element.value.is_blank() {
        return Some(is(&element.value.shown));
    }
    let texts = Texts::new(tree);
    let inside = || tree.inside(index);
    let field = inside().map(|i| &tree.elements[i]);
    let field = field
        .filter(|e| e.role == Role::TEXT_FIELD && !is_list(element.role))
        .find(|e| !e.value.is_blank());
    if let Some(field) = field {
        return Some(is(&field.value.shown));
    }
    let says = |i: usize| texts.text(tree, i).is_some_and(|text| is(&text.shown));
    let chosen = |i: &usize| {
        let states = tree.elements[*i].states;
        states.intersects(States::SELECTED | States::CHECKED) && is_choice(&tree.elements[*i])
    };
    let chosen: Vec<usize> = inside().filter(chosen).collect();
    if !chosen.is_empty() {
        // A checked item of a menu is not a choice of the menu.
        let chooses = matches!(element.role, Role::COMBO_BOX | Role::POP_UP_BUTTON)
            || is_list(element.role) && element.role != Role::MENU;
        let is_chosen = chosen.into_iter().any(says);
        return (chooses || is_chosen).then_some(is_chosen);
    }
    // Qt's combo boxes have their choice as name, and drop-downs of web pages show it as a text.
    let shown = |i: &usize| tree.elements[*i].visible && !is_list(element.role);
    if says(index) || inside().filter(shown).any(says) {
        return Some(true);
    }
    let name = fold(&element.title.shown);
    let named = |i: usize| {
        texts
            .text(tree, i)
            .is_some_and(|text| fold(&text.shown) == name)
    };
    let is_named_so = element.role == Role::COMBO_BOX && !name.is_empty() && inside().any(named);
    is_named_so.then_some(false)
}
