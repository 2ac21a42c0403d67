//! The limits of apps that read keys: how fast they read, and which characters they accept.

use std::fs;
use std::time::{Duration, Instant};

use deskline_contract::Result;
use deskline_input::{Cancel, Gap};
use deskline_unix::unread::Unread;

/// How many bytes an app may leave unread while more keys are sent: the size of about 40 events.
/// sway before 1.11 (swaywm/sway#8532) and labwc before labwc/labwc#3400 disconnect an app that
/// leaves about 200 events unread.
const UNREAD: u32 = 1_024;

/// How long an app may read nothing before it counts as hung.
const READS: Duration = Duration::from_secs(2);

/// How often to check whether the app has read its input.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until the app has read most of its input. `false` if it reads nothing for 2 s.
pub(crate) fn await_reader(app: &Unread, cancel: &Cancel) -> Result<bool> {
    let (mut last, mut since) = (u32::MAX, Instant::now());
    while let Some(unread) = app.bytes().filter(|unread| *unread > UNREAD) {
        if unread < last {
            (last, since) = (unread, Instant::now());
        }
        if since.elapsed() > READS {
            return Ok(false);
        }
        cancel.wait(LOOK)?;
    }
    Ok(true)
}

/// The end of the path of a file that processes of Chromium and Electron have mapped.
pub(crate) const CHROMIUM: &str = "/icudtl.dat";

/// The files that a process has mapped.
pub(crate) fn maps(pid: u32) -> String {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&maps).into_owned()
}

/// The positions, counted from 1, of characters that the app does not accept from a key.
pub(crate) fn refused(text: &[char], pid: u32) -> Option<(Vec<usize>, Gap)> {
    let above = Gap::AboveFfff.of(text, |char| char.len_utf16() == 1);
    // Chromium 156: U+1F600 arrives as U+F600 (electron/electron#49894).
    above.filter(|_| maps(pid).contains(CHROMIUM))
}
