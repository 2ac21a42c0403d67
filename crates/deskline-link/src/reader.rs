//! Makes trees that an agent may see: reads, checks the policy, assigns refs.

use std::time::Duration;

use deskline_core::{App, ElementId, Tree};
use deskline_journal::RefStore;

use crate::desktop::Desktop;
use crate::error::Result;
use crate::ocr::has_texts;
use crate::picture::texts::{Spots, Texts, blind_windows};
use crate::policy::Policy;
use crate::report::Notes;
use crate::trees::Scope;

/// The time per traversal for reading elements that are not showing.
const BUDGET: Duration = Duration::from_millis(500);
pub(crate) const WHOLE: Scope = Scope::Whole { budget: BUDGET };
/// The whole app. Hidden elements may be reused from the last reading.
pub(crate) const AGAIN: Scope = Scope::Again { budget: BUDGET };

/// Turns a reading into a tree that an agent may see: checks the policy and assigns refs.
pub(crate) struct Reader<'t> {
    pub(crate) id: String,
    pub(crate) refs: &'t mut RefStore,
    pub(crate) policy: &'t Policy,
    pub(crate) texts: &'t mut Texts,
}

impl Reader<'_> {
    /// Reads the whole app.
    pub(crate) fn read(
        &mut self,
        desktop: &mut dyn Desktop,
        pid: u32,
        notes: &mut Notes,
    ) -> Result<Tree> {
        let mut tree = desktop.read(pid, WHOLE)?;
        self.add_texts(desktop, &mut tree, Spots::None);
        self.accept(desktop, &mut tree, notes)?;
        Ok(tree)
    }

    /// Moves the refs of re-created elements: from old ids to new ones.
    pub(crate) fn rename(&mut self, renamed: &[(ElementId, ElementId)]) {
        if !renamed.is_empty()
            && let Err(e) = self.refs.carry_over(&self.id, renamed)
        {
            // Without this the elements get new refs, and the old ones are stale. So the link goes
            // on.
            tracing::warn!("refs were not kept: {e}");
        }
    }

    /// Adds the texts that only the picture shows, if the agent may see the app.
    pub(crate) fn add_texts(
        &mut self,
        desktop: &mut dyn Desktop,
        tree: &mut Tree,
        spots: Spots<'_>,
    ) {
        if has_texts(tree) {
            return;
        }
        let blind = blind_windows(tree, spots);
        let App { name, pid } = &tree.app;
        if !blind.is_empty() && self.policy.permit(desktop, name, *pid).is_ok() {
            self.texts.add(desktop, tree, &blind, spots);
        }
    }

    /// Adds the texts that only the picture shows to a reading that lacks a wanted text. Returns
    /// whether any texts were added.
    pub(crate) fn look_closer(
        &mut self,
        desktop: &mut dyn Desktop,
        tree: &mut Tree,
        spots: Spots<'_>,
        notes: &mut Notes,
    ) -> Result<bool> {
        let known = tree.elements.len();
        self.add_texts(desktop, tree, spots);
        let found = tree.elements.len() > known;
        if found {
            self.accept(desktop, tree, notes)?;
        }
        Ok(found)
    }

    /// Checks that the agent may see this tree, and assigns refs.
    ///
    /// # Errors
    /// The policy blocks the app, or an app whose objects it shows.
    pub(crate) fn accept(
        &mut self,
        desktop: &mut dyn Desktop,
        tree: &mut Tree,
        notes: &mut Notes,
    ) -> Result<()> {
        for pid in std::iter::once(&tree.app.pid).chain(&tree.shows) {
            self.policy.permit(desktop, &tree.app.name, *pid)?;
        }
        if let Err(e) = self.refs.assign(&self.id, tree) {
            notes.add(format!("refs may not outlive this server: {e}"));
        }
        Ok(())
    }
}
