//! Late changes: what an app changed between two links.

use std::collections::HashMap;

use deskline_core::{Diff, Element, ElementId, Tree, listing, tree_file};

use crate::ocr::is_from_picture;
use crate::settle::changed::Control;

/// The number of apps whose trees are kept.
const APPS: usize = 4;

/// A tree of more elements than this is not kept: it would take tens of megabytes.
const MOST: usize = 50_000;

/// An element that has late changes in this many answers in a row changes by itself, like a clock.
const RESTLESS: u32 = 3;

/// The trees of the last answers, newest last.
#[derive(Debug, Default)]
pub(crate) struct LastTrees {
    apps: Vec<App>,
    /// The control that the last link has changed, if the next link follows at once.
    pub(crate) changed: Option<Control>,
}

#[derive(Debug)]
struct App {
    tree: Tree,
    /// In how many consecutive answers each element had late changes.
    restless: HashMap<ElementId, u32>,
}

#[derive(Debug)]
pub(crate) struct LateChanges {
    /// The lines for the tree file, header first.
    pub(crate) lines: String,
    /// The part for the summary.
    pub(crate) summary: listing::LateChanges,
    restless: HashMap<ElementId, u32>,
}

/// The difference between a new reading and the last answer about the same app.
#[derive(Debug)]
pub(crate) struct Since<'t> {
    app: &'t App,
    diff: Diff,
}

impl LastTrees {
    /// The changes since the last answer about this app. `None` if no such answer is kept.
    pub(crate) fn since(&self, now: &Tree) -> Option<Since<'_>> {
        let app = self.apps.iter().find(|app| app.tree.app == now.app)?;
        let diff = Diff::between(&app.tree, now);
        Some(Since { app, diff })
    }

    /// The tree of the last answer about this app.
    pub(crate) fn last(&self, app: &deskline_core::App) -> Option<&Tree> {
        let found = self.apps.iter().find(|known| known.tree.app == *app);
        found.map(|known| &known.tree)
    }

    /// Keeps an answer's trees for later comparison: first the target's tree, with its late
    /// changes.
    pub(crate) fn remember(
        &mut self,
        late: Option<LateChanges>,
        trees: impl IntoIterator<Item = Tree>,
    ) {
        let mut restless = late.map(|late| late.restless).unwrap_or_default();
        for tree in trees {
            self.put(tree, std::mem::take(&mut restless));
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
    /// The old and new ids of elements that the app has re-created unchanged. Empty if no toplevel
    /// is the same, because the pid then belongs to another process.
    pub(crate) fn renamed(&self, now: &Tree) -> Vec<(ElementId, ElementId)> {
        let last = &self.app.tree;
        let toplevels = |tree: &Tree| -> Vec<ElementId> {
            let tops = tree.elements.iter().filter(|e| e.parent.is_none());
            tops.map(|e| e.id.clone()).collect()
        };
        let before = toplevels(last);
        if toplevels(now).iter().any(|id| before.contains(id)) {
            self.diff.renamed(last, now)
        } else {
            Vec::new()
        }
    }

    /// The changes to report to the agent. `None` if the two trees have nothing in common.
    pub(crate) fn late_changes(self, now: &Tree) -> Option<LateChanges> {
        let Self { app, mut diff } = self;
        let last = &app.tree;
        let (is, was) = (&now.elements, &last.elements);
        // An element may have been read before it was laid out. So one that has come into view
        // counts as added.
        let says =
            |e: &Element| e.role.is_interactive() || !e.title.is_blank() || !e.value.is_blank();
        let appeared = diff.appeared(last, now);
        diff.added.retain(|&i| is[i].visible);
        diff.added
            .extend(appeared.into_iter().filter(|&i| says(&is[i])));
        // Tool tips do not count: the pointer goes back after the answer, and may open one where it
        // rests.
        diff.added.retain(|&i| !now.is_in_tool_tip(i));
        // Whether the tree has the texts of a blind spot depends on whether a call has searched
        // there. So they are no changes.
        let told = |e: &Element| now.is_picture_only() || !is_from_picture(&e.id);
        diff.added.retain(|&i| told(&is[i]));
        diff.added.sort_unstable();
        diff.removed
            .retain(|&i| was[i].visible && told(&was[i]) && !last.is_in_tool_tip(i));
        // Focus changes are ignored: the restore moves the focus after the answer.
        diff.modified.retain(|m| {
            (is[m.after].visible || was[m.before].visible)
                && !m.is_focus_alone()
                && !is[m.after].role.is_progress()
                && !now.is_in_tool_tip(m.after)
        });
        let changed = diff.changed_ids(last, now);
        // Nothing in common: a reused pid, or another document in every window.
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
        Some(LateChanges {
            lines: tree_file::late_changes(last, now, &diff),
            summary: listing::late_changes(last, now, &diff),
            restless,
        })
    }
}
