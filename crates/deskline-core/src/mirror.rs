//! Fields that only repeat what another element says: a formula bar, a details pane.

use crate::{Attribute, Diff, Element, Modified, Tree, Value};

impl Diff {
    /// The modifications without those of fields that only repeat what has the focus.
    #[must_use]
    pub fn without_mirrors(&self, before: &Tree, after: &Tree) -> Self {
        let modified = self.modified.iter();
        let modified = modified.filter(|m| !self.is_mirror(before, after, m));
        Self {
            modified: modified.cloned().collect(),
            ..Self::default()
        }
    }

    /// Whether a change of texts is that of a field which repeats what has the focus. Its old text
    /// is that of what lost the focus, its new one that of what has it now, and neither of these
    /// has changed. So LibreOffice's input line says `Name`, and then nothing, as the cursor goes on
    /// from the cell with that text to an empty one.
    fn is_mirror(&self, before: &Tree, after: &Tree, of: &Modified) -> bool {
        let focus = |old: bool, new: bool| {
            self.modified.iter().find(|m| {
                m.changes
                    .iter()
                    .all(|c| matches!(c.attribute, Attribute::Focused | Attribute::Selected))
                    && m.changes.iter().any(|c| {
                        let flags = (&c.old, &c.new);
                        c.attribute == Attribute::Focused
                            && flags == (&Value::Flag(old), &Value::Flag(new))
                    })
            })
        };
        let (Some(left), Some(came)) = (focus(true, false), focus(false, true)) else {
            return false;
        };
        let (Some(left), Some(came)) = (
            before.elements.get(left.before),
            after.elements.get(came.after),
        ) else {
            return false;
        };
        of.changes.iter().all(|change| {
            let (Value::Text(old), Value::Text(new)) = (&change.old, &change.new) else {
                return false;
            };
            says(left, &old.shown) && says(came, &new.shown)
        })
    }
}

/// Whether the element has this text, or none where this is blank.
fn says(element: &Element, text: &str) -> bool {
    let own = [&element.title, &element.value];
    match text.trim() {
        "" => element.value.is_blank(),
        text => own.iter().any(|own| own.shown.trim() == text),
    }
}
