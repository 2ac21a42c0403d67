//! Excerpts of long texts that changed.

use deskline_core::listing::text_changes;
use deskline_core::{Attribute, Diff, Text, Tree, Value};
use proptest::prelude::*;

use crate::fixture::{at, hostile, tree};

/// A field before and after.
fn field(old: Text, new: Text) -> (Tree, Tree) {
    let mut before = tree("[AXTextArea] \"Notes\" visible #e1");
    let mut after = before.clone();
    at(&mut before, 1).value = old;
    at(&mut after, 1).value = new;
    (before, after)
}

/// The line in `text_changes`.
fn line(old: Text, new: Text) -> String {
    let (before, after) = field(old, new);
    let changes = text_changes(&after, &Diff::between(&before, &after));
    changes.lines.first().expect("no change").clone()
}

/// The old and new value in the `~` line.
fn shown_values(old: Text, new: Text) -> Option<(Text, Text)> {
    let (before, after) = field(old, new);
    let diff = Diff::between(&before, &after);
    let change = diff.modified.into_iter().flat_map(|m| m.changes);
    let mut values = change.filter(|c| c.attribute == Attribute::Value);
    match values.next().map(|c| (c.old, c.new)) {
        Some((Value::Text(old), Value::Text(new))) => Some((old, new)),
        _ => None,
    }
}

/// A text of 5,000 characters in which every word is different.
fn long() -> String {
    let words: String = (0..).map(|i| format!("word{i} ")).take(1_000).collect();
    words.chars().take(5_000).collect()
}

/// The text from character `from` on, as a platform reads a long text.
fn part(text: &str, from: usize) -> Text {
    let part: String = text.chars().skip(from).take(Text::LIMIT).collect();
    Text::part(part, from, text.chars().count())
}

#[test]
fn a_short_text_is_shown_whole() {
    assert_eq!(line(Text::new("a"), Text::new("ab")), "'a' -> 'ab'");
    assert_eq!(line(Text::new(""), Text::new("a\nb")), r"'' -> 'a\nb'");
}

#[test]
fn a_long_text_is_shown_around_its_change() {
    let text = "# Deskline\n\nAn MCP server, in Rust, that lets an agent drive apps. Licensed under MIT.\n";
    let grown = format!("{text}LAST WORDS");
    insta::assert_snapshot!(
        line(Text::new(text), Text::new(grown)),
        @"'…Rust, that lets an agent drive apps. Licensed under MIT.\\n' -> '… lets an agent drive \
            apps. Licensed under MIT.\\nLAST WORDS'"
    );
    let text = long();
    let fixed = text.replacen("word50 ", "WORD! ", 1);
    let line = line(Text::new(text), Text::new(fixed));
    let (old, new) = line.split_once("' -> '").unwrap();
    assert!(old.contains("word49 word50 word51 "), "{line}");
    assert!(new.contains("word49 WORD! word51 "), "{line}");
    assert!(old.starts_with("'…") && new.ends_with("…'"), "{line}");
}

#[test]
fn a_change_longer_than_the_line_is_cut() {
    let (old, new) = (long(), long().replace("word1 ", &"x".repeat(300)));
    let line = line(Text::new(old), Text::new(new));
    let (old, new) = line.split_once("' -> '").unwrap();
    assert!(old.starts_with("'word0 word1 "), "{line}");
    assert!(new.contains("word0 xxxxxxxxxxxxxxxx"), "{line}");
}

#[test]
fn showing_another_part_of_an_unchanged_text_is_no_change() {
    let text = long();
    assert_eq!(shown_values(part(&text, 0), part(&text, 500)), None);
}

#[test]
fn two_different_parts_of_a_changed_text_show_only_the_change() {
    let text = long();
    // At character 1,200, which both readings hold.
    let mut grown: Vec<char> = text.chars().collect();
    grown.splice(1_200..1_200, "NEW ".chars());
    let grown: String = grown.into_iter().collect();
    let (old, new) = shown_values(part(&text, 500), part(&grown, 750)).unwrap();
    assert!(new.shown.contains("NEW ") && !old.shown.contains("NEW"));
    assert_eq!((old.total(), new.total()), (5_000, 5_004));
    let around = |text: &Text| -> Vec<char> {
        let from = 1_190 - text.omitted_before;
        text.shown.chars().skip(from).take(10).collect()
    };
    assert_eq!(around(&old), around(&new));
    let summary = line(part(&text, 500), part(&grown, 750));
    assert!(
        summary.contains("NEW ") && summary.starts_with("'…"),
        "{summary}"
    );
}

#[test]
fn a_diff_line_shows_the_change_and_the_length_of_the_text_around_it() {
    let text: String = long().chars().take(1_000).collect();
    let grown = text.replace("word70 ", "word70 LAST ");
    let (old, new) = shown_values(Text::new(text), Text::new(grown)).unwrap();
    assert!(new.shown.contains("word70 LAST word71") && new.shown.chars().count() <= 400);
    assert!(old.shown.contains("word70 word71"), "{old:?}");
    assert!(new.omitted_before > 0 && new.omitted_after > 0);
    assert_eq!((old.total(), new.total()), (1_000, 1_005));
}

proptest! {
    #[test]
    fn an_excerpt_is_a_part_of_its_text_and_shows_a_difference(
        start in hostile(),
        old in hostile(),
        new in hostile(),
        end in hostile(),
        times in 0..60usize,
        cuts in prop::array::uniform2(0..700usize),
    ) {
        let text = |middle: &str| start.repeat(times) + middle + &end.repeat(times);
        let (old, new) = (text(&old), text(&new));
        let from = |text: &str, cut: usize| part(text, cut.min(text.chars().count()));
        let (was, is) = (from(&old, cuts[0]), from(&new, cuts[1]));
        let Some((a, b)) = shown_values(was.clone(), is.clone()) else {
            prop_assert!(was.agrees(&is));
            return Ok(());
        };
        prop_assert_ne!(&a, &b);
        for (shown, text) in [(&a, &old), (&b, &new)] {
            let kept = text.chars().skip(shown.omitted_before);
            let kept: String = kept.take(shown.shown.chars().count()).collect();
            prop_assert_eq!(&shown.shown, &kept);
            prop_assert_eq!(shown.total(), text.chars().count());
        }
        let (before, after) = field(was, is);
        for line in text_changes(&after, &Diff::between(&before, &after)).lines {
            prop_assert!(line.chars().count() <= 60 + 60 + "'' -> ''".len(), "{}", line);
            prop_assert!(!line.contains(deskline_core::escape::is_hostile));
        }
    }
}
