//! Finds out whether only root can write a file. Only then do its name and its content come from
//! the system, because an agent can make an app save a file anywhere else.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::LazyLock;

use deskline_unix::flatpak;

use super::command::folders;
use super::interpreters::{is_interpreter, script};
use crate::session::Session;

/// The user id of root's files. In a user namespace that does not map root, they have the overflow
/// id, even if this account is called root there (`unshare --map-root-user`).
static ROOT: LazyLock<u32> = LazyLock::new(|| {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let mut lines = map.lines().map(|line| line.split_whitespace().collect());
    let is_root = |line: Vec<&str>| matches!(line[..], ["0", _, count] if count != "1");
    if lines.any(is_root) { 0 } else { 65534 }
});

/// Whether only root can write this file and every folder of its path, before and after its links
/// are resolved. False for every file in the home, even if root uses the desktop.
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

/// A file's device and inode. A path is not enough: a link in `/proc` may lead into another mount
/// namespace, where the same path is another file.
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

/// Whether a process runs a program or script of the Flatpak `id`, and only root can have installed
/// that Flatpak. Anybody can make a sandbox that claims to be a Flatpak, so its word is not enough.
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
    // Inside the sandbox, the Flatpak's files are in `/app`.
    let below = seen.split_once("/app/").map(|(_, below)| below);
    is_installed && is_roots(&files, session) && below.is_some_and(is_its)
}
