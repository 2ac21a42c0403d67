//! Finds commands, and splits command lines into words.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use deskline_core::escape::{percent_decode, percent_encode};

use crate::session::Session;

/// The search path of a session whose environment has no `PATH`.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";

/// A document or URL for an app to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Document {
    Path(PathBuf),
    Uri(String),
}

impl Document {
    pub(super) fn path(&self) -> String {
        match self {
            Self::Path(path) => path.to_string_lossy().into_owned(),
            Self::Uri(uri) => uri.clone(),
        }
    }

    /// Whether the document is a web page, or a file that nothing runs. Other documents may do more
    /// than open: a URL of another scheme may give an app an order, and a file manager starts
    /// programs and desktop files.
    pub(super) fn is_page(&self) -> bool {
        let uri = match self {
            Self::Path(path) => {
                // The name of a symbolic link may suggest another kind of file than its target is.
                let real = path.canonicalize();
                return real.is_ok_and(|real| !runs(path) && !runs(&real));
            }
            Self::Uri(uri) => uri,
        };
        let scheme = uri.split_once("://").map_or("", |(scheme, _)| scheme);
        let mut webs = ["http", "https"].iter();
        webs.any(|web| scheme.eq_ignore_ascii_case(web))
    }

    /// The MIME type of the document's URL scheme. `None` for a path.
    pub(super) fn kind(&self) -> Option<String> {
        let Self::Uri(uri) = self else { return None };
        let (scheme, _) = uri.split_once("://")?;
        Some(format!("x-scheme-handler/{}", scheme.to_lowercase()))
    }

    /// The document's URI. In a path, escapes every byte that RFC 3986 does not call unreserved.
    pub(super) fn uri(&self) -> String {
        let path = match self {
            Self::Path(path) => path,
            Self::Uri(uri) => return uri.clone(),
        };
        let path = percent_encode(path.as_os_str().as_encoded_bytes());
        format!("file://{path}")
    }
}

/// Decodes the escapes of a URI's path. A path with an invalid escape is taken literally.
pub(super) fn unescape_uri(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let bytes = percent_decode(path).unwrap_or_else(|| path.as_bytes().to_vec());
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// The path of the command `name` in the session's `PATH`; `name` itself if it is a path.
pub(crate) fn in_path(name: &str, session: &Session) -> Option<PathBuf> {
    if name.starts_with('/') {
        let path = PathBuf::from(name);
        return is_executable(&path).then_some(path);
    }
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let mut paths = folders(session).map(|dir| dir.join(name));
    paths.find(|path| is_executable(path))
}

pub(super) fn folders(session: &Session) -> impl Iterator<Item = PathBuf> {
    let path = session.environment.get("PATH").map_or(PATH, String::as_str);
    std::env::split_paths(path)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Whether the file at `path` is a program. Its first bytes are checked too, because on some file
/// systems every document has the executable bit.
pub(super) fn is_program(path: &Path) -> bool {
    let start = || start(path).unwrap_or_default();
    is_executable(path) && [ELF, b"#!"].iter().any(|sign| start().starts_with(sign))
}

/// Whether a file manager, or the system, may run this file.
fn runs(path: &Path) -> bool {
    let kind = path.extension();
    let named = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("desktop"));
    let start = start(path).unwrap_or_default();
    let is_entry = || start.windows(ENTRY.len()).any(|part| part == ENTRY);
    named || start.starts_with(ELF) || is_program(path) || is_entry()
}

/// The line near the beginning of a desktop file by which file managers recognize it.
const ENTRY: &[u8] = b"[Desktop Entry]";

/// The first bytes of an ELF executable.
const ELF: &[u8] = b"\x7fELF";

/// The first bytes of a regular file. `None` for other files: opening a FIFO would wait for its
/// other end.
fn start(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut start = Vec::new();
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let file = fs::File::open(path).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    Some(start)
}

pub(super) fn is_desktop_file(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "desktop")
}

/// The last component of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Splits a command line into words. They are separated by spaces, quoted with `"` or `'`, and `\`
/// escapes a character: the rules that shells and the `Exec` key share. `None` if a quote is not
/// closed.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '`' | '$' | '\\') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}
