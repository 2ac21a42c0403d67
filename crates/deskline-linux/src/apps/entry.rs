//! Reads a desktop file. Desktop Entry Specification 1.5.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use deskline_contract::{OpenError, Result};

use super::command::{self, Document};
use crate::session::Session;

/// The maximum size of a desktop file. Those of an office suite, with all languages, have 30 KiB.
const LONGEST: u64 = 1 << 20;

/// Terminal emulators that accept a command after `-e`, best first.
const TERMINALS: [&str; 4] = ["x-terminal-emulator", "xfce4-terminal", "konsole", "xterm"];

/// An installed app, as its desktop file describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The app's desktop-file id, without `.desktop`.
    pub id: String,
    /// The path of the app's desktop file.
    pub path: PathBuf,
    /// The app's name in the session's language.
    pub name: String,
    pub(super) names: Vec<String>,
    /// The app's generic names ("Text Editor"), in all languages.
    pub(super) generic_names: Vec<String>,
    /// The words of `Exec`.
    pub(super) exec: Vec<String>,
    pub(super) icon: Option<String>,
    /// The app's working directory (`Path`).
    pub(super) directory: Option<PathBuf>,
    pub(super) mime_types: Vec<String>,
    pub(super) terminal: bool,
    /// Whether menus hide the app (`NoDisplay`).
    pub(super) no_display: bool,
    /// Whether the app is started over D-Bus, by its id (`DBusActivatable`).
    pub(super) dbus_activatable: bool,
}

impl Entry {
    /// Reads the file at `path`. `None` if the file does not describe an app or is marked as
    /// deleted (`Hidden`), or if the app's program is not installed (`TryExec`).
    pub(super) fn read(path: &Path, id: &str, session: &Session) -> Option<Self> {
        let length = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        let text = fs::read(path).ok().filter(|_| length <= LONGEST)?;
        Self::parse(&String::from_utf8_lossy(&text), path, id, session)
    }

    fn parse(text: &str, path: &Path, id: &str, session: &Session) -> Option<Self> {
        let mut keys: HashMap<&str, String> = HashMap::new();
        let mut entry = Self {
            id: id.to_owned(),
            path: path.to_owned(),
            ..Self::default()
        };
        for (key, value) in group(text, "[Desktop Entry]") {
            let value = unescape(value);
            match key.split('[').next() {
                Some("Name") => entry.names.push(value.clone()),
                Some("GenericName") => entry.generic_names.push(value.clone()),
                _ => {}
            }
            keys.insert(key, value);
        }
        let yes = |key: &str| keys.get(key).is_some_and(|v| v == "true");
        let get = |key: &str| keys.get(key).filter(|v| !v.is_empty()).cloned();
        if get("Type").as_deref() != Some("Application") || yes("Hidden") {
            return None;
        }
        if get("TryExec").is_some_and(|program| command::in_path(&program, session).is_none()) {
            return None;
        }
        entry.dbus_activatable = yes("DBusActivatable") && id.contains('.');
        let exec = get("Exec").and_then(|exec| command::split(&exec));
        entry.exec = exec.unwrap_or_default();
        if entry.exec.is_empty() && !entry.dbus_activatable {
            return None;
        }
        let own = |locale: String| get(&format!("Name[{locale}]"));
        let own = locales(session).into_iter().find_map(own);
        entry.name = own.or_else(|| get("Name"))?;
        entry.icon = get("Icon");
        entry.directory = get("Path").map(PathBuf::from);
        entry.terminal = yes("Terminal");
        entry.no_display = yes("NoDisplay");
        let kinds = get("MimeType").unwrap_or_default();
        let kinds = kinds.split(';').filter(|kind| !kind.is_empty());
        entry.mime_types = kinds.map(str::to_owned).collect();
        Some(entry)
    }

