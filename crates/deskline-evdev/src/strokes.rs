//! What the person presses, read beside the compositor: no device is grabbed.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::time::Duration;

use deskline_grab::device::{InputFolder, Source as _, Stroke};
use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};

use crate::SLICE;

/// The size of a `struct input_event`: two words of time, type, code and value.
const SIZE: usize = TYPE + 8;
const TYPE: usize = 2 * size_of::<usize>();

/// `EV_KEY`
const KEY: [u8; 2] = 1_u16.to_ne_bytes();

/// The devices that exist now.
#[derive(Debug)]
pub struct Strokes(Vec<File>);

impl Strokes {
    /// Opens the devices of `/dev/input`.
    ///
    /// # Errors
    /// [`ErrorKind::PermissionDenied`] if this user may not read one, [`ErrorKind::NotFound`] if
    /// there is none.
    pub fn open() -> io::Result<Self> {
        let folder = InputFolder::system();
        let files = folder
            .nodes()?
            .into_iter()
            .map(|node| folder.file(&node.name));
        let files = files.map(|file| file.map(File::from));
        let files = files.collect::<io::Result<Vec<File>>>()?;
        if files.is_empty() {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(Self(files))
    }

    /// The next keys and buttons that go down or up, waited for at most this long, and no longer
    /// than between two checks of a cancel flag.
    ///
    /// # Errors
    /// All devices are gone.
    pub fn next(&mut self, limit: Duration) -> io::Result<Vec<Stroke>> {
        let fds = self.0.iter().map(|file| PollFd::new(file, PollFlags::IN));
        wait::any(&mut fds.collect::<Vec<_>>(), Some(limit.min(SLICE)))?;
        let mut strokes = Vec::new();
        self.0.retain_mut(|device| {
            loop {
                // The kernel writes whole events.
                let mut event = [0; SIZE];
                match device.read(&mut event) {
                    Ok(SIZE) => strokes.extend(stroke(&event)),
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                    _ => return false,
                }
            }
        });
        if self.0.is_empty() {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(strokes)
    }
}

fn stroke(event: &[u8; SIZE]) -> Option<Stroke> {
    let (kind, rest) = event[TYPE..].split_first_chunk::<2>()?;
    let (code, value) = rest.split_first_chunk::<2>()?;
    let value = u32::from_ne_bytes(*value.first_chunk()?);
    // 2 is a repeat.
    (*kind == KEY && value < 2).then(|| Stroke {
        key: u16::from_ne_bytes(*code).into(),
        down: value == 1,
    })
}
