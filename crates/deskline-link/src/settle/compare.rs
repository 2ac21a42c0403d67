//! Compares a field's text with the typed text, white space included.
//!
//! Typing replaces the selection, or nothing. So the new text consists of a start of the old text,
//! the typed text, and an end of the old text. If it does not, the first different character is
//! reported: editors indent, input methods convert, and completions add text.

use deskline_core::escape;

/// The change that an app made to a typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Made {
    /// The typed text, unchanged.
    Same,
    /// The typed text, with more after it, such as an indentation or a console's answer.
    Followed,
    /// The typed text, with more at any position.
    More(Difference),
    /// The typed text in the app's typography: curly quotes, another case, a calculator's `×` for
    /// `*`.
    Styled(Difference),
    /// Something else.
    Other(Difference),
}

/// The first place where two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The number of wanted characters before the difference.
    at: usize,
    wanted: String,
    found: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, wanted, found } = self;
        write!(f, "after {at} characters: '{found}' instead of '{wanted}'")
    }
}

/// How many characters of each text an error shows: before the first difference, and from there on.
const SHOWN: (usize, usize) = (10, 25);

impl Difference {
    /// `found[from + at]` is in the place of `wanted[at]`.
    fn new(wanted: &[char], found: &[char], from: usize, at: usize) -> Self {
        let before = at.min(SHOWN.0);
        let part = |text: &[char], at: usize| {
            let part = text.iter().skip(at - before).take(before + SHOWN.1);
            escape::escape(&part.collect::<String>()).into_owned()
        };
        Self {
            at,
            wanted: part(wanted, at),
            found: part(found, from + at),
        }
    }

    /// The difference between two whole texts.
    pub(crate) fn between(wanted: &str, found: &str) -> Self {
        let (wanted, found) = (plain(wanted), plain(found));
        let at = common(&wanted, &found);
        Self::new(&wanted, &found, 0, at)
    }
}

/// The change to `typed` in a field whose text was `old` and is `new`.
pub(crate) fn made_of(typed: &str, old: &str, new: &str) -> Made {
    let (typed, old, new) = (plain(typed), plain(old), plain(new));
    if stands_in(&typed, &old, &new) {
        return Made::Same;
    }
    let ends_line = typed.last() == Some(&'\n');
    let body = trim_lines(&typed);
    let (from, at) = nearest(body, &old, &new);
    let difference = || Difference::new(body, &new, from, at);
    if at == body.len() {
        let rest = &new[from + at..];
        let blanks = rest.iter().take_while(|c| c.is_whitespace()).count();
        let only_blanks = (0..=blanks).any(|n| is_end(&rest[n..], &old, from));
        return if only_blanks || ends_line && rest.first() == Some(&'\n') {
            Made::Followed
        } else if trim_lines(rest).is_empty() {
            // The text after the typed one is unchanged, so there is more before it, perhaps from
            // the person's keys.
            Made::More(Difference::new(body, &new, common(&old, &new), 0))
        } else {
            Made::More(difference())
        };
    }
    let styled = |text: &[char]| {
        let plain = text.iter().copied().flat_map(style);
        plain.map(symbol).collect::<Vec<_>>()
    };
    if stands_in(&styled(&typed), &styled(&old), &styled(&new)) {
        return Made::Styled(difference());
    }
    Made::Other(difference())
}

/// Whether the texts are equal, apart from line ends, kinds of blanks, and blanks at both ends.
pub(crate) fn equals(wanted: &str, found: &str) -> bool {
    let ends = |text: &str| plain(text).into_iter().collect::<String>();
    ends(wanted).trim() == ends(found).trim()
}

/// Whether `part` stands in `text`.
pub(crate) fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (plain(text), plain(part));
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

/// The text with `\n` for every line end, a plain space for every blank of its width, and without
/// characters that take no space.
fn plain(text: &str) -> Vec<char> {
    let text = text.replace("\r\n", "\n");
    let shown = text
        .chars()
        .filter(|c| !matches!(c, '\u{200b}' | '\u{feff}' | '\u{fffc}'));
    let plain = |c| match c {
        '\r' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{a0}' | '\u{202f}' => ' ',
        c => c,
    };
    shown.map(plain).collect()
}

/// The characters that were typed for this one, if AutoCorrect has replaced them.
fn style(c: char) -> impl Iterator<Item = char> {
    let (c, times) = match c {
        '‘' | '’' | '‚' | '‛' => ('\'', 1),
        '“' | '”' | '„' | '«' | '»' => ('"', 1),
        '–' | '—' => ('-', 1),
        '…' => ('.', 3),
        c => (c, 1),
    };
    std::iter::repeat_n(c, times).flat_map(char::to_lowercase)
}

/// Replaces every sign that is no letter, digit or blank by one and the same character.
fn symbol(c: char) -> char {
    if c.is_alphanumeric() || c.is_whitespace() {
        c
    } else {
        '*'
    }
}

