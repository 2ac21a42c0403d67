//! Decides whether typed text may appear in summaries and in the journal.
//!
//! Text is public only if it is known that no keystroke of it reached a secure field. The evidence
//! is two readings of the app that had the keyboard: one right before the first key of the text,
//! and one right after its last key. Text is public in two cases:
//!
//! - Both readings show the same focused element, it is not secure, and the focus cannot have moved
//!   away and back in between.
//! - Neither reading has a secure element, and the text holds no key that moves the focus.
//!
//! Otherwise (no reading, a form that closed, a prompt that opened) the text is hidden.

pub(crate) use deskline_contract::error::character_of;
use deskline_core::{ElementId, Role, States, Tree};

use crate::settle::field::Field;

/// The text that replaces a possible secret.
pub(crate) const HIDDEN: &str = "•••";

/// What one reading tells about where keys go.
// The bools are independent facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Witness {
    pid: u32,
    /// The focused element. A cell's focus counts as its table's. `None` if no element reports the
    /// focus.
    pub(crate) focus: Option<Focus>,
    /// The document around the focused element. In a document Return moves the focus from one
    /// paragraph, which is an element, to the next.
    document: Option<ElementId>,
    /// Whether any element, hidden or not, may be secure. If the app has no tree, `true`.
    pub(crate) secure: bool,
    /// Whether the focused element is secure.
    pub(crate) secure_focus: bool,
    /// The focused field, unless it is secure.
    field: Option<Field>,
    /// Whether keys go to a terminal.
    pub(crate) terminal: bool,
    /// Whether keys go to a web page.
    pub(crate) page: bool,
}

/// The element that has the focus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Focus {
    element: ElementId,
    /// Whether the focus stays in the element after Return, as in a multi-line text or a table.
    many_lines: bool,
}

impl Witness {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self::at(tree, tree.focus())
    }

    /// Where keys will go once the window of the element `window` is in front.
    pub(crate) fn in_window(tree: &Tree, window: Option<usize>) -> Self {
        let top = window.and_then(|window| tree.toplevel(window));
        match top.filter(|_| top != tree.active_toplevel()) {
            Some(top) => Self::at(tree, tree.focused_in(Some(top))),
            None => Self::new(tree),
        }
    }

    fn at(tree: &Tree, focused: Option<usize>) -> Self {
        let has = |states| tree.elements.iter().any(|e| e.states.contains(states));
        Self {
            pid: tree.app.pid,
            focus: focused.map(|index| holder(tree, index)),
            document: focused.and_then(|index| {
                let is_text = |at: &usize| tree.elements[*at].role == Role::TEXT_AREA;
                let text = tree.outwards(index).skip(1).find(is_text)?;
                Some(tree.elements[text].id.clone())
            }),
            secure: tree.is_picture_only() || has(States::SECURE),
            secure_focus: has(States::FOCUSED | States::SECURE),
            field: focused.and_then(|index| Field::new(tree, index)),
            page: focused.is_some_and(|index| tree.page_around(index).is_some()),
            terminal: match focused {
                // In a window that has just opened, the window itself has the focus before its
                // terminal gets it.
                Some(index) => {
                    let mut inside = tree.with_inside(index).map(|at| &tree.elements[at]);
                    inside.any(|e| e.visible && is_terminal(e))
                }
                None => tree.elements.iter().any(|e| e.visible && is_terminal(e)),
            },
        }
    }

    /// Whether the same element has the focus in both readings.
    pub(crate) fn keeps_focus(&self, later: &Self) -> bool {
        self.focus.is_some() && self.focus == later.focus
    }

    /// Whether this element may have the focus: it is the focused element, the focus is unknown, or
    /// the focus is in a table or a multi-line text, which keeps the focus for all of its parts.
    pub(crate) fn may_go_to(&self, element: &ElementId) -> bool {
        let focus = self.focus.as_ref();
        focus.is_none_or(|focus| focus.many_lines || focus.element == *element)
    }

    /// Whether the focus is in a table, whose cells take text without being fields.
    pub(crate) fn is_in_table(&self) -> bool {
        self.field.is_none() && self.focus.as_ref().is_some_and(|focus| focus.many_lines)
    }

    /// This witness, with the secure elements of another reading too, which may have more elements.
    pub(crate) fn beside(mut self, other: &Self) -> Self {
        self.secure |= other.secure;
        self
    }

    /// Whether both are readings of one app.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.pid == other.pid
    }

    /// The field that the keys go to, if it is known and may be read.
    pub(crate) fn field(&self) -> Option<&Field> {
        self.field.as_ref()
    }
}

fn is_terminal(element: &deskline_core::Element) -> bool {
    element.native_role == "terminal"
}

/// The element that keeps the focus: the enclosing table, if there is one, else the focused
/// element. Tab and Return move between the cells of a table but do not leave the table.
fn holder(tree: &Tree, index: usize) -> Focus {
    let is_table = |at: &usize| matches!(tree.elements[*at].role, Role::TABLE | Role::OUTLINE);
    let table = tree.outwards(index).find(is_table);
    let element = &tree.elements[table.unwrap_or(index)];
    Focus {
        element: element.id.clone(),
        many_lines: table.is_some() || element.role == Role::TEXT_AREA,
    }
}

/// How a text went into its field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Way {
    #[default]
    Typed,
    /// The text was typed, and then the part that the field had lost was typed again.
    TypedAgain,
    Pasted,
}

