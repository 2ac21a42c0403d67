//! A checked folder, held open by its descriptor. All access goes through the descriptor, so
//! replacing the path later redirects nothing.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, Timespec, Timestamps,
    UTIME_NOW,
};
use rustix::io::Errno;

use crate::JournalError;

/// Locks are normally held for microseconds, and for milliseconds while the log is rewritten. After
/// this long the holder must be a stopped process.
const LOCK_WAIT: Duration = Duration::from_secs(1);
const TEMPORARY: &str = ".deskline-";

pub(crate) struct Folder {
    path: PathBuf,
    fd: OwnedFd,
    identity: (rustix::fs::Dev, u64),
}

impl Folder {
    /// Opens the folder at `path`; creates it with mode 0700 if there is none. Refuses a symlink, a
    /// folder of another user, and one that is open to others.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let fail = |doing, errno: Errno| JournalError::io(doing, path, errno);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|error| JournalError::io("create the folder", parent, error))?;
        }
        match rustix::fs::mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(fail("create the journal", errno)),
        }
        Self::open_existing(path)
    }

    /// As [`Folder::open`]; a missing folder is an error.
    pub(crate) fn open_existing(path: &Path) -> Result<Self, JournalError> {
        let fail = |doing, errno: Errno| JournalError::io(doing, path, errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(errno) => return Err(Self::why_not(path, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| fail("look at the journal", errno))?;
        let mode = stat.st_mode & 0o7777;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(JournalError::Foreign {
                path: path.to_owned(),
                uid: stat.st_uid,
            });
        }
        if mode & 0o077 != 0 {
            return Err(JournalError::OpenToOthers {
                path: path.to_owned(),
                mode,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            fd,
            identity: identity(&stat),
        })
    }

    /// Why `path` could not be opened.
    fn why_not(path: &Path, errno: Errno) -> JournalError {
        let path = path.to_owned();
        match rustix::fs::lstat(&path) {
            Ok(stat) if stat.st_uid != rustix::process::geteuid().as_raw() => {
                JournalError::Foreign {
                    path,
                    uid: stat.st_uid,
                }
            }
            Ok(stat) if file_type(&stat) == FileType::Symlink => JournalError::Symlink(path),
            Ok(stat) if file_type(&stat) != FileType::Directory => JournalError::NotAFolder(path),
            _ => JournalError::io("open the journal", &path, errno),
        }
    }

    /// Whether the path still leads to this folder.
    pub(crate) fn is_current(&self) -> bool {
        rustix::fs::statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| identity(&stat) == self.identity)
    }

    /// Opens the regular file `name`; never follows a symlink.
    pub(crate) fn open_file(&self, name: &str, flags: OFlags) -> Result<File, JournalError> {
        // NONBLOCK: opening a FIFO would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| self.failed("open", name, errno))?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| self.failed("open", name, errno))?;
        if file_type(&stat) == FileType::RegularFile {
            Ok(file.into())
        } else {
            Err(self.failed("use", name, Errno::INVAL))
        }
    }

    /// Opens `name` for reading and writing, creates it if there is none, and locks it against all
    /// other processes and threads until the file is dropped. If the file was replaced during the
    /// wait, locks its successor.
    pub(crate) fn lock_file(&self, name: &str, flags: OFlags) -> Result<File, JournalError> {
        let end = Instant::now() + LOCK_WAIT;
        loop {
            let file = self.open_file(name, flags | OFlags::RDWR | OFlags::CREATE)?;
            loop {
                match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => break,
                    // Poll: flock has no timeout.
                    Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    Err(Errno::WOULDBLOCK | Errno::INTR) => {
                        return Err(JournalError::Busy(self.path.join(name)));
                    }
                    Err(errno) => return Err(self.failed("lock", name, errno)),
                }
            }
            let stat =
                rustix::fs::fstat(&file).map_err(|errno| self.failed("lock", name, errno))?;
            if stat.st_nlink > 0 {
                return Ok(file);
            }
            if Instant::now() >= end {
                return Err(JournalError::Busy(self.path.join(name)));
            }
        }
    }

    /// Writes `name` atomically: readers see the old content or all of the new.
    pub(crate) fn put(&self, name: &str, content: &[u8]) -> Result<(), JournalError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let pid = std::process::id();
        let (temporary, mut file) = loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = format!("{TEMPORARY}{pid}-{count}.tmp");
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            match self.open_file(&temporary, flags) {
                Ok(file) => break (temporary, file),
                // Left by a killed process, or by one with this pid in another container.
                Err(JournalError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(JournalError::Io { source, .. }) => {
                    return Err(JournalError::io("write", &self.path.join(name), source));
                }
                Err(error) => return Err(error),
            }
        };
        let done = file.write_all(content).and_then(|()| {
            rustix::fs::renameat(&self.fd, &temporary, &self.fd, name).map_err(Into::into)
        });
        done.map_err(|error| {
            let _ = self.remove(&temporary);
            JournalError::io("write", &self.path.join(name), error)
        })
    }

    /// Removes `name`. A missing file is no error.
    pub(crate) fn remove(&self, name: &str) -> Result<(), JournalError> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.failed("remove", name, errno)),
        }
    }

    /// The names in the folder, in no order. Skips names that are not UTF-8: none of ours are.
    pub(crate) fn names(&self) -> Result<Vec<String>, JournalError> {
        let fail = |errno| JournalError::io("list", &self.path, errno);
        let mut names = Vec::new();
        for item in Dir::read_from(&self.fd).map_err(fail)? {
            if let Ok(name) = item.map_err(fail)?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// The size in bytes and modification time (seconds since the epoch) of the regular file
    /// `name`; `None` if there is none.
    pub(crate) fn regular(&self, name: &str) -> Option<(u64, u64)> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (file_type(&stat) == FileType::RegularFile).then(|| {
            (
                u64::try_from(stat.st_size).unwrap_or(0),
                u64::try_from(stat.st_mtime).unwrap_or(0),
            )
        })
    }

    /// Sets the times of `name` to now. A missing file is no error.
    pub(crate) fn touch(&self, name: &str) -> Result<(), JournalError> {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        match rustix::fs::utimensat(&self.fd, name, &times, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.failed("mark", name, errno)),
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

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn identity(stat: &Stat) -> (rustix::fs::Dev, u64) {
    (stat.st_dev, stat.st_ino)
}
