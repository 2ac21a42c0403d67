//! Text from the screen, cut to a maximum length.

use std::ops::Range;

/// Text from the screen: an excerpt, and how much was cut off at each end. Hostile data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Text {
    /// At most [`Text::LIMIT`] characters.
    pub shown: String,
    /// How many characters were cut off before `shown`.
    pub omitted_before: usize,
    /// How many characters were cut off after `shown`.
    pub omitted_after: usize,
}

impl Text {
    /// The longest excerpt, in characters.
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
        shown.shrink_to_fit();
        Self {
            shown,
            omitted_before: 0,
            omitted_after,
        }
    }

    /// A text of `total` characters of which only `start` was read, for platforms that read only
    /// the start of long texts.
    pub fn cut(start: impl Into<String>, total: usize) -> Self {
        Self::part(start, 0, total)
    }

    /// A text of `total` characters of which `part`, at offset `before`, was read. Cuts the end of
    /// `part` if it is longer than [`Text::LIMIT`].
    pub fn part(part: impl Into<String>, before: usize, total: usize) -> Self {
        let mut text = Self::new(part);
        let end = before.saturating_add(text.shown.chars().count());
        text.omitted_before = before;
        text.omitted_after = text.omitted_after.max(total.saturating_sub(end));
        text
    }

    /// The range of characters to keep of a text of `total` characters: around character `at`.
    ///
    /// The range moves in steps of a quarter of [`Text::LIMIT`]. If the caret moves by a word, the
    /// same part is kept, and the two readings can be compared.
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

    /// The length of the whole text in characters.
    pub fn total(&self) -> usize {
        let kept = self.shown.chars().count();
        let cut = self.omitted_before.saturating_add(self.omitted_after);
        cut.saturating_add(kept)
    }

    /// Whether anything was cut off.
    pub fn is_cut(&self) -> bool {
        self.omitted_before > 0 || self.omitted_after > 0
    }

    /// Whether both can be readings of one unchanged text: they have the same length, and the same
    /// characters where the excerpts overlap. Two excerpts of one text differ if the caret moved or
    /// the view was scrolled. A text that was not read agrees with every text.
    pub fn agrees(&self, other: &Self) -> bool {
        if self.same(other) || self.is_unread() || other.is_unread() {
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

    /// Equality, with a shortcut for empty texts, which most texts in a tree are. Comparing empty
    /// texts took nine tenths of the time of a small diff on an EPYC of family 26: an empty String
    /// points at unmapped memory, and `memcmp` of glibc 2.36 does a masked read there.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let (a, b) = (self.shown.as_str(), other.shown.as_str());
        self.omitted_before == other.omitted_before
            && self.omitted_after == other.omitted_after
            && a.len() == b.len()
            && (a.is_empty() || a == b)
    }

    /// A text that could not be read: for lack of time, or because the app refused. It is blank,
    /// and agrees with every text.
    pub fn unread() -> Self {
        Self {
            omitted_after: usize::MAX,
            ..Self::default()
        }
    }

    /// Whether this text was made by [`Text::unread`].
    pub fn is_unread(&self) -> bool {
        self.shown.is_empty() && self.omitted_after == usize::MAX
    }

    /// Whether the text is empty or only white space.
    pub fn is_blank(&self) -> bool {
        self.shown.trim_start().is_empty()
    }
}
