//! The journals of a fleet's desktops. Each journal is a folder, which is locked while its desktop
//! runs. The journals of ended desktops are kept within the limits of `--keep`.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use deskline_journal::Retention;
use rustix::fs::{FlockOperation, flock};

use crate::audit;

/// The folder of a running desktop's journal.
pub(crate) struct OwnJournal {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl OwnJournal {
    /// Creates a folder in `all`, and never reuses one: no client may find files of another client.
    pub(crate) fn create(all: &Path) -> io::Result<Self> {
        private_folder(all)?;
        let _others = lock(all, FlockOperation::LockExclusive)?;
        let pid = std::process::id();
        // In containers, servers may have the same pid: try numbers until one is free.
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

/// Creates a folder for this user alone, with its parents, if it is missing.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn lock(folder: &Path, how: FlockOperation) -> io::Result<File> {
    let folder = File::open(folder)?;
    flock(&folder, how)?;
    Ok(folder)
}

/// Removes journals of ended desktops, with their audits: all that are too old, and then the oldest
/// until the rest fits the size. A desktop's apps may have left anything in its journal, with any
/// modification time.
pub(crate) fn prune(all: &Path, keep: Retention) -> io::Result<()> {
    if !all.is_dir() {
        return Ok(());
    }
    let _others = lock(all, FlockOperation::LockExclusive)?;
    let now = SystemTime::now();
    let mut ended = Vec::new();
    for entry in fs::read_dir(all)?.flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder {
            continue;
        }
        open_up(&path);
        if lock(&path, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        // Each call updates the audit's modification time, which the desktop's apps cannot change.
        let audit = audit::path(&path).unwrap_or_default();
        let data = fs::metadata(&audit).or_else(|_| entry.metadata());
        let used = data
            .and_then(|data| data.modified())
            .map_or(now, |used| used.min(now));
        let bytes = size(&path) + fs::metadata(&audit).map_or(0, |data| data.len());
        ended.push((used, bytes, path, audit));
    }
    ended.sort();
    let mut total: u64 = ended.iter().map(|(_, bytes, ..)| bytes).sum();
    for (used, bytes, path, audit) in ended {
        let age = now.duration_since(used).unwrap_or_default();
        if total <= keep.bytes && age <= keep.age {
            break;
        }
        if let Err(error) = fs::remove_dir_all(&path) {
            tracing::warn!("{} stays: {error}", path.display());
            continue;
        }
        let _ = fs::remove_file(audit);
        total -= bytes;
    }
    Ok(())
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}

/// The size of all files in a folder. Follows no link. Makes the folders in it removable.
fn size(folder: &Path) -> u64 {
    open_up(folder);
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
    use crate::audit::Audit;

    #[test]
    fn journals_of_ended_desktops_are_kept_within_the_limits() {
        let folder = tempfile::tempdir().unwrap();
        let all = &folder.path().join("desktops");
        let keep = |text: &str| text.parse().unwrap();
        let file = |journal: &OwnJournal| {
            fs::write(journal.path.join("1_open.txt"), [0; 600]).unwrap();
            Audit::create(&journal.path).unwrap();
            journal.path.clone()
        };
        let running = OwnJournal::create(all).unwrap();
        let [old, new] = [(); 2].map(|()| file(&OwnJournal::create(all).unwrap()));
        file(&running);
        let hour = SystemTime::now() - Duration::from_secs(3_600);
        let audit = |journal: &Path| audit::path(journal).unwrap();
        File::open(audit(&old)).unwrap().set_modified(hour).unwrap();
        let left = || [&running.path, &old, &new].map(|path| path.is_dir());
        prune(all, keep("1200B,2h")).unwrap();
        assert_eq!(left(), [true, true, true]);
        prune(all, keep("1199B,2h")).unwrap();
        assert_eq!(left(), [true, false, true]);
        assert!(!audit(&old).exists() && audit(&new).exists());
        prune(all, keep("1GB,0s")).unwrap();
        assert_eq!(left(), [true, false, false]);
    }

    /// Run by `pruning_goes_on_past_files_that_a_desktop_has_left`, as a user bound by permissions.
    #[test]
    #[ignore = "part of another test"]
    fn files_that_a_desktop_left_are_pruned_by_a_plain_user() {
        let folder = tempfile::tempdir().unwrap();
        let all = &folder.path().join("desktops");
        let [first, second] = [(); 2].map(|()| {
            let journal = OwnJournal::create(all).unwrap();
            Audit::create(&journal.path).unwrap();
            journal.path.clone()
        });
        let own = |mode| fs::Permissions::from_mode(mode);
        fs::create_dir_all(first.join("a/b")).unwrap();
        fs::write(first.join("a/b/c"), [0; 600]).unwrap();
        fs::set_permissions(first.join("a"), own(0)).unwrap();
        let later = SystemTime::now() + Duration::from_secs(1 << 30);
        for journal in [&first, &second] {
            File::open(journal).unwrap().set_modified(later).unwrap();
            fs::set_permissions(journal, own(0)).unwrap();
        }
        prune(all, "1GB,0s".parse().unwrap()).unwrap();
        assert_eq!([&first, &second].map(|path| path.exists()), [false, false]);
    }

    #[test]
    fn pruning_goes_on_past_files_that_a_desktop_has_left() {
        let mut command = std::process::Command::new("setpriv");
        if rustix::process::getuid().is_root() {
            command.args(["--reuid=65534", "--clear-groups"]);
        }
        let name = "journals::tests::files_that_a_desktop_left_are_pruned_by_a_plain_user";
        command
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name]);
        let run = command.env("TMPDIR", "/tmp").output().unwrap();
        let printed = String::from_utf8_lossy(&run.stdout);
        assert!(
            run.status.success() && printed.contains("1 passed"),
            "{printed}"
        );
    }

    #[test]
    fn each_desktop_gets_a_new_journal() {
        let all = tempfile::tempdir().unwrap();
        let first = OwnJournal::create(all.path()).unwrap().path;
        let second = OwnJournal::create(all.path()).unwrap().path;
        assert_ne!(first, second);
    }
}
