//! Finds visible texts that are missing from a tree.

use deskline_core::{Line, Text};

use crate::shown::Shown;

/// A visible text that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub role: String,
    pub text: String,
    /// Whether it is in the tree, but on no line with `visible`.
    pub hidden: bool,
}

/// The visible names and contents, each with its role and whether its centre is visible. Contents
/// are split at embedded elements (U+FFFC).
pub fn texts(shown: &[Shown]) -> Vec<(String, String, bool)> {
    let mut texts = Vec::new();
    for element in shown {
        let name = plain(without_class(&element.name));
        let contents = element.text.split('\u{fffc}').map(plain);
        for text in std::iter::once(name).chain(contents) {
            if text.chars().any(char::is_alphanumeric) {
                texts.push((element.role.clone(), text, element.within));
            }
        }
    }
    texts.sort();
    texts.dedup();
    texts
}

/// The texts of `shown` that are on no line. `scoped`: a dialog is open, and only its contents are
/// `visible`.
pub fn missing(shown: &[Shown], lines: &[Line], scoped: bool) -> Vec<Missing> {
    let lines: Vec<(String, bool, bool)> = lines
        .iter()
        .flat_map(|line| {
            let texts = line.text.iter().chain(&line.value);
            texts.map(|text| (plain(&text.shown), is_cut(text), line.visible))
        })
        .collect();
    let mut missing = Vec::new();
    for (role, text, within) in texts(shown) {
        let mut has = lines
            .iter()
            .filter(|(line, cut, _)| has(line, *cut, &text))
            .map(|(_, _, visible)| *visible)
            .peekable();
        let absent = has.peek().is_none();
        let hidden = !absent && within && !scoped && !has.any(|visible| visible);
        if absent || hidden {
            missing.push(Missing { role, text, hidden });
        }
    }
    missing
}

fn is_cut(text: &Text) -> bool {
    text.omitted_before + text.omitted_after > 0
}

/// Whether a line has this text: alone, as its title or value, or inside a longer text.
fn has(line: &str, cut: bool, text: &str) -> bool {
    const LONG: usize = 4;
    // A cut line has a part of a text that is longer than the limit.
    const PART: usize = 400;
    line == text
        || line
            .strip_prefix(text)
            .is_some_and(|rest| rest.starts_with(' '))
        || line
            .strip_suffix(text)
            .is_some_and(|rest| rest.ends_with(' '))
        || text.chars().count() >= LONG && line.contains(text)
        || cut && text.chars().count() > PART && overlaps(line, text)
}

/// Whether the line contains a part of `text` as long as a cut line.
fn overlaps(line: &str, text: &str) -> bool {
    const PIECE: usize = 200;
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(PIECE / 2)
        .map(|piece| piece.iter().collect::<String>())
        .any(|piece| piece.chars().count() == PIECE / 2 && line.contains(piece.trim()))
}

/// The text on one line, without mnemonics, with single spaces.
pub fn plain(text: &str) -> String {
    let marks = [
        '&', '_', '•', '\u{fffc}', '\u{200b}', '\u{200e}', '\u{200f}',
    ];
    let text: String = text.chars().filter(|c| !marks.contains(c)).collect();
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// GTK 4 names an unnamed widget after its class, and doubles a name that it finds twice.
fn without_class(name: &str) -> &str {
    let class = ["Gtk", "Adw"].iter().any(|prefix| {
        let rest = name.strip_prefix(prefix).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_uppercase()) && !rest.contains(' ')
    });
    let middle = name.len() / 2;
    match (name.get(..middle), name.get(middle..)) {
        _ if class => "",
        (Some(first), Some(second)) if second.strip_prefix(' ') == Some(first) => first,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(role: &str, name: &str, text: &str, within: bool) -> Shown {
        Shown {
            role: role.into(),
            name: name.into(),
            text: text.into(),
            within,
            ..Shown::default()
        }
    }

    fn lines(lines: &[&str]) -> Vec<Line> {
        lines.iter().map(|line| line.parse().unwrap()).collect()
    }

    #[test]
    fn a_visible_text_that_is_in_no_line_is_found() {
        let lines = lines(&[
            r#"[AXButton (push button)] "Open File" x:1 y:1 w:9 h:9 visible #e1"#,
            r#"[AXTextField (text)] "Name" x:1 y:1 w:9 h:9 value:"alice" #e2"#,
        ]);
        let all = [
            shown("push button", "_Open  File", "", true),
            shown("text", "", "Some \u{fffc} text", true),
            shown("text", "", "alice", false),
            shown("text", "", "Name", true),
            shown("label", "pen", "", true),
        ];
        let found = missing(&all, &lines, false);
        let found: Vec<(&str, bool)> = found.iter().map(|m| (m.text.as_str(), m.hidden)).collect();
        assert_eq!(
            found,
            [
                ("pen", false),
                ("Name", true),
                ("Some", false),
                ("text", false)
            ]
        );
    }
}
