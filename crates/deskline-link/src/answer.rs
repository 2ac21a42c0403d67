//! Step 9: writes the files, the journal line and the summary, all from one report.

mod arguments;
mod message;
mod summarise;

use std::borrow::Cow;
use std::thread::{Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

use deskline_core::{Point, Rect, Summary, Tree, summary, tree_file};
use deskline_journal::{DiffCounts, FilePair, Journal, KnownAs, Record, Shot};

use crate::apps::Identity;
use crate::call::Call;
use crate::display::Picture;
use crate::error::Result;
use crate::facts;
use crate::report::{Drop, Report};
use crate::subject::Subject;
use arguments::{arguments, tells_no_secret};
use message::{message, outcome};
use summarise::summarise;

/// Everything the model sees of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The summary.
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
    // The answer may contain the typed text, as the element's value.
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
    let picture = report.pictures.after.take();
    let at = report.step.done.at;
    let clicked = clicked(report);
    let shot = picture.as_ref().and_then(|picture| {
        let picture = picture.as_ref().ok()?;
        Some(Shot {
            width: picture.width,
            height: picture.height,
            rgb: &picture.rgb,
            origin: picture.origin,
            scale: picture.scale,
            crosshair: at.and_then(|at| pixel(picture, at)),
            clicked: clicked.and_then(|clicked| pixels(picture, clicked)),
        })
    });
    // Encoding a picture takes as long as rendering and writing the tree, so both run at once.
    let (pictured, text) = std::thread::scope(|scope| {
        let write = |shot| move || entry.write_picture(&shot);
        let pictured = shot.map(|shot| Builder::new().spawn_scoped(scope, write(shot)));
        let text = tree_text(call, report, error).map(|text| (entry.write_text(&text), text.len()));
        (
            pictured.map(|thread| thread.map(ScopedJoinHandle::join)),
            text,
        )
    });
    match text {
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
    let failed = match pictured {
        Some(Ok(Ok(Ok(())))) => {
            let path = entry.picture_path().display().to_string();
            record.files.picture = Some(path.clone());
            summary.screenshot = Some(path);
            None
        }
        Some(Ok(Ok(Err(e)))) => Some(e.to_string()),
        Some(Ok(Err(_))) => Some("encoding it failed".to_owned()),
        Some(Err(e)) => Some(e.to_string()),
        None => None,
    };
    if let Some(why) = failed {
        summary
            .notes
            .push(format!("the screenshot was not written: {why}"));
    }
    if let (Some(Err(why)), None) = (picture, error) {
        summary.notes.push(format!("no screenshot: {why}"));
    }
}

/// The pixel of a picture that shows this point of the screen.
fn pixel(picture: &Picture, at: Point) -> Option<(u32, u32)> {
    let scaled = |v: i32| u32::try_from((f64::from(v) * picture.scale).round() as i64).ok();
    Some((
        scaled(at.x - picture.origin.x)?,
        scaled(at.y - picture.origin.y)?,
    ))
}

/// The pixels of a picture that show this part of the screen.
fn pixels(picture: &Picture, part: Rect) -> Option<Rect> {
    let pixel = |v: i32| (f64::from(v) * picture.scale).round() as i32;
    let (x, y) = (
        part.x.checked_sub(picture.origin.x)?,
        part.y.checked_sub(picture.origin.y)?,
    );
    Rect::new(pixel(x), pixel(y), pixel(part.w), pixel(part.h))
}

/// The bounds on the screen of the clicked element.
fn clicked(report: &Report) -> Option<Rect> {
    let acted_on = report.step.acted_on.as_ref()?;
    let now = report.readings.after.as_ref();
    let now = now
        .and_then(|after| Some(&after.elements[acted_on.find(after, report.readings.current())?]));
    let now = now.filter(|e| e.visible).and_then(|e| e.extents);
    now.or(acted_on.was.extents)
}

/// The tree that the file lists. It has no elements if the app is gone.
fn listed(report: &Report) -> Option<Cow<'_, Tree>> {
    let tree = report.readings.latest()?;
    let gone = report.app.is_gone();
    let empty = gone.then(|| Cow::Owned(Tree::new(tree.app.clone(), Vec::new())));
    Some(empty.unwrap_or(Cow::Borrowed(tree)))
}

/// The tree file's text. `None` if no tree was read.
fn tree_text(call: &Call, report: &Report, error: Option<&str>) -> Option<String> {
    let only_visible = call.options.only_visible_elements;
    let late = report.late.as_ref();
    let mut text = late.map(|late| late.lines.clone()).unwrap_or_default();
    text += &match report.compared() {
        Some((before, after, diff)) => tree_file::diff_and_tree(before, after, diff, only_visible),
        None => tree_file::full_tree(listed(report)?.as_ref(), only_visible),
    };
    for Drop {
        before,
        after,
        diff,
    } in &report.drops
    {
        text += &tree_file::dropped_on(before, after, diff, only_visible);
    }
    if let Some(tree) = report.taken() {
        text += &tree_file::app_switch(tree, only_visible);
    }
    Some(match error {
        Some(error) => tree_file::error(error) + &text,
        None => text,
    })
}
