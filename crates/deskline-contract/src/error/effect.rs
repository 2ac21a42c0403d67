//! The words for an action that was carried out and did not have the requested effect.

use std::fmt::Display;
use std::time::Duration;

use deskline_core::{KeyPress, escape};

/// Why an action did not have the requested effect.
#[derive(Debug, thiserror::Error)]
pub enum NoEffect {
    /// The state that was read back is not the requested one.
    #[error(transparent)]
    ReadBack(#[from] Mismatch),
    /// The field does not have the text that this key was to follow.
    #[error("{0}. The key {1} was not pressed")]
    KeyWithheld(Mismatch, KeyPress),
    /// The app did not read the clipboard after this key.
    #[error(
        "the app did not read the clipboard within {} s, so the text was not pasted. The user's \
         clipboard is back. The focused element may take no text, or paste by other keys than \
         {press}. Click the field first, or type the text without paste",
        .waited.as_secs()
    )]
    ClipboardUnread { press: KeyPress, waited: Duration },
    /// The expectation of the call was not met.
    #[error("expected: {0}")]
    Unexpected(String),
    /// The wheel was turned, and no element with the text showed.
    #[error("{0}")]
    NotShown(String),
}

/// How an element's state differs from the requested one. `field` is a field's name with its role,
/// and `text` is the field's text, which is hostile data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    #[error(
        "no field had the focus, and neither the tree nor the screenshot changed: the text is \
         lost. If a double click opens the field, it may close again after the call. Pass the text \
         in the same call: click_and_traverse with doubleClick and text"
    )]
    Nowhere,
    /// A mismatch whose words a function below composes.
    #[error("{0}")]
    Worded(String),
    #[error(
        "{field} consists of parts in an order of its own ({parts}), so nothing was typed. Click \
         each part and type its number: click_and_traverse with its ref and text"
    )]
    InParts { field: String, parts: String },
    #[error(
        "{name} shows {} now. Pass it in that form to set_value_and_traverse, or click each part that \
         is wrong and type its number: click_and_traverse with its ref and text",
        shown(.text)
    )]
    OtherDate { name: String, text: String },
    #[error("{field} is empty now: the app did not keep the text")]
    TextGone { field: String },
    #[error(
        "the keys went to {focus}, which takes no text, and nothing changed. Click the field that \
         is meant and type in the same call"
    )]
    NotTaken { focus: String },
    #[error(
        "{field} did not get the focus: {has} has it. Nothing was typed. Look before you click it again"
    )]
    NotFocused { field: String, has: String },
    #[error("{field} grew by {grown} characters and not by {typed}. {}", changes(*.pasted))]
    GrewMore {
        field: String,
        grown: usize,
        typed: usize,
        pasted: bool,
    },
    #[error(
        "it is empty now: the app did not keep the value. Click it and type instead: \
         click_and_traverse with its ref and text"
    )]
    ValueGone,
    #[error(
        "it is still {0}, and nothing else changed: the app did not take the click, or took its \
         effect back at once. Look at the screenshot"
    )]
    NotToggled(String),
    #[error(
        "the app undid the change: it is {0} again. Look for the reason in the screenshot or the \
         file"
    )]
    TakenBack(String),
    #[error(
        "the window moved during the click, and nothing in it changed: the click may be lost. Look at \
         the screenshot before you click again"
    )]
    WindowMoved,
    #[error(
        "the click went to {0}, which has the focus now: it lies over the target in a way that the \
         app does not tell, or came there meanwhile. Undo what the click did \
         if needed, then use press_ax_and_traverse with the target's ref"
    )]
    ClickedAnother(String),
    /// The element still has this state or this selection.
    #[error(
        "it is {0}, and nothing else changed: the app reported success and did nothing. Click it \
         instead: click_and_traverse with its ref"
    )]
    NothingDone(String),
    #[error(
        "nothing has moved{0}. Drag another part of it, such as a handle or an icon, or move it in \
         another way: cut and paste, a menu, keys"
    )]
    NothingMoved(&'static str),
}

/// The mismatches that no caller distinguishes by their variant.
impl Mismatch {
    /// The first keys opened the field, and were lost.
    pub fn opened_by_keys(field: &str, (kept, typed): (usize, usize), text: &str) -> Self {
        let text = shown(text);
        Self::Worded(format!(
            "{field} got the focus while the text was typed, took {kept} of {typed} characters and \
             contains {text} now. Select all of it (Control+A), and type the whole text again"
        ))
    }

