//! Finds the program that an agent's identifier means, and starts it.
//!
//! Desktop files are parsed here. A launcher needs only one group of them, its escapes and its
//! field codes. That takes less code than converting to and from the types of the
//! `freedesktop-desktop-entry` crate, which is MPL-2.0 besides.

mod command;
mod entry;
mod identity;
mod installed;
mod interpreters;
mod launch;
mod mime;
mod origin;
mod running;
mod trust;

use std::path::{Path, PathBuf};

use deskline_contract::{Error, OpenError, Result};

use crate::session::Session;
use command::Document;
pub(crate) use command::in_path;
pub use entry::Entry;
pub(crate) use identity::Identities;
use installed::Installed;
pub use launch::{Launched, launch};
pub use running::Running;

/// The program to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// The app's name, for messages and for matching windows.
    pub name: String,
    /// The app's desktop file, if it has one.
    pub entry: Option<Entry>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The document or URL to open.
    document: Option<Document>,
    /// Whether the app's desktop file is in a directory for installed apps. A file elsewhere may
    /// claim any name.
    installed: bool,
    /// Whether [`Self::judge`] has judged the launch, because not all apps are allowed. The app's
    /// `PATH` then has only folders in which nobody but root can put programs.
    is_judged: bool,
}

/// Finds the app that `identifier` means. The first rule that matches wins:
///
/// 1. a `.desktop` file, a program or a document by its absolute path, or a document or web page by
///    its URL: documents open in the default app of their type;
/// 2. a desktop-file id, `org.gnome.Calculator` or `org.gnome.Calculator.desktop`;
/// 3. an app's name in any language, ignoring case;
/// 4. a command in `PATH`, alone or as the first word of a command line: words are quoted as in a
///    shell, but no shell runs;
/// 5. an app's name or id, then the absolute path or URL to open with it: `Text Editor
///    /home/ann/notes.txt`;
/// 6. an app's generic name ("Text Editor"), then the start of an app's name, then any part of an
///    app's name or id.
///
/// If several apps match a rule, those that menus show are preferred. If several remain, the error
/// lists them.
pub fn find(identifier: &str, session: &Session) -> Result<Launch> {
    let identifier = identifier.trim();
    if identifier.is_empty() {
        return Err(OpenError::Empty("an app's name, desktop-file id, command or path").into());
    }
    let installed = Installed::read(session);
    if let Some(launch) = by_path(identifier, &installed, session)? {
        return Ok(launch);
    }
    let named = installed.one("are named", identifier, |e| e.is_named(identifier))?;
    let entry = installed.by_id(identifier).or(named);
    let entry = entry.or_else(|| installed.by_command(identifier));
    if let Some(entry) = entry {
        return Launch::of_entry(entry, None, session);
    }
    if let Some(launch) = by_command(identifier, session)? {
        return Ok(launch);
    }
    if let Some(launch) = with_document(identifier, &installed, session)? {
        return Ok(launch);
    }
    let folded = identifier.to_lowercase();
    let generic = |e: &Entry| e.generic_names.iter().any(|n| n.to_lowercase() == folded);
    let starts = |name: &String| name.to_lowercase().starts_with(&folded);
    let start = |e: &Entry| e.names.iter().any(starts);
    let part = |e: &Entry| {
        let mut texts = e.names.iter().chain(&e.generic_names).chain([&e.id]);
        texts.any(|n| n.to_lowercase().contains(&folded))
    };
    let ways: [(&str, Fits<'_>); 3] = [
        ("are", &generic),
        ("start with", &start),
        ("contain", &part),
    ];
    for (how, fits) in ways {
        if let Some(entry) = installed.one(how, identifier, fits)? {
            return Launch::of_entry(entry, None, session);
        }
    }
    Err(Error::from(OpenError::NotFound {
        identifier: identifier.to_owned(),
        nearest: installed.nearest(identifier),
    }))
}

/// Tells whether an identifier means the app of this desktop file.
type Fits<'f> = &'f dyn Fn(&Entry) -> bool;

/// Whether `text` is a URL scheme (RFC 3986, section 3.1). A text with spaces is none: it may be a
/// command line with a URL among its arguments.
fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The path that `text` names: an absolute path, a path in the home (`~/`) or a `file://` URL.
fn path_of(text: &str, session: &Session) -> Option<PathBuf> {
    if let Some(rest) = text.strip_prefix("file://") {
        let path = command::unescape_uri(rest.trim_start_matches("localhost"));
        return Some(Path::new("/").join(path));
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return Some(session.home().unwrap_or(Path::new("/")).join(rest));
    }
    text.starts_with('/').then(|| PathBuf::from(text))
}

/// Rule 1 of [`find`]. `None` if `identifier` is neither a path nor a URL.
fn by_path(identifier: &str, installed: &Installed, session: &Session) -> Result<Option<Launch>> {
    let Some(path) = path_of(identifier, session) else {
        if identifier.starts_with("./") || identifier.starts_with("../") {
            return Err(OpenError::RelativePath(identifier.to_owned()).into());
        }
        let scheme = identifier.split_once("://").map(|(scheme, _)| scheme);
        let Some(scheme) = scheme.filter(|scheme| is_scheme(scheme)) else {
            return Ok(None);
        };
        let kind = format!("x-scheme-handler/{}", scheme.to_lowercase());
        let Some(entry) = mime::default_app(&[kind], installed, session) else {
            return Err(OpenError::NoAppForScheme(scheme.to_owned()).into());
        };
        let document = Document::Uri(identifier.to_owned());
        return Launch::of_entry(entry, Some(document), session).map(Some);
    };
    if !path.exists() {
        // What is no path may be a command line with arguments.
        if let Some(launch) = by_command(identifier, session)? {
            return Ok(Some(launch));
        }
        return Err(OpenError::NoSuchPath(path).into());
    }
    if command::is_desktop_file(&path) && path.is_file() {
        let entry = Entry::read(&path, &installed::id_of(&path), session);
        let entry = entry.ok_or_else(|| OpenError::NotAnApp(path.clone()))?;
        return Ok(Some(Launch {
            installed: installed.has(&path),
            ..Launch::of_entry(&entry, None, session)?
        }));
    }
    if command::is_program(&path) {
        let program = path.to_string_lossy().into_owned();
        if let Some(entry) = installed.by_command(&program) {
            return Launch::of_entry(entry, None, session).map(Some);
        }
        return Ok(Some(Launch::of_command(vec![program])));
    }
    let kinds = mime::types_of(&path, session);
    let Some(entry) = mime::default_app(&kinds, installed, session) else {
        let kind = kinds.first().map_or("unknown", String::as_str);
        return Err(OpenError::no_app_for_file(&path, kind).into());
    };
    Launch::of_entry(entry, Some(Document::Path(path)), session).map(Some)
}

/// Rule 5 of [`find`]. `None` if no app has the name in front of the first path or URL.
fn with_document(
    identifier: &str,
    installed: &Installed,
    session: &Session,
) -> Result<Option<Launch>> {
    let is_place = |text: &str| {
        let scheme = text.split_once("://").is_some_and(|(s, _)| is_scheme(s));
        scheme || text.starts_with('/') || text.starts_with("~/")
    };
    let spaces = identifier.match_indices(' ').map(|(at, _)| at);
    let mut split = spaces.map(|at| (identifier[..at].trim(), identifier[at..].trim()));
    let Some((name, place)) = split.find(|(_, rest)| is_place(rest)) else {
        return Ok(None);
    };
    let entry = match installed.by_id(name) {
        Some(entry) => Some(entry),
        None => installed.one("are named", name, |e| e.is_named(name))?,
    };
    let Some(entry) = entry else { return Ok(None) };
    let Some(path) = path_of(place, session) else {
        let document = Document::Uri(place.to_owned());
        return Launch::of_entry(entry, Some(document), session).map(Some);
    };
    if !path.exists() {
        return Err(OpenError::NoSuchPath(path).into());
    }
    Launch::of_entry(entry, Some(Document::Path(path)), session).map(Some)
}

/// Rule 4 of [`find`]. `None` if the first word is not a command.
fn by_command(line: &str, session: &Session) -> Result<Option<Launch>> {
    let is_command = |word: &str| command::in_path(word, session).is_some();
    let Some(argv) = command::split(line) else {
        if line.split(' ').next().is_some_and(is_command) {
            return Err(OpenError::OpenQuote(line.to_owned()).into());
        }
        return Ok(None);
    };
    if !argv.first().is_some_and(|first| is_command(first)) {
        return Ok(None);
    }
    Ok(Some(Launch::of_command(argv)))
}

impl Launch {
    fn of_command(argv: Vec<String>) -> Self {
        let name = command::base_name(argv.first().map_or("", String::as_str)).to_owned();
        Self {
            name,
            argv,
            ..Self::default()
        }
    }

    /// Whether this is an installed app with exactly this name or id, ignoring case.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        let name = name.trim();
        let entry = self.entry.as_ref().filter(|_| self.installed);
        entry.is_some_and(|entry| entry.is_named(name) || entry.id.eq_ignore_ascii_case(name))
    }

    /// Whether the launch has a document to open. The command then runs even if there is an
    /// instance already, which opens the document.
    pub(crate) fn opens_document(&self) -> bool {
        self.document.is_some() || (self.entry.is_none() && self.argv.len() > 1)
    }

    fn of_entry(entry: &Entry, document: Option<Document>, session: &Session) -> Result<Self> {
        let argv = entry.command_line(document.as_ref(), session)?;
        Ok(Self {
            name: entry.name.clone(),
            entry: Some(entry.clone()),
            argv,
            document,
            installed: true,
            is_judged: false,
        })
    }
}

#[cfg(test)]
#[path = "apps/tests.rs"]
mod tests;
