//! The context that all steps of a link share. Each phase adds its methods: [`crate::resolve`],
//! [`crate::act`], [`crate::settle`], [`crate::settle::handoff`]. [`crate::link`] has their order.

use crate::call::Call;
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::reader::Reader;
use crate::resolve::late_changes::LastTrees;
use crate::resolve::windows::Windows;
use crate::subject::Subject;
use deskline_input::Cancel;

/// The result of a `wait_for`.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// For the summary.
    pub(crate) sentence: String,
    /// The helper of the app that has it, if not the app itself.
    pub(crate) helper: Option<u32>,
}

/// The context that all steps of a link share.
pub(crate) struct Steps<'s> {
    pub(crate) policy: &'s Policy,
    pub(crate) call: &'s Call,
    pub(crate) cancel: &'s Cancel,
    pub(crate) subject: &'s Subject,
    pub(crate) reader: Reader<'s>,
    pub(crate) last_trees: &'s LastTrees,
    /// The windows that the call insists on.
    pub(crate) windows: Windows,
    /// The awaited element, if it was found before the link began.
    pub(crate) found: Option<Found>,
}

impl Steps<'_> {
    /// Listens to the app from here on, so that a second traversal knows the changes since the
    /// first.
    ///
    /// # Errors
    ///
    /// The app does not answer, and the call does not wait.
    pub(crate) fn listen(&self, desktop: &mut dyn Desktop) -> Result<()> {
        match self.subject.current().map(|pid| desktop.listen(pid)) {
            Some(Err(e @ Error::NotAnswering { .. })) if !self.call.action.waits() => {
                return Err(e);
            }
            // Without events the settle phase re-reads instead: slower, not wrong.
            Some(Err(e)) => tracing::debug!("no events: {e}"),
            None | Some(Ok(())) => {}
        }
        Ok(())
    }
}
