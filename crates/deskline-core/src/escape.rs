//! Making text from the screen harmless in a line: nothing in it can end the line, close its
//! quotes, move a cursor or turn the order of what follows around.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character could split a line, steer a terminal or reorder what a reader sees:
/// C0 and C1 controls, line and paragraph separators, bidi marks, embeddings, overrides and
/// isolates, the byte order mark. Joiners are not: scripts and emoji need them, and they do none of
/// that.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

/// Whether every character is one that [`escape`] and [`one_line`] leave as it is and that stands
/// for nothing else: printable ASCII but for `"` and `\`. Most text on most screens, and cheap to
/// know: one look at each byte.
pub(crate) fn is_plain(text: &str) -> bool {
    let plain = |b: u8| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\';
    text.bytes().all(plain)
}

/// Writes one character as it stands between quotes.
fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '"' | '\\' => out.extend(['\\', c]),
        c if is_hostile(c) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// `text` as it stands between the quotes of a line: `"` and `\` behind a backslash, `\n`, `\r`,
/// `\t`, and `\u{hex}` for everything else that [`is_hostile`]. One physical line, whatever comes in.
pub fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.contains(|c| matches!(c, '"' | '\\') || is_hostile(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push_escaped(&mut out, c));
    Cow::Owned(out)
}

/// Undoes [`escape`]; `None` where `text` is not something that it can have made. A backslash
/// before any other punctuation stands for that character.
pub fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match rest.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (hex, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                rest = after.chars();
                char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
            }
            c if c.is_ascii_punctuation() => c,
            _ => return None,
        });
    }
    Some(Cow::Owned(out))
}

/// `text` on one line for a header or a summary: hostile characters escaped, quotes and
/// backslashes as they are. Doing it twice changes nothing.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hostile(c) {
            push_escaped(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// An app's name of at most `limit` characters, as it stands without quotes in a header or a list:
/// nothing in it ends the name. As [`escape`], and what separates a header's parts is escaped too:
/// the `:` of `# error:`, the dash of `# Notes — 3 elements`, the parenthesis of `(PID: 7)`.
pub fn name(text: &str, limit: usize) -> String {
    let start: String = text.chars().take(limit).collect();
    let pid = start.to_lowercase().contains("(pid");
    cut(text, limit, |out, c| match c {
        ':' | '\u{2014}' | '(' if c != '(' || pid => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => push_escaped(out, c),
    })
}

/// One character of [`one_line`].
pub(crate) fn one_line_char(c: char) -> String {
    let mut out = String::new();
    if is_hostile(c) {
        push_escaped(&mut out, c);
    } else {
        out.push(c);
    }
    out
}

/// `1 element`, `2 elements`: a number of things whose name takes an `s` for several.
pub fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// [`one_line`] of at most `limit` characters, the last of them `…` where something was cut.
pub fn short(text: &str, limit: usize) -> String {
    cut(text, limit, |out, c| {
        if is_hostile(c) {
            push_escaped(out, c);
        } else {
            out.push(c);
        }
    })
}

/// [`escape`] of at most `limit` characters, the last of them `…` where something was cut.
pub fn short_escaped(text: &str, limit: usize) -> String {
    cut(text, limit, push_escaped)
}

/// Cuts between characters of `text`, never inside an escape, and stops reading there: `text` may
/// have megabytes.
fn cut(text: &str, limit: usize, push: impl Fn(&mut String, char)) -> String {
    let mut out = String::new();
    let mut length = 0;
    // Where to cut so that the ellipsis fits too.
    let mut fits = 0;
    for c in text.chars() {
        let before = out.len();
        push(&mut out, c);
        length += out[before..].chars().count();
        if length > limit {
            out.truncate(fits);
            if limit > 0 {
                out.push('…');
            }
            return out;
        }
        if length < limit {
            fits = out.len();
        }
    }
    out
}
