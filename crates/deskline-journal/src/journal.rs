//! The journal: opened once, shared between clones, threads and processes. Also small files of
//! state ([`StateFile`]).

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use deskline_core::escape::is_hostile;

use crate::folder::Folder;
use crate::name::{self, JournalFile};
use crate::os::{self, Open};
use crate::{JournalError, Record, Result, Retention, boot, log, time};

/// The largest file to read, in bytes. The journal's files are far smaller.
const LARGEST: u64 = 64 << 20;

/// A folder of `.txt`/`.png` pairs with a log of links. Clones share one journal.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

struct Inner {
    path: PathBuf,
    retention: Retention,
    /// Whether the folder is created again if it was removed.
    creates: bool,
    folder: Mutex<Arc<Folder>>,
    upkeep: Mutex<Upkeep>,
}

/// What decides when to prune next: the time of the last pruning, and the bytes written since then.
struct Upkeep {
    written: u64,
    last: Instant,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Journal").field(&self.0.path).finish()
    }
}

impl Journal {
    /// Opens the journal at `dir`, creates it if there is none, and prunes it to `retention`. The
    /// default is `/tmp/deskline`, or `/tmp/deskline-<uid>` if `/tmp/deskline` belongs to another
    /// user; on Windows `%USERPROFILE%\.deskline`.
    ///
    /// Refuses a path that is a symlink, belongs to someone else or is open to others.
    pub fn open(dir: Option<&Path>, retention: Retention) -> Result<Self> {
        let folder = match dir {
            Some(dir) => Folder::open(&normal(dir)?)?,
            None => open_default(&default()?)?,
        };
        let journal = Self::new(folder, retention, true);
        journal.prune();
        Ok(journal)
    }

    /// Opens the journal at `dir`, or the default, to read it: prunes nothing, and does not create
    /// the folder at `dir`.
    pub fn open_to_read(dir: Option<&Path>) -> Result<Self> {
        let folder = match dir {
            Some(dir) => Folder::open_existing(&normal(dir)?)?,
            None => open_default(&default()?)?,
        };
        Ok(Self::new(folder, Retention::default(), dir.is_none()))
    }

    fn new(folder: Folder, retention: Retention, creates: bool) -> Self {
        Self(Arc::new(Inner {
            path: os::readable(folder.path().to_owned()),
            retention,
            creates,
            folder: Mutex::new(Arc::new(folder)),
            upkeep: Mutex::new(Upkeep {
                written: 0,
                last: Instant::now(),
            }),
        }))
    }

    /// The folder's absolute path.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The path of a file in the journal's folder.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        os::readable(self.0.path.join(name))
    }

    /// Appends `record` to `journal.jsonl` as one line, and prunes the journal if that is due.
    pub fn record(&self, record: &Record) -> Result {
        let bytes = log::append(&*self.folder()?, record)?;
        let due = {
            let mut upkeep = self.upkeep();
            upkeep.written += bytes;
            upkeep.written > self.0.retention.slack()
                || upkeep.last.elapsed() > self.0.retention.age / 16
        };
        if due {
            self.prune();
        }
        Ok(())
    }

    /// The newest `limit` records, oldest first. Skips lines that cannot be parsed.
    pub fn records(&self, limit: usize) -> Result<Vec<Record>> {
        log::read(&*self.folder()?, limit)
    }

    /// The journal's texts and pictures, oldest first.
    pub fn list(&self) -> Result<Vec<JournalFile>> {
        let folder = self.folder()?;
        let mut names = folder.names()?;
        names.sort_unstable();
        Ok(names
            .iter()
            .filter_map(|name| self.file(&folder, name))
            .collect())
    }

    /// The path of a text or picture, given by its name or its path. Refuses anything else: other
    /// folders, other files, symlinks.
    pub fn resolve_inside(&self, name: &str) -> Result<PathBuf> {
        let refused = |why| JournalError::NotInJournal {
            name: name.chars().take(200).collect(),
            journal: self.0.path.clone(),
            why,
        };
        let path = Path::new(name);
        let file_name = match (
            path.parent(),
            path.file_name().and_then(|name| name.to_str()),
        ) {
            (Some(parent), Some(file_name))
                if parent.as_os_str().is_empty() || parent == self.0.path =>
            {
                file_name
            }
            _ => return Err(refused("it is in another folder")),
        };
        if name::parse(file_name).is_none() {
            return Err(refused("its files are <ms>_<tool>.txt and <ms>_<tool>.png"));
        }
        match self.file(&*self.folder()?, file_name) {
            Some(file) => Ok(file.path),
            None => Err(refused(
                "there is no such file now. Old files are removed (--keep)",
            )),
        }
    }

    /// The content of the text or picture `name`. Refuses any other name, symlinks, and files of
    /// more than 64 MiB.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        self.read_into(name, &mut content)?;
        Ok(content)
    }

    /// Like [`Journal::read`], but appends to `content`.
    pub(crate) fn read_into(&self, name: &str, content: &mut Vec<u8>) -> Result {
        let folder = self.folder()?;
        if name::parse(name).is_none() {
            return Err(folder.failed("read", name, io::ErrorKind::InvalidInput));
        }
        let file = folder.open_file(name, Open::Read)?;
        let fail = |error| folder.failed("read", name, error);
        let size = file.metadata().map_err(fail)?.len();
        if size > LARGEST {
            return Err(fail(io::ErrorKind::FileTooLarge.into()));
        }
        content.reserve(size as usize);
        file.take(LARGEST).read_to_end(content).map_err(fail)?;
        Ok(())
    }

    fn file(&self, folder: &Folder, name: &str) -> Option<JournalFile> {
        let (stamp, tool, kind) = name::parse(name)?;
        let (bytes, _) = folder.regular(name)?;
        Some(JournalFile {
            path: self.path_of(name),
            name: name.to_owned(),
            stamp,
            tool: tool.to_owned(),
            kind,
            bytes,
        })
    }

    pub(crate) fn put(&self, name: &str, content: &[u8]) -> Result {
        self.folder()?.put(name, content)?;
        self.upkeep().written += content.len() as u64;
        Ok(())
    }

    /// The journal's folder. Opens and checks it again if it was removed or replaced.
    pub(crate) fn folder(&self) -> Result<Arc<Folder>> {
        let mut folder = self.0.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if !folder.is_current() {
            let open = if self.0.creates {
                Folder::open
            } else {
                Folder::open_existing
            };
            *folder = Arc::new(open(&self.0.path)?);
        }
        Ok(Arc::clone(&folder))
    }

    /// Brings the journal within its limits. A failure is logged and not returned.
    fn prune(&self) {
        {
            let mut upkeep = self.upkeep();
            upkeep.written = 0;
            upkeep.last = Instant::now();
        }
        let retention = &self.0.retention;
        let pruned = self.folder().and_then(|folder| {
            let now = boot::confirmed(&folder, time::now_ms(), boot::now())?;
            retention.prune(&folder, now)?;
            log::trim(&folder, retention, now)
        });
        if let Err(error) = pruned {
            tracing::warn!(%error, "the log was not pruned");
        }
    }

    fn upkeep(&self) -> std::sync::MutexGuard<'_, Upkeep> {
        self.0.upkeep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn default() -> Result<PathBuf> {
    os::default_path().map_err(|error| JournalError::io("find", "the log".as_ref(), error))
}

