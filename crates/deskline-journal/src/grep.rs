//! Finds when a text was last on a screen. Searches all tree files, newest first, on all cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A compiled pattern.
pub use regex::bytes::Regex as Pattern;
use regex::bytes::RegexBuilder;

use crate::{FileKind, Journal, JournalError, JournalFile, Result};

/// The number of files per thread in a batch. After each batch, the search ends if it has enough
/// matches. An agent writes about this many files in some seconds.
const BATCH: usize = 64;

/// A matching line of a tree file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The line's number, from 1.
    pub number: usize,
    pub line: String,
}

/// Compiles a pattern for [`Journal::grep`]: it ignores case, and `^` and `$` match at the start
/// and the end of each line.
pub fn pattern(pattern: &str) -> Result<Pattern, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .multi_line(true)
        .build()
}

impl Journal {
    /// Passes the newest `limit` matching lines of all tree files to `found`, one file at a time,
    /// the newest file first. An error of `found` ends the search.
    pub fn grep<E: From<JournalError>>(
        &self,
        pattern: &Pattern,
        limit: usize,
        mut found: impl FnMut(&JournalFile, Vec<Found>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut files = self.list()?;
        files.retain(|file| file.kind == FileKind::Text);
        files.reverse();
        let mut left = limit;
        // Search a batch per thread at a time, newest first, so that the search can end early.
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        for files in files.chunks(BATCH * threads) {
            for (file, mut matches) in search(self, files, pattern, left)? {
                matches.truncate(left);
                left -= matches.len();
                if !matches.is_empty() {
                    found(file, matches)?;
                }
            }
            if left == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The matches in each file, in the order of the files.
fn search<'f>(
    journal: &Journal,
    files: &'f [JournalFile],
    pattern: &Pattern,
    limit: usize,
) -> Result<Vec<(&'f JournalFile, Vec<Found>)>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let work = || -> Result {
            // Threads that shared one pattern would contend for its cache.
            let pattern = pattern.clone();
            let mut text = Vec::new();
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(file) = files.get(index)
            {
                text.clear();
                match journal.read_into(&file.name, &mut text) {
                    Ok(()) => {}
                    // The journal has pruned the file meanwhile.
                    Err(error) if error.is_missing() => continue,
                    Err(error) => return Err(error),
                }
                let matches = matches(&text, &pattern, limit);
                if !matches.is_empty() {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push((index, matches));
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let panicked = |_| {
                let error = std::io::Error::other("a search thread panicked");
                Err(JournalError::io("search", journal.path(), error))
            };
            thread.join().unwrap_or_else(panicked)
        })
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    let with_file = |(index, matches): (usize, _)| Some((files.get(index)?, matches));
    Ok(found.into_iter().filter_map(with_file).collect())
}

fn matches(text: &[u8], pattern: &Pattern, limit: usize) -> Vec<Found> {
    let mut matches: Vec<Found> = Vec::new();
    // The start of the next line to search, and the number of that line.
    let (mut at, mut number) = (0, 1);
    while matches.len() < limit
        && let Some(found) = pattern.find_at(text, at)
        && found.start() < text.len()
    {
        let before = memchr::memrchr(b'\n', &text[at..found.start()]);
        let start = before.map_or(at, |end| at + end + 1);
        let length = memchr::memchr(b'\n', &text[start..]);
        let end = length.map_or(text.len(), |length| start + length);
        number += memchr::memchr_iter(b'\n', &text[at..start]).count();
        let line = &text[start..end];
        // A match that starts with a line end may belong to the next line.
        if pattern.is_match(line) {
            let line = String::from_utf8_lossy(line).into_owned();
            matches.push(Found { number, line });
        }
        number += 1;
        at = end + 1;
        if at > text.len() {
            break;
        }
    }
    matches
}
