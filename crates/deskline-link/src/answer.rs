//! Step 9: writes the files, the journal line and the summary, all from one report.

mod arguments;
pub(crate) mod content;
mod message;
mod summarise;

use std::time::{Duration, Instant};

use deskline_core::{Summary, summary};
use deskline_journal::{DiffCounts, FilePair, Journal, KnownAs, Record};

use crate::apps::Identity;
use crate::call::Call;
use crate::error::Result;
use crate::facts;
use crate::report::{Content, Report};
use crate::subject::Subject;
use arguments::{arguments, tells_no_secret};
use content::{content, listed};
use message::{message, outcome};
use summarise::summarise;

/// Everything the model sees of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    /// How long each step of the link took, by its name in [`STEPS`](crate::STEPS). In a chain,
    /// each time is the sum over the chain's runs.
    pub times: Vec<(&'static str, Duration)>,
}

/// The answer for an error that occurred before a link began.
pub fn error(message: &str) -> Answer {
    let summary = Summary {
        error: Some(message.to_owned()),
        ..Summary::default()
    };
    Answer {
        text: summary.render(),
        is_error: true,
        ..Answer::default()
    }
}

/// Writes the files and the journal line, and returns the answer. If the journal cannot be written,
/// the summary gets a note and the call is answered all the same.
pub(crate) fn record(
    journal: &Journal,
    call: &Call,
    subject: &Subject,
    is_first: bool,
    report: &mut Report,
    result: Result<()>,
) -> Answer {
    let failed = result.err();
    let error = failed.as_ref().map(|e| message(e, call, report));
    if let Some(note) = facts::note(failed.as_ref(), report, subject.home()) {
        report.notes.add(note);
    }
    let mut summary = summarise(call, subject, is_first, report, error.clone());
    let tool = call.tool();
    let outcome = outcome(failed.as_ref(), error.as_deref());
    let mut written = Record::new(tool, arguments(call, report), outcome);
    let start = Instant::now();
    match journal.begin(tool) {
        Ok(entry) => {
            let pages = (&mut summary, &mut written);
            write(&entry, call, report, pages, error.as_deref());
        }
        Err(e) => summary.notes.push(format!("no files were written: {e}")),
    }
    report.times.push(("record", start.elapsed()));
    written.pid = subject.home();
    written.app = report.readings.latest().map(|tree| tree.app.name.clone());
    written.known_as = std::mem::take(&mut report.apps)
        .into_iter()
        .map(|Identity { names, claims, .. }| KnownAs { names, claims })
        .collect();
    written.diff = report.diff.as_ref().map(|diff| DiffCounts {
        added: diff.added.len(),
        removed: diff.removed.len(),
        modified: diff.modified.len(),
    });
    for (name, took) in &report.times {
        written.step(name, *took);
    }
    if let Some(held) = report.guard_held {
        written.guard_held(held);
    }
    let mut text = summary.render();
    // The answer is stored only if the call has no secret: the element's value in it may be the
    // typed text.
    written.answer = tells_no_secret(call, report).then(|| text.clone());
    if let Err(e) = journal.record(&written) {
        summary
            .notes
            .push(format!("this call was not recorded in the log: {e}"));
        text = summary.render();
    }
    Answer {
        text,
        is_error: error.is_some(),
        times: std::mem::take(&mut report.times),
    }
}

fn write(
    entry: &FilePair,
    call: &Call,
    report: &mut Report,
    (summary, record): (&mut Summary, &mut Record),
    error: Option<&str>,
) {
    let made = report.content.take().filter(|_| error.is_none());
    let Content { text, picture } = made.unwrap_or_else(|| content(call, report, error));
    match text.map(|text| (entry.write_text(&text), text.len())) {
        Some((Ok(()), bytes)) => {
            let path = entry.text_path().display().to_string();
            summary.file = Some(summary::File {
                path: path.clone(),
                bytes: bytes as u64,
                elements: listed(report).map_or(0, |tree| tree.elements.len()),
            });
            record.files.text = Some(path);
        }
        Some((Err(e), _)) => summary.notes.push(format!("the tree was not written: {e}")),
        None => {}
    }
    let write = |png: Vec<u8>| entry.write_png(&png).map_err(|e| e.to_string());
    match picture.map(|picture| picture.and_then(write)) {
        Some(Ok(())) => {
            let path = entry.picture_path().display().to_string();
            record.files.picture = Some(path.clone());
            summary.screenshot = Some(path);
        }
        Some(Err(why)) => summary
            .notes
            .push(format!("the screenshot was not written: {why}")),
        None => {}
    }
    if let (Some(Err(why)), None) = (&report.pictures.after, error) {
        summary.notes.push(format!("no screenshot: {why}"));
    }
}
