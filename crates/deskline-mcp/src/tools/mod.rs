//! The tools: each a small record next to its siblings. `tools/list` and the dispatch of a call are
//! both made from the records, so that they cannot disagree.

mod arg;
mod files;
mod keyboard;
mod look;
mod pointer;
mod quiet;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use deskline_core::nearest;
use deskline_link::{Action, Call, Tool};
use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value};

use crate::args::{Args, Wrong};
use arg::{Arg, OPTIONS, schema};

/// The prefix under which `--compat macos-use` lists the tools; always accepted in a call.
pub(crate) const COMPAT_PREFIX: &str = "macos-use_";

/// Reads the arguments that are the tool's own.
type Read = fn(Args<'_>) -> Result<Action, Wrong>;

/// What carries a tool out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A link.
    Link(Tool, Read),
    /// The desktop's list of apps.
    Applications,
    /// A search in a tree file.
    Search,
    /// A picture out of the journal.
    Screenshot,
}

/// What a tool does to the person's desktop, for its annotations.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect {
    /// Reads the journal.
    ReadFile,
    /// Reads the screen.
    Look,
    /// Sets or selects something, over what was there. Twice does no more than once.
    Set,
    /// May do anything that the person could.
    Act,
}

impl Effect {
    /// All four hints: clients take a missing one for the worst.
    fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent, open_world) = match self {
            Self::ReadFile => (true, false, true, false),
            Self::Look => (true, false, true, true),
            Self::Set => (false, true, true, true),
            // A wheel that turns over a slider or a combo box sets it.
            Self::Act => (false, true, false, true),
        };
        ToolAnnotations::new()
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world)
    }
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its name, without a prefix.
    pub(crate) name: &'static str,
    about: &'static str,
    args: &'static [Arg],
    effect: Effect,
    /// What carries it out.
    pub(crate) kind: Kind,
}

/// Every tool, in the order of the list.
pub(crate) static TOOLS: [&Record; 14] = [
    &look::OPEN,
    &pointer::CLICK,
    &keyboard::TYPE,
    &keyboard::PRESS_KEY_TOOL,
    &pointer::SCROLL,
    &quiet::SET_VALUE,
    &quiet::PRESS_AX,
    &quiet::SET_SELECTED,
    &look::REFRESH,
    &look::LIST_APPLICATIONS,
    &files::SEARCH_TREE,
    &files::VIEW_SCREENSHOT,
    &look::WAIT_FOR,
    &pointer::DRAG,
];

impl Record {
    /// Whether it is left in a read-only server.
    pub(crate) fn reads_only(&self) -> bool {
        match self.kind {
            Kind::Link(tool, _) => tool == Tool::Refresh,
            Kind::Applications | Kind::Search | Kind::Screenshot => true,
        }
    }

    /// Its entry in `tools/list`, under a prefix.
    pub(crate) fn entry(&self, prefix: &str) -> rmcp::model::Tool {
        rmcp::model::Tool::new(
            format!("{prefix}{}", self.name),
            self.about,
            Arc::new(schema(self.args)),
        )
        .with_annotations(self.effect.annotations())
    }

    /// Refuses arguments that it does not take, and a call without those that it must have.
    pub(crate) fn check(&self, args: Args<'_>) -> Result<(), Wrong> {
        let options: &[Arg] = match self.kind {
            Kind::Link(..) => &OPTIONS,
            _ => &[],
        };
        let valid: Vec<&str> = self
            .args
            .iter()
            .chain(options)
            .map(|arg| arg.name)
            .collect();
        args.only(self.name, &valid)?;
        match self
            .args
            .iter()
            .find(|arg| arg.required && !args.has(arg.name))
        {
            None => Ok(()),
            Some(Arg { name: "pid", .. }) => Err("pid is missing. Every summary has it; list_applications has those of the running apps, and open_application_and_traverse starts one".into()),
            Some(arg) => {
                let all: Vec<&str> = self
                    .args
                    .iter()
                    .filter(|arg| arg.required)
                    .map(|arg| arg.name)
                    .collect();
                Err(format!("{} is missing. {} needs {}", arg.name, self.name, all.join(", ")))
            }
        }
    }
}

/// The link that a call asks for, of a tool that makes one.
pub(crate) fn call(
    record: &Record,
    tool: Tool,
    read: Read,
    arguments: &Map<String, Value>,
) -> Result<Call, Wrong> {
    let args = Args(arguments);
    record.check(args)?;
    let pid = args.whole("pid", 1, i32::MAX)?.map(i32::unsigned_abs);
    Ok(Call {
        tool,
        pid,
        action: read(args)?,
        options: args.options()?,
        arguments: arguments.clone(),
    })
}

/// The tool of this name, with or without the compatibility prefix, or what to say instead.
pub(crate) fn find(name: &str) -> Result<&'static Record, String> {
    let bare = name.strip_prefix(COMPAT_PREFIX).unwrap_or(name);
    TOOLS
        .iter()
        .find(|record| record.name == bare)
        .copied()
        .ok_or_else(|| {
            let near = nearest(bare, TOOLS.iter().map(|record| record.name)).unwrap_or_default();
            let name = crate::args::shown(&name.into());
            format!("unknown tool {name}. Did you mean \"{near}\"?")
        })
}
