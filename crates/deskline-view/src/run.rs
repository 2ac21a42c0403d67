//! A run: the links of a journal, in order, as far as they have been read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskline_journal::{FileKind, Follow, Journal, JournalError, Record, grep};
use serde::Serialize;
use serde_json::{Value, json};

use crate::entry::Entry;
use crate::screen;

/// The most links of a page. A journal has about 50,000 links: if it has more than this, others
/// have written into it.
const MOST: usize = 100_000;

/// The most text of a page's records, in bytes: as much as our longest log has.
const MOST_BYTES: usize = 64 << 20;

/// The links of a journal. Links that the journal drops stay, without their files.
pub(crate) struct Run {
    pub(crate) journal: Journal,
    links: Mutex<Links>,
}

struct Links {
    follow: Follow,
    records: Vec<Arc<Record>>,
    /// The size of the text of the records, in bytes.
    bytes: usize,
    /// Each link, by the name of its tree file.
    by_text: HashMap<String, usize>,
    /// For each process, the latest link with a picture of it.
    pictured: HashMap<u32, usize>,
    /// For each link, the latest earlier link with a picture of the same process.
    before: Vec<Option<usize>>,
}

/// A line that a search found.
#[derive(Serialize)]
pub(crate) struct Hit {
    n: usize,
    line: usize,
    text: String,
}

impl Run {
    /// All links of a journal. Nothing is read yet.
    pub(crate) fn new(journal: &Journal) -> Self {
        Self::fixed(journal, Vec::new())
    }

    /// Only the links `records` of a journal.
    pub(crate) fn fixed(journal: &Journal, records: Vec<Record>) -> Self {
        let mut links = Links {
            follow: Follow::all(journal),
            records: Vec::new(),
            bytes: 0,
            by_text: HashMap::new(),
            pictured: HashMap::new(),
            before: Vec::new(),
        };
        for record in records {
            links.add(record);
        }
        Self {
            journal: journal.clone(),
            links: Mutex::new(links),
        }
    }

    /// Reads the new lines of the log, up to a limit: a desktop's apps may write any number of
    /// lines.
    pub(crate) fn update(&self) -> Result<(), JournalError> {
        let mut links = self.links();
        if links.is_full() {
            return Ok(());
        }
        for record in links.follow.read()? {
            links.add(record);
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.links().records.len()
    }

    /// The rows from `first` up to `end`.
    pub(crate) fn rows(&self, first: usize, end: usize) -> Vec<Entry> {
        let records: Vec<Arc<Record>> = {
            let links = self.links();
            let end = end.min(links.records.len());
            links.records.get(first..end).unwrap_or_default().to_vec()
        };
        let rows = (first..).zip(&records);
        rows.map(|(n, record)| Entry::new(n, record)).collect()
    }

    /// All data of one link: its record, its tree file, and the places of its pictures on the
    /// screen.
    pub(crate) fn link(&self, n: usize) -> Option<Value> {
        let (record, before) = self.at(n)?;
        let read = |n: usize, kind| {
            let (record, _) = self.at(n)?;
            self.journal.read(record.file_name(kind)?).ok()
        };
        let place = |n| screen::place(&read(n, FileKind::Picture)?);
        let text = read(n, FileKind::Text);
        let after = place(n);
        let before = before.and_then(|n| Some(json!({"n": n, "place": place(n)?})));
        let text = text.map(|text| screen::lines(&String::from_utf8_lossy(&text)));
        Some(json!({
            "n": n,
            "record": *record,
            "picture": after,
            "before": before,
            "lines": text,
        }))
    }

    /// The record of a link.
    pub(crate) fn record(&self, n: usize) -> Option<Arc<Record>> {
        Some(self.at(n)?.0)
    }

    /// The picture of a link.
    pub(crate) fn picture(&self, n: usize) -> Option<Vec<u8>> {
        let (record, _) = self.at(n)?;
        self.journal.read(record.file_name(FileKind::Picture)?).ok()
    }

    /// The newest `limit` matching lines of all screens.
    pub(crate) fn search(
        &self,
        pattern: &grep::Pattern,
        limit: usize,
    ) -> Result<Vec<Hit>, JournalError> {
        let mut hits = Vec::new();
        self.journal.grep(pattern, limit, |file, lines| {
            let n = self.links().by_text.get(&file.name).copied();
            let hit = |found: grep::Found| {
                let (line, text) = (found.number, found.line);
                n.map(|n| Hit { n, line, text })
            };
            hits.extend(lines.into_iter().filter_map(hit));
            Ok::<_, JournalError>(())
        })?;
        Ok(hits)
    }

    fn at(&self, n: usize) -> Option<(Arc<Record>, Option<usize>)> {
        let links = self.links();
        let record = links.records.get(n)?;
        Some((Arc::clone(record), links.before.get(n).copied().flatten()))
    }

    fn links(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Links {
    fn is_full(&self) -> bool {
        self.records.len() >= MOST || self.bytes >= MOST_BYTES
    }

    fn add(&mut self, record: Record) {
        if self.is_full() {
            return;
        }
        self.bytes += record.to_json().map_or(0, |line| line.len());
        let n = self.records.len();
        let before = record.pid.and_then(|pid| self.pictured.get(&pid).copied());
        self.before.push(before);
        if let Some(name) = record.file_name(FileKind::Text) {
            self.by_text.insert(name.to_owned(), n);
        }
        if let (Some(pid), Some(_)) = (record.pid, record.file_name(FileKind::Picture)) {
            self.pictured.insert(pid, n);
        }
        self.records.push(Arc::new(record));
    }
}

#[cfg(test)]
mod tests {
    use deskline_journal::{Outcome, Retention};
    use serde_json::Map;

    use super::*;

    #[test]
    fn a_log_without_end_fills_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal");
        let journal = Journal::open(Some(&journal), Retention::default()).unwrap();
        let record = |text: String| {
            let mut record = Record::new("refresh_traversal", Map::new(), Outcome::Ok);
            record.app = Some(text);
            record
        };
        let many = vec![record(String::new()); MOST + 10];
        let run = Run::fixed(&journal, many);
        assert_eq!(run.len(), MOST);
        journal.record(&record(String::new())).unwrap();
        run.update().unwrap();
        assert_eq!(run.len(), MOST);
        let long = vec![record("a".repeat(1 << 20)); 100];
        assert_eq!(Run::fixed(&journal, long).len(), 64);
    }
}
