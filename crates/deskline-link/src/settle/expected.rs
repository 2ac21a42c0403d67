//! The expected effect of an action, and its signs.

use std::time::Duration;

use deskline_core::{Diff, Element, Key, KeyPress, Role, States, Tree};

use crate::call::{Action, Input, Quiet};
use crate::trees::{Sent, Sign};

/// An app that does not report whether it is done has settled after this long without a change.
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// How long to wait after input that shows no effect. kcalc draws a typed character after 85 to 100
/// ms, gnome-calculator a result after 40 ms.
const UNSEEN: Duration = Duration::from_millis(120);

/// How long to wait after a button was activated. When a key activates a button of GTK, and in GTK
/// 4 also when a call does, GTK draws the button pressed for 250 ms without an event, and runs the
/// button's action after that. After a click an app may have to compute, or to ask a server.
const ACTIVATION: Duration = Duration::from_millis(320);

/// How long a dialog may take to answer Return in a field. GTK draws the dialog's button pressed
/// for 250 ms, looks the name up, and closes. On a busy machine GTK 4's chooser took 650 ms.
pub(crate) const ANSWERS: Duration = Duration::from_secs(1);

/// How long a field may take to open a list for a text. Web pages wait until no more keys come.
pub(crate) const LISTS: Duration = Duration::from_millis(500);

/// How long to wait for a tool tip. It shows once the pointer has rested for 500 ms (GTK, Chromium)
/// or 700 ms (Qt). Also how long to wait until a clicked field has the focus: a busy window manager
/// hands a click on late, and keys that were sent meanwhile would go to the former field.
const RESTED: Duration = Duration::from_millis(900);

/// The expected effect of an act.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The act has no effect of its own.
    #[default]
    Nothing,
    /// A change or an event.
    Change,
    /// At least a change of the focus, after a click on a field without it.
    Focus,
    /// A change, which may come late, after a click on a button.
    Click,
    /// A change, which may come late, after a button was pressed by a call, or by a key alone.
    Press,
    /// An event, after a text and then a key that may activate a button. A change proves nothing:
    /// the text has already caused one.
    Activation,
    /// A change that comes once the pointer has rested, such as a tool tip.
    Hover,
    /// A change besides the selection, which may come late, after a click on a row whose details
    /// the next step acts on.
    Selection,
    /// A change that may go on without events: browsers scroll smoothly.
    Motion,
}

impl Effect {
    /// The effect that this action should have on its element, `target`.
    pub(crate) fn new(action: &Action, target: Option<&Element>) -> Self {
        let input = match action {
            Action::Input(input) => input,
            Action::Quiet(Quiet::PressAx { .. }) => return Self::Press,
            _ => return Self::Nothing,
        };
        let key = match input {
            Input::Click { then, .. } if then.text.is_none() && then.key.is_none() => {
                return match target {
                    Some(target) if target.states.contains(States::EDITABLE | States::FOCUSED) => {
                        Self::Change
                    }
                    Some(target) if target.states.contains(States::EDITABLE) => Self::Focus,
                    Some(target) if target.role.is_interactive() => Self::Click,
                    _ => Self::Change,
                };
            }
            // `choose` has already waited for the effect of its choice.
            Input::Choose { .. } => return Self::Nothing,
            Input::Hover { .. } => return Self::Hover,
            Input::Click { then: typing, .. } | Input::Type { typing } => typing.key,
            // With no text before the key, any change comes from the key.
            Input::PressKey { press, .. } if activates(*press) => return Self::Press,
            Input::PressKey { press, .. } => Some(*press),
            Input::Scroll { .. } => return Self::Motion,
            Input::Drag { .. } => None,
        };
        match key {
            Some(KeyPress {
                key: Key::PageUp | Key::PageDown | Key::Home | Key::End,
                ..
            }) => Self::Motion,
            Some(key) if activates(key) => Self::Activation,
            _ => Self::Change,
        }
    }

    /// Whether `event` and `change` are signs of the effect. GTK 4 also sends events without an
    /// effect: while it draws a button pressed, when its window is raised, and when it is read,
    /// because it creates objects then. `raised`: whether a window was raised for the act.
    pub(crate) fn shows(self, event: Option<Sign>, change: Option<Sign>, raised: bool) -> bool {
        let sign = match self {
            Self::Click | Self::Press | Self::Hover | Self::Selection => change,
            Self::Activation => event,
            Self::Change | Self::Motion if raised => change,
            _ => event.max(change),
        };
        sign >= Some(self.least_sign(raised))
    }

    /// The weakest sign of the effect. Changes of the focus do not count if raising a window or
    /// pressing a button may have caused them.
    pub(crate) fn least_sign(self, raised: bool) -> Sign {
        match self {
            Self::Click | Self::Press | Self::Activation | Self::Hover | Self::Selection => {
                Sign::Change
            }
            Self::Change | Self::Motion if raised => Sign::Change,
            _ => Sign::Focus,
        }
    }

