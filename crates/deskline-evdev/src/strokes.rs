//! Reads, without grabbing a device, what the person presses. The compositor receives it too.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::mem;
use std::time::Duration;

use deskline_grab::device::{InputFolder, Source as _, Stroke};
use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};

use crate::SLICE;

/// The size of a `struct input_event`: a time of two words, then type, code and value.
const SIZE: usize = TYPE + 8;
const TYPE: usize = 2 * size_of::<usize>();

/// `EV_KEY`
const KEY: u16 = 1;

/// `EV_REL`, and its last axis that is not a wheel's (`REL_Y`).
const MOTION: u16 = 2;
const LAST: u16 = 1;

/// The input devices that existed when [`Strokes::open`] was called.
#[derive(Debug)]
pub struct Strokes {
    files: Vec<File>,
    /// How far mice have moved since the last stroke.
    moved: u32,
}

impl Strokes {
    /// Opens the devices of `/dev/input`.
    ///
    /// # Errors
    /// [`ErrorKind::PermissionDenied`] if this user may not read one of the devices,
    /// [`ErrorKind::NotFound`] if there is no device.
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
        Ok(Self { files, moved: 0 })
    }

    /// The keys and buttons that go down or up next, each with how far mice have moved since the
    /// stroke before it, in the mice's own units. Waits at most `limit`, and never longer than
    /// `SLICE`, so that the caller can check a cancel flag.
    ///
    /// # Errors
    /// All devices are gone.
    pub fn next(&mut self, limit: Duration) -> io::Result<Vec<(Stroke, u32)>> {
        let fds = self
            .files
            .iter()
            .map(|file| PollFd::new(file, PollFlags::IN));
        wait::any(&mut fds.collect::<Vec<_>>(), Some(limit.min(SLICE)))?;
        let mut strokes = Vec::new();
        self.files.retain_mut(|device| {
            loop {
                // The kernel writes whole events.
                let mut event = [0; SIZE];
                match device.read(&mut event) {
                    Ok(SIZE) => match decoded(&event) {
                        // A value of 2 is a key repeat.
                        Some((KEY, key, value @ (0 | 1))) => {
                            let (key, down) = (key.into(), value == 1);
                            strokes.push((Stroke { key, down }, mem::take(&mut self.moved)));
                        }
                        Some((MOTION, ..=LAST, by)) => {
                            self.moved = self.moved.saturating_add(by.unsigned_abs());
                        }
                        _ => {}
                    },
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return true,
                    _ => return false,
                }
            }
        });
        if self.files.is_empty() {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(strokes)
    }
}

/// An event's type, code and value.
fn decoded(event: &[u8; SIZE]) -> Option<(u16, u16, i32)> {
    let (kind, rest) = event[TYPE..].split_first_chunk()?;
    let (code, value) = rest.split_first_chunk()?;
    let [kind, code] = [kind, code].map(|bytes| u16::from_ne_bytes(*bytes));
    Some((kind, code, i32::from_ne_bytes(*value.first_chunk()?)))
}
