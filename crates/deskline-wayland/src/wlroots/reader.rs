//! What apps take of keys: no faster than they read, and which characters.

use std::fs;
use std::time::{Duration, Instant};

use deskline_link::{Cancel, Error, Result};
use deskline_unix::unread::Unread;

/// How many characters go in between two looks at who has the keyboard, and at what the app has read.
pub(crate) const PART: usize = 8;

/// How many bytes an app may have left unread before more keys go in: about 40 events. sway ends the
/// connection of an app that leaves some 200.
const UNREAD: u32 = 1_024;

/// How long an app may read nothing of them.
const READS: Duration = Duration::from_secs(2);

/// How often to look.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until the app has read what was sent to it. `so_far` says how far the input came.
pub(crate) fn await_reader(
    app: &Unread,
    so_far: impl Fn() -> String,
    cancel: &Cancel,
) -> Result<()> {
    let (mut last, mut since) = (u32::MAX, Instant::now());
    while let Some(unread) = app.bytes().filter(|unread| *unread > UNREAD) {
        if unread < last {
            (last, since) = (unread, Instant::now());
        }
        if since.elapsed() > READS {
            return Err(Error::Input(format!(
                "the app has read no input for 2 s, and more would end it. {}. Use wait_for or refresh_traversal until it answers, then go on from there",
                so_far()
            )));
        }
        cancel.wait(LOOK)?;
    }
    Ok(())
}

/// A file that a process of Chromium or Electron has mapped.
pub(crate) const CHROMIUM: &str = "/icudtl.dat";

/// The files that a process has mapped.
pub(crate) fn maps(pid: u32) -> String {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&maps).into_owned()
}

/// An error if the app does not take a character of this text.
pub(crate) fn check_takes(text: &[char], pid: Option<u32>) -> Result<()> {
    let cut = text.iter().find(|c| c.len_utf16() > 1);
    match cut.filter(|_| pid.is_some_and(|pid| maps(pid).contains(CHROMIUM))) {
        // Measured with Chromium 156: U+1F600 arrives as U+F600.
        Some(cut) => Err(Error::Input(format!(
            "Chromium and Electron take no {cut:?} from a key on Wayland, nor any character above U+FFFF; nothing was typed. Leave it out, or paste it"
        ))),
        None => Ok(()),
    }
}

/// How far a text has come, for an error.
pub(crate) fn typed_so_far(typed: usize, of: usize) -> String {
    match typed {
        0 => "Nothing was typed".to_owned(),
        typed => format!("The first {typed} of {of} characters were typed"),
    }
}