/// Whether `new` is `old` with any part replaced by `typed`, apart from line ends at the end.
fn stands_in(typed: &[char], old: &[char], new: &[char]) -> bool {
    let most = common(old, new);
    let all = trim_lines(new).len();
    [typed, trim_lines(typed)].into_iter().any(|typed| {
        let stands = |from: usize| {
            let rest = new.get(from..).and_then(|rest| rest.strip_prefix(typed));
            rest.is_some_and(|rest| is_end(rest, old, from))
        };
        (0..=most).any(stands)
            // Another part of the field may have changed by itself.
            || all <= old.len() + typed.len() && !typed.is_empty() && {
                let mut windows = new.windows(typed.len());
                windows.any(|window| window == typed)
            }
    })
}

/// Whether `rest` is an end of `old` after `from`, apart from line ends at the end.
fn is_end(rest: &[char], old: &[char], from: usize) -> bool {
    let rest = trim_lines(rest);
    if rest.is_empty() {
        // `old` may end with line ends, and the typed text comes after them.
        return old.len() >= from;
    }
    let old = trim_lines(old);
    old.len() >= from + rest.len() && old.ends_with(rest)
}

/// Where in `new` the longest beginning of `typed` is found, and how long that is.
fn nearest(typed: &[char], old: &[char], new: &[char]) -> (usize, usize) {
    let most = common(old, new);
    let at = |from: usize| (from, common(typed, &new[from..]));
    let starts = (0..=most.min(new.len())).rev().map(at);
    let (from, there) = starts.max_by_key(|(_, there)| *there).unwrap_or_default();
    if there == typed.len() {
        return (from, there);
    }
    // Search further on too: the app may have changed the text before the typed one.
    let all = (0..new.len()).map(at).max_by_key(|(_, there)| *there);
    all.filter(|(_, all)| *all == typed.len())
        .unwrap_or((from, there))
}

fn common(a: &[char], b: &[char]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn trim_lines(text: &[char]) -> &[char] {
    let end = text.iter().rposition(|c| *c != '\n');
    &text[..end.map_or(0, |end| end + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "def f():\n    for x in y:\n        if x:\n            print(x)\n";

    #[test]
    fn a_text_typed_at_the_caret_or_over_a_selection_counts_as_the_same() {
        for (typed, old, new) in [
            ("b", "ac", "abc"),
            ("new", "old", "new"),
            ("b", "axxc", "abc"),
            ("aa", "aaa", "aaaaa"),
            (CODE, "", CODE),
            (CODE, "", CODE.trim_end()),
            ("a\r\nb", "", "a\nb"),
            ("a b", "", "a\u{a0}b"),
            ("a\n", "xy", "xa\ny"),
            ("b", "12:00 ac", "12:01 abc"),
            ("b", "a\n", "a\nb"),
            ("b\n", "a\n\n", "a\n\nb\n"),
        ] {
            assert_eq!(made_of(typed, old, new), Made::Same, "{typed:?} {new:?}");
        }
    }

    #[test]
    fn doubled_indentation_is_a_difference_shown_with_its_place() {
        let new =
            "def f():\n    for x in y:\n            if x:\n                        print(x)\n";
        let Made::Other(difference) = made_of(CODE, "", new) else {
            panic!("{:?}", made_of(CODE, "", new));
        };
        assert_eq!(difference.at, 33);
        assert_eq!(difference.wanted, ":\\n        if x:\\n            print(x");
        assert_eq!(difference.found, ":\\n            if x:\\n               ");
        let indented = made_of("    a", "", "        a");
        assert!(matches!(indented, Made::More(_)), "{indented:?}");
    }

    #[test]
    fn additions_behind_the_last_line_are_no_difference() {
        assert_eq!(made_of("  a\n", "", "  a\n  "), Made::Followed);
        assert_eq!(made_of("  a\n", "z", "  a\n  z"), Made::Followed);
        assert_eq!(made_of("1+1\n", "> ", "> 1+1\n2\n> "), Made::Followed);
    }

    #[test]
    fn added_brackets_and_completions_count_as_more_text() {
        assert!(matches!(made_of("f(", "", "f()"), Made::More(_)));
        assert!(matches!(made_of("Lon", "", "London"), Made::More(_)));
    }

    #[test]
    fn a_character_inserted_before_the_typed_text_is_reported() {
        let Made::More(difference) = made_of("new", "old\nx", "old\nxznew") else {
            panic!("{:?}", made_of("new", "old\nx", "old\nxznew"));
        };
        let shown = "after 0 characters: 'znew' instead of 'new'";
        assert_eq!(difference.to_string(), shown);
    }

    #[test]
    fn typography_is_distinguished_from_another_text() {
        let made = |typed, new| made_of(typed, "", new);
        assert!(matches!(made("it's \"a\"", "It’s “a”"), Made::Styled(_)));
        assert!(matches!(made("2*3-1/4", "2×3−1÷4"), Made::Styled(_)));
        assert!(matches!(made("hello", "合理咯"), Made::Other(_)));
        assert!(matches!(made("teh", "the"), Made::Other(_)));
    }

    #[test]
    fn no_combination_of_texts_causes_a_panic() {
        let texts = ["", "\n", "a", "a\na", "\u{200b}", "ab\n\n", " "];
        for typed in texts {
            for old in texts {
                for new in texts {
                    made_of(typed, old, new);
                }
            }
        }
    }
}
