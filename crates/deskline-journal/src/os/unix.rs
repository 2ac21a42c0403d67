//! Accesses the folder by its descriptor: replacing its path later redirects no access.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

pub(crate) use std::os::unix::fs::FileExt as At;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, Timespec, Timestamps,
    UTIME_NOW,
};
use rustix::io::Errno;

use super::{Identity, Open};
use crate::{JournalError, Result};

/// A checked folder.
pub(crate) struct Handle {
    fd: OwnedFd,
    identity: (rustix::fs::Dev, u64),
}

/// Creates the folder for this user alone. An existing folder is no error.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

impl Handle {
    /// Opens a folder. Refuses a symlink, a folder of another user, and a folder that other users
    /// can access.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(errno) => return Err(why_not(path, errno)),
        };
        let stat = rustix::fs::fstat(&fd)
            .map_err(|errno| JournalError::io("look at the log", path, errno))?;
        let mode = stat.st_mode & 0o7777;
        if !is_own(&stat) {
            return Err(foreign(path, &stat));
        }
        if mode & 0o077 != 0 {
            return Err(JournalError::OpenToOthers {
                path: path.to_owned(),
                how: format!("mode {mode:04o}"),
                close: format!("chmod 700 {}", path.display()),
            });
        }
        Ok(Self {
            fd,
            identity: (stat.st_dev, stat.st_ino),
        })
    }

    /// Whether the path still leads to this folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.identity)
    }

    /// Opens the regular file `name`; never follows a symlink.
    pub(crate) fn file(&self, name: &str, open: Open) -> io::Result<File> {
        // NONBLOCK: without it, opening a FIFO would wait for its other end.
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let flags = flags
            | match open {
                Open::Read => OFlags::RDONLY,
                Open::Write | Open::Lock => OFlags::RDWR | OFlags::CREATE,
                Open::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            };
        let file = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?;
        let stat = rustix::fs::fstat(&file)?;
        if file_type(&stat) == FileType::RegularFile {
            Ok(file.into())
        } else {
            Err(Errno::INVAL.into())
        }
    }

    /// Renames a file; replaces a file that already has the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Sets the times of `name` to now.
    pub(crate) fn touch(&self, name: &str) -> io::Result<()> {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::utimensat(&self.fd, name, &times, flags)?)
    }

    /// The names in the folder, in no order. Skips names that are not UTF-8: all of ours are UTF-8.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for item in Dir::read_from(&self.fd)? {
            if let Ok(name) = item?.file_name().to_str() {
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

    /// Whether the folder no longer has this open file under its name.
    #[allow(clippy::unused_self)] // On Windows the name decides.
    pub(crate) fn is_replaced(&self, _name: &str, file: &File) -> io::Result<bool> {
        Ok(rustix::fs::fstat(file)?.st_nlink == 0)
    }
}

/// Locks the file against all other processes and threads until the file is dropped. `false` if
/// another process or thread has the lock.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// The path as agents get it.
pub(crate) fn readable(path: PathBuf) -> PathBuf {
    path
}

/// The journal's default place.
#[allow(clippy::unnecessary_wraps)] // On Windows the environment names it, which can fail.
pub(crate) fn default_path() -> io::Result<PathBuf> {
    Ok("/tmp/deskline".into())
}

/// The folder to use if the default one belongs to another user.
pub(crate) fn own_default(path: &Path) -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    format!("{}-{uid}", path.display()).into()
}

/// Why `path` could not be opened.
fn why_not(path: &Path, errno: Errno) -> JournalError {
    match rustix::fs::lstat(path) {
        Ok(stat) if !is_own(&stat) => foreign(path, &stat),
        Ok(stat) if file_type(&stat) == FileType::Symlink => JournalError::Symlink(path.to_owned()),
        Ok(stat) if file_type(&stat) != FileType::Directory => {
            JournalError::NotAFolder(path.to_owned())
        }
        _ => JournalError::io("open the log", path, errno),
    }
}

fn foreign(path: &Path, stat: &Stat) -> JournalError {
    JournalError::Foreign {
        path: path.to_owned(),
        owner: format!("uid {}", stat.st_uid),
    }
}

fn is_own(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}
