//! `wait_for_and_traverse`: waits until an element is present, is absent, or has a state.

use std::time::{Duration, Instant};

use deskline_core::{Tree, escape, summary};

use crate::call::{Awaited, Target};
use crate::cancel::Cancel;
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::resolve;

/// How long to wait for an event before reading anyway. Toolkits omit some events.
const STEP: Duration = Duration::from_millis(100);

/// Reads until the target has `state`. Returns a description of the target for the summary.
///
/// # Errors
/// After `timeout`, with the nearest texts or the element found.
pub(crate) fn wait_for(
    desktop: &mut dyn Desktop,
    target: &Target,
    state: Awaited,
    timeout: Duration,
    cancel: &Cancel,
    mut read: impl FnMut(&mut dyn Desktop) -> Result<Tree>,
) -> Result<String> {
    let start = Instant::now();
    loop {
        cancel.check()?;
        let tree = match read(desktop) {
            Ok(tree) => tree,
            // Its end takes the element with it.
            Err(Error::NoProcess(_) | Error::NoWindow { .. }) if state == Awaited::Absent => {
                let ms = start.elapsed().as_millis();
                return Ok(format!("{} is absent after {ms} ms", wanted(target)));
            }
            // It is busy. One reading is patient already.
            Err(Error::NotAnswering { .. }) if start.elapsed() < timeout => {
                cancel.wait(STEP)?;
                continue;
            }
            Err(e) => return Err(e),
        };
        let found = resolve::resolve(&tree, target, None);
        let index = found.as_ref().ok().and_then(|found| found.index);
        if holds(&tree, index, state) {
            let what = index.map_or_else(|| wanted(target), |i| summary::name_of(&tree, i));
            let ms = start.elapsed().as_millis();
            return Ok(format!("{what} is {} after {ms} ms", word(state)));
        }
        if start.elapsed() >= timeout {
            let what = match (found, state) {
                (Err(e), Awaited::Present | Awaited::Visible | Awaited::State(_)) => e.to_string(),
                (found, _) => found.map_or_else(|_| wanted(target), |found| found.name),
            };
            return Err(Error::Input(format!(
                "waited {:.1} s for {} and it did not come: {what}",
                timeout.as_secs_f64(),
                word(state),
            )));
        }
        let left = timeout.saturating_sub(start.elapsed());
        desktop.wait_for_change(STEP.min(left))?;
        // Events come in bursts. One reading per burst is enough.
        cancel.wait(Duration::from_millis(10).min(left))?;
    }
}

fn holds(tree: &Tree, index: Option<usize>, state: Awaited) -> bool {
    let element = index.and_then(|i| tree.elements.get(i));
    match state {
        Awaited::Present => element.is_some(),
        Awaited::Absent => element.is_none(),
        Awaited::Visible => element.is_some_and(|e| e.visible),
        Awaited::State(states) => element.is_some_and(|e| e.states.contains(states)),
    }
}

fn word(state: Awaited) -> String {
    match state {
        Awaited::Present => "present".into(),
        Awaited::Absent => "absent".into(),
        Awaited::Visible => "visible".into(),
        Awaited::State(states) => {
            let names: Vec<String> = states
                .iter_names()
                .map(|(name, _)| name.to_lowercase())
                .collect();
            names.join(" and ")
        }
    }
}

fn wanted(target: &Target) -> String {
    match target {
        Target::Ref(reference) => format!("#{reference}"),
        Target::Text { text, .. } => format!("'{}'", escape::short(text, 60)),
        Target::Point(p) => format!("({}, {})", p.x, p.y),
    }
}
