//! Long texts: the part around the caret, or the visible part. A terminal's `AXValue` has all lines
//! that have scrolled past, which is megabytes.

use deskline_core::Text;

use super::facts;
use crate::os::{Os, Value};

/// The attributes to request of a text area, besides its facts.
pub(crate) const NAMES: &[&str] = &[
    "AXChildren",
    "AXSelectedTextRange",
    "AXVisibleCharacterRange",
    "AXNumberOfCharacters",
];

/// Bundle ids of terminals: their newest line is the last one, wherever they report the caret.
const TERMINALS: [&str; 6] = [
    "com.apple.Terminal",
    "com.googlecode.iterm2",
    "com.mitchellh.ghostty",
    "com.github.wez.wezterm",
    "dev.warp.Warp-Stable",
    "net.kovidgoyal.kitty",
];

/// The text of an element. `values` are the element's attributes; the last of them are those of
/// [`NAMES`]. `None` if the element is not a text area, or if its text cannot be read.
pub(crate) fn read<O: Os>(
    os: &O,
    pid: u32,
    element: &O::Element,
    values: &[Value<O::Element>],
) -> Option<Text> {
    let [.., caret, visible, total] = values else {
        return None;
    };
    let range = |value: &Value<O::Element>| match value {
        Value::Range(from, length) => Some((*from, *length)),
        _ => None,
    };
    let total = match total {
        Value::Number(total) if *total >= 0.0 => *total as usize,
        // The element is no text area, or a text area that does not count its characters.
        Value::Error(_) => 0,
        _ => return None,
    };
    if total > Text::LIMIT {
        let at = middle(os, pid, total, range(caret), range(visible));
        let kept = Text::window(total, at);
        if let Ok(Value::Text { start, .. }) = os.string(element, kept.start, kept.len()) {
            return Some(Text::part(start, kept.start, total));
        }
    }
    os.attribute(element, "AXValue").ok().map(facts::text)
}

/// The character around which to read. The visible range is a hint: Ghostty returns the range of
/// the whole text (ghostty #9932), `TextEdit` on macOS 26.2 an outdated one (FB21737006).
fn middle<O: Os>(
    os: &O,
    pid: u32,
    total: usize,
    caret: Option<(usize, usize)>,
    visible: Option<(usize, usize)>,
) -> usize {
    let app = os.app(pid);
    if app.is_some_and(|app| TERMINALS.contains(&app.bundle_id.as_str())) {
        return total;
    }
    let caret = caret.map_or(0, |(from, length)| from.saturating_add(length));
    match visible {
        _ if caret > 0 => caret,
        Some((from, length)) if length < total => from.saturating_add(length / 2),
        _ => 0,
    }
}
