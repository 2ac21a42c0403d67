//! Cuts two readings of a text to excerpts that show where the readings differ.
//!
//! Each reading may hold a different part of the text. Characters are compared by their offset from
//! the text's start, then by their offset from its end.

use std::ops::Range;

use crate::Text;
use crate::escape::one_line;

/// The ranges of `old` and `new` that differ, as indexes into these slices. Both ranges are empty
/// if the texts differ only in parts that neither reading holds.
fn changed(old: &[char], new: &[char], was: &Text, is: &Text) -> (Range<usize>, Range<usize>) {
    let from = was.omitted_before.max(is.omitted_before);
    let until = was.omitted_after.max(is.omitted_after);
    let start = |text: &Text, chars: &[char]| (from - text.omitted_before).min(chars.len());
    let end = |text: &Text, chars: &[char], start: usize| {
        let cut = until - text.omitted_after;
        chars.len().saturating_sub(cut).max(start)
    };
    let (a, b) = (start(was, old), start(is, new));
    let same = |(a, b): &(&char, &char)| a == b;
    let prefix = old[a..].iter().zip(&new[b..]).take_while(same).count();
    let (a, b) = (a + prefix, b + prefix);
    let (c, d) = (end(was, old, a), end(is, new, b));
    let ends = old[a..c].iter().rev().zip(new[b..d].iter().rev());
    let suffix = ends.take_while(same).count();
    (a..c - suffix, b..d - suffix)
}

/// The range of items to show. Their widths sum to at most `limit`. The range covers `changed`, or
/// its start if `changed` is too wide, with context on both sides. `widest` is the width of the
/// wider of the two readings' changes, so that both excerpts begin with the same context.
fn window(widths: &[usize], changed: &Range<usize>, widest: usize, limit: usize) -> Range<usize> {
    let wide = |range: Range<usize>| widths.get(range).unwrap_or_default().iter().sum::<usize>();
    if wide(0..widths.len()) <= limit {
        return 0..widths.len();
    }
    // Leave room for a `…` at both ends.
    let room = limit.saturating_sub(2);
    let core = wide(changed.clone()).max(widest);
    let lead = (room.saturating_sub(core) / 2).max(room / 4);
    let mut used = 0;
    let mut start = changed.start;
    while start > 0 && used + widths[start - 1] <= lead {
        start -= 1;
        used += widths[start];
    }
    let mut end = changed.start;
    while end < widths.len() && used + widths[end] <= room {
        used += widths[end];
        end += 1;
    }
    while start > 0 && used + widths[start - 1] <= room {
        start -= 1;
        used += widths[start];
    }
    start..end
}

/// Two readings of a text, each cut to at most `limit` characters around what changed.
pub(crate) fn excerpts(was: &Text, is: &Text, limit: usize) -> (Text, Text) {
    let (old, new): (Vec<char>, Vec<char>) =
        (was.shown.chars().collect(), is.shown.chars().collect());
    if old.len() <= limit && new.len() <= limit {
        return (was.clone(), is.clone());
    }
    let (a, b) = changed(&old, &new, was, is);
    let widest = a.len().max(b.len());
    let part = |text: &Text, chars: &[char], changed: &Range<usize>| {
        let kept = window(&vec![1; chars.len()], changed, widest, limit);
        Text {
            omitted_before: text.omitted_before.saturating_add(kept.start),
            omitted_after: text.omitted_after.saturating_add(chars.len() - kept.end),
            shown: chars[kept].iter().collect(),
        }
    };
    (part(was, &old, &a), part(is, &new, &b))
}

/// Two readings of a text as two single lines: at most `limit` characters around what changed, with
/// `…` at cut ends.
pub(crate) fn short_excerpts(was: &Text, is: &Text, limit: usize) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) =
        (was.shown.chars().collect(), is.shown.chars().collect());
    let (a, b) = changed(&old, &new, was, is);
    // An escape sequence is shown or cut as a whole.
    let one_line = |c: &char| one_line(c.encode_utf8(&mut [0; 4])).into_owned();
    let written = |chars: &[char]| -> Vec<String> { chars.iter().map(one_line).collect() };
    let (old, new) = (written(&old), written(&new));
    let widths =
        |parts: &[String]| -> Vec<usize> { parts.iter().map(|p| p.chars().count()).collect() };
    let (old_widths, new_widths) = (widths(&old), widths(&new));
    let sum = |widths: &[usize], range: &Range<usize>| widths[range.clone()].iter().sum::<usize>();
    let widest = sum(&old_widths, &a).max(sum(&new_widths, &b));
    let line = |text: &Text, parts: &[String], widths: &[usize], changed: &Range<usize>| {
        // Each `…` for text that was not read takes one character of the limit.
        let cut = usize::from(text.omitted_before > 0) + usize::from(text.omitted_after > 0);
        let kept = window(widths, changed, widest, limit.saturating_sub(cut));
        let before = text.omitted_before > 0 || kept.start > 0;
        let after = text.omitted_after > 0 || kept.end < parts.len();
        let mark = |cut: bool| if cut { "…" } else { "" };
        format!("{}{}{}", mark(before), parts[kept].concat(), mark(after))
    };
    (
        line(was, &old, &old_widths, &a),
        line(is, &new, &new_widths, &b),
    )
}
