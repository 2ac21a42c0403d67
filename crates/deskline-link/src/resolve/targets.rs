//! What an action is for, in the tree that it was resolved on.

use deskline_core::{Element, Role, States, Tree};
use deskline_input::Button;

use super::lookup::Resolved;
use crate::call::{Action, Input, Quiet};
use crate::report::ActedOn;

#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// Whether the app's windows are on a virtual desktop where accessibility does not list them.
    /// Nothing is resolved then.
    pub(crate) away: bool,
    pub(crate) target: Option<Resolved>,
    /// Where a drag ends, in the same app.
    pub(crate) to: Option<Resolved>,
    /// Where a drag ends, in another app.
    pub(crate) drop_on: Option<DropOn>,
    /// The toplevel that the call names.
    pub(crate) window: Option<usize>,
    /// The element that the action is for, or that keys go to.
    pub(crate) acted_on: Option<ActedOn>,
    /// Whether the action sets or chooses a value on an element that is known not to be secure.
    pub(crate) public_value: bool,
}

/// Where a drag ends, in another app.
#[derive(Debug)]
pub(crate) struct DropOn {
    pub(crate) pid: u32,
    /// The other app's tree before the drag.
    pub(crate) tree: Tree,
    pub(crate) target: Resolved,
}

impl Targets {
    /// The target's index in the tree that it was resolved on.
    pub(crate) fn index(&self) -> Option<usize> {
        self.target.as_ref().and_then(|target| target.index)
    }

    /// The target, if the action clicks it with the left button or presses it.
    pub(super) fn pressed(&self, action: &Action) -> Option<&Resolved> {
        let presses = match action {
            Action::Input(Input::Click { kind, .. }) => kind.button == Button::Left,
            Action::Quiet(Quiet::PressAx { .. }) => true,
            _ => false,
        };
        self.target.as_ref().filter(|_| presses)
    }

    /// Whether the action is a click or a press on an element that is disabled. Dialogs enable
    /// their button some time after a text was typed.
    pub(super) fn is_disabled(&self, tree: &Tree, action: &Action) -> bool {
        let target = self.pressed(action).filter(|target| !target.given);
        let element = target.and_then(|target| tree.elements.get(target.index?));
        // An item of a closed menu has the states that it had when the menu was last open, so it
        // does not count.
        let takes_clicks = |e: &Element| e.role.is_interactive() && e.role != Role::MENU_ITEM;
        element.is_some_and(|e| takes_clicks(e) && e.states.contains(States::DISABLED))
    }

    pub(super) fn toplevels(&self, tree: &Tree) -> Vec<usize> {
        let ends = [&self.target, &self.to].into_iter().flatten();
        let elements = ends.filter_map(|end| end.index).chain(self.window);
        elements.filter_map(|index| tree.toplevel(index)).collect()
    }
}
