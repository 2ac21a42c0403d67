//! The apps that are installed for a session.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use deskline_contract::apps::installed;
use deskline_contract::{OpenError, Result};
use deskline_core::{escape, nearest};

use super::command;
use super::entry::Entry;
use crate::session::Session;

/// How many levels below `applications` are searched for desktop files, and how many files are
/// read. There may be a link to a large folder, which must not stall a call.
const LEVELS: usize = 3;
const MOST: usize = 10_000;

/// The installed apps, in the order of their directories.
pub(super) struct Installed {
    pub(super) entries: Vec<Entry>,
}

impl Installed {
    pub(super) fn read(session: &Session) -> Self {
        let mut all = Self { entries: vec![] };
        // A file hides those with the same id in later directories, even if it describes no app.
        let mut seen = HashSet::new();
        for dir in data_dirs(session) {
            let root = dir.join("applications");
            for path in installed(&root, LEVELS, command::is_desktop_file) {
                let id = id_below(&path, &root);
                if seen.len() < MOST && seen.insert(id.clone()) {
                    all.entries.extend(Entry::read(&path, &id, session));
                }
            }
        }
        all
    }

    /// The app with this id. Ignores case only if there is no exact match.
    pub(super) fn by_id(&self, id: &str) -> Option<&Entry> {
        let id = id.strip_suffix(".desktop").unwrap_or(id);
        let mut entries = self.entries.iter();
        let like = || self.entries.iter().find(|e| e.id.eq_ignore_ascii_case(id));
        entries.find(|e| e.id == id).or_else(like)
    }

    /// Whether the file at `path` belongs to one of the installed apps.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.entries.iter().any(|e| e.path == path)
    }

    /// The app that starts exactly `command`: `libreoffice --calc` is not `libreoffice`.
    pub(super) fn by_command(&self, command: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| {
            let program = e.program();
            let mut arguments = e.exec.iter().skip_while(|w| *w != program).skip(1);
            (program == command || command::base_name(program) == command)
                && arguments.all(|w| w.starts_with('%'))
        })
    }

    /// The app whose `Exec` has exactly these words, apart from field codes.
    pub(super) fn by_words(&self, words: &[String]) -> Option<&Entry> {
        let plain = |entry: &Entry| entry.exec.iter().filter(|w| !w.starts_with('%')).eq(words);
        self.entries.iter().find(|entry| plain(entry))
    }

    pub(super) fn by_mime_type(&self, kind: &str) -> Option<&Entry> {
        let takes = |e: &&Entry| e.mime_types.iter().any(|t| t == kind);
        self.entries.iter().find(takes)
    }

    /// The one app that matches. Of several, those that menus show are preferred. If there are
    /// still several, fails with a list of them.
    pub(super) fn one(
        &self,
        how: &str,
        identifier: &str,
        fits: impl Fn(&Entry) -> bool,
    ) -> Result<Option<&Entry>> {
        let all: Vec<_> = self.entries.iter().filter(|e| fits(e)).collect();
        let shown: Vec<_> = all.iter().copied().filter(|e| !e.no_display).collect();
        let candidates = if shown.is_empty() { all } else { shown };
        if candidates.len() < 2 {
            return Ok(candidates.first().copied());
        }
        let named = |e: &&Entry| {
            let (name, id) = (escape::name(&e.name, 40), escape::name(&e.id, 60));
            format!("{name} ({id})")
        };
        let first: Vec<String> = candidates.iter().take(10).map(named).collect();
        Err(OpenError::ambiguous(identifier, how, &first, candidates.len()).into())
    }

    /// For errors: the apps with the most similar names.
    pub(super) fn nearest(&self, identifier: &str) -> String {
        let shown = self.entries.iter().filter(|e| !e.no_display);
        let mut names: Vec<&str> = shown.map(|e| e.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut near = vec![];
        while near.len() < 3 {
            let Some(name) = nearest(identifier, names.iter().copied()) else {
                break;
            };
            near.push(format!("'{}'", escape::name(name, 40)));
            names.retain(|n| *n != name);
        }
        if near.is_empty() {
            "No apps with desktop files are installed. Pass a command or an absolute path"
                .to_owned()
        } else {
            format!("The nearest installed apps are {}", near.join(", "))
        }
    }
}

/// The id of a desktop file at this path.
pub(super) fn id_of(path: &Path) -> String {
    let is_root = |folder: &&Path| folder.file_name().is_some_and(|n| n == "applications");
    let root = path.ancestors().find(is_root);
    id_below(path, root.or(path.parent()).unwrap_or(path))
}

/// "Desktop File ID": the path below `applications`, with dashes instead of slashes.
fn id_below(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    let id = below.strip_suffix(".desktop").unwrap_or(&below);
    id.replace('/', "-")
}

/// The data directories, the user's first. XDG Base Directory Specification. If the session's
/// `XDG_DATA_DIRS` is unknown, adds what Flatpak and Snap would add to it. Flatpak's come first: if
/// an app is installed twice, the menu starts the Flatpak.
pub(super) fn data_dirs(session: &Session) -> Vec<PathBuf> {
    let home = session.folder("XDG_DATA_HOME", ".local/share");
    let mut dirs: Vec<PathBuf> = home.clone().into_iter().collect();
    if let Some(system) = session.variable("XDG_DATA_DIRS") {
        dirs.extend(std::env::split_paths(system));
    } else {
        dirs.extend(home.map(|home| home.join("flatpak/exports/share")));
        let usual = ["/usr/local/share", "/usr/share"];
        dirs.push("/var/lib/flatpak/exports/share".into());
        dirs.extend(usual.map(PathBuf::from));
        dirs.push("/var/lib/snapd/desktop".into());
    }
    dirs.retain(|dir| dir.is_absolute());
    dirs
}
