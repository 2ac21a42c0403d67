//! Late changes (SPEC §2, §7.1): what an app changed between two links.

use std::collections::HashMap;

use deskline_core::{Attribute, Diff, Element, ElementId, Modified, Tree, summary, tree_file};

use crate::report::Report;

/// Trees are kept of this many apps.
const APPS: usize = 4;

/// A larger tree is not kept: it would take tens of megabytes.
const MOST: usize = 50_000;

/// An element that is late in this many answers in a row changes by itself: a clock.
const RESTLESS: u32 = 3;

/// The trees that the last answers gave to the agent, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Told {
    apps: Vec<App>,
}

#[derive(Debug)]
struct App {
    tree: Tree,
    /// In how many answers in a row each element was late.
    restless: HashMap<ElementId, u32>,
}

/// The late changes of one app.
#[derive(Debug)]
pub(crate) struct Late {
    /// The lines of the tree file, header first.
    pub(crate) lines: String,
    /// What the summary says.
    pub(crate) summary: summary::LateChanges,
    restless: HashMap<ElementId, u32>,
}

/// A new reading beside the last answer about its app.
#[derive(Debug)]
pub(crate) struct Since<'t> {
    app: &'t App,
    diff: Diff,
}

impl Told {
    /// What has changed since the last answer about this app, if there was one.
    pub(crate) fn since(&self, now: &Tree) -> Option<Since<'_>> {
        let app = self.apps.iter().find(|app| app.tree.app == now.app)?;
        let diff = Diff::between(&app.tree, now);
        Some(Since { app, diff })
    }

    /// Keeps the trees of an answer.
    pub(crate) fn remember(&mut self, report: &mut Report) {
        let restless = report.late.take().map(|late| late.restless);
        let tree = report.after.take().or_else(|| report.before.take());
        if let Some(tree) = tree {
            self.put(tree, restless.unwrap_or_default());
        }
        if let Some(tree) = report.handoff.take().and_then(|taken| taken.tree) {
            self.put(tree, HashMap::new());
        }
    }

    fn put(&mut self, tree: Tree, restless: HashMap<ElementId, u32>) {
        self.apps.retain(|app| app.tree.app.pid != tree.app.pid);
        if tree.elements.len() <= MOST {
            self.apps.push(App { tree, restless });
        }
        let old = self.apps.len().saturating_sub(APPS);
        self.apps.drain(..old);
    }
}

impl Since<'_> {
    /// Elements that the app has re-created as they were: their old ids, and new.
    pub(crate) fn renamed(&self, now: &Tree) -> Vec<(ElementId, ElementId)> {
        self.diff.renamed(&self.app.tree, now)
    }

    /// What of it the agent is told. `None` if that is nothing.
    pub(crate) fn late(self, now: &Tree) -> Option<Late> {
        let Self { app, mut diff } = self;
        let told = &app.tree;
        let (is, was) = (&now.elements, &told.elements);
        // An element that has come into view counts as added: it may have been read before its layout.
        let says =
            |e: &Element| e.role.is_interactive() || !e.title.is_blank() || !e.value.is_blank();
        let appeared = diff.appeared(told, now);
        diff.added.retain(|&i| is[i].visible);
        diff.added
            .extend(appeared.into_iter().filter(|&i| says(&is[i])));
        diff.added.sort_unstable();
        diff.removed.retain(|&i| was[i].visible);
        // The restore moves the focus after the answer.
        let focus_alone = |m: &Modified| {
            let mut changes = m.changes.iter();
            changes.all(|change| change.attribute == Attribute::Focused)
        };
        diff.modified.retain(|m| {
            (is[m.after].visible || was[m.before].visible)
                && !focus_alone(m)
                && !is[m.after].role.is_progress()
        });
        let changed = diff.changed_ids(told, now);
        // A reused pid, or another document in all windows.
        if changed.len() >= is.len() + was.len() {
            return None;
        }
        let count = |id: &ElementId| app.restless.get(id).copied().unwrap_or(0) + 1;
        let restless: HashMap<ElementId, u32> = changed
            .into_iter()
            .map(|id| (id.clone(), count(id)))
            .collect();
        let rests = |element: &Element| restless.get(&element.id).is_none_or(|n| *n < RESTLESS);
        diff.added.retain(|&i| rests(&is[i]));
        diff.removed.retain(|&i| rests(&was[i]));
        diff.modified.retain(|m| rests(&is[m.after]));
        Some(Late {
            lines: tree_file::late(told, now, &diff),
            summary: summary::late_changes(told, now, &diff),
            restless,
        })
    }
}
