//! Cuts two readings of a text to excerpts that show where they differ.
//!
//! A reading may hold any part of the text, and the two may hold different ones. So their
//! characters are compared by the offset from the start of the whole text, then by the offset from
//! its end.

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

/// The range of items to show: `changed`, or its start if that is too wide, with context on both
/// sides. The widths of the shown items sum to at most `limit`. `widest` is the width of the wider
/// one of the two changes: both excerpts get the context for it, so that they begin alike.
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

/// The characters of two readings, each with the range to show around what changed. `width`: how
/// many characters of the limit one takes. `limit`: the limit of a reading.
fn shown(
    [was, is]: [&Text; 2],
    width: impl Fn(char) -> usize,
    limit: impl Fn(&Text) -> usize,
) -> [(Vec<char>, Range<usize>); 2] {
    let [old, new] = [was, is].map(|text| text.shown.chars().collect::<Vec<char>>());
    let (a, b) = changed(&old, &new, was, is);
    let widths = |chars: &[char]| -> Vec<usize> { chars.iter().copied().map(&width).collect() };
    let (old_widths, new_widths) = (widths(&old), widths(&new));
    let sum = |widths: &[usize], range: &Range<usize>| widths[range.clone()].iter().sum::<usize>();
    let widest = sum(&old_widths, &a).max(sum(&new_widths, &b));
    let old_kept = window(&old_widths, &a, widest, limit(was));
    let new_kept = window(&new_widths, &b, widest, limit(is));
    [(old, old_kept), (new, new_kept)]
}

/// Two readings of a text, each cut to at most `limit` characters around what changed.
pub(crate) fn excerpts(was: &Text, is: &Text, limit: usize) -> (Text, Text) {
    let part = |text: &Text, (chars, kept): (Vec<char>, Range<usize>)| Text {
        omitted_before: text.omitted_before.saturating_add(kept.start),
        omitted_after: text.omitted_after.saturating_add(chars.len() - kept.end),
        shown: chars[kept].iter().collect(),
    };
    let [old, new] = shown([was, is], |_| 1, |_| limit);
    (part(was, old), part(is, new))
}

/// Two readings of a text as two single lines: at most `limit` characters around what changed, with
/// `…` at cut ends.
pub(crate) fn short_excerpts(was: &Text, is: &Text, limit: usize) -> (String, String) {
    // An escape sequence is shown or cut as a whole.
    let width = |c: char| one_line(c.encode_utf8(&mut [0; 4])).chars().count();
    // A `…` for text that was not read takes one character of the limit too.
    let cut =
        |text: &Text| usize::from(text.omitted_before > 0) + usize::from(text.omitted_after > 0);
    let line = |text: &Text, (chars, kept): (Vec<char>, Range<usize>)| {
        let before = text.omitted_before > 0 || kept.start > 0;
        let after = text.omitted_after > 0 || kept.end < chars.len();
        let mark = |cut: bool| if cut { "…" } else { "" };
        let part: String = chars[kept].iter().collect();
        format!("{}{}{}", mark(before), one_line(&part), mark(after))
    };
    let [old, new] = shown([was, is], width, |text| limit.saturating_sub(cut(text)));
    (line(was, old), line(is, new))
}