    /// Whether the effect may come long after the act.
    pub(crate) fn may_be_late(self) -> bool {
        self.unseen() >= ACTIVATION
    }

    /// How long to wait for an app that has shown no effect.
    pub(crate) fn unseen(self) -> Duration {
        match self {
            Self::Nothing => QUIET,
            Self::Change | Self::Motion => UNSEEN,
            Self::Click | Self::Press | Self::Activation | Self::Selection => ACTIVATION,
            Self::Hover | Self::Focus => RESTED,
        }
    }
}

/// Whether a key may activate a button.
fn activates(press: KeyPress) -> bool {
    matches!(press.key, Key::Return | Key::Space) && press.modifiers.is_empty()
}

/// The input that this action sends to the app. Keys count only in the last step: their late effect
/// matters to the answer, not to a next step.
///
/// `is_last`: whether this is the last step.
pub(crate) fn sent(action: &Action, is_last: bool) -> Option<Sent> {
    if Effect::new(action, None) == Effect::Motion {
        return Some(Sent::Scroll);
    }
    (action.keys() != (None, None) && is_last).then_some(Sent::Keys)
}

/// The tree right before the Return that answers a dialog, if this action presses Return in a field
/// of the dialog.
pub(crate) fn asked<'t>(action: &Action, before: Option<&'t Tree>) -> Option<&'t Tree> {
    let (_, key) = action.keys();
    let is_return = key.is_some_and(|key| key.key == Key::Return && key.modifiers.is_empty());
    before.filter(|tree| {
        let field = tree.focus().filter(|_| is_return);
        let field = field.filter(|at| tree.elements[*at].states.contains(States::EDITABLE));
        let dialog = tree.dialog_in_front().and_then(|at| tree.toplevel(at));
        field.is_some_and(|field| dialog.is_some() && tree.toplevel(field) == dialog)
    })
}

/// The field that this action types into, if it may open a list for the text: a combo box that is
/// closed.
pub(crate) fn lists<'t>(
    action: &Action,
    target: Option<&'t Element>,
    before: Option<&'t Tree>,
) -> Option<&'t Element> {
    let types = matches!(action.keys(), (Some(_), None));
    let focus = || Some(&before?.elements[before?.focus()?]);
    let field = target.or_else(focus).filter(|_| types)?;
    let opens = may_list(field) && !field.states.contains(States::EXPANDED);
    opens.then_some(field)
}

/// Whether this is a field that opens a list for a text.
fn may_list(element: &Element) -> bool {
    element.role == Role::COMBO_BOX && element.states.contains(States::EDITABLE)
}

/// Whether this field has opened its list, or is gone.
pub(crate) fn has_opened(field: &Element, now: &Tree) -> bool {
    let now = now.elements.iter().find(|e| e.id == field.id);
    now.is_none_or(|now| now.states.contains(States::EXPANDED))
}

/// Whether the focused field of a web page has its list open. The list would close if its window
/// lost the focus. `held`: whether an earlier link has left it open.
pub(crate) fn has_list(before: Option<&Tree>, after: Option<&Tree>, held: bool) -> bool {
    let is_open = |e: &Element| may_list(e) && e.states.contains(States::EXPANDED);
    let Some(tree) = after.or(before) else {
        return false;
    };
    let focus = tree.focus().filter(|at| tree.page_around(*at).is_some());
    let field = focus.map(|at| &tree.elements[at]).filter(|e| is_open(e));
    field.is_some_and(|field| {
        let mut was = before.into_iter().flat_map(|tree| &tree.elements);
        held || !was.any(|e| e.id == field.id && is_open(e))
    })
}

/// Whether a dialog has answered: it has closed, another window is active, or something besides the
/// field has changed in it. The field does not count, because its text may still be completed.
pub(crate) fn has_answered(asked: &Tree, now: &Tree) -> bool {
    let Some(field) = asked.focus() else {
        return true;
    };
    let dialog = asked.toplevel(field);
    let id = |tree: &Tree, at: Option<usize>| at.map(|at| tree.elements[at].id.clone());
    let (its, field) = (id(asked, dialog), &asked.elements[field].id);
    let within = |tree: &Tree, at: usize| {
        let is_field = |at: usize| tree.elements[at].id == *field;
        let shows = tree.elements[at].visible && !tree.outwards(at).any(is_field);
        shows && id(tree, tree.toplevel(at)) == its
    };
    let diff = Diff::between(asked, now);
    let mut modified = diff.modified.iter().filter(|m| !m.is_focus_alone());
    id(now, now.active_toplevel()) != its
        || diff.added.iter().any(|at| within(now, *at))
        || diff.removed.iter().any(|at| within(asked, *at))
        || modified.any(|m| within(now, m.after))
}
