//! The directory of a private desktop, and the removal of abandoned ones.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use deskline_contract::{Error, Result};
use rustix::fs::{FlockOperation, flock};

use deskline_unix::{spawn, wait};

/// The prefix of the directory's name.
const PREFIX: &str = "deskline-desktop-";

/// The maximum length of the parent directory's path. Apps create sockets in the desktop's
/// directory, and socket paths are limited to 107 bytes.
const LONGEST_BASE: usize = 40;

/// How long killed processes may go on writing. One in uninterruptible sleep ends late.
const WRITES: Duration = Duration::from_secs(1);

pub(super) const MAKING: &str = "making the private desktop's directory";

pub(super) fn private_directory(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// The directory of a private desktop; removed when dropped.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    /// Locked while the desktop runs, so that the directory does not count as abandoned.
    _lock: OwnedFd,
}

impl Directory {
    /// Creates a directory `…/deskline-desktop-<pid>-<n>`. Removes abandoned directories first.
    pub(super) fn create() -> Result<Self> {
        let mut base = std::env::temp_dir();
        if base.as_os_str().len() > LONGEST_BASE || !is_plain(&base) {
            base = PathBuf::from("/tmp");
        }
        sweep(&base);
        let pid = std::process::id();
        let mut number = 0_u32;
        loop {
            let path = base.join(format!("{PREFIX}{pid}-{number}"));
            match private_directory(&path) {
                Ok(()) => {
                    let lock = lock(&path).map_err(Error::system(MAKING))?;
                    return Ok(Self { path, _lock: lock });
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists && number < 10_000 => number += 1,
                Err(e) => return Err(Error::system(MAKING)(e)),
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let mut removed = Ok(());
        // A killed process may still write into the directory.
        wait::until(WRITES, Duration::from_millis(20), || {
            removed = remove(&self.path);
            removed.is_ok().then_some(())
        });
        if let Err(e) = removed {
            tracing::warn!("{} stays: {e}", self.path.display());
        }
    }
}

/// Whether a path can be part of a D-Bus address without escapes.
fn is_plain(path: &Path) -> bool {
    let mut bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.all(|b| b.is_ascii_alphanumeric() || b"-_/.".contains(b))
}

/// Locks a directory unless it is locked already. The kernel releases the lock when this process
/// ends.
fn lock(path: &Path) -> std::io::Result<OwnedFd> {
    let directory = OwnedFd::from(File::open(path)?);
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes the directories of private desktops whose process was killed.
fn sweep(base: &Path) {
    let uid = rustix::process::getuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_old = |m: Metadata| m.is_dir() && m.uid() == uid && !recent(&m);
        let path = entry.path();
        if is_named && entry.metadata().is_ok_and(is_old) && lock(&path).is_ok() {
            let _ = remove(&path);
        }
    }
}

/// How long unmounting may take: a FUSE file system whose process has gone may hang.
const UNMOUNT: Duration = Duration::from_secs(2);

/// Removes a directory and its contents, but nothing that is mounted there: the document portal
/// mounts a file system with the person's documents, and leaves the mount if it is killed.
fn remove(path: &Path) -> std::io::Result<()> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    let mounted = mounted.map(Path::new);
    for mount in mounted.filter(|mount| mount.starts_with(path)) {
        let mut unmount = Command::new("fusermount3");
        unmount.args(["-u", "-z", "--"]).arg(mount);
        if let Err(error) = spawn::output(&mut unmount, UNMOUNT) {
            tracing::debug!(%error, "fusermount3");
        }
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if mounts.contains(&format!(" {}/", path.display())) {
        return Err(ErrorKind::ResourceBusy.into());
    }
    fs::remove_dir_all(path)
}

/// Whether the directory may be so new that it is not locked yet.
fn recent(metadata: &Metadata) -> bool {
    let made = metadata.modified().ok();
    let age = made.and_then(|made| made.elapsed().ok());
    age.is_none_or(|age| age < Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_still_written_to_is_removed_when_the_writing_ends() {
        let directory = Directory::create().unwrap();
        let path = directory.path.clone();
        let into = path.clone();
        let (begun, begins) = std::sync::mpsc::channel();
        let writes = std::thread::spawn(move || {
            for n in 0..300 {
                let _ = fs::create_dir(into.join(n.to_string()));
                let _ = begun.send(());
            }
        });
        begins.recv().unwrap();
        drop(directory);
        writes.join().unwrap();
        assert!(!path.exists());
    }
}
