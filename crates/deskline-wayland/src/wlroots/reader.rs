//! What apps take of keys: no faster than they read, and which characters.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use deskline_link::{Aim, Cancel, Error, Result};
use deskline_unix::unread::Unread;

use crate::wlroots::keyboard;

/// How many characters go in between two looks at who has the keyboard, and at what the app has read.
const PART: usize = 8;

/// How many bytes an app may have left unread before more keys go in: about 40 events. sway ends the
/// connection of an app that leaves some 200.
const UNREAD: u32 = 1_024;

/// How long an app may read nothing of them.
const READS: Duration = Duration::from_secs(2);

/// How often to look.
const LOOK: Duration = Duration::from_millis(5);

/// A text on its way to an app, which is sent part by part.
pub(crate) struct Typing {
    pub(crate) text: Vec<char>,
    /// What the app has not read yet, where that can be known.
    unread: Option<Unread>,
}

impl Typing {
    /// A text for the app that is aimed at, whose compositor listens on `socket`.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it holds a character that cannot be typed.
    pub(crate) fn of(text: &str, aim: Option<Aim>, socket: &Path) -> Result<Self> {
        let text = keyboard::typeable(text)?;
        check_takes(&text, aim.map(|aim| aim.pid))?;
        let unread = aim.and_then(|aim| Unread::find(aim.pid, socket));
        Ok(Self { text, unread })
    }

    /// The parts, each with how far the text has come before it, for an error.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&[char], String)> {
        let of = self.text.len();
        let parts = self.text.chunks(PART).enumerate();
        parts.map(move |(number, part)| (part, typed_so_far(number * PART, of)))
    }

    /// Waits until the app has read what was sent to it. `so_far` says how far the text has come.
    pub(crate) fn await_reader(&self, so_far: &str, cancel: &Cancel) -> Result<()> {
        let Some(app) = &self.unread else {
            return Ok(());
        };
        let (mut last, mut since) = (u32::MAX, Instant::now());
        while let Some(unread) = app.bytes().filter(|unread| *unread > UNREAD) {
            if unread < last {
                (last, since) = (unread, Instant::now());
            }
            if since.elapsed() > READS {
                return Err(Error::Input(format!(
                    "the app has read no input for 2 s, and more would end it. {so_far}. Use wait_for or refresh_traversal until it answers, then go on from there"
                )));
            }
            cancel.wait(LOOK)?;
        }
        Ok(())
    }
}

/// A file that a process of Chromium or Electron has mapped.
pub(crate) const CHROMIUM: &str = "/icudtl.dat";

/// The files that a process has mapped.
pub(crate) fn maps(pid: u32) -> String {
    let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&maps).into_owned()
}

/// An error if the app does not take a character of this text.
fn check_takes(text: &[char], pid: Option<u32>) -> Result<()> {
    let cut = text.iter().position(|c| c.len_utf16() > 1);
    match cut.filter(|_| pid.is_some_and(|pid| maps(pid).contains(CHROMIUM))) {
        // Measured with Chromium 156: U+1F600 arrives as U+F600.
        Some(cut) => Err(Error::Input(format!(
            "Chromium and Electron take no character above U+FFFF from a key on Wayland, as character {} of the text is; nothing was typed. Leave it out, or use set_value_and_traverse",
            cut + 1
        ))),
        None => Ok(()),
    }
}

/// How far a text has come, for an error.
fn typed_so_far(typed: usize, of: usize) -> String {
    match typed {
        0 => "Nothing was typed".to_owned(),
        typed => format!("The first {typed} of {of} characters were typed"),
    }
}
