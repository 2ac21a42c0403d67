//! The journals of a fleet's desktops: a folder each, locked while its desktop runs. Those of ended
//! desktops are kept within the limits of `--keep`.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deskline_journal::Retention;
use rustix::fs::{FlockOperation, flock};

/// The folder of a running desktop's journal.
pub(crate) struct OwnJournal {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl OwnJournal {
    /// Creates a new folder in `all`: no client may find another client's files in its own folder.
    pub(crate) fn create(all: &Path) -> io::Result<Self> {
        private_folder(all)?;
        let _others = lock(all, FlockOperation::LockExclusive)?;
        let pid = std::process::id();
        // In a container each server has the same pid.
        for number in 1_u32.. {
            let path = all.join(format!("{pid}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let lock = lock(&path, FlockOperation::NonBlockingLockExclusive)?;
                    return Ok(Self { path, _lock: lock });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// A folder for this user alone. Created with its parents if it is missing.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn lock(folder: &Path, how: FlockOperation) -> io::Result<File> {
    let folder = File::open(folder)?;
    flock(&folder, how)?;
    Ok(folder)
}

/// Removes the journals of ended desktops that are too old, and the oldest beyond the size.
pub(crate) fn prune(all: &Path, keep: Retention) -> io::Result<()> {
    if !all.is_dir() {
        return Ok(());
    }
    let _others = lock(all, FlockOperation::LockExclusive)?;
    let mut ended = Vec::new();
    for entry in fs::read_dir(all)?.flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || lock(&path, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        // Each call adds files and thereby changes the folder's time.
        let used = entry.metadata()?.modified()?;
        ended.push((used, size(&path), path));
    }
    ended.sort();
    let mut total: u64 = ended.iter().map(|(_, bytes, _)| bytes).sum();
    let now = SystemTime::now();
    for (used, bytes, path) in ended {
        let age = now.duration_since(used).unwrap_or_default();
        if total <= keep.bytes && age <= keep.age {
            break;
        }
        fs::remove_dir_all(path)?;
        total -= bytes;
    }
    Ok(())
}

/// The size of a folder's files. Follows no link.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn journals_of_ended_desktops_are_kept_within_the_limits() {
        let all = tempfile::tempdir().unwrap();
        let keep = |text: &str| text.parse().unwrap();
        let file = |journal: &OwnJournal| {
            fs::write(journal.path.join("1_open.txt"), [0; 600]).unwrap();
            journal.path.clone()
        };
        let running = OwnJournal::create(all.path()).unwrap();
        let [old, new] = [(); 2].map(|()| file(&OwnJournal::create(all.path()).unwrap()));
        file(&running);
        let hour = SystemTime::now() - Duration::from_secs(3_600);
        File::open(&old).unwrap().set_modified(hour).unwrap();
        let left = || [&running.path, &old, &new].map(|path| path.is_dir());
        prune(all.path(), keep("1200B,2h")).unwrap();
        assert_eq!(left(), [true, true, true]);
        prune(all.path(), keep("1199B,2h")).unwrap();
        assert_eq!(left(), [true, false, true]);
        prune(all.path(), keep("1GB,0s")).unwrap();
        assert_eq!(left(), [true, false, false]);
    }

    #[test]
    fn a_journal_is_never_that_of_a_desktop_before() {
        let all = tempfile::tempdir().unwrap();
        let first = OwnJournal::create(all.path()).unwrap().path;
        let second = OwnJournal::create(all.path()).unwrap().path;
        assert_ne!(first, second);
    }
}
