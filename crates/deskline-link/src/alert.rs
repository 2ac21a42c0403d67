//! With `--ask` the person is asked before a button of an alert is pressed: apps show one before
//! an action that cannot be undone.
//!
//! No toolkit reports which button cancels, so each button counts, and each key that may press one.
//! Keys that only move the focus do not, and neither does Escape, which cancels.

use deskline_core::{Key, KeyPress, Modifiers, Role, Texts, Tree, escape};

use crate::act::input::takes_text;
use crate::call::{Action, Input, Quiet};
use crate::question::Alert;
use crate::resolve::Targets;

impl Alert {
    /// The alert that this action may answer.
    pub(crate) fn answered_by(tree: &Tree, action: &Action, targets: &Targets) -> Option<Self> {
        match action {
            Action::Input(Input::Click { .. } | Input::Choose { .. } | Input::Drag { .. })
            | Action::Quiet(Quiet::PressAx { .. }) => {
                let button = |at: &usize| tree.elements[*at].role == Role::BUTTON;
                let button = tree.outwards(targets.index()?).find(button)?;
                let label = Texts::new(tree).text(tree, button);
                let label = label.map_or("", |label| label.shown.as_str());
                let press = format!("press {}", escape::quoted(label, 40));
                Self::around(tree, button, press)
            }
            Action::Input(Input::Type { .. } | Input::PressKey { .. }) => {
                Self::of_keys(tree, action, targets.window)
            }
            _ => None,
        }
    }

    /// The alert that the keys of this action may answer, in this window or the active one.
    pub(crate) fn of_keys(tree: &Tree, action: &Action, window: Option<usize>) -> Option<Self> {
        let top = window.or_else(|| tree.active_toplevel());
        let focus = tree.focused_in(top);
        let in_field = focus.is_some_and(|at| takes_text(&tree.elements[at]));
        let press = match action.keys() {
            (_, Some(key)) if !moves_the_focus(key) => format!("press the key {key}"),
            (Some(text), _) if !in_field || text.contains(['\n', '\r']) => "type".to_owned(),
            _ => return None,
        };
        // A modal alert takes the keys of the app's other windows.
        let modal = tree.dialog.filter(|at| tree.toplevel(*at) == Some(*at));
        let mut places = focus.into_iter().chain(top).chain(modal);
        places.find_map(|at| Self::around(tree, at, press.clone()))
    }

    /// The alert that contains this element. `None` if it has only one button, and so asks
    /// nothing.
    fn around(tree: &Tree, at: usize, press: String) -> Option<Self> {
        let is_alert = |at: &usize| tree.elements[*at].native_role.as_ref() == "alert";
        let alert = tree.outwards(at).find(is_alert)?;
        let inside =
            || (alert + 1..tree.elements.len()).take_while(|at| tree.is_inside(*at, alert));
        let is = |at: &usize, role| tree.elements[*at].role == role;
        if inside().filter(|at| is(at, Role::BUTTON)).count() < 2 {
            return None;
        }
        let texts = Texts::new(tree);
        let in_button = |at: &usize| tree.outwards(*at).any(|at| is(&at, Role::BUTTON));
        let says = inside().filter(|at| is(at, Role::STATIC_TEXT) && !in_button(at));
        let says = says.filter_map(|at| Some(texts.text(tree, at)?.shown.trim().to_owned()));
        let says: Vec<String> = says.collect();
        Some(Self {
            says: escape::quoted(&says.join(" "), 120),
            press,
        })
    }
}

/// Whether a key presses no button of a dialog.
fn moves_the_focus(press: KeyPress) -> bool {
    let moves = matches!(
        press.key,
        Key::Escape
            | Key::Tab
            | Key::Up
            | Key::Down
            | Key::Left
            | Key::Right
            | Key::Home
            | Key::End
            | Key::PageUp
            | Key::PageDown
    );
    moves && (press.modifiers - Modifiers::SHIFT).is_empty()
}
