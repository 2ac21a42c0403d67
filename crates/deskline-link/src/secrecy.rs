//! Whether what was typed may be written down (SPEC §9).
//!
//! Typed text goes into summaries and the journal only where it is known that no keystroke of it
//! went to a secure field. What is known comes from two readings of the app that had the keyboard:
//! one right before its first key and one right after its last. Either both show the same focused
//! element, which is not secure, or neither has a secure element at all and the text has no key that
//! moves the focus. Anything else (no reading, a form that is gone, a prompt that came up) is
//! unknown, and the text is hidden.

use deskline_core::keys::{Key, KeyPress, Modifiers};
use deskline_core::{ElementId, Role, States, Tree};

/// What stands in for a text that may be a secret.
pub(crate) const HIDDEN: &str = "•••";

/// What one reading says about where keys would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Witness {
    pid: u32,
    /// What has the focus; a table stands for its cells. `None` where nothing says that it has it.
    focus: Option<Focus>,
    /// Whether any element is secure, hidden ones included.
    secure: bool,
    /// Whether the focused element is secure.
    secure_focus: bool,
}

/// What has the focus.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Focus {
    element: ElementId,
    /// Whether Return stays in it: a text of many lines, a table.
    many_lines: bool,
}

impl Witness {
    pub(crate) fn of(tree: &Tree) -> Self {
        let is = |states| move |e: &&deskline_core::Element| e.states.contains(states);
        // Toolkits mark containers of the focused element too: the innermost comes last.
        let focused = tree.elements.iter().rposition(|e| is(States::FOCUSED)(&e));
        Self {
            pid: tree.app.pid,
            focus: focused.map(|index| holder(tree, index)),
            secure: tree.elements.iter().any(|e| is(States::SECURE)(&e)),
            secure_focus: tree
                .elements
                .iter()
                .any(|e| is(States::FOCUSED | States::SECURE)(&e)),
        }
    }
}

impl Witness {
    /// Whether the app has a secure element.
    pub(crate) fn is_secure(&self) -> bool {
        self.secure
    }
}

/// The element whose focus counts: Tab and Return move between the cells of a table, and stay in it.
fn holder(tree: &Tree, index: usize) -> Focus {
    let mut at = Some(index);
    while let Some(i) = at {
        let element = &tree.elements[i];
        if matches!(element.role, Role::TABLE | Role::OUTLINE) {
            return Focus {
                element: element.id.clone(),
                many_lines: true,
            };
        }
        at = element.parent.filter(|parent| *parent < i);
    }
    Focus {
        element: tree.elements[index].id.clone(),
        many_lines: tree.elements[index].role == Role::TEXT_AREA,
    }
}

/// Where typed text went, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// What was typed, keys that give a character included; empty where nothing was.
    pub(crate) text: String,
    /// Right before the first key.
    pub(crate) before: Option<Witness>,
    /// Right after the last key of the text.
    pub(crate) after: Option<Witness>,
}

impl Keys {
    /// Whether it is known that no keystroke went to a secure field.
    pub(crate) fn are_public(&self) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else {
            return false;
        };
        if before.pid != after.pid || before.secure_focus || after.secure_focus {
            return false;
        }
        let secure = before.secure || after.secure;
        let stays = before
            .focus
            .as_ref()
            .filter(|_| before.focus == after.focus);
        match (stays, moves_focus(&self.text)) {
            (Some(_), None) => true,
            // A Tab may go round all fields of a form and come back.
            (Some(focus), Some(moves)) => focus.many_lines && !(secure && moves != Moves::Return),
            (None, moves) => !secure && moves.is_none(),
        }
    }
}

/// Which keys of a text may move the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Return alone.
    Return,
    /// Tab or another control character.
    Other,
}

/// The control characters of a text that have more text behind them: what follows may have gone into
/// another field, or another page of a form. Those at the end took nothing with them.
fn moves_focus(text: &str) -> Option<Moves> {
    let text = text.trim_end_matches(char::is_control);
    let other = |c: char| c.is_control() && !matches!(c, '\n' | '\r');
    if text.contains(other) {
        return Some(Moves::Other);
    }
    text.contains(char::is_control).then_some(Moves::Return)
}

/// Whether a text may be shown before it is typed, on the screen that others may see: only where the
/// app has no secure element, and no key of the text can lead to one.
pub(crate) fn may_be_shown(text: &str, tree: Option<&Tree>) -> bool {
    tree.is_some_and(|tree| !Witness::of(tree).secure) && moves_focus(text).is_none()
}

/// The character that a key press types; `None` for shortcuts and keys that type nothing.
pub(crate) fn character_of(press: KeyPress) -> Option<char> {
    let shortcut = Modifiers::CONTROL | Modifiers::ALT | Modifiers::COMMAND;
    match press.key {
        _ if press.modifiers.intersects(shortcut) => None,
        Key::Char(char) => Some(char),
        Key::Space => Some(' '),
        _ => None,
    }
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
            secure,
            secure_focus: false,
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
            before,
            after,
        }
        .are_public()
    }

    #[test]
    fn a_field_that_keeps_the_focus_is_known_to_have_taken_it_all() {
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
    fn an_app_without_secure_fields_takes_no_secrets_unless_the_focus_can_have_gone_through_one() {
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
    fn a_secure_focus_or_another_process_is_never_public() {
        let mut secure = witness(Some("password"), true);
        secure.secure_focus = true;
        assert!(!public("x", secure.clone(), secure));
        let mut other = witness(None, false);
        other.pid = 8;
        assert!(!public("x", witness(None, false), other));
    }
}
