//! Long texts: the part around the caret, or what of the text shows. A terminal answers `AXValue`
//! with all that it has scrolled past, which is megabytes.

use deskline_core::Text;

use super::facts;
use crate::os::{Os, Value};

/// What to ask of a text area, beside its facts.
pub(crate) const NAMES: &[&str] = &[
    "AXChildren",
    "AXSelectedTextRange",
    "AXVisibleCharacterRange",
    "AXNumberOfCharacters",
];

/// Terminals, by bundle: their newest line is the last, wherever they report the caret.
const TERMINALS: [&str; 6] = [
    "com.apple.Terminal",
    "com.googlecode.iterm2",
    "com.mitchellh.ghostty",
    "com.github.wez.wezterm",
    "dev.warp.Warp-Stable",
    "net.kovidgoyal.kitty",
];

/// The text of an area that gave these values, of which the last are those of [`NAMES`]. `None` if
/// they are another element's.
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
        // Another element's, or a text area that counts nothing.
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

/// Around which character to read. The visible range is a hint: Ghostty answers with the whole text
/// (ghostty #9932), `TextEdit` on macOS 26.2 with the one from before (FB21737006).
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
