//! Why an app was not opened.

use std::path::PathBuf;

use deskline_core::escape;

use crate::end::WROTE;

/// Why an app was not opened. Names of apps and their standard error are hostile data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The identifier is empty. The text lists what it may be.
    #[error("identifier is empty: give {0}")]
    Empty(&'static str),
    /// No app has the name.
    #[error("no app or command '{}'. {nearest}", escape::short(.identifier, 60))]
    NotFound {
        identifier: String,
        /// The nearest names, and the valid forms of an identifier.
        nearest: String,
    },
    /// Several apps have the name.
    #[error(
        "{count} apps {how} '{}': {}{}. Give one's id, which is in parentheses",
        escape::short(.identifier, 60),
        .apps.join(", "),
        more(*.count, .apps.len())
    )]
    Ambiguous {
        identifier: String,
        /// How they match the name: `are named`.
        how: &'static str,
        /// The first matching apps, as `name (id)`.
        apps: Vec<String>,
        /// How many apps match.
        count: usize,
    },
    /// Nothing has this path.
    #[error("{} does not exist", .0.display())]
    NoSuchPath(PathBuf),
    /// The path is not absolute.
    #[error("{0} is a relative path: give an absolute one")]
    RelativePath(String),
    /// The file describes no app.
    #[error("{} is not a desktop file of an app", .0.display())]
    NotAnApp(PathBuf),
    /// No app opens files of this type.
    #[error(
        "no installed app opens {} (type {kind}). Give an app as the identifier, and open the \
         file in it",
        .path.display()
    )]
    NoAppForFile {
        /// The file.
        path: PathBuf,
        /// Its MIME type.
        kind: String,
    },
    /// No app opens URLs of this scheme.
    #[error("no app is installed that opens {0} URLs")]
    NoAppForScheme(String),
    /// A quote in the command line is not closed.
    #[error("a quote in the command line {0} is not closed")]
    OpenQuote(String),
    /// The app needs a terminal, and none of these is installed.
    #[error(
        "{} runs in a terminal, and none of {} is installed",
        escape::name(.name, 80),
        .terminals.join(", ")
    )]
    NoTerminal {
        name: String,
        /// The terminals that were looked for.
        terminals: Vec<String>,
    },
    /// The app has no command to start it with.
    #[error("{} has no command to start it with", escape::name(.0, 80))]
    NoCommand(String),
    /// The app's command is not installed.
    #[error("{}: the command {command} is not installed", escape::name(.name, 80))]
    CommandMissing { name: String, command: String },
    /// The system did not start the app, for this reason.
    #[error("cannot start {}: {why}", escape::name(.name, 80))]
    NotStarted {
        name: String,
        /// The reason.
        why: String,
    },
    /// The process ended at once, with `status` if it is known.
    #[error("{} ended at once{status}. {}", escape::name(.name, 80), wrote(.written.as_deref()))]
    EndedAtOnce {
        name: String,
        /// ` (exit status: 1)`, or empty.
        status: String,
        /// Its standard error.
        written: Option<String>,
    },
    /// The process ended at once, without output.
    #[error("{} ended at once. Ask the user to start it in a terminal to see why", escape::name(.0, 80))]
    EndedSilently(String),
    /// The app showed no window of its own in time.
    #[error(
        "{} was started and showed no window of its own within {seconds} s. Call \
         list_applications: it may be there under another name{}",
        escape::name(.name, 80),
        .written.as_ref().map_or_else(String::new, |text| format!(". {}", wrote(Some(text))))
    )]
    NoWindow {
        name: String,
        /// The time limit.
        seconds: u64,
        /// Its standard error.
        written: Option<String>,
    },
}

fn more(count: usize, named: usize) -> String {
    match count.saturating_sub(named) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

fn wrote(text: Option<&str>) -> String {
    match text {
        Some(text) => format!("It has written: {}", escape::quoted(text, WROTE)),
        None => "It has written nothing to its standard error".to_owned(),
    }
}
