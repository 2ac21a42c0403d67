//! A text on its way to an app: in parts, no faster than the app reads, and only the characters
//! that it takes.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use deskline_link::{Aim, Cancel, Error, Result};
use deskline_unix::unread::Unread;

use crate::compositor::Parts;
use crate::wlroots::keyboard;

/// How many bytes an app may have left unread before more keys go in: about 40 events. sway ends
/// the connection of an app that leaves some 200.
const UNREAD: u32 = 1_024;

/// How long an app may read nothing of them.
const READS: Duration = Duration::from_secs(2);

/// How often to look.
const LOOK: Duration = Duration::from_millis(5);

/// A text on its way to an app, which is sent part by part.
pub(crate) struct Typing {
    pub(crate) text: Vec<char>,
    lengths: Vec<usize>,
    /// What the app has not read yet, where that matters and can be known.
    unread: Option<Unread>,
}

impl Typing {
    /// A text for the app that is aimed at. `socket` is where its compositor listens, if that ends
    /// the connection of an app that leaves too much unread.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it holds a character that cannot be typed.
    pub(crate) fn new(
        text: &str,
        parts: Parts,
        aim: Option<Aim>,
        socket: Option<&Path>,
    ) -> Result<Self> {
        let text = keyboard::typeable(text)?;
        let unread = match (aim, socket) {
            (Some(aim), Some(socket)) => {
                check_takes(&text, aim.pid)?;
                Unread::find(aim.pid, socket)
            }
            _ => None,
        };
        Ok(Self {
            lengths: lengths(&text, parts),
            text,
            unread,
        })
    }

    /// The parts, each with how far the text has come before it, for an error.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&[char], String)> {
        let (mut rest, of) = (self.text.as_slice(), self.text.len());
        self.lengths.iter().map(move |length| {
            let so_far = typed_so_far(of - rest.len(), of);
            let (part, after) = rest.split_at(*length);
            rest = after;
            (part, so_far)
        })
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
fn check_takes(text: &[char], pid: u32) -> Result<()> {
    let cut = text.iter().position(|c| c.len_utf16() > 1);
    match cut.filter(|_| maps(pid).contains(CHROMIUM)) {
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

/// The lengths of a text's parts: each ends after a word, unless that is too long.
fn lengths(text: &[char], Parts { least, most }: Parts) -> Vec<usize> {
    let (mut lengths, mut length) = (Vec::new(), 0);
    for char in text {
        length += 1;
        if length >= most || length >= least && char.is_whitespace() {
            lengths.push(std::mem::take(&mut length));
        }
    }
    lengths.extend(Some(length).filter(|length| *length > 0));
    lengths
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_parted_after_words() {
        let lengths = |text: &str, least, most| {
            let text: Vec<char> = text.chars().collect();
            lengths(&text, Parts { least, most })
        };
        assert_eq!(lengths("short", 48, 80), [5]);
        assert_eq!(lengths("", 48, 80), [0_usize; 0]);
        assert_eq!(lengths(&"word ".repeat(20), 48, 80), [50, 50]);
        assert_eq!(lengths(&"x".repeat(170), 48, 80), [80, 80, 10]);
        assert_eq!(lengths("in short parts", 8, 8), [8, 6]);
    }

    #[test]
    fn each_part_has_how_far_the_text_has_come() {
        let typing = Typing::new("in short parts", Parts::SHORT, None, None).unwrap();
        let parts: Vec<(String, String)> = typing
            .parts()
            .map(|(part, so_far)| (part.iter().collect(), so_far))
            .collect();
        let part = |text: &str, so_far: &str| (text.to_owned(), so_far.to_owned());
        assert_eq!(
            parts,
            [
                part("in short", "Nothing was typed"),
                part(" parts", "The first 8 of 14 characters were typed"),
            ]
        );
    }
}
