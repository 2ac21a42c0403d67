//! The program `deskline-grab`: its location, and whether it can be trusted.

use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::{fmt, io};

use deskline_unix::spawn;
use rustix::fs::OFlags;

/// The program's name.
pub const NAME: &str = "deskline-grab";

/// The paths at which an administrator, and a package, installs the program.
pub const INSTALLED: [&str; 2] = [
    "/usr/local/libexec/deskline-grab",
    "/usr/libexec/deskline-grab",
];

/// `S_ISGID`
const SETGID: u32 = 0o2000;

/// A program that only root can have installed, and whose setgid bit lets it read the devices.
///
/// The file stays open, so that exactly the checked file is started.
#[derive(Debug)]
pub struct Helper {
    path: PathBuf,
    program: File,
}

/// Why a file is not trusted.
#[derive(Debug, PartialEq, Eq)]
pub enum Distrust {
    /// No such file.
    Absent,
    /// Not owned by root, or writable by others, who could have replaced the program.
    NotRoots,
    /// Owned by root, but without the setgid bit that lets it read the devices.
    NoRight,
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "there is no such file",
            Self::NotRoots => "it is not owned by root, or others may write to it",
            Self::NoRight => "it is not setgid",
        })
    }
}

/// The path of `deskline-grab` beside the running program, as in a build or an archive. Does not
/// check whether the file can be trusted.
pub fn beside() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let folder = exe.parent()?;
    let places = [
        folder.join(NAME),
        folder.join("../libexec").join(NAME),
        folder.join("../lib/deskline").join(NAME),
    ];
    places.into_iter().find(|path| path.is_file())
}

impl Helper {
    /// The first installed program that can be trusted.
    pub fn find() -> Option<Self> {
        let installed = INSTALLED.map(PathBuf::from);
        let places = installed.into_iter().chain(beside());
        places.into_iter().find_map(|path| Self::at(&path).ok())
    }

    /// Opens the program at this path, and checks it.
    ///
    /// # Errors
    ///
    /// Why it cannot be trusted.
    pub fn at(path: &Path) -> Result<Self, Distrust> {
        let program = File::options()
            .read(true)
            .custom_flags((OFlags::PATH | OFlags::NOFOLLOW).bits().cast_signed())
            .open(path)
            .map_err(|_| Distrust::Absent)?;
        let facts = program.metadata().map_err(|_| Distrust::Absent)?;
        if !facts.is_file() {
            return Err(Distrust::Absent);
        }
        if facts.uid() != 0 || facts.mode() & 0o022 != 0 {
            return Err(Distrust::NotRoots);
        }
        if facts.mode() & SETGID == 0 {
            return Err(Distrust::NoRight);
        }
        Ok(Self {
            path: path.to_owned(),
            program,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts the program with this socket as its standard input.
    pub fn start(&self, orders: OwnedFd) -> io::Result<Child> {
        let mut command = Command::new(format!("/proc/self/fd/{}", self.program.as_raw_fd()));
        spawn::apart(&mut command).stdin(orders).spawn()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    #[test]
    fn only_a_setgid_program_of_root_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let why = |path: &Path| Helper::at(path).err();
        assert_eq!(why(&path), Some(Distrust::Absent));
        fs::write(&path, "").unwrap();
        let mode = |mode| fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        if rustix::process::getuid().is_root() {
            mode(0o755);
            assert_eq!(why(&path), Some(Distrust::NoRight));
            for writable in [0o2775, 0o2757] {
                mode(writable);
                assert_eq!(why(&path), Some(Distrust::NotRoots));
            }
            mode(0o2755);
            assert_eq!(why(&path), None);
            let link = folder.path().join("link");
            symlink(&path, &link).unwrap();
            assert_eq!(why(&link), Some(Distrust::Absent));
            chown(&path, Some(65534), None).unwrap();
        }
        // `chown` clears the bit.
        mode(0o2755);
        assert_eq!(why(&path), Some(Distrust::NotRoots));
        assert_eq!(why(folder.path()), Some(Distrust::Absent));
    }
}
