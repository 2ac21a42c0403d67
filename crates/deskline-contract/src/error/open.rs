//! Why an app was not opened.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use deskline_core::escape;

use crate::end::WROTE;

/// Why an app was not opened. Names of apps and their standard error are hostile data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The identifier is empty. The text lists what it may be.
    #[error("identifier is empty. Pass {0}")]
    Empty(&'static str),
    /// No app has the name.
    #[error("no app or command '{}'. {nearest}", escape::short(.identifier, 60))]
    NotFound {
        identifier: String,
        /// The nearest names, and the valid forms of an identifier.
        nearest: String,
    },
    /// An error whose words a function below composes.
    #[error("{0}")]
    Worded(String),
    /// Nothing has this path.
    #[error("{} does not exist", .0.display())]
    NoSuchPath(PathBuf),
    /// The path is not absolute.
    #[error("{0} is a relative path. Pass an absolute path")]
    RelativePath(String),
    /// The file describes no app.
    #[error("{} is not a desktop file of an app", .0.display())]
    NotAnApp(PathBuf),
    /// No app opens URLs of this scheme.
    #[error("no app is installed that opens {0} URLs")]
    NoAppForScheme(String),
    /// A quote in the command line is not closed.
    #[error("a quote in the command line {0} is not closed")]
    OpenQuote(String),
    /// The app has no command to start it with.
    #[error("{} has no command to start it with", escape::name(.0, 80))]
    NoCommand(String),
    /// The process ended at once, without output.
    #[error("{} ended at once. Ask the user to start it in a terminal to see why", escape::name(.0, 80))]
    EndedSilently(String),
}

/// The errors that no caller distinguishes by their variant.
impl OpenError {
    /// Several apps match the identifier. `how` says how, such as `are named`. `first` are the
    /// first of these apps, as `name (id)`; `count` is the number of all of them.
    pub fn ambiguous(identifier: &str, how: &str, first: &[String], count: usize) -> Self {
        let (identifier, apps) = (escape::short(identifier, 60), first.join(", "));
        let more = escape::more(count.saturating_sub(first.len()));
        Self::Worded(format!(
            "{count} apps {how} '{identifier}': {apps}{more}. Pass one app's id, which is in parentheses"
        ))
    }

    /// No app opens files of this MIME type.
    pub fn no_app_for_file(path: &Path, kind: &str) -> Self {
        let path = path.display();
        Self::Worded(format!(
            "no installed app opens {path} (type {kind}). Pass an app as the identifier, and open \
             the file in it"
        ))
    }

    /// The app needs a terminal, and none of these is installed.
    pub fn no_terminal(name: &str, terminals: &[&str]) -> Self {
        let (name, all) = (escape::name(name, 80), terminals.join(", "));
        Self::Worded(format!(
            "{name} runs in a terminal, but no terminal of these is installed: {all}"
        ))
    }

    /// The app's command is not installed.
    pub fn command_missing(name: &str, command: &str) -> Self {
        let name = escape::name(name, 80);
        Self::Worded(format!("{name}: the command {command} is not installed"))
    }

    /// The system did not start the app, for this reason.
    pub fn not_started(name: &str, why: impl Display) -> Self {
        Self::Worded(format!("cannot start {}: {why}", escape::name(name, 80)))
    }

    /// The process ended at once. `status` is in the form ` (exit status: 1)`; `written` is what it
    /// wrote to its standard error.
    pub fn ended_at_once(name: &str, status: &str, written: Option<&str>) -> Self {
        let (name, wrote) = (escape::name(name, 80), wrote(written));
        Self::Worded(format!("{name} ended at once{status}. {wrote}"))
    }

    /// The app showed no window of its own within so many seconds. `written` is what it wrote to
    /// its standard error.
    pub fn no_window(name: &str, seconds: u64, written: Option<&str>) -> Self {
        let name = escape::name(name, 80);
        let wrote = written.map(|text| format!(". {}", wrote(Some(text))));
        Self::Worded(format!(
            "{name} was started and showed no window of its own within {seconds} s. It may run \
             under another name: call list_applications{}",
            wrote.unwrap_or_default()
        ))
    }
}

fn wrote(text: Option<&str>) -> String {
    match text {
        Some(text) => format!("It has written: {}", escape::quoted(text, WROTE)),
        None => "It has written nothing to its standard error".to_owned(),
    }
}
