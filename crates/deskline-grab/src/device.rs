//! The person's devices: the trait that the guard needs, and the devices of `/dev/input`.

use std::collections::BTreeSet;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirEntryExt as _;
use std::path::PathBuf;
use std::{fs, io};

use evdev::raw_stream::RawDevice;
use evdev::{EventSummary, KeyCode};
use rustix::fs::{Mode, OFlags};

/// A key or button that went down or up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    /// `KEY_*` or `BTN_*` of `linux/input-event-codes.h`.
    pub key: u32,
    /// Whether the key or button went down. `false` if it went up.
    pub down: bool,
}

/// A keyboard or a pointer.
pub trait Device: Send {
    /// A descriptor that is readable while there are strokes.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Takes the device's events away from every other process. [`io::ErrorKind::ResourceBusy`] if
    /// another process has grabbed the device.
    fn grab(&mut self) -> io::Result<()>;

    /// Gives the device's events back to the other processes.
    fn ungrab(&mut self) -> io::Result<()>;

    /// The keys and buttons that are down.
    fn down(&self) -> io::Result<BTreeSet<u32>>;

    /// The strokes since the last call. Does not wait.
    fn strokes(&mut self) -> io::Result<Vec<Stroke>>;
}

/// The result of opening a device.
pub enum Opened {
    /// One of the person's devices.
    Theirs(Box<dyn Device>),
    /// The device is neither a keyboard nor a pointer.
    Other,
    /// This user may not read the device.
    Closed,
    Gone,
}

/// The node of a device. The kernel reuses the names of unplugged devices, but not their inodes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// The file name.
    pub name: String,
    pub inode: u64,
}

/// Lists and opens devices.
pub trait Source {
    fn nodes(&self) -> io::Result<Vec<Node>>;

    fn open(&self, name: &str) -> Opened;
}

/// The folder of the kernel's event devices.
#[derive(Debug)]
pub struct InputFolder(PathBuf);

impl InputFolder {
    /// `/dev/input`.
    pub fn system() -> Self {
        Self("/dev/input".into())
    }

    /// Opens a device for reading only: a process that may write to it could type.
    ///
    /// # Errors
    /// Those of opening a file.
    pub fn file(&self, name: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(rustix::fs::open(self.0.join(name), flags, Mode::empty())?)
    }
}

impl Source for InputFolder {
    fn nodes(&self) -> io::Result<Vec<Node>> {
        let mut nodes = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let name = name.ok().filter(|name| name.starts_with("event"));
            let inode = entry.ino();
            nodes.extend(name.map(|name| Node { name, inode }));
        }
        Ok(nodes)
    }

    fn open(&self, name: &str) -> Opened {
        match self.file(name).and_then(RawDevice::from_fd) {
            Ok(device) if is_theirs(&device) => Opened::Theirs(Box::new(device)),
            Ok(_) => Opened::Other,
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Opened::Closed,
            Err(_) => Opened::Gone,
        }
    }
}

/// Whether the device is a keyboard (it has letters) or a pointer (it has a left button, or reports
/// touches). Power buttons and lid switches are never grabbed.
fn is_theirs(device: &RawDevice) -> bool {
    let [letter, enter] = [KeyCode::KEY_A, KeyCode::KEY_ENTER];
    let keys = [letter, enter, KeyCode::BTN_LEFT, KeyCode::BTN_TOUCH];
    let supported = device.supported_keys();
    supported.is_some_and(|supported| keys.iter().any(|key| supported.contains(*key)))
}

impl Device for RawDevice {
    fn fd(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn grab(&mut self) -> io::Result<()> {
        RawDevice::grab(self)
    }

    fn ungrab(&mut self) -> io::Result<()> {
        RawDevice::ungrab(self)
    }

    fn down(&self) -> io::Result<BTreeSet<u32>> {
        let down = self.get_key_state()?;
        Ok(down.iter().map(|key| key.0.into()).collect())
    }

    fn strokes(&mut self) -> io::Result<Vec<Stroke>> {
        let events = match self.fetch_events() {
            Ok(events) => events,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let stroke = |event: evdev::InputEvent| match event.destructure() {
            // The value 2 is a repeat of a held key.
            EventSummary::Key(_, key, value @ (0 | 1)) => Some(Stroke {
                key: key.0.into(),
                down: value == 1,
            }),
            _ => None,
        };
        Ok(events.filter_map(stroke).collect())
    }
}