/// The typed text, and the readings that show where it went.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Keys {
    /// The typed text, including pressed keys that type a character. Empty if nothing was typed.
    pub(crate) text: String,
    pub(crate) way: Way,
    /// Whether a key of the text was pressed with Shift or AltGr: its character then depends on the
    /// layout.
    pub(crate) by_layout: bool,
    /// The reading right before the first key.
    pub(crate) before: Option<Witness>,
    /// The reading right after the last key of the text.
    pub(crate) after: Option<Witness>,
    /// The tree between the text and the key that follows it.
    pub(crate) between: Option<Tree>,
    /// Whether a pop-up, such as a list of completions, was open between the text and the key.
    pub(crate) list: bool,
}

impl Keys {
    /// What the field has lost of the text: how many characters to erase, and the text to type
    /// then. `None` if nothing is lost, or if the lost part was already typed again.
    pub(crate) fn lost(&self) -> Option<(usize, &str)> {
        /// At most this many characters are typed again.
        const MOST: usize = 60;
        let [old, now] = [&self.before, &self.after].map(|at| at.as_ref()?.field());
        let lost = old
            .zip(now)
            .and_then(|(old, now)| now.lacks(old, &self.text));
        lost.filter(|(_, rest)| self.way == Way::Typed && rest.chars().count() <= MOST)
    }

    /// Whether no keystroke can have gone to a secure field.
    pub(crate) fn are_public(&self) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return false;
        };
        if before.pid != after.pid || before.secure_focus || after.secure_focus {
            return false;
        }
        let secure = before.secure || after.secure;
        let moves = moves_focus(&self.text);
        let in_document = before.document.is_some() && before.document == after.document;
        if in_document && moves != Some(Moves::Other) {
            return true;
        }
        let stays = before
            .focus
            .as_ref()
            .filter(|_| before.focus == after.focus);
        match (stays, moves) {
            (Some(_), None) => true,
            // Tab may go through all fields of a form and come back to the first one.
            (Some(focus), Some(moves)) => focus.many_lines && !(secure && moves != Moves::Return),
            (None, moves) => !secure && moves.is_none(),
        }
    }
}

/// The keys of a text that may move the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Only Return.
    Return,
    /// Tab or another control character.
    Other,
}

/// The kind of the first control character that is followed by more text, which may have reached
/// another field, or another page of a form. Trailing control characters are ignored.
fn moves_focus(text: &str) -> Option<Moves> {
    let text = text.trim_end_matches(char::is_control);
    let other = |c: char| c.is_control() && !matches!(c, '\n' | '\r');
    if text.contains(other) {
        return Some(Moves::Other);
    }
    text.contains(char::is_control).then_some(Moves::Return)
}

/// Whether a text may be shown on the screen before it is typed: only if the app has no secure
/// element and no key of the text can move the focus to one.
pub(crate) fn may_be_shown(text: &str, tree: Option<&Tree>) -> bool {
    tree.is_some_and(|tree| !Witness::new(tree).secure) && moves_focus(text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(focus: Option<&str>, secure: bool) -> Witness {
        Witness {
            pid: 7,
            focus: focus.map(|id| Focus {
                element: ElementId::new(id),
                many_lines: id == "notes",
            }),
            document: focus
                .filter(|id| id.starts_with("paragraph"))
                .map(|_| ElementId::new("letter")),
            secure,
            secure_focus: false,
            field: None,
            terminal: false,
            page: false,
        }
    }

    fn public(
        text: &str,
        before: impl Into<Option<Witness>>,
        after: impl Into<Option<Witness>>,
    ) -> bool {
        let (text, before, after) = (text.into(), before.into(), after.into());
        Keys {
            text,
            way: Way::Typed,
            by_layout: false,
            before,
            after,
            between: None,
            list: false,
        }
        .are_public()
    }

    #[test]
    fn text_is_public_if_one_field_keeps_the_focus_throughout() {
        let field = || witness(Some("name"), true);
        assert!(public("alice", field(), field()));
        let notes = || witness(Some("notes"), true);
        assert!(public("line\nline\n", notes(), notes()));
        assert!(!public("alice\nsecret", field(), field()));
        assert!(
            !public("alice\tsecret\t", field(), field()),
            "round all fields"
        );
        assert!(!public("a\tsecret\t", notes(), notes()), "round all fields");
        assert!(!public("alice", field(), witness(Some("password"), true)));
        assert!(!public("alice", field(), None));
        assert!(!public("alice", None, field()));
    }

    #[test]
    fn text_is_public_if_the_focus_cannot_have_passed_a_secure_field() {
        let bare = || witness(None, false);
        assert!(public("alice", bare(), bare()));
        assert!(public(
            "alice\n",
            witness(Some("a"), false),
            witness(Some("b"), false)
        ));
        assert!(!public("alice\tsecret", bare(), bare()));
        assert!(!public(
            "alice\nsecret\n",
            witness(Some("a"), false),
            bare()
        ));
        assert!(
            !public("alice", witness(Some("a"), true), bare()),
            "the form is gone"
        );
    }

    #[test]
    fn text_with_a_return_is_public_between_paragraphs_of_one_document() {
        let paragraph = |n: u8| witness(Some(&format!("paragraph {n}")), true);
        assert!(public("Dear Ann,\nhello", paragraph(1), paragraph(2)));
        assert!(!public("Dear Ann,\thello", paragraph(1), paragraph(2)));
        assert!(!public(
            "a\nb",
            paragraph(1),
            witness(Some("password"), true)
        ));
    }

    #[test]
    fn text_for_a_secure_focus_or_another_process_is_never_public() {
        let mut secure = witness(Some("password"), true);
        secure.secure_focus = true;
        assert!(!public("x", secure.clone(), secure));
        let mut other = witness(None, false);
        other.pid = 8;
        assert!(!public("x", witness(None, false), other));
    }
}
