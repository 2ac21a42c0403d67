//! Escapes text from the screen, so that it cannot end its line, close its quotes, move a
//! terminal's cursor or reorder the text after it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character could split a line, control a terminal or reorder text: C0 and C1 controls,
/// line and paragraph separators, bidi marks, embeddings, overrides and isolates, the byte order
/// mark. Joiners are harmless, and scripts and emoji need them.
pub fn is_hostile(c: char) -> bool {
    let marks = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}');
    c.is_control() || marks || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether [`escape`] and [`one_line`] leave the text as it is: printable ASCII without `"` and
/// `\`. A fast path: most text on most screens is plain.
pub(crate) fn is_plain(text: &str) -> bool {
    let plain = |b: u8| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\';
    text.bytes().all(plain)
}

/// Appends one character as it is written between quotes.
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

/// `text` as written between the quotes of a line: a backslash before `"` and `\`; `\n`, `\r`,
/// `\t`; `\u{hex}` for the other characters that are hostile by [`is_hostile`]. The result is
/// always a single line.
pub fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.contains(|c| matches!(c, '"' | '\\') || is_hostile(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push_escaped(&mut out, c));
    Cow::Owned(out)
}

/// Undoes [`escape`]; `None` if `text` cannot be an output of `escape`. A backslash before any
/// other punctuation mark stands for that mark.
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

/// Undoes the `%2f` escapes of a URI or a D-Bus address; `None` where a `%` begins no escape.
pub fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push((high * 16 + low) as u8);
    }
    Some(bytes)
}

/// Writes every byte that is neither unreserved in RFC 3986 nor a `/` as `%` and two digits.
pub fn percent_encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// `text` on one line for a header or a summary: hostile characters are escaped, quotes and
/// backslashes are kept. Idempotent.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| push_safe(&mut out, c));
    Cow::Owned(out)
}

/// Appends one character as it is written without quotes.
fn push_safe(out: &mut String, c: char) {
    if is_hostile(c) {
        push_escaped(out, c);
    } else {
        out.push(c);
    }
}

/// An app's name of at most `limit` characters, for use without quotes in a header or a list.
/// Escapes like [`escape`], and also the signs that separate the parts of a header, so that a name
/// cannot forge a part: the `:` of `# error:`, the dash of `# Notes — 3 elements`, the parenthesis
/// of `(PID: 7)`.
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

/// `1 element`, `2 elements`: a number and a noun with a regular plural.
pub fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// `text` with its first letter as a capital.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}

/// ` and 9 more`, after the first items of a list; empty if there are no more.
pub fn more(count: usize) -> String {
    match count {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// [`one_line`] of at most `limit` characters; the last is `…` if the text was cut.
pub fn short(text: &str, limit: usize) -> String {
    cut(text, limit, push_safe)
}

/// [`escape`] of at most `limit` characters; the last is `…` if the text was cut.
pub fn short_escaped(text: &str, limit: usize) -> String {
    cut(text, limit, push_escaped)
}

/// Quotes a foreign text for a sentence of ours: escaped and cut to `limit` characters, so that it
/// can neither pass for our own words nor push them out.
pub fn quoted(text: &str, limit: usize) -> String {
    format!("\"{}\"", short_escaped(text.trim(), limit))
}

/// Cuts at `limit` characters of output, never inside an escape sequence. Does not look at the rest
/// of `text`, which may be megabytes.
fn cut(text: &str, limit: usize, push: impl Fn(&mut String, char)) -> String {
    let mut out = String::new();
    let mut length = 0;
    // The length to which to truncate `out`, so that the ellipsis fits within the limit.
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
