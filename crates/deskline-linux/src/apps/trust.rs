//! Whether only root can write a file. Only then its name and its content are the system's: an app
//! that an agent uses can save a file anywhere else.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::LazyLock;

use deskline_unix::flatpak;

use super::command::folders;
use super::interpreters::{is_interpreter, script};
use crate::session::Session;

/// The user id that root's files have here. In a user namespace that does not map root, they have
/// the overflow id, also if the namespace calls this account root (`unshare --map-root-user`).
static ROOT: LazyLock<u32> = LazyLock::new(|| {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut lines = map.lines().map(|line| line.split_whitespace().collect());
    let is_root = |line: Vec<&str>| matches!(line[..], ["0", _, count] if count != "1");
    if lines.any(is_root) { 0 } else { 65534 }
});

/// Whether only root can write this file and each folder on the way to it and to what it links to.
/// Nothing in the home is root's, also if root is at the desktop.
pub(super) fn is_roots(path: &Path, session: &Session) -> bool {
    let Ok(real) = path.canonicalize() else {
        return false;
    };
    let home = session.home().and_then(|home| home.canonicalize().ok());
    let in_home = |home: &Path| home.parent().is_some() && real.starts_with(home);
    let is_closed = |at: &Path| {
        fs::metadata(at).is_ok_and(|file| file.uid() == *ROOT && file.mode() & 0o022 == 0)
    };
    !home.as_deref().is_some_and(in_home)
        && file(path) == file(&real)
        && path.ancestors().chain(real.ancestors()).all(is_closed)
}

/// A path may lead through `/proc` to a file that another one has at the same place.
pub(super) fn file(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// The folders of the session's `PATH` in which only root can put programs.
pub(super) fn roots_path(session: &Session) -> String {
    let roots = folders(session).filter(|folder| is_roots(folder, session));
    let roots = std::env::join_paths(roots).ok();
    roots
        .and_then(|path| path.into_string().ok())
        .unwrap_or_default()
}

/// Whether a process runs a program or script of this Flatpak, which only root can have installed.
/// That its sandbox says so is not enough: anybody can make one.
pub(super) fn runs_flatpak(
    pid: u32,
    id: &str,
    (executable, line): (&Path, &[String]),
    session: &Session,
) -> bool {
    let Some(files) = flatpak::files(pid) else {
        return false;
    };
    let is_installed = files.starts_with(Path::new("/var/lib/flatpak/app").join(id));
    let base = executable.file_name().unwrap_or_default().to_string_lossy();
    let script = line.get(1..).and_then(|line| script(&base, line));
    let (seen, runs) = match script.filter(|_| is_interpreter(&base)) {
        Some(script) => (script.into(), format!("/proc/{pid}/root{script}")),
        None => (executable.to_string_lossy(), format!("/proc/{pid}/exe")),
    };
    let is_its = |below: &str| {
        let real = files.join(below).canonicalize().unwrap_or_default();
        let runs = file(Path::new(&runs));
        real.starts_with(&files) && runs.is_some() && runs == file(&real)
    };
    // Where the sandbox has the files.
    let below = seen.split_once("/app/").map(|(_, below)| below);
    is_installed && is_roots(&files, session) && below.is_some_and(is_its)
}
