//! `deskline grep`: when a text was last on a screen, over all tree files of the journal.

use std::fs;
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use deskline_journal::{FileKind, Journal, JournalFile};
use regex::bytes::{Regex, RegexBuilder};

use crate::output::{Done, print};

/// The number of files that a thread searches at a time: as many as an agent writes in some seconds.
const BATCH: usize = 64;

/// A matching line.
struct Match {
    /// Its number, from 1.
    number: usize,
    line: String,
}

/// Prints the newest `limit` matching lines, newest file first: time, path, line number, line.
pub(crate) fn grep(journal: &Journal, pattern: &str, limit: usize) -> Done {
    let pattern = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .multi_line(true)
        .build()?;
    let mut files = journal.list()?;
    files.retain(|file| file.kind == FileKind::Text);
    files.reverse();
    let mut left = limit;
    // One batch for each thread at a time, newest first: enough matches end the search early.
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    for files in files.chunks(BATCH * threads) {
        for (file, matches) in search(files, &pattern, left)? {
            for Match { number, line } in matches.into_iter().take(left) {
                left -= 1;
                let (time, path) = (file.time(), file.path.display());
                print(&format!("{time}  {path}:{number}: {line}"))?;
            }
        }
        if left == 0 {
            break;
        }
    }
    Ok(if left == limit {
        std::process::ExitCode::FAILURE
    } else {
        std::process::ExitCode::SUCCESS
    })
}

/// The matches in each file, in the order of the files.
fn search<'f>(
    files: &'f [JournalFile],
    pattern: &Regex,
    limit: usize,
) -> io::Result<Vec<(&'f JournalFile, Vec<Match>)>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let worked: io::Result<()> = thread::scope(|scope| {
        let work = || -> io::Result<()> {
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(file) = files.get(index)
            {
                let matches = matches(file, pattern, limit)?;
                if !matches.is_empty() {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push((index, matches));
                }
            }
            Ok(())
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let panicked = |_| Err(io::Error::other("a search thread panicked"));
            thread.join().unwrap_or_else(panicked)
        })
    });
    worked?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    let with_file = |(index, matches): (usize, _)| Some((files.get(index)?, matches));
    Ok(found.into_iter().filter_map(with_file).collect())
}

fn matches(file: &JournalFile, pattern: &Regex, limit: usize) -> io::Result<Vec<Match>> {
    let text = match fs::read(&file.path) {
        Ok(text) => text,
        // The journal has pruned it meanwhile.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        Err(e) => return Err(e),
    };
    let mut matches: Vec<Match> = Vec::new();
    // Start of the next line, and its number.
    let (mut at, mut number) = (0, 1);
    while matches.len() < limit
        && let Some(found) = pattern.find_at(&text, at)
        && found.start() < text.len()
    {
        let before = memchr::memrchr(b'\n', &text[at..found.start()]);
        let start = before.map_or(at, |end| at + end + 1);
        let length = memchr::memchr(b'\n', &text[start..]);
        let end = length.map_or(text.len(), |length| start + length);
        number += line_ends(&text[at..start]);
        let line = &text[start..end];
        // A match may start with a line end: it is in the next line.
        if pattern.is_match(line) {
            let line = String::from_utf8_lossy(line).into_owned();
            matches.push(Match { number, line });
        }
        number += 1;
        at = end + 1;
        if at > text.len() {
            break;
        }
    }
    Ok(matches)
}

fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}
