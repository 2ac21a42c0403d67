//! Finds the type of a document, and the default app for it.
//!
//! Follows the specifications "Shared MIME Info" (only file names, and whether the contents are
//! text) and "Association between MIME types and applications".

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::entry::{Entry, group};
use super::installed::{Installed, data_dirs};
use crate::session::Session;

/// How many levels of parent types to follow.
const ANCESTORS: usize = 8;

/// The types of the file at `path`, from the most specific to the most general.
pub(super) fn types_of(path: &Path, session: &Session) -> Vec<String> {
    if path.is_dir() {
        return vec!["inode/directory".to_owned()];
    }
    let mut kinds: Vec<String> = by_name(path, session).into_iter().collect();
    if kinds.is_empty() && is_text(path) {
        kinds.push("text/plain".to_owned());
    }
    let parents = data_dirs(session).into_iter();
    let parents = parents.filter_map(|dir| fs::read_to_string(dir.join("mime/subclasses")).ok());
    let parents: String = parents.collect();
    let mut at = 0;
    while at < kinds.len().min(ANCESTORS) {
        let up = parents.lines().filter_map(|line| line.split_once(' '));
        let up = up.filter(|(kind, _)| *kind == kinds[at]);
        let up: Vec<_> = up.map(|(_, parent)| parent.to_owned()).collect();
        kinds.extend(up);
        at += 1;
    }
    // Every text type is also plain text, though the database may not say so.
    if kinds.iter().any(|kind| kind.starts_with("text/")) {
        kinds.push("text/plain".to_owned());
    }
    kinds
}

/// The type whose pattern matches the file name best: the pattern with the highest weight, then the
/// longest one. Lines of `globs2` are `weight:type:pattern`. Only `*.extension` patterns are
/// supported.
fn by_name(path: &Path, session: &Session) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    data_dirs(session).iter().find_map(|dir| {
        let globs = fs::read_to_string(dir.join("mime/globs2")).ok()?;
        let fits = globs.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let weight: u32 = fields.next()?.parse().ok()?;
            let kind = fields.next()?;
            let end = fields.next()?.strip_prefix('*')?;
            let fits = end.starts_with('.') && name.ends_with(&end.to_lowercase());
            fits.then_some((weight, end.len(), kind))
        });
        let best = fits.max_by_key(|(weight, length, _)| (*weight, *length));
        best.map(|(_, _, kind)| kind.to_owned())
    })
}

fn is_text(path: &Path) -> bool {
    // Opening a FIFO would wait for its other end.
    if !path.is_file() {
        return false;
    }
    let mut head = vec![];
    let read = fs::File::open(path).and_then(|f| f.take(4096).read_to_end(&mut head));
    // The last of these bytes may be in the middle of a character.
    let text = String::from_utf8_lossy(&head);
    read.is_ok() && !head.contains(&0) && text.matches('\u{fffd}').count() <= 1
}

/// The default app for the first of `kinds` that has one. The user's choice comes first, then the
/// distribution's, then any app that declares the type.
pub(super) fn default_app<'a>(
    kinds: &[String],
    installed: &'a Installed,
    session: &Session,
) -> Option<&'a Entry> {
    let lists = lists(session).into_iter();
    let lists = lists.filter_map(|path| fs::read_to_string(path).ok());
    let lists: Vec<String> = lists.collect();
    kinds.iter().find_map(|kind| {
        let mut chosen = lists.iter().flat_map(|list| chosen(list, kind));
        let chosen = chosen.find_map(|id| installed.by_id(id));
        chosen.or_else(|| installed.by_mime_type(kind))
    })
}

/// The ids of the default apps for `kind` in a `mimeapps.list`.
fn chosen<'a>(list: &'a str, kind: &'a str) -> impl Iterator<Item = &'a str> {
    let its = group(list, "[Default Applications]").filter(move |(key, _)| *key == kind);
    let ids = its.flat_map(|(_, ids)| ids.split(';')).map(str::trim);
    ids.filter(|id| !id.is_empty())
}

/// The `mimeapps.list` files by precedence. In each folder, those of a specific desktop come first.
fn lists(session: &Session) -> Vec<PathBuf> {
    let home = session.folder("XDG_CONFIG_HOME", ".config");
    let system = session.variable("XDG_CONFIG_DIRS").unwrap_or("/etc/xdg");
    let data = data_dirs(session).into_iter();
    let data = data.map(|dir| dir.join("applications"));
    let dirs = home.into_iter().chain(std::env::split_paths(system));
    let desktops = session.variable("XDG_CURRENT_DESKTOP").unwrap_or_default();
    let desktops = desktops.to_lowercase();
    let desktops = desktops.split(':').filter(|desktop| !desktop.is_empty());
    let names = desktops.map(|desktop| format!("{desktop}-mimeapps.list"));
    let names: Vec<String> = names.chain(["mimeapps.list".to_owned()]).collect();
    let in_dir = |dir: PathBuf| names.iter().map(move |name| dir.join(name));
    dirs.chain(data).flat_map(in_dir).collect()
}
