//! With `--ask` the person is asked before a button of an alert is pressed. Apps show alerts before
//! an action that cannot be undone.
//!
//! No toolkit reports which button cancels, so every button counts, and so does every key that may
//! press a button. Keys that only move the focus do not count, nor does Escape, which cancels.

use deskline_core::{Element, Key, KeyPress, Modifiers, Point, Role, States, Texts, Tree, escape};

use crate::call::{Action, Input, Quiet};
use crate::question::Alert;

/// The alert that this action may answer.
pub(crate) fn answered_by(
    tree: &Tree,
    action: &Action,
    target: Option<usize>,
    window: Option<usize>,
) -> Option<Alert> {
    match action {
        Action::Input(Input::Click { .. } | Input::Choose { .. } | Input::Drag { .. })
        | Action::Quiet(Quiet::PressAx { .. }) => {
            // A press on a field presses Return in it, and so perhaps the dialog's default button.
            let is_quiet = matches!(action, Action::Quiet(_));
            let presses = |at: &usize| {
                let element = &tree.elements[*at];
                element.role == Role::BUTTON || is_quiet && takes_text(element)
            };
            let button = tree.outwards(target?).find(presses)?;
            let label = Texts::new(tree).text(tree, button);
            let label = label.map_or("", |label| label.shown.as_str());
            let press = format!("press {}", escape::quoted(label, 40));
            around(tree, button, press)
        }
        Action::Input(Input::Type { .. } | Input::PressKey { .. }) => {
            of_keys(tree, action.keys(), window)
        }
        _ => None,
    }
}

/// The alert that a text and a key may answer in `window`, or if `None` in the active window.
pub(crate) fn of_keys(tree: &Tree, keys: Keys<'_>, window: Option<usize>) -> Option<Alert> {
    let top = window.or_else(|| tree.active_toplevel());
    let focus = tree.focused_in(top);
    let press = may_press(tree, keys, focus)?;
    // A modal alert gets the keys that are sent to other windows of its app. A sheet gets only
    // those of its own window.
    let takes = |at: &usize| [Some(*at), top].contains(&tree.toplevel(*at));
    let modal = tree.dialog.filter(takes);
    let mut places = focus.into_iter().chain(top).chain(modal);
    places.find_map(|at| around(tree, at, press.clone()))
}

/// The alert with a button at this point.
pub(crate) fn at(tree: &Tree, point: Point) -> Option<Alert> {
    buttons_at(tree, point).find_map(|at| around(tree, at, "click again".to_owned()))
}

pub(crate) fn buttons_at(tree: &Tree, point: Point) -> impl Iterator<Item = usize> {
    (0..tree.elements.len()).filter(move |at| {
        let element = &tree.elements[*at];
        let place = element.place().filter(|_| element.role == Role::BUTTON);
        place.is_some_and(|place| place.contains(point))
    })
}

/// The alert that contains this element. `None` if the alert has only one button: it asks nothing.
fn around(tree: &Tree, at: usize, press: String) -> Option<Alert> {
    let is_alert = |at: &usize| {
        let says_so = tree.elements[*at].native_role.as_ref() == "alert";
        says_so || tree.dialog == Some(*at) && !takes_values(tree, *at)
    };
    let alert = tree.outwards(at).find(is_alert)?;
    let inside = || tree.inside(alert);
    let is = |at: &usize, role| tree.elements[*at].role == role;
    if inside().filter(|at| is(at, Role::BUTTON)).count() < 2 {
        return None;
    }
    let texts = Texts::new(tree);
    let in_button = |at: &usize| tree.outwards(*at).any(|at| is(&at, Role::BUTTON));
    let says = inside().filter(|at| is(at, Role::STATIC_TEXT) && !in_button(at));
    let says = says.filter_map(|at| Some(texts.text(tree, at)?.shown.trim().to_owned()));
    let says: Vec<String> = says.collect();
    Some(Alert {
        says: escape::quoted(&says.join(" "), 120),
        press,
    })
}

/// A text, and the key after it.
pub(crate) type Keys<'k> = (Option<&'k str>, Option<KeyPress>);

/// Names the input by which these keys may press a button while `focus` has the focus. `None` if
/// they press no button.
pub(crate) fn may_press(tree: &Tree, keys: Keys<'_>, focus: Option<usize>) -> Option<String> {
    let in_field = focus.is_some_and(|at| takes_text(&tree.elements[at]));
    match keys {
        (_, Some(key)) if !moves_the_focus(key) => Some(format!("press the key {key}")),
        (Some(text), _) if !in_field || text.contains(['\n', '\r']) => Some("type".to_owned()),
        _ => None,
    }
}

/// Whether a text typed after a click on this element goes to this element.
pub(crate) fn takes_text(clicked: &Element) -> bool {
    matches!(clicked.role, Role::TEXT_FIELD | Role::TEXT_AREA)
        && clicked.states.contains(States::EDITABLE)
}

/// Whether a modal dialog has something to fill in or to choose. Any other modal dialog counts as
/// an alert, because Windows, macOS and some toolkits have no role for alerts.
fn takes_values(tree: &Tree, dialog: usize) -> bool {
    let mut inside = tree.inside(dialog).map(|at| &tree.elements[at]);
    inside.any(|element| {
        let takes = matches!(
            element.role,
            Role::TABLE | Role::LIST | Role::OUTLINE | Role::WEB_AREA | Role::COMBO_BOX
        );
        element.states.contains(States::EDITABLE) || takes
    })
}

/// Whether a key presses no button of a dialog.
fn moves_the_focus(press: KeyPress) -> bool {
    #[rustfmt::skip]
    const MOVES: [Key; 10] = [
        Key::Escape, Key::Tab, Key::Up, Key::Down, Key::Left, Key::Right, Key::Home, Key::End,
        Key::PageUp, Key::PageDown,
    ];
    MOVES.contains(&press.key) && (press.modifiers - Modifiers::SHIFT).is_empty()
}
