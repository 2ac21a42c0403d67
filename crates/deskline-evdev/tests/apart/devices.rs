//! Fake devices that several processes see: a folder with a file and a FIFO for each.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::{DirEntryExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use deskline_grab::device::{Device, Node, Opened, Source, Stroke};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags, fcntl_lock, mknodat};
use rustix::process::{Flock, FlockOffsetType, FlockType, Pid, fcntl_getlk, getuid};
use tempfile::TempDir;

pub(crate) struct Devices {
    path: PathBuf,
    /// `None` in the helper.
    _folder: Option<TempDir>,
}

pub(crate) fn uid() -> u32 {
    getuid().as_raw()
}

impl Devices {
    /// Creates devices at a seat where this user's session is in front.
    pub(crate) fn new(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let devices = Self {
            path: folder.path().to_owned(),
            _folder: Some(folder),
        };
        devices.make(uid(), names);
        devices
    }

    /// Creates the folder's files, for a helper of user `uid`.
    pub(crate) fn make(&self, uid: u32, names: &[&str]) {
        for name in ["grabs", "strokes", "seats", "presses"] {
            fs::create_dir_all(self.path.join(name)).unwrap();
        }
        self.seat(uid);
        for name in names {
            self.plug(name);
        }
    }

    pub(crate) fn in_folder(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            _folder: None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts this user's session in front, by an atomic rename as logind does.
    pub(crate) fn seat(&self, uid: u32) {
        let new = self.path.join("seats/.#seat0");
        fs::write(&new, format!("IS_SEAT0=1\nACTIVE=2\nACTIVE_UID={uid}\n")).unwrap();
        fs::rename(new, self.path.join("seats/seat0")).unwrap();
    }

    pub(crate) fn plug(&self, name: &str) {
        self.plug_as(name, "");
    }

    /// Plugs in a device that is neither keyboard nor pointer ("other") or may not be read
    /// ("closed"). It replaces a device of the same name.
    pub(crate) fn plug_as(&self, name: &str, kind: &str) {
        let _ = fs::remove_file(self.strokes(name));
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, self.strokes(name), FileType::Fifo, mode, 0).unwrap();
        let all = || Permissions::from_mode(0o666);
        fs::set_permissions(self.strokes(name), all()).unwrap();
        // The helper lists a device only when it is complete.
        let new = self.path.join("new");
        fs::write(&new, kind).unwrap();
        fs::set_permissions(&new, all()).unwrap();
        fs::rename(new, self.grab(name)).unwrap();
    }

    pub(crate) fn unplug(&self, name: &str) {
        fs::remove_file(self.grab(name)).unwrap();
        fs::remove_file(self.strokes(name)).unwrap();
    }

    fn strokes(&self, name: &str) -> PathBuf {
        self.path.join("strokes").join(name)
    }

    /// The person presses this key just before the next grab takes effect.
    pub(crate) fn press_in_grab(&self, name: &str, key: u32) {
        fs::write(self.path.join("presses").join(name), key.to_string()).unwrap();
    }

    pub(crate) fn will_be_pressed(&self, name: &str) -> bool {
        self.path.join("presses").join(name).exists()
    }

    fn grab(&self, name: &str) -> PathBuf {
        self.path.join("grabs").join(name)
    }

    /// The process that has grabbed the device.
    pub(crate) fn holder(&self, name: &str) -> Option<Pid> {
        let file = File::options().read(true).write(true).open(self.grab(name));
        let any = Flock {
            start: 0,
            length: 0,
            pid: None,
            typ: FlockType::WriteLock,
            offset_type: FlockOffsetType::Set,
        };
        fcntl_getlk(file.unwrap(), &any).unwrap()?.pid
    }

    pub(crate) fn grabbed(&self, name: &str) -> bool {
        self.holder(name).is_some()
    }

    fn writer(&self, name: &str) -> io::Result<File> {
        let nonblock = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = File::options();
        options
            .write(true)
            .custom_flags(nonblock)
            .open(self.strokes(name))
    }

    /// Whether the helper reads the device. A FIFO without a reader cannot be opened for writing.
    pub(crate) fn opened(&self, name: &str) -> bool {
        self.writer(name).is_ok()
    }

    /// The person presses or releases a key.
    pub(crate) fn stroke(&self, name: &str, key: u32, down: bool) {
        let [low, high, ..] = key.to_le_bytes();
        let mut writer = self.writer(name).unwrap();
        writer.write_all(&[low, high, u8::from(down)]).unwrap();
    }

    pub(crate) fn tap(&self, name: &str, key: u32) {
        self.stroke(name, key, true);
        self.stroke(name, key, false);
    }
}

impl Source for Devices {
    fn nodes(&self) -> io::Result<Vec<Node>> {
        let entries = fs::read_dir(self.path.join("grabs"))?;
        let node = |entry: io::Result<DirEntry>| {
            let entry = entry?;
            let name = entry.file_name().into_string().unwrap();
            let inode = entry.ino();
            Ok(Node { name, inode })
        };
        entries.map(node).collect()
    }

    fn open(&self, name: &str) -> Opened {
        match fs::read_to_string(self.grab(name)).as_deref() {
            Ok("") => {}
            Ok("other") => return Opened::Other,
            Ok(_) => return Opened::Closed,
            Err(_) => return Opened::Gone,
        }
        let open = |path: PathBuf| {
            let mut options = File::options();
            let nonblock = OFlags::NONBLOCK.bits().cast_signed();
            options.read(true).write(true).custom_flags(nonblock);
            options.open(path).unwrap()
        };
        Opened::Theirs(Box::new(Fake {
            grab: open(self.grab(name)),
            strokes: open(self.strokes(name)),
            press: self.path.join("presses").join(name),
            down: BTreeSet::new(),
        }))
    }
}

struct Fake {
    grab: File,
    strokes: File,
    press: PathBuf,
    down: BTreeSet<u32>,
}

impl Device for Fake {
    fn fd(&self) -> BorrowedFd<'_> {
        self.strokes.as_fd()
    }

    fn grab(&mut self) -> io::Result<()> {
        fcntl_lock(&self.grab, FlockOperation::NonBlockingLockExclusive)?;
        if let Ok(key) = fs::read_to_string(&self.press) {
            self.down.insert(key.parse().unwrap());
            fs::remove_file(&self.press).unwrap();
        }
        Ok(())
    }

    fn ungrab(&mut self) -> io::Result<()> {
        Ok(fcntl_lock(&self.grab, FlockOperation::Unlock)?)
    }

    fn down(&self) -> io::Result<BTreeSet<u32>> {
        Ok(self.down.clone())
    }

    fn strokes(&mut self) -> io::Result<Vec<Stroke>> {
        let mut bytes = [0; 3];
        let mut strokes = Vec::new();
        loop {
            match self.strokes.read(&mut bytes) {
                Ok(3) => {
                    let key = u32::from_le_bytes([bytes[0], bytes[1], 0, 0]);
                    let down = bytes[2] == 1;
                    if down {
                        self.down.insert(key);
                    } else {
                        self.down.remove(&key);
                    }
                    strokes.push(Stroke { key, down });
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(strokes),
                other => panic!("{other:?}"),
            }
        }
    }
}
