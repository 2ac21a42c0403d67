//! The tools. Each is a small record beside related ones. `tools/list` and dispatch both use the
//! records, so they cannot disagree.

mod arg;
mod chain;
mod compat;
mod files;
#[cfg(test)]
mod fuzz_tests;
mod keyboard;
mod look;
mod pointer;
mod quiet;
mod record;
#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use deskline_core::nearest;
use deskline_link::{Call, Expect};
use serde_json::{Map, Value};

use crate::args::{Args, Wrong};
use arg::{Arg, EXPECT, OPTIONS, TIMEOUT, schema};
pub(crate) use compat::from_macos_use;
pub(crate) use record::{Effect, Handler, ToolRecord};

/// The prefix of the tools' names with `--compat macos-use`. Calls may always use it.
pub(crate) const COMPAT_PREFIX: &str = "macos-use_";

/// All tools, in the order of `tools/list`.
#[rustfmt::skip]
pub(crate) static TOOLS: [&ToolRecord; 15] = [
    &look::OPEN, &pointer::CLICK, &keyboard::TYPE, &keyboard::PRESS_KEY_TOOL, &pointer::SCROLL,
    &quiet::SET_VALUE, &quiet::PRESS_AX, &quiet::SET_SELECTED, &look::REFRESH,
    &look::LIST_APPLICATIONS, &files::SEARCH_TREE, &files::VIEW_SCREENSHOT, &look::WAIT_FOR,
    &pointer::DRAG, &chain::CHAIN,
];

/// How long to wait for what a call expects.
const EXPECTED: Duration = Duration::from_secs(3);

impl ToolRecord {
    /// Whether a read-only server offers this tool.
    pub(crate) fn reads_only(&self) -> bool {
        matches!(self.effect, Effect::ReadFile | Effect::Look)
    }

    /// The entry in `tools/list`, with `prefix` before the name.
    pub(crate) fn entry(&self, prefix: &str) -> rmcp::model::Tool {
        let (name, schema) = (
            format!("{prefix}{}", self.name),
            Arc::new(schema(self.args)),
        );
        let tool = rmcp::model::Tool::new(name, self.about, schema);
        tool.with_annotations(self.effect.annotations())
    }

    /// What the call expects, if the tool takes `expect`.
    fn expectation(&self, args: Args<'_>) -> Result<Option<Expect>, Wrong> {
        if self.args.iter().all(|arg| arg.name != EXPECT.name) {
            return Ok(None);
        }
        let Some(text) = args.filled(EXPECT.name, "the text that must show afterwards")? else {
            if args.has(TIMEOUT.name) {
                return Err("timeout limits the wait for expect. Pass expect too".into());
            }
            return Ok(None);
        };
        let (text, absent) = match text.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if text.trim().is_empty() {
            return Err("expect is \"!\" alone. Pass the text that must not show after it".into());
        }
        Ok(Some(Expect {
            text: text.to_owned(),
            absent,
            timeout: args.seconds(TIMEOUT.name, 30, EXPECTED)?,
        }))
    }

    /// The names of the tool's arguments.
    pub(crate) fn takes(&self) -> impl Iterator<Item = &'static str> {
        let options: &[Arg] = match self.handler {
            Handler::Link(..) | Handler::Chain => &OPTIONS,
            _ => &[],
        };
        self.args.iter().chain(options).map(|arg| arg.name)
    }

    /// Refuses unknown arguments, and a call that lacks a required one.
    pub(crate) fn check(&self, args: Args<'_>) -> Result<(), Wrong> {
        args.only(self.name, &self.takes().collect::<Vec<_>>())?;
        let required = || self.args.iter().filter(|arg| arg.required);
        match required().find(|arg| !args.has(arg.name)) {
            None => Ok(()),
            Some(Arg { name: "pid", .. }) => Err("pid is missing. Every answer has one. \
                list_applications has those of the running apps, and open_application_and_traverse \
                starts an app"
                .into()),
            Some(arg) => {
                let all: Vec<&str> = required().map(|arg| arg.name).collect();
                let (lacks, tool, all) = (arg.name, self.name, all.join(", "));
                Err(format!("{lacks} is missing. {tool} needs {all}"))
            }
        }
    }
}

/// Makes the link of a call, for a tool that runs a link.
pub(crate) fn call(record: &ToolRecord, arguments: &Map<String, Value>) -> Result<Call, Wrong> {
    let is_chain = matches!(record.handler, Handler::Chain);
    let arguments = if is_chain {
        chain::unpacked(arguments)?
    } else {
        Cow::Borrowed(arguments)
    };
    let args = Args(&arguments);
    record.check(args)?;
    let pid = args.whole("pid", 1, i32::MAX)?.map(i32::unsigned_abs);
    let (window, options) = (args.toplevel("window")?, args.options()?);
    let chain::Steps {
        mut actions,
        repeats,
        expects,
    } = match record.handler {
        Handler::Link(read) => chain::Steps {
            actions: vec![read(args)?],
            repeats: vec![],
            expects: vec![record.expectation(args)?],
        },
        Handler::Chain => chain::steps(&arguments)?,
        _ => return Err(format!("{} runs no link", record.name)),
    };
    let then = actions.split_off(1);
    let action = actions.pop().ok_or("steps is empty")?;
    Ok(Call {
        is_chain,
        pid,
        window,
        action,
        then,
        repeats,
        expects,
        options,
        approved: None,
        arguments: arguments.into_owned(),
    })
}

/// Whether the tool of this name acts in an app.
pub(crate) fn acts(name: &str) -> bool {
    find(name).is_ok_and(|record| !record.reads_only())
}

/// The tool of this name, with or without the compatibility prefix; or an error that names the most
/// similar tool.
pub(crate) fn find(name: &str) -> Result<&'static ToolRecord, String> {
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
