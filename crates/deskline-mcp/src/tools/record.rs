//! The record of a tool: its name, arguments, effect, and how it is carried out.

use deskline_link::Action;
use rmcp::model::ToolAnnotations;

use super::arg::Arg;
use crate::args::{Args, Wrong};

/// Makes an action from the tool's own arguments.
pub(super) type Read = fn(Args<'_>) -> Result<Action, Wrong>;

/// How a tool is carried out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handler {
    /// A link of one step.
    Link(Read),
    /// A link of several steps.
    Chain,
    /// Lists the desktop's apps.
    Applications,
    /// Searches a tree file.
    Search,
    /// Shows a picture of the journal.
    Screenshot,
}

/// A tool's effect on the person's desktop, for its annotations.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect {
    /// Reads the journal.
    ReadFile,
    /// Reads the screen.
    Look,
    /// Sets or selects something. Idempotent; overwrites the earlier value.
    Set,
    /// May do anything that the person can do.
    Act,
}

impl Effect {
    /// Sets all four hints: clients assume the worst for a missing one.
    pub(crate) fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent, open_world) = match self {
            Self::ReadFile => (true, false, true, false),
            Self::Look => (true, false, true, true),
            Self::Set => (false, true, true, true),
            // Even scrolling: turning the wheel over a slider or a combo box changes its value.
            Self::Act => (false, true, false, true),
        };
        ToolAnnotations::new()
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world)
    }
}

#[derive(Debug)]
pub(crate) struct ToolRecord {
    /// The tool's name, without a prefix.
    pub(crate) name: &'static str,
    pub(super) about: &'static str,
    pub(super) args: &'static [Arg],
    pub(super) effect: Effect,
    /// How the tool is carried out.
    pub(crate) handler: Handler,
}
