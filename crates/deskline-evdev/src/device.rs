//! The person's devices: what the guard needs of one, and those of `/dev/input`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;

use evdev::raw_stream::RawDevice;
use evdev::{EventSummary, KeyCode};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// A key or button that went down or up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    /// `KEY_*` or `BTN_*` of `linux/input-event-codes.h`.
    pub(crate) key: u16,
    pub(crate) down: bool,
}

/// A keyboard or a pointer.
pub(crate) trait Device: Send {
    /// Readable while there are strokes.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Takes the device's events away from every other process. [`io::ErrorKind::ResourceBusy`] if
    /// another process has done so.
    fn grab(&mut self) -> io::Result<()>;

    fn ungrab(&mut self) -> io::Result<()>;

    /// The keys and buttons that are down.
    fn down(&self) -> io::Result<BTreeSet<u16>>;

    /// The strokes since the last call. Does not wait.
    fn strokes(&mut self) -> io::Result<Vec<Stroke>>;
}

/// What is behind the name of a device.
pub(crate) enum Opened {
    Theirs(Box<dyn Device>),
    /// It is neither a keyboard nor a pointer.
    Other,
    /// This user may not read it.
    Closed,
    /// It is gone.
    Gone,
}

/// Where the devices are.
pub(crate) trait Source: Send {
    /// The names of all devices.
    fn names(&self) -> io::Result<Vec<String>>;

    fn open(&self, name: &str) -> Opened;
}

/// The folder of the kernel's event devices.
pub(crate) struct InputFolder(PathBuf);

impl InputFolder {
    pub(crate) fn system() -> Self {
        Self("/dev/input".into())
    }
}

impl Source for InputFolder {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            names.extend(
                name.to_str()
                    .filter(|n| n.starts_with("event"))
                    .map(str::to_owned),
            );
        }
        Ok(names)
    }

    fn open(&self, name: &str) -> Opened {
        match open(&self.0.join(name)) {
            Ok(device) if is_theirs(&device) => Opened::Theirs(Box::new(device)),
            Ok(_) => Opened::Other,
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Opened::Closed,
            Err(_) => Opened::Gone,
        }
    }
}

fn open(path: &std::path::Path) -> io::Result<RawDevice> {
    let device = RawDevice::open(path)?;
    let flags = fcntl_getfl(&device)?;
    fcntl_setfl(&device, flags | OFlags::NONBLOCK)?;
    Ok(device)
}

/// A keyboard has letters, a pointer has a main button or is touched. A power button or a lid has
/// neither, and stays the system's.
fn is_theirs(device: &RawDevice) -> bool {
    let keys = [
        KeyCode::KEY_A,
        KeyCode::KEY_ENTER,
        KeyCode::BTN_LEFT,
        KeyCode::BTN_TOUCH,
    ];
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

    fn down(&self) -> io::Result<BTreeSet<u16>> {
        Ok(self.get_key_state()?.iter().map(|key| key.0).collect())
    }

    fn strokes(&mut self) -> io::Result<Vec<Stroke>> {
        let events = match self.fetch_events() {
            Ok(events) => events,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let stroke = |event: evdev::InputEvent| match event.destructure() {
            // 2 is a repeat.
            EventSummary::Key(_, key, value @ (0 | 1)) => Some(Stroke {
                key: key.0,
                down: value == 1,
            }),
            _ => None,
        };
        Ok(events.filter_map(stroke).collect())
    }
}

/// What is in `/dev/input`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// How many keyboards and pointers this user may read.
    pub readable: usize,
    /// How many devices, of whatever kind, this user may not read.
    pub closed: usize,
}

impl Seen {
    /// Whether all of the person's devices can be grabbed.
    pub fn can_guard(&self) -> bool {
        self.readable > 0 && self.closed == 0
    }
}

/// Counts the devices. Grabs nothing and reads no event.
pub fn look() -> Seen {
    count(&InputFolder::system())
}

pub(crate) fn count(source: &dyn Source) -> Seen {
    let mut seen = Seen::default();
    for name in source.names().unwrap_or_default() {
        match source.open(&name) {
            Opened::Theirs(_) => seen.readable += 1,
            Opened::Closed => seen.closed += 1,
            Opened::Other | Opened::Gone => {}
        }
    }
    seen
}
