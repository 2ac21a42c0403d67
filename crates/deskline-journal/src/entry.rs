//! One call's place in the journal: a stamp, and the pair of files under it.

use std::path::PathBuf;

use crate::name::Kind;
use crate::picture::{self, Shot};
use crate::{Journal, JournalError};

/// The pair of files of one call. Neither exists until it is written; each then appears whole.
#[derive(Debug, Clone)]
pub struct Entry {
    journal: Journal,
    stamp: u64,
    stem: String,
}

impl Entry {
    pub(crate) fn new(journal: Journal, stamp: u64, stem: String) -> Self {
        Self {
            journal,
            stamp,
            stem,
        }
    }

    /// The call's `<ms>`: milliseconds since the epoch, unique within the journal.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Where the text is or will be.
    pub fn text_path(&self) -> PathBuf {
        self.journal.path().join(self.name(Kind::Text))
    }

    /// Where the picture is or will be.
    pub fn picture_path(&self) -> PathBuf {
        self.journal.path().join(self.name(Kind::Picture))
    }

    /// Writes the text; a second text takes the place of the first.
    pub fn write_text(&self, text: &str) -> Result<(), JournalError> {
        self.journal.put(&self.name(Kind::Text), text.as_bytes())
    }

    /// Writes the picture, as a PNG with a red crosshair where the click went.
    pub fn write_picture(&self, shot: &Shot<'_>) -> Result<(), JournalError> {
        let png = picture::encode(shot)?;
        self.journal.put(&self.name(Kind::Picture), &png)
    }

    fn name(&self, kind: Kind) -> String {
        format!("{}.{}", self.stem, kind.extension())
    }
}
