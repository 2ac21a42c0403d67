//! Text from the screen: the part of it that is kept, and how much was cut off at each end.

use std::ops::Range;

/// Text from the screen, cut to what a tree file holds. Hostile data: it may contain anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Text {
    /// At most [`Text::LIMIT`] characters.
    pub shown: String,
    /// How many characters of the text come before `shown`.
    pub omitted_before: usize,
    /// How many characters of the text come after `shown`.
    pub omitted_after: usize,
}

impl Text {
    /// The most characters of one text that are kept.
    pub const LIMIT: usize = 1_000;

    /// The start of `text`: at most [`Text::LIMIT`] characters.
    pub fn new(text: impl Into<String>) -> Self {
        let mut shown: String = text.into();
        let Some((cut, _)) = shown.char_indices().nth(Self::LIMIT) else {
            return Self {
                shown,
                ..Self::default()
            };
        };
        let omitted_after = shown[cut..].chars().count();
        shown.truncate(cut);
        Self {
            shown,
            omitted_before: 0,
            omitted_after,
        }
    }

    /// `start` of a text that has `total` characters, for platforms that read only the start of a
    /// long text.
    pub fn cut(start: impl Into<String>, total: usize) -> Self {
        Self::part(start, 0, total)
    }

    /// The characters from `before` on of a text that has `total` characters. `part` is cut at its
    /// end where it is longer than [`Text::LIMIT`].
    pub fn part(part: impl Into<String>, before: usize, total: usize) -> Self {
        let mut text = Self::new(part);
        let end = before.saturating_add(text.shown.chars().count());
        text.omitted_before = before;
        text.omitted_after = text.omitted_after.max(total.saturating_sub(end));
        text
    }

    /// Which characters to keep of a text that has `total`, so that character `at` is among them
    /// with some on both sides.
    ///
    /// The range moves in steps of a quarter of [`Text::LIMIT`]: a caret that moves by a word then
    /// leaves the same part kept, and two readings can be compared.
    pub fn window(total: usize, at: usize) -> Range<usize> {
        const STEP: usize = Text::LIMIT / 4;
        if total <= Self::LIMIT {
            return 0..total;
        }
        let at = at.min(total);
        let start = at.saturating_sub(Self::LIMIT / 2) / STEP * STEP;
        let start = start.min(total - Self::LIMIT);
        start..start + Self::LIMIT
    }

    /// How many characters the whole text has.
    pub fn total(&self) -> usize {
        let kept = self.shown.chars().count();
        let cut = self.omitted_before.saturating_add(self.omitted_after);
        cut.saturating_add(kept)
    }

    /// Whether anything was cut off.
    pub fn is_cut(&self) -> bool {
        self.omitted_before > 0 || self.omitted_after > 0
    }

    /// Whether the two can be readings of one unchanged text: they have the same number of
    /// characters, and the same characters where both were kept. A caret that moves, or a view that
    /// scrolls, has another part of the same text kept.
    pub fn agrees(&self, other: &Self) -> bool {
        if self.same(other) {
            return true;
        }
        if self.omitted_before == other.omitted_before || self.total() != other.total() {
            return false;
        }
        let (first, second) = if self.omitted_before < other.omitted_before {
            (self, other)
        } else {
            (other, self)
        };
        let apart = second.omitted_before - first.omitted_before;
        let mut common = first.shown.chars().skip(apart).zip(second.shown.chars());
        common.all(|(a, b)| a == b)
    }

    /// `self == other` for the comparison of whole trees, where most texts are empty. Those are not
    /// handed to `memcmp`: a String without content points at unmapped memory, and glibc 2.36 reads
    /// there behind an empty mask. On an EPYC of family 26 that was nine tenths of a small diff.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let (a, b) = (self.shown.as_str(), other.shown.as_str());
        self.omitted_before == other.omitted_before
            && self.omitted_after == other.omitted_after
            && a.len() == b.len()
            && (a.is_empty() || a == b)
    }

    /// Nothing to read: empty or white space alone.
    pub fn is_blank(&self) -> bool {
        self.shown.trim_start().is_empty()
    }
}
