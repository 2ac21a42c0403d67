//! The list of the journals in a folder, each with its last call.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deskline_core::escape;
use deskline_journal::Journal;
use hyper::StatusCode;

use crate::answer::{Answer, text, whole};
use crate::assets;
use crate::words::words;

/// Names of apps are cut to this many characters.
const APP: usize = 40;

/// Whether `text` can be a journal's name, which appears in addresses and in the page unchanged.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
}

pub(crate) async fn answer(all: PathBuf) -> Answer {
    match tokio::task::spawn_blocking(move || page(&all)).await {
        Ok(page) => whole(assets::HTML, page),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// The page, with the most recently used journal first.
fn page(all: &Path) -> String {
    let folders = fs::read_dir(all).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut rows: Vec<(u64, String)> = names
        .filter(|name| is_name(name))
        .map(|name| row(all, &name))
        .collect();
    rows.sort_by(|a, b| b.cmp(a));
    let rows: String = rows.into_iter().map(|(_, row)| row).collect();
    assets::LIST.replace("<!-- rows -->", &rows)
}

/// The time of a journal's last use, and its row.
fn row(all: &Path, name: &str) -> (u64, String) {
    let journal = Journal::open_to_read(Some(&all.join(name)));
    let last = journal.and_then(|journal| journal.records(1));
    let (ms, words) = match last.map(|mut records| records.pop()) {
        Ok(Some(record)) => {
            let words = words(&record.tool, &record.arguments, record.answer.as_deref());
            let app = record.app.map(|app| escape::short(&app, APP));
            let parts = [Some(words), app, Some(age(record.ms))];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (record.ms, parts.join(" · "))
        }
        Ok(None) => (0, "no calls yet".to_owned()),
        Err(error) => (0, error.to_string()),
    };
    let words = html(&words);
    (
        ms,
        format!("<li><a href=\"{name}/\">{name}</a> {words}</li>\n"),
    )
}

/// How long ago the last use was, in words.
fn age(ms: u64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let age = now
        .unwrap_or_default()
        .saturating_sub(Duration::from_millis(ms));
    let (number, unit) = match age.as_secs() {
        seconds @ 0..60 => (seconds, "s"),
        seconds @ 60..3_600 => (seconds / 60, "min"),
        seconds @ 3_600..86_400 => (seconds / 3_600, "h"),
        seconds => (seconds / 86_400, "d"),
    };
    format!("{number} {unit} ago")
}

/// Escapes a text for HTML and XML.
pub fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
