//! Whether two readings of a part of a picture are of the same texts. An app draws a window that is
//! not in front in paler colours, and the engine then takes other marks for letters, or a row for
//! one line instead of two. That is no change of the app's.

use deskline_core::Rect;

/// A line of text: its place relative to the part's corner, in screen units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) place: Rect,
    pub(super) text: String,
}

/// A line may be read so many units away from where it is.
const NEAR: i32 = 4;

/// A single letter that is not higher is a corner or a dot.
const SPECK: i32 = 6;

/// Arrows and rules at the ends of a line that come and go with the colours.
const MARKS: &[char] = &[
    '<', '>', '\u{2039}', '\u{203a}', '\u{ab}', '\u{bb}', '|', '_', '~', '.', ':', '\u{b7}',
    '\u{2022}',
];

/// A row of lines, from left to right.
struct Row {
    place: Rect,
    text: String,
}

impl Row {
    fn middle(&self) -> i32 {
        self.place.center().y
    }

    /// The text without marks at its ends.
    fn words(&self) -> &str {
        let is_mark = |c: char| c.is_whitespace() || MARKS.contains(&c);
        self.text.trim_matches(is_mark)
    }
}

impl Line {
    /// Whether it is no text, or none that can be told from a dot.
    pub(super) fn is_speck(&self) -> bool {
        let mut letters = self.text.trim().chars();
        let single = letters.next().is_none_or(char::is_alphabetic) && letters.next().is_none();
        self.text.trim().is_empty() || single && self.place.h <= SPECK
    }
}

/// Whether both are the same texts in the same places.
pub(super) fn same(before: &[Line], now: &[Line]) -> bool {
    let (before, now) = (rows(before), rows(now));
    let are_same = |(before, now): (&Row, &Row)| {
        let moved = |a: i32, b: i32| (a - b).abs() > NEAR;
        if moved(before.middle(), now.middle()) {
            return false;
        }
        if before.text == now.text {
            return !moved(before.place.x, now.place.x);
        }
        let both = before.place.intersect(&now.place).w;
        before.words() == now.words() && 2 * both >= before.place.w.min(now.place.w)
    };
    before.len() == now.len() && before.iter().zip(&now).all(are_same)
}

/// The rows that have words, from the top.
fn rows(lines: &[Line]) -> Vec<Row> {
    let mut lines: Vec<&Line> = lines.iter().collect();
    lines.sort_by_key(|line| line.place.center().y);
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        let middle = line.place.center().y;
        match rows.last_mut() {
            Some(row) if middle - row[0].place.center().y <= NEAR => row.push(line),
            _ => rows.push(vec![line]),
        }
    }
    let row = |mut lines: Vec<&Line>| {
        lines.sort_by_key(|line| line.place.x);
        let texts: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        let first = lines.first()?.place;
        let right = lines.iter().map(|line| line.place.x + line.place.w).max()?;
        Some(Row {
            place: Rect {
                w: right - first.x,
                ..first
            },
            text: texts.join(" "),
        })
    };
    let rows = rows.into_iter().filter_map(row);
    rows.filter(|row| !row.words().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x: i32, y: i32, w: i32, text: &str) -> Line {
        Line {
            place: Rect { x, y, w, h: 16 },
            text: text.to_owned(),
        }
    }

    #[test]
    fn other_colours_are_no_change() {
        let before = [
            line(4, 0, 190, "< November >"),
            line(10, 30, 194, "one.txt two.txt"),
        ];
        let now = [
            line(60, 1, 80, "November"),
            line(10, 31, 60, "one.txt"),
            line(144, 30, 60, "two.txt"),
            line(90, 80, 8, "|"),
        ];
        assert!(same(&before, &now) && same(&now, &before));
    }

    #[test]
    fn other_texts_and_places_are() {
        let was = [line(4, 0, 60, "12 + 3"), line(4, 30, 60, "x")];
        for now in [
            line(4, 0, 60, "12 - 3"),
            line(4, 0, 60, "12 + 3 +"),
            line(4, 9, 60, "12 + 3"),
            line(14, 0, 60, "12 + 3"),
        ] {
            assert!(!same(&was, &[now.clone(), was[1].clone()]), "{now:?}");
        }
        assert!(!same(&was, &was[..1]) && same(&was, &was));
    }

    #[test]
    fn a_speck_is_no_letter_and_a_digit_is_no_speck() {
        let small = |text: &str| Line {
            place: Rect::at(0, 0, 5, 6),
            text: text.to_owned(),
        };
        assert!(small("r").is_speck() && small(" ").is_speck());
        assert!(!small("7").is_speck() && !line(0, 0, 9, "r").is_speck());
    }
}