/// The folder at `path`, or the one with our uid in its name if `path` belongs to another user.
fn open_default(path: &Path) -> Result<Folder> {
    match Folder::open(path) {
        Err(JournalError::Foreign { .. }) => Folder::open(&os::own_default(path)),
        other => other,
    }
}

/// `dir` as an absolute path, without a trailing slash: a slash would make the system follow a
/// symlink.
fn normal(dir: &Path) -> Result<PathBuf> {
    let absolute =
        std::path::absolute(dir).map_err(|error| JournalError::io("use the log", dir, error))?;
    if absolute
        .to_str()
        .is_none_or(|path| path.contains(is_hostile))
    {
        return Err(JournalError::NotText(absolute));
    }
    Ok(absolute
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{chown, lchown, symlink};

    use super::*;

    #[test]
    fn a_default_folder_of_another_user_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deskline");
        let default = || open_default(&path);
        assert_eq!(default().unwrap().path(), path);
        let own = format!("{}-{}", path.display(), rustix::process::geteuid().as_raw());
        let is_own = || default().unwrap().path() == Path::new(&own);
        // Only root can change a folder's owner.
        if chown(&path, Some(1), None).is_ok() {
            assert!(is_own());
            std::fs::remove_dir(&path).unwrap();
            symlink(dir.path(), &path).unwrap();
            lchown(&path, Some(1), None).unwrap();
            assert!(is_own());
        }
        // The user's own symlink is an error to report: do not fall back to another folder.
        std::fs::remove_file(&path)
            .or_else(|_| std::fs::remove_dir(&path))
            .unwrap();
        symlink(dir.path(), &path).unwrap();
        assert!(matches!(default(), Err(JournalError::Symlink(_))));
    }
}

// A small file of this user's state, such as the person's grants.

/// A file in a folder for this user alone, which is checked like a journal's folder. The file is
/// replaced as a whole: a reader sees the old content or the new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFile {
    folder: PathBuf,
    name: &'static str,
}

impl StateFile {
    pub fn new(folder: PathBuf, name: &'static str) -> Self {
        Self { folder, name }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    /// The content; empty if there is no file.
    pub fn read(&self) -> Result<String> {
        let read = Folder::open_existing(&self.folder).and_then(|folder| {
            let file = folder.open_file(self.name, Open::Read)?;
            io::read_to_string(file).map_err(|error| folder.failed("read", self.name, error))
        });
        match read {
            Err(error) if error.is_missing() => Ok(String::new()),
            read => read,
        }
    }

    /// Replaces the content by the result of `change`. Meanwhile, no other process can change it.
    pub fn change<E: From<JournalError>>(
        &self,
        change: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<(), E> {
        let folder = Folder::open(&self.folder)?;
        let file = folder.lock_file(self.name)?;
        let old = io::read_to_string(&file);
        let old = old.map_err(|error| folder.failed("read", self.name, error))?;
        folder.put(self.name, change(&old)?.as_bytes())?;
        Ok(())
    }
}
