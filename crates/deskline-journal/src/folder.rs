//! A checked folder, held open. All access goes through its handle (`os`).

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deskline_input::wait;

use crate::name::TEMPORARY;
use crate::os::{self, Open};
use crate::{JournalError, Result};

/// How long to wait for a lock. Normally a lock is held for microseconds, and for milliseconds
/// while the log is rewritten: a process that holds a lock for longer than this is probably
/// suspended.
const LOCK_WAIT: Duration = Duration::from_secs(1);

pub(crate) struct Folder {
    path: PathBuf,
    handle: os::Handle,
}

impl Folder {
    /// Opens the folder at `path`; creates it for this user alone if there is none. Refuses a
    /// symlink, a folder of another user, and a folder that other users can access.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|error| JournalError::io("create the folder", parent, error))?;
        }
        os::create(path).map_err(|error| JournalError::io("create the log", path, error))?;
        Self::open_existing(path)
    }

    /// Like [`Folder::open`], but a missing folder is an error.
    pub(crate) fn open_existing(path: &Path) -> Result<Self> {
        Ok(Self {
            handle: os::Handle::open(path)?,
            path: path.to_owned(),
        })
    }

    /// Whether the path still leads to this folder.
    pub(crate) fn is_current(&self) -> bool {
        self.handle.is_at(&self.path)
    }

    /// Opens the regular file `name`; never follows a symlink.
    pub(crate) fn open_file(&self, name: &str, open: Open) -> Result<File> {
        let file = self.handle.file(name, open);
        file.map_err(|error| self.failed("open", name, error))
    }

    /// Opens `name` for reading and writing, creates it if there is none, and locks it against all
    /// other processes and threads until the file is dropped. If the file was replaced during the
    /// wait, locks the new file instead.
    pub(crate) fn lock_file(&self, name: &str) -> Result<File> {
        // Polls, because waiting for a lock has no timeout.
        let locked = wait::briefly(LOCK_WAIT, Duration::from_micros(200), || {
            self.try_lock(name).transpose()
        });
        locked.unwrap_or_else(|| Err(JournalError::Busy(self.path.join(name))))
    }

    fn try_lock(&self, name: &str) -> Result<Option<File>> {
        let file = self.open_file(name, Open::Write)?;
        let fail = |error| self.failed("lock", name, error);
        let locked = os::try_lock(&file).map_err(fail)?;
        let is_ours = locked && !self.is_replaced(name, &file).map_err(fail)?;
        Ok(is_ours.then_some(file))
    }

    /// Whether the folder no longer has this open file under `name`.
    pub(crate) fn is_replaced(&self, name: &str, file: &File) -> io::Result<bool> {
        self.handle.is_replaced(name, file)
    }

    /// Writes `name` atomically: readers see the old content or all of the new.
    pub(crate) fn put(&self, name: &str, content: &[u8]) -> Result {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let pid = std::process::id();
        let (temporary, mut file) = loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = format!("{TEMPORARY}{pid}-{count}.tmp");
            match self.open_file(&temporary, Open::New) {
                Ok(file) => break (temporary, file),
                // The file exists: it is from a killed process, or from a process with the same pid
                // in another container.
                Err(JournalError::Io { source, .. })
                    if source.kind() == io::ErrorKind::AlreadyExists => {}
                Err(JournalError::Io { source, .. }) => {
                    return Err(JournalError::io("write", &self.path.join(name), source));
                }
                Err(error) => return Err(error),
            }
        };
        let done = file.write_all(content).and_then(|()| {
            drop(file);
            self.handle.rename(&temporary, name)
        });
        done.map_err(|error| {
            let _ = self.remove(&temporary);
            JournalError::io("write", &self.path.join(name), error)
        })
    }

    /// Removes `name`. A missing file is no error.
    pub(crate) fn remove(&self, name: &str) -> Result {
        match self.handle.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("remove", name, error))
            }
            _ => Ok(()),
        }
    }

    /// The names in the folder, in no order. Skips names that are not UTF-8: all of ours are UTF-8.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let names = self.handle.names();
        names.map_err(|error| JournalError::io("list", &self.path, error))
    }

    /// The size in bytes and modification time (seconds since the epoch) of the regular file
    /// `name`; `None` if there is none.
    pub(crate) fn regular(&self, name: &str) -> Option<(u64, u64)> {
        self.handle.regular(name)
    }

    /// Sets the times of `name` to now. A missing file is no error.
    pub(crate) fn touch(&self, name: &str) -> Result {
        match self.handle.touch(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("mark", name, error))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn failed(
        &self,
        doing: &'static str,
        name: &str,
        source: impl Into<std::io::Error>,
    ) -> JournalError {
        JournalError::io(doing, &self.path.join(name), source)
    }
}

/// Whether `name` is a temporary name of [`Folder::put`].
pub(crate) fn is_temporary(name: &str) -> bool {
    name.strip_prefix(TEMPORARY)
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(pid, count)| {
            [pid, count]
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        })
}
