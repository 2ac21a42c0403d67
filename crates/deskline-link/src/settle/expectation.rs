//! Waits for what a call expects of its steps.

use deskline_core::{Diff, Element, States, Texts, Tree, escape, fold};

use crate::act::wait_for;
use crate::call::Expect;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, NoEffect, Result};
use crate::link::Link;
use crate::picture::texts::Spots;
use crate::reader::WHOLE;
use deskline_input::clock::Instant;

impl Link<'_> {
    /// Waits until what the call expects of the current step shows, or no longer shows.
    ///
    /// # Errors
    /// The expectation is not met within its time.
    pub(crate) fn await_expected(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let Some(expected) = self.call.expected(self.report.ended_runs.len()) else {
            return Ok(());
        };
        let pid = self.subject.required()?;
        let typed = self.action.keys().0.map(fold);
        let start = Instant::now();
        desk.ungrab_in_time();
        let mut own = self.report.readings.after.take();
        let mut silent = false;
        loop {
            let mut trees: Vec<Tree> = own.take().into_iter().collect();
            if trees.is_empty() {
                match desk.read(pid, WHOLE) {
                    Ok(tree) => trees.push(tree),
                    Err(
                        Error::NoProcess(_) | Error::NoWindow { .. } | Error::NotAnswering { .. },
                    ) => {}
                    Err(e) => return Err(e),
                }
            }
            let mut others = wait_for::helpers(&mut **desk, pid);
            others.extend(self.other_in_front(desk)?.map(|(_, pid)| pid));
            for other in others {
                trees.extend(self.read(&mut **desk, other).ok());
            }
            let shows = |tree: &Tree| find(tree, &expected.text, typed.as_deref()).is_some();
            let over = start.elapsed() >= expected.timeout;
            let known: Vec<usize> = trees.iter().map(|tree| tree.elements.len()).collect();
            if (silent || over || expected.absent) && !trees.iter().any(shows) {
                for tree in &mut trees {
                    self.reader.add_texts(&mut **desk, tree, Spots::All);
                }
            }
            let met = trees.iter().any(shows) != expected.absent;
            let nearest = trees.first().filter(|_| over && !met);
            let instead = nearest.map(|tree| {
                let before = self.report.readings.current();
                let new = before.map(|before| new_texts(before, tree));
                let nearest = tree.nearest_texts(&expected.text, None);
                (new.unwrap_or_default(), nearest)
            });
            // Texts from pictures are left out here: the diff adds those that are new.
            for (tree, known) in trees.iter_mut().zip(known) {
                tree.elements.truncate(known);
            }
            self.report.readings.after = trees.into_iter().find(|tree| tree.app.pid == pid);
            if met {
                self.report.step.results.met = Some(start.elapsed());
                return Ok(());
            }
            if over {
                return Err(unmet(expected, &instead.unwrap_or_default()).into());
            }
            self.cancel.check()?;
            desk.ungrab_in_time();
            let wait = wait_for::STEP.min(expected.timeout);
            silent = desk.wait_for_change(wait)?.is_none();
        }
    }
}

/// The first visible element with this text. A field that the text was just typed into does not
/// count.
fn find(tree: &Tree, text: &str, typed: Option<&str>) -> Option<usize> {
    let wanted = fold(text);
    let has = |text: &deskline_core::Text| fold(&text.shown).contains(&*wanted);
    let echoes = |e: &Element| {
        e.states.contains(States::EDITABLE) && typed.is_some_and(|typed| typed.contains(&*wanted))
    };
    tree.elements.iter().enumerate().position(|(index, e)| {
        e.visible
            && (has(&e.title) || has(&e.value) || has(&e.description))
            && !echoes(e)
            && tree.is_seen(index)
    })
}

/// Up to three visible texts that the step has added or changed.
fn new_texts(before: &Tree, now: &Tree) -> Vec<String> {
    let diff = Diff::between(before, now);
    let changed = diff.modified.iter().filter(|m| !m.is_focus_alone());
    let changed = diff.added.iter().copied().chain(changed.map(|m| m.after));
    let texts = Texts::new(now);
    let shown = changed.filter(|at| now.is_seen(*at));
    let shown = shown.filter_map(|at| Some(texts.text(now, at)?.shown.trim().to_owned()));
    let mut shown: Vec<String> = shown.collect();
    shown.dedup();
    shown.truncate(3);
    shown
        .iter()
        .map(|text| format!("\"{}\"", escape::short(text, 50)))
        .collect()
}

fn unmet(expected: &Expect, (new, nearest): &(Vec<String>, Vec<String>)) -> NoEffect {
    let text = escape::short(&expected.text, 60);
    let ms = expected.timeout.as_millis();
    let list = |what: &str, texts: &[String]| match texts {
        [] => String::new(),
        texts => format!(". {what}: {}", texts.join(", ")),
    };
    NoEffect::Unexpected(if expected.absent {
        format!("'{text}' still shows after {ms} ms")
    } else if new.is_empty() && nearest.is_empty() {
        format!("'{text}' does not show after {ms} ms, and no similar text shows")
    } else {
        let (new, nearest) = (list("New", new), list("Nearest", nearest));
        format!("'{text}' does not show after {ms} ms{new}{nearest}")
    })
}
