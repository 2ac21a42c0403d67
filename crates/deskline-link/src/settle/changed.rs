//! The word for what a step has changed, and the control that it has changed.

use deskline_core::{Diff, Element, ElementId, Modified, Rect, Role, States, Tree, WindowId};

use crate::desktop::Desktop;
use crate::picture::change::Before;
use crate::picture::undescribed::may_have_spots;
use crate::resolve::lookup::Resolved;
use deskline_input::clock::Instant;

/// What an action has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    Tree,
    /// Only the picture of the window, not the tree.
    Picture,
    Nothing,
    /// Nothing was compared.
    Unknown,
}

impl Changed {
    /// The word of the summary's `effect:`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tree => "changed",
            Self::Picture => "picture only",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }

    /// What several steps have changed together.
    pub(crate) fn of_all(steps: &[Self]) -> Self {
        let any = |changed| steps.contains(&changed);
        match (any(Self::Tree), any(Self::Picture)) {
            (true, _) => Self::Tree,
            (_, true) => Self::Picture,
            _ if !steps.is_empty() && !any(Self::Unknown) => Self::Nothing,
            _ => Self::Unknown,
        }
    }
}

/// Whether the differences are more than changes of the focus, which raising a window alone causes.
/// A change of the focus counts if the focus is now in the field that was clicked, or if keys were
/// sent and an element has lost the focus.
pub(crate) fn shows_effect(
    diff: &Diff,
    after: &Tree,
    by_keys: bool,
    clicked: Option<&Element>,
) -> bool {
    let is_clicked = |index: usize| {
        let now = &after.elements[index];
        clicked.is_some_and(|was| was.id == now.id && was.states.contains(States::EDITABLE))
    };
    let lost = |index: usize| !after.elements[index].states.contains(States::FOCUSED);
    let counts =
        |m: &Modified| !m.is_focus_alone() || by_keys && lost(m.after) || is_clicked(m.after);
    !diff.added.is_empty() || !diff.removed.is_empty() || diff.modified.iter().any(counts)
}

/// Where the call has changed the picture of a window with blind spots, if the tree shows no
/// effect.
pub(crate) fn drawn(
    desktop: &mut dyn Desktop,
    (tree, by_keys): (&Tree, bool),
    (before, was): (&Tree, &Before),
) -> Option<(WindowId, Vec<Rect>)> {
    let says = || {
        let diff = Diff::between(before, tree);
        by_keys && !diff.modified.is_empty() || shows_effect(&diff, tree, by_keys, None)
    };
    if !may_have_spots(tree, was.window) || says() {
        return None;
    }
    Some((was.window, was.changes(desktop)?))
}

/// What a control shows, in the parts that an action changes.
#[derive(Debug, PartialEq)]
pub(crate) struct Says {
    pub(crate) value: String,
    pub(crate) title: String,
    pub(crate) states: States,
    /// Whether the tab, or the row that the control is or lies in, is selected.
    pub(crate) picks: bool,
    pub(crate) in_page: bool,
}

impl Says {
    /// The states of a control that is on.
    pub(crate) const ON: States = States::CHECKED.union(States::MIXED);

    /// The states of a row or an expander that is open or closed.
    pub(crate) const OPEN: States = States::EXPANDED.union(States::COLLAPSED);

    /// The value if it differs from `then`, or else the name if it differs. The name of a cell of a
    /// web page includes the text of its editor.
    pub(crate) fn other_text(&self, then: &Self) -> Option<&str> {
        let texts = [(&self.value, &then.value), (&self.title, &then.title)];
        let other = texts.into_iter().find(|(now, then)| now != then);
        other.map(|(now, _)| now.as_str())
    }

    /// What the control at `index` shows. GTK 4's drop-downs have their choice as a text inside.
    pub(crate) fn new(tree: &Tree, index: usize) -> Self {
        let element = &tree.elements[index];
        let chooses = matches!(element.role, Role::COMBO_BOX | Role::POP_UP_BUTTON);
        let mut inside = tree.inside(index);
        let part = inside.find(|at| {
            let part = &tree.elements[*at];
            part.visible && part.role == Role::STATIC_TEXT
        });
        let part = part.filter(|_| chooses && element.value.is_blank());
        let value = part.map_or(&element.value, |at| &tree.elements[at].title);
        let current = current_tab(tree, index);
        let picked = |row: usize| tree.elements[row].states.contains(States::SELECTED);
        Self {
            picks: row_around(tree, index).is_some_and(picked) || current == Some(index),
            in_page: tree.page_around(index).is_some(),
            value: value.shown.clone(),
            title: element.title.shown.clone(),
            states: element.states & (Self::ON | Self::OPEN | States::SELECTED),
        }
    }
}

/// The row or cell that the element is or lies in, if a click on the element selects that row or
/// cell. An editable cell does not count: in a spreadsheet it is where a text is to go.
pub(crate) fn row_around(tree: &Tree, index: usize) -> Option<usize> {
    let is_row = |at: &usize| {
        let e = &tree.elements[*at];
        matches!(e.role, Role::ROW | Role::CELL) && !e.states.contains(States::EDITABLE)
    };
    let row = tree.outwards(index).find(is_row);
    row.filter(|_| !tree.elements[index].role.is_interactive())
}

/// The current tab of the bar, if the element is a tab: the selected tab, or in Qt the focused one.
pub(crate) fn current_tab(tree: &Tree, index: usize) -> Option<usize> {
    let own = &tree.elements[index];
    let bar = own.parent.filter(|_| own.role == Role::TAB)?;
    [States::SELECTED, States::FOCUSED]
        .into_iter()
        .find_map(|of| {
            let is_it =
                |e: &Element| e.role == Role::TAB && e.parent == Some(bar) && e.states.contains(of);
            tree.inside(bar).find(|at| is_it(&tree.elements[*at]))
        })
}

/// A control that the last step has changed.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) since: Instant,
    pub(crate) target: Option<Resolved>,
    pub(crate) id: ElementId,
    /// What the control showed before the action. `says` is what it showed after the action.
    pub(crate) was: Says,
    pub(crate) says: Says,
    /// Whether the action switched the control on or off. Its app may then report that it is
    /// switched back.
    pub(crate) switched: bool,
}