    /// The typed text is beside the field's old text.
    pub fn beside_old(field: &str, text: &str) -> Self {
        let text = shown(text);
        Self::Worded(format!(
            "{field} contains {text} now: its old text is still beside the typed one. Select all of \
             it (press_key_and_traverse Control+A) and type it again"
        ))
    }

    /// The field took no character of the text, and still has its old text.
    pub fn took_none(field: &str, text: &str) -> Self {
        let text = shown(text);
        Self::Worded(format!(
            "{field} took none of the text and still contains {text}. It may be read-only, or take \
             only other characters. Look at the screenshot, then use set_value_and_traverse or \
             another text"
        ))
    }

    /// The app has changed the text.
    pub fn changed(field: &str, difference: impl Display, pasted: bool) -> Self {
        let changes = changes(pasted);
        Self::Worded(format!(
            "{field} differs from that text {difference}. {changes}"
        ))
    }

    /// The app has changed only the spaces in the text.
    pub fn respaced(field: &str, difference: impl Display) -> Self {
        Self::Worded(format!("{field} differs from that text {difference}"))
    }

    /// The field took only a part of the text.
    pub fn shortened(field: &str, (kept, wanted): (usize, usize), text: &str) -> Self {
        let text = shown(text);
        Self::Worded(format!(
            "{field} took {kept} of {wanted} characters, and contains {text} now. It may limit or \
             filter its text. Clear it (Control+A, then Delete) and type a text that fits"
        ))
    }

    /// The app shows another choice.
    pub fn not_chosen(text: &str, wanted: &str) -> Self {
        let (text, wanted) = (shown(text), escape::short(wanted, 40));
        Self::Worded(format!(
            "it shows {text} and not '{wanted}': the app did not take the choice. Look at the \
             screenshot"
        ))
    }

    /// The cell shows its old text after another was confirmed.
    pub fn not_kept(field: &str, text: &str) -> Self {
        let text = shown(text);
        Self::Worded(format!(
            "{field} shows {text} still: the app did not keep the text. Look at the screenshot"
        ))
    }

    /// A dialog opened after the click on the field, and got text.
    pub fn went_to(got: &str, field: &str) -> Self {
        Self::Worded(format!(
            "text went to {got}, in a dialog that opened meanwhile, and not to {field}. Erase it there \
             or answer the dialog, and type again what is missing"
        ))
    }

    /// The field has another number or date.
    pub fn other_number(field: &str, text: &str, wanted: &str) -> Self {
        let (text, wanted) = (shown(text), shown(wanted));
        Self::Worded(format!(
            "{field} contains {text} now, and not {wanted}: the app has changed it. It may have limits \
             or steps, or read it in another form"
        ))
    }

    /// The app reported success, but the element shows its old value.
    pub fn not_set(text: &str, is_choice: bool) -> Self {
        let text = shown(text);
        let instead = if is_choice {
            "Use click_and_traverse on it with choose"
        } else {
            "Click it and type instead: click_and_traverse with its ref and text (select what is \
             there first: doubleClick, or Control+A)"
        };
        Self::Worded(format!(
            "it still shows {text}: the app reported success but did not take the value. {instead}"
        ))
    }
}

/// A field's text, for a message.
pub fn shown(text: &str) -> String {
    format!("'{}'", escape::short(text, 60))
}

/// The usual causes of a changed text, with the next step.
fn changes(pasted: bool) -> &'static str {
    if pasted {
        "The app changes what is pasted. Undo it (Control+Z), then pass the field's whole text to \
         set_value_and_traverse"
    } else {
        "The app changes what is typed (it indents, completes or converts it). Undo it \
         (Control+Z), then type it with paste true, or pass the field's whole text to \
         set_value_and_traverse"
    }
}

impl NoEffect {
    /// The wheel was turned `down` or up, and no element with the text showed. `nearest` are the
    /// texts that are most like `text`. `is_at_end` tells whether the area has reached its end.
    pub fn not_shown(text: &str, nearest: &[String], is_at_end: bool, down: bool) -> Self {
        let text = escape::short(text, 40);
        let nearest = if nearest.is_empty() {
            "no text in the area is similar".to_owned()
        } else {
            format!("nearest: {}", nearest.join(", "))
        };
        let (end, way) = if down {
            ("end", "a negative deltaY")
        } else {
            ("beginning", "a positive deltaY")
        };
        Self::NotShown(if is_at_end {
            format!(
                "its {end} is reached, and no element with the text '{text}' showed; {nearest}. Call \
                 scroll_and_traverse with {way} for the other direction"
            )
        } else {
            format!(
                "no element with the text '{text}' has shown yet, and its {end} is not reached; \
                 {nearest}. Call scroll_and_traverse again to continue"
            )
        })
    }
}
