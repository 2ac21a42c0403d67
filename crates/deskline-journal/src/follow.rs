//! Reads the log as it grows.

use std::fs::File;

use crate::name::LOG;
use crate::os;
use crate::{Journal, Record, Result, log};

/// The records of a journal, each returned once.
#[derive(Debug)]
pub struct Follow {
    journal: Journal,
    /// The log, and the offset up to which it was read. The file stays open, so that its inode is
    /// not reused.
    read: Option<(File, u64)>,
    last: Option<Record>,
}

impl Follow {
    /// All records of `journal`, from the oldest.
    pub fn all(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            read: None,
            last: None,
        }
    }

    /// The records after `last`, which was read from `journal`.
    pub fn after(journal: &Journal, last: Option<Record>) -> Self {
        Self {
            last,
            ..Self::all(journal)
        }
    }

    /// The records that were added since the last call, oldest first. Skips lines that cannot be
    /// parsed.
    pub fn read(&mut self) -> Result<Vec<Record>> {
        let folder = self.journal.folder()?;
        let Some((file, size)) = log::open(&folder)? else {
            return Ok(Vec::new());
        };
        let read = self.read.as_ref().and_then(|(read, end)| {
            let same = os::identity(read).ok()? == os::identity(&file).ok()?;
            (same && *end <= size).then_some(*end)
        });
        let start = read.unwrap_or(0);
        let bytes = log::bytes(&file, start, size);
        let bytes = bytes.map_err(|error| folder.failed("read", LOG, error))?;
        // Another process may still be writing the last line.
        let whole = bytes
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let mut records: Vec<Record> = bytes[..whole]
            .split(|&b| b == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        if read.is_none() {
            records = newer(records, self.last.as_ref());
        }
        self.read = Some((file, start + whole as u64));
        self.last = records.last().cloned().or(self.last.take());
        Ok(records)
    }
}

/// The records after `last`. If the log no longer has `last`, the records with a later time.
fn newer(mut records: Vec<Record>, last: Option<&Record>) -> Vec<Record> {
    let Some(last) = last else {
        return records;
    };
    if let Some(at) = records.iter().rposition(|record| record == last) {
        return records.split_off(at + 1);
    }
    records.retain(|record| record.ms > last.ms);
    records
}
