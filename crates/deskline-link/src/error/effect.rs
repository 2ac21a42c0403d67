//! The words for an action that was carried out and did not have the requested effect.

use std::time::Duration;

use deskline_core::{KeyPress, escape};

/// Why an action did not have the requested effect.
#[derive(Debug, thiserror::Error)]
pub enum NoEffect {
    /// The state that was read back is another one: a sentence.
    #[error("{0}")]
    ReadBack(String),
    /// The field does not hold the text that a key was to follow: a sentence, and the key.
    #[error("{0}. {1} was not pressed")]
    KeyWithheld(String, KeyPress),
    /// The app did not read the clipboard after this key.
    #[error(
        "the app did not read the clipboard within {} s, so the text was not pasted; the user's \
         clipboard is back. What has the focus may take no text, or paste by other keys than {press}: \
         click the field first, or type the text without paste",
        .waited.as_secs()
    )]
    ClipboardUnread { press: KeyPress, waited: Duration },
    /// The wheel was turned, and no element with the text showed.
    #[error("{}", not_shown(.text, .nearest, *.is_at_end, *.down))]
    NotShown {
        text: String,
        /// The texts most like it.
        nearest: Vec<String>,
        /// Whether it scrolls no further.
        is_at_end: bool,
        down: bool,
    },
}

fn not_shown(text: &str, nearest: &[String], is_at_end: bool, down: bool) -> String {
    let text = escape::short(text, 40);
    let nearest = if nearest.is_empty() {
        "no text in it is like that".to_owned()
    } else {
        format!("nearest: {}", nearest.join(", "))
    };
    let (end, way) = if down {
        ("end", "a negative deltaY")
    } else {
        ("beginning", "a positive deltaY")
    };
    if is_at_end {
        format!(
            "its {end} is reached, and no element with the text '{text}' showed; {nearest}. Call \
             it with {way} for the other way"
        )
    } else {
        format!(
            "no element with the text '{text}' has shown yet, and its {end} is not reached; \
             {nearest}. Call it again to go on"
        )
    }
}
