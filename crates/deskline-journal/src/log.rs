//! `journal.jsonl`: one line a link. Lines are appended and never changed; old lines are dropped.

use std::fmt::Write as _;
use std::fs::File;
use std::io;

use serde::Deserialize;
use serde_json::Value;

use crate::folder::Folder;
use crate::name::LOG;
use crate::os::{At as _, Open};
use crate::record::plain;
use crate::{Record, Result, Retention};

/// Arguments longer than this (a book typed into a field) are cut in the log.
const ARGUMENTS: usize = 64 * 1024;
/// App names, error texts and answers longer than this are cut in the log.
const WORDS: usize = 4_000;
/// The maximum size of the log in bytes, even in a larger journal. It holds about 50,000 links.
const LOG_BYTES: u64 = 64 << 20;
/// The maximum size of a log to read. Our log does not double between two prunings, so a larger log
/// was written by others.
const LARGEST: u64 = 2 * LOG_BYTES;

/// Appends `record` as one line, or leaves the log unchanged.
pub(crate) fn append(folder: &Folder, record: &Record) -> Result<u64> {
    let fail = |error| folder.failed("write", LOG, error);
    let line = line(record).map_err(|error| fail(error.into()))?;
    let file = folder.lock_file(LOG)?;
    let before = file.metadata().map_err(fail)?.len();
    // Start a new line after a line that a power cut has truncated.
    let whole = before == 0 || bytes(&file, before - 1, before).map_err(fail)? == b"\n";
    let text = if whole { line } else { format!("\n{line}") };
    file.write_all_at(text.as_bytes(), before)
        .map_err(|error| {
            let _ = file.set_len(before);
            fail(error)
        })?;
    Ok(text.len() as u64)
}

/// `record` as JSON with a line end. Escapes characters that break lines or reorder text, so that
/// the log is safe to print in a terminal.
fn line(record: &Record) -> serde_json::Result<String> {
    let mut record = record.clone();
    let arguments = serde_json::to_string(&record.arguments)?;
    if arguments.len() > ARGUMENTS {
        record.arguments = Value::String(cut(arguments, ARGUMENTS));
    }
    record.app = record.app.map(|app| cut(app, WORDS));
    record.answer = record.answer.map(|answer| cut(answer, WORDS));
    if let crate::Outcome::Error(why) = record.outcome {
        record.outcome = crate::Outcome::Error(cut(why, WORDS));
    }
    let mut line = plain(&serde_json::to_string(&record)?);
    line.push('\n');
    Ok(line)
}

/// Cuts `text` to `limit` characters, and adds how many are missing.
fn cut(mut text: String, limit: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(limit) {
        let missing = text[at..].chars().count();
        text.truncate(at);
        let _ = write!(text, "…(+{missing})");
    }
    text
}

/// The newest `limit` records, oldest first. Skips lines that cannot be parsed: lines of a newer
/// version, or damaged lines.
pub(crate) fn read(folder: &Folder, limit: usize) -> Result<Vec<Record>> {
    let Some((file, size)) = open(folder)? else {
        return Ok(Vec::new());
    };
    let fail = |error| folder.failed("read", LOG, error);
    let mut window = 64 * 1024;
    loop {
        let start = size.saturating_sub(window);
        let text = bytes(&file, start, size).map_err(fail)?;
        let lines = text.rsplit(|&b| b == b'\n');
        let records = lines.filter_map(|line| serde_json::from_slice(line).ok());
        let mut records: Vec<Record> = records.take(limit).collect();
        if records.len() >= limit || start == 0 {
            records.reverse();
            return Ok(records);
        }
        window *= 4;
    }
}

/// Drops lines that are older than `retention` allows, and the older half of a log that is too
/// long. The newest line stays.
pub(crate) fn trim(folder: &Folder, retention: &Retention, now: u64) -> Result {
    #[derive(Deserialize)]
    struct When {
        ms: u64,
    }
    let when = |line: &[u8]| serde_json::from_slice(line).map_or(0, |When { ms }| ms);
    if folder.regular(LOG).is_none_or(|(bytes, _)| bytes == 0) {
        return Ok(());
    }
    let fail = |error| folder.failed("trim", LOG, error);
    let file = folder.lock_file(LOG)?;
    let size = file.metadata().map_err(fail)?.len();
    let most = LOG_BYTES.min(retention.slack());
    let head = bytes(&file, 0, size.min(2 * ARGUMENTS as u64)).map_err(fail)?;
    let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
    if size <= most && when(first) >= retention.oldest(now) {
        return Ok(());
    }
    let text = bytes(&file, 0, size).map_err(fail)?;
    let too_much = if size > most { size - most / 2 } else { 0 };
    let mut start = 0;
    for line in text.split_inclusive(|&b| b == b'\n') {
        let next = start + line.len();
        let stays = start as u64 >= too_much && when(line) >= retention.oldest(now);
        if stays || next == text.len() {
            break;
        }
        start = next;
    }
    // Processes that wait for the lock notice that the file was replaced, and open the new one.
    match text.get(start..) {
        Some(rest) if start > 0 => folder.put(LOG, rest),
        _ => Ok(()),
    }
}

/// The log and its size, if there is one. Refuses a log that would fill the memory: an app with
/// write access to its desktop's journal can make the log as large as it likes, and other processes
/// read it.
pub(crate) fn open(folder: &Folder) -> Result<Option<(File, u64)>> {
    let file = match folder.open_file(LOG, Open::Read) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    let fail = |error| folder.failed("read", LOG, error);
    match file.metadata().map_err(fail)?.len() {
        size if size <= LARGEST => Ok(Some((file, size))),
        _ => Err(fail(io::ErrorKind::FileTooLarge.into())),
    }
}

pub(crate) fn bytes(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}
