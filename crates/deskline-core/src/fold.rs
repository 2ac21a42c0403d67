//! Normalises a text for comparison, so that a text typed by a person or an agent matches the text
//! that an app shows.

use std::borrow::Cow;

/// `text` in lower case, trimmed, without invisible marks, with one space for each run of white
/// space, `...` for `…`, and straight quotes and hyphens for other ones. Idempotent.
pub fn fold(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let plain = |b: u8| matches!(b, b'!'..=b'~') && !b.is_ascii_uppercase();
    let mut pairs = trimmed.bytes().zip(trimmed.bytes().skip(1));
    let is_folded =
        trimmed.bytes().all(|b| plain(b) || b == b' ') && pairs.all(|pair| pair != (b' ', b' '));
    if is_folded {
        return Cow::Borrowed(trimmed);
    }
    let mut out = String::with_capacity(trimmed.len());
    let mut gap = false;
    for c in trimmed.chars().filter(|c| !is_invisible(*c)) {
        if c.is_whitespace() {
            gap = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            out.push(' ');
        }
        match c {
            '…' => out.push_str("..."),
            '\u{2018}'..='\u{201b}' | '\u{2032}' => out.push('\''),
            '\u{201c}'..='\u{201f}' | '\u{2033}' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            c => out.extend(c.to_lowercase()),
        }
    }
    Cow::Owned(out)
}

/// Whether a character has no width of its own: bidi controls, soft hyphens, zero-width spaces and
/// joiners, variation selectors.
fn is_invisible(c: char) -> bool {
    let marks = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    let others = matches!(c, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}');
    marks || others || ['\u{ad}', '\u{34f}', '\u{61c}', '\u{180e}', '\u{feff}'].contains(&c)
}
