//! Pastes a text: the person's clipboard is saved, lent to the agent until the app has read the
//! text, and given back before the guard opens.

use std::time::Duration;

use super::action::Act;
use crate::clipboard::READS;
use crate::error::{Error, NoEffect, Result};
use crate::secrecy::Way;
use deskline_input::clock::Instant;

/// How long an app may be busy inserting a text that it has read. GTK 3's text view takes seconds
/// for some megabytes.
const INSERTS: Duration = Duration::from_secs(10);

impl Act<'_, '_> {
    /// Pastes into the focused element. The caller has saved the clipboard.
    ///
    /// # Errors
    ///
    /// [`NoEffect::ClipboardUnread`] if the app has not read the clipboard in time.
    pub(super) fn paste(&mut self, text: &str) -> Result<()> {
        let terminal = self.step.keys.before.as_ref();
        let terminal = terminal.is_some_and(|witness| witness.terminal);
        self.step.done.underway = false;
        self.desk.lend_clipboard(text, self.pid)?;
        if terminal {
            // GNOME's terminal ignores the paste keys until it knows what is on the clipboard.
            self.pause()?;
        }
        let press = self.desk.clipboard()?.keys(terminal);
        self.step.keys.way = Way::Pasted;
        self.step.done.underway = true;
        self.desk.press_key(press, Duration::ZERO)?;
        if !self.desk.clipboard()?.await_reader(self.cancel)? {
            self.desk.give_back_clipboard()?;
            self.step.done.underway = false;
            self.step.done.key(press);
            return Err(Error::from(NoEffect::ClipboardUnread {
                press,
                waited: READS,
            }));
        }
        // The app may request the text a second time, and insert it some time after that.
        let until = Instant::now() + INSERTS;
        while let Err(e) = self.pause() {
            if !matches!(e, Error::NotAnswering { .. }) || Instant::now() >= until {
                return Err(e);
            }
        }
        self.desk.give_back_clipboard()?;
        self.step.done.text("pasted", text);
        Ok(())
    }
}
