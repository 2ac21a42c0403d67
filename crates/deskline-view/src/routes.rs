//! Maps paths to answers.

use std::sync::Arc;

use deskline_core::escape::percent_decode;
use deskline_journal::grep;
use hyper::StatusCode;
use serde_json::json;

use crate::answer::{Answer, json, text, whole};
use crate::run::Run;
use crate::{assets, events};

/// At most this many rows at once.
const ROWS: usize = 5_000;
/// At most this many lines of a search.
const HITS: usize = 300;
/// The longest pattern, in bytes.
const PATTERN: usize = 1_000;

/// Answers a request for `path`, below the page of this run.
pub(crate) async fn route(run: &Arc<Run>, path: &str, query: &str) -> Answer {
    if let Some((kind, content)) = assets::find(path) {
        return whole(kind, content);
    }
    if path == "events" {
        return events::answer(run, number(query, "from").unwrap_or(0));
    }
    let (run, path, query) = (Arc::clone(run), path.to_owned(), query.to_owned());
    let answered = tokio::task::spawn_blocking(move || data(&run, &path, &query));
    answered
        .await
        .unwrap_or_else(|error| text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// The answer for data that does not exist.
pub(crate) fn missing() -> Answer {
    let why = "This is not in the log, or not any more: old files are removed (--keep).";
    text(StatusCode::NOT_FOUND, why)
}

/// The data of the page: rows, links, pictures, searches.
fn data(run: &Run, path: &str, query: &str) -> Answer {
    if let Err(error) = run.update() {
        return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
    }
    match path.split_once('/') {
        None if path == "links" => rows(run, query),
        None if path == "search" => search(run, query),
        Some(("link", n)) => {
            let link = n.parse().ok().and_then(|n| run.link(n));
            link.map_or_else(missing, |link| json(&link))
        }
        Some(("picture", n)) => {
            let png = n.parse().ok().and_then(|n| run.picture(n));
            png.map_or_else(missing, |png| whole("image/png", png))
        }
        _ => missing(),
    }
}

/// With `last=N`, the newest N rows; with `end=N`, the rows before row N.
fn rows(run: &Run, query: &str) -> Answer {
    let total = run.len();
    let end = number(query, "end").unwrap_or(total).min(total);
    let first = end.saturating_sub(number(query, "last").unwrap_or(ROWS).min(ROWS));
    json(&json!({
        "journal": run.journal.path().display().to_string(),
        "total": total,
        "first": first,
        "rows": run.rows(first, end),
    }))
}

/// The lines of all screens that match the pattern in `q=PATTERN`, newest first.
fn search(run: &Run, query: &str) -> Answer {
    let pattern = value(query, "q").unwrap_or_default();
    let pattern = match grep::pattern(&pattern) {
        Ok(compiled) if pattern.len() <= PATTERN => compiled,
        Ok(_) => return json(&json!({"error": "The pattern is too long."})),
        Err(error) => {
            // The last line has the reason; the lines before it point at the position.
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            return json(&json!({"error": format!("Not a regular expression: {why}.")}));
        }
    };
    match run.search(&pattern, HITS) {
        Ok(hits) => json(&json!({"hits": hits, "more": hits.len() >= HITS})),
        Err(error) => json(&json!({"error": error.to_string()})),
    }
}

fn number(query: &str, name: &str) -> Option<usize> {
    value(query, name)?.parse().ok()
}

fn value(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(found, _)| *found == name)?;
    String::from_utf8(percent_decode(value)?).ok()
}
