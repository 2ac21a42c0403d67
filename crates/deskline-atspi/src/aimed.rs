//! The control that a click is meant for.

use deskline_core::{ElementId, Point, Rect, Tree};

use crate::names::StateSet;
use crate::toolkits::Toolkit;

/// The control that a click is meant for.
#[derive(Debug)]
pub struct Aimed {
    pub(crate) element: ElementId,
    pub name: String,
    pub(crate) at: Point,
    pub(crate) place: Rect,
    pub(crate) is_row: bool,
    /// The control's states before the press.
    pub(crate) was: StateSet,
}

impl Aimed {
    /// `None` if a press on the control would not show in its states.
    pub(crate) fn new(tree: &Tree, index: usize, at: Point, toolkit: Toolkit) -> Option<Self> {
        let element = &tree.elements[index];
        if !matches!(toolkit, Toolkit::Gtk3 | Toolkit::Qt) {
            return None;
        }
        let is_qt = toolkit == Toolkit::Qt;
        let is_row = is_qt && matches!(&*element.native_role, "list item" | "tree item");
        // Qt reports group boxes as check boxes. Unlike real check boxes, they have elements
        // inside.
        let is_button = matches!(&*element.native_role, "push button" | "radio button")
            || &*element.native_role == "check box" && tree.inside(index).next().is_none();
        (is_row || is_button).then_some(Self {
            element: element.id.clone(),
            name: deskline_core::summary::name_of(tree, index),
            at,
            place: element.place()?,
            is_row,
            was: StateSet::default(),
        })
    }
}
