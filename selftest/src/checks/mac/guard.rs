//! What the guard's checks need of macOS. The self-test posts the person's events without a tag.

use std::time::Duration;

use deskline_link::Desktop;
use deskline_macos::MacDesktop;
use deskline_macos::os::{Event, Os, TAG, Value};

use super::super::guard::{Key, Keyboard, Who};
use super::super::sheet::{Miss, within};

/// A key that gives a letter in every layout (`kVK_ANSI_X`).
const LETTER: u16 = 7;
/// `kVK_Escape`
const ESCAPE: u16 = 53;

/// The length of the focused text in an app.
pub(super) fn length<O: Os>(os: &O, pid: u32) -> Result<usize, Miss> {
    let focused = os.element(&os.application(pid), "AXFocusedUIElement");
    match os.attribute(&focused.ok_or("nothing has the keyboard")?, "AXValue")? {
        Value::Text { units, .. } => Ok(units),
        _ => Err("what has the keyboard has no text".into()),
    }
}

/// Whether a text has grown by the length of `by`.
pub(super) fn grew(before: Result<usize, Miss>, now: Result<usize, Miss>, by: &str) -> bool {
    before.is_ok_and(|n| now.is_ok_and(|now| now == n + by.len()))
}

pub(super) struct Keys<O: Os> {
    pub(super) os: O,
    pub(super) desktop: MacDesktop<O>,
    /// The app that has the keyboard, and the length of its text at the last `forget`.
    pub(super) pid: u32,
    pub(super) had: usize,
}

impl<O: Os> Keyboard for Keys<O> {
    fn desktop(&mut self) -> &mut dyn Desktop {
        &mut self.desktop
    }

    fn press(&mut self, who: Who, key: Key) -> Result<(), Miss> {
        let tag = if who == Who::Ours { TAG } else { 0 };
        let code = if key == Key::Escape { ESCAPE } else { LETTER };
        for down in [true, false] {
            let event = Event::Key {
                code,
                down,
                flags: 0,
            };
            self.os.post(&event, tag)?;
        }
        Ok(())
    }

    fn forget(&mut self) -> Result<(), Miss> {
        self.had = length(&self.os, self.pid)?;
        Ok(())
    }

    fn hears(&mut self, time: Duration) -> Result<bool, Miss> {
        let changed = || match length(&self.os, self.pid) {
            Ok(now) => (now != self.had).then_some(Ok(true)),
            Err(why) => Some(Err(why)),
        };
        within(time, changed).unwrap_or(Ok(false))
    }
}
