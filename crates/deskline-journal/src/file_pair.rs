//! The files of one call.

use std::path::PathBuf;

use crate::name::{self, FileKind};
use crate::picture::{self, Shot};
use crate::{Journal, Result, stamp, time};

const FACTS: &str = "facts.txt";

/// A `.txt` and a `.png` under one stamp. Each file is written atomically, and does not exist
/// before.
#[derive(Debug, Clone)]
pub struct FilePair {
    journal: Journal,
    stamp: u64,
    stem: String,
}

impl Journal {
    /// Reserves `<ms>_<tool>` for a call. `<ms>` is greater than every earlier `<ms>` of this
    /// journal.
    pub fn begin(&self, tool: &str) -> Result<FilePair> {
        let stamp = stamp::next(&*self.folder()?, time::now_ms())?;
        let stem = format!("{stamp}_{}", name::plain(tool));
        Ok(FilePair {
            journal: self.clone(),
            stamp,
            stem,
        })
    }

    /// The path of the page of facts about the desktop, which is for bug reports.
    pub fn facts_path(&self) -> PathBuf {
        self.path_of(FACTS)
    }

    /// Writes the page of facts; replaces an earlier page.
    pub fn write_facts(&self, page: &str) -> Result {
        self.put(FACTS, page.as_bytes())
    }
}

impl FilePair {
    /// The call's `<ms>`: milliseconds since the epoch, unique within the journal.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The path of the text, also before it is written.
    pub fn text_path(&self) -> PathBuf {
        self.journal.path_of(&self.name(FileKind::Text))
    }

    /// The path of the picture, also before it is written.
    pub fn picture_path(&self) -> PathBuf {
        self.journal.path_of(&self.name(FileKind::Picture))
    }

    /// Writes the text. Replaces a text that was written before.
    pub fn write_text(&self, text: &str) -> Result {
        self.journal
            .put(&self.name(FileKind::Text), text.as_bytes())
    }

    /// Writes the picture as a PNG, with a red crosshair at the click.
    pub fn write_picture(&self, shot: &Shot<'_>) -> Result {
        self.write_png(&picture::encode(shot)?)
    }

    /// Writes the picture that [`encode`](picture::encode) has made.
    pub fn write_png(&self, png: &[u8]) -> Result {
        self.journal.put(&self.name(FileKind::Picture), png)
    }

    fn name(&self, kind: FileKind) -> String {
        format!("{}.{}", self.stem, kind.extension())
    }
}
