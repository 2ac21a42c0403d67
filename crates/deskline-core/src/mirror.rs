//! Finds fields that only repeat another element's text: a formula bar, a details pane.

use crate::{Attribute, Diff, Element, Modified, Tree, Value};

impl Diff {
    /// Drops the modifications of fields that only repeat the focused element's text.
    #[must_use]
    pub fn without_mirrors(&self, before: &Tree, after: &Tree) -> Self {
        let modified = self.modified.iter();
        let modified = modified.filter(|m| !self.is_mirror(before, after, m));
        Self {
            modified: modified.cloned().collect(),
            ..Self::default()
        }
    }

    /// Whether a field only repeats the text of the focused element: it showed the text of the
    /// element that had the focus before, and shows that of the element that has the focus now, and
    /// neither of these texts has changed. The input line of LibreOffice is such a field: when the
    /// cursor moves from the cell `Name` to an empty cell, the line becomes empty.
    fn is_mirror(&self, before: &Tree, after: &Tree, of: &Modified) -> bool {
        let focus = |old: bool, new: bool| {
            self.modified.iter().find(|m| {
                m.is_selection_alone()
                    && m.changes.iter().any(|c| {
                        let flags = (&c.old, &c.new);
                        c.attribute == Attribute::Focused
                            && flags == (&Value::Flag(old), &Value::Flag(new))
                    })
            })
        };
        let left = focus(true, false).and_then(|m| before.elements.get(m.before));
        let came = focus(false, true).and_then(|m| after.elements.get(m.after));
        let (Some(left), Some(came)) = (left, came) else {
            return false;
        };
        of.changes.iter().all(|change| {
            let (Value::Text(old), Value::Text(new)) = (&change.old, &change.new) else {
                return false;
            };
            has_text(left, &old.shown) && has_text(came, &new.shown)
        })
    }
}

/// Whether the element has the text `text` or, if `text` is blank, has no value.
fn has_text(element: &Element, text: &str) -> bool {
    let own = [&element.title, &element.value];
    match text.trim() {
        "" => element.value.is_blank(),
        text => own.iter().any(|own| own.shown.trim() == text),
    }
}