    /// Whether `name` is one of the app's names, ignoring case.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.names.iter().any(|n| n.to_lowercase() == name)
    }

    /// The program that `Exec` starts. Skips a leading `env`, its options and its assignments.
    pub(super) fn program(&self) -> &str {
        let mut words = self.exec.iter().map(String::as_str).peekable();
        if words.next_if(|w| command::base_name(w) == "env").is_some() {
            let is_env = |word: &&str| word.starts_with('-') || word.contains('=');
            while words.next_if(is_env).is_some() {}
        }
        words.next().unwrap_or_default()
    }

    /// The program to start and its arguments. Empty for an app that can only be started over
    /// D-Bus.
    pub(super) fn command_line(
        &self,
        document: Option<&Document>,
        session: &Session,
    ) -> Result<Vec<String>> {
        let argv = expand(&self.exec, self, document);
        if !self.terminal {
            return Ok(argv);
        }
        let is_there = |name: &&&str| command::in_path(name, session).is_some();
        let terminal = TERMINALS.iter().find(is_there);
        let terminal = terminal.ok_or_else(|| OpenError::no_terminal(&self.name, &TERMINALS))?;
        let start = [*terminal, "-e"].map(str::to_owned);
        Ok(start.into_iter().chain(argv).collect())
    }
}

/// The keys and values of the group that begins with the line `head`.
pub(super) fn group<'t>(text: &'t str, head: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let lines = text.lines().map(str::trim);
    let lines = lines.skip_while(move |line| *line != head).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let pairs = lines.filter_map(|line| line.split_once('='));
    let pairs = pairs.filter(|(key, _)| !key.starts_with('#'));
    pairs.map(|(key, value)| (key.trim_end(), value.trim_start()))
}

/// Decodes the escapes of string values.
fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('s') => text.push(' '),
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('\\') | None => text.push('\\'),
            // Keep `\;`, which is for lists, and escapes that the specification does not define.
            Some(other) => text.extend(['\\', other]),
        }
    }
    text
}

/// The locales to look for in the session's language, as in `Name[locale]`, best first. Desktop
/// Entry Specification, "Localized values for keys": `lang_COUNTRY@MODIFIER`, then without the
/// country or the modifier, then without both.
fn locales(session: &Session) -> Vec<String> {
    let mut variables = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter();
    let Some(locale) = variables.find_map(|name| session.variable(name)) else {
        return vec![];
    };
    let (rest, modifier) = parted(locale, '@');
    let rest = rest.split('.').next().unwrap_or_default();
    let (language, country) = parted(rest, '_');
    let mut keys = vec![];
    if let (Some(country), Some(modifier)) = (country, modifier) {
        keys.push(format!("{language}_{country}@{modifier}"));
    }
    keys.extend(country.map(|country| format!("{language}_{country}")));
    keys.extend(modifier.map(|modifier| format!("{language}@{modifier}")));
    keys.push(language.to_owned());
    keys
}

/// The text before the separator, and the text after it, if the separator occurs.
fn parted(text: &str, separator: char) -> (&str, Option<&str>) {
    let parts = text.split_once(separator);
    parts.map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Expands field codes. Desktop Entry Specification, "The Exec key". If no field code stands for
/// the document, the document becomes the last argument, as in `GLib`.
fn expand(words: &[String], entry: &Entry, document: Option<&Document>) -> Vec<String> {
    let mut argv = vec![];
    let mut placed = false;
    for word in words {
        match word.as_str() {
            "%i" => {
                if let Some(icon) = &entry.icon {
                    argv.extend(["--icon".to_owned(), icon.clone()]);
                }
                continue;
            }
            // Without a document the argument is left out. An empty argument would be a document of
            // its own.
            "%f" | "%F" | "%u" | "%U" if document.is_none() => continue,
            "%d" | "%D" | "%n" | "%N" | "%v" | "%m" => continue,
            _ => {}
        }
        let mut expanded = String::new();
        let mut chars = word.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                expanded.push(c);
                continue;
            }
            match chars.next() {
                Some('%') => expanded.push('%'),
                Some('c') => expanded.push_str(&entry.name),
                Some('k') => expanded.push_str(&entry.path.to_string_lossy()),
                Some(code @ ('f' | 'F' | 'u' | 'U')) => {
                    placed = true;
                    let is_path = matches!(code, 'f' | 'F');
                    let text = document.map(|d| if is_path { d.path() } else { d.uri() });
                    expanded.push_str(&text.unwrap_or_default());
                }
                _ => {}
            }
        }
        // A word whose field codes expand to nothing is left out.
        if !expanded.is_empty() || word.is_empty() {
            argv.push(expanded);
        }
    }
    argv.extend(document.filter(|_| !placed).map(Document::path));
    argv
}
