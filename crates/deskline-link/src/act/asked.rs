//! With `--ask`: input that could answer an alert which comes in the middle of it is sent in parts,
//! and the app is read between them.

use std::time::Duration;

use deskline_core::{KeyPress, Tree};

use super::action::Act;
use crate::alert::{self, Keys, may_press};
use crate::error::{Error, Result};
use crate::question::Alert;
use deskline_input::{Click, Clicks};

/// Systems repeat a key that is held longer.
const REPEATS: Duration = Duration::from_millis(150);

impl Act<'_, '_> {
    /// Fails if these keys may answer an alert that has come up.
    pub(super) fn approve_keys(&mut self, keys: Keys<'_>) -> Result<()> {
        self.approve_now(|tree| alert::of_keys(tree, keys, None))
    }

    fn approve_now(&mut self, alert: impl FnOnce(&Tree) -> Option<Alert>) -> Result<()> {
        if !self.policy.grants.asks {
            return Ok(());
        }
        let mut tree = self.pause()?;
        let front = self.desk.front()?.and_then(|front| front.pid);
        let pid = front.unwrap_or(self.pid);
        if pid != self.pid {
            // A click has led there.
            tree = self.desk.read(pid, crate::trees::Scope::Showing)?;
        }
        self.policy
            .approve_answer(&mut **self.desk, pid, || alert(&tree), None)
    }

    /// Types a text, and reads the app after each character that may press a button.
    pub(super) fn type_asked(&mut self, text: &str) -> Result<()> {
        if !self.policy.grants.asks {
            return self.desk.type_text(text);
        }
        let before = self.step.keys.before.as_ref();
        let in_field = before.is_some_and(|before| before.field().is_some());
        let presses = |c: char| c.is_control() || c == ' ' && !in_field;
        let mut sent = 0;
        for part in text.split_inclusive(presses) {
            if sent > 0
                && let Err(e) = self.approve_keys((Some(part), None))
            {
                self.step.done.text("typed", &text[..sent]);
                return Err(e);
            }
            self.desk.type_text(part)?;
            sent += part.len();
        }
        Ok(())
    }

    /// Clicks; a double click on a button is two clicks.
    pub(super) fn click_asked(&mut self, click: Click) -> Result<()> {
        let is_there = |tree: &Tree| alert::buttons_at(tree, click.at).next().is_some();
        let twice = click.clicks == Clicks::Double && self.policy.grants.asks;
        if !(twice && self.tree.is_some_and(is_there)) {
            return self.desk.click(click);
        }
        let once = Click {
            clicks: Clicks::Single,
            ..click
        };
        self.desk.click(once)?;
        let again = self.approve_now(|tree| alert::at(tree, click.at));
        let again = again.and_then(|()| self.desk.click(once));
        again.inspect_err(|_| self.step.done.say("Clicked once".to_owned()))
    }

    /// Fails if a key repeats that may press a button: the app cannot be read between two presses.
    pub(super) fn check_hold(&self, press: KeyPress, hold: Duration) -> Result<()> {
        let tree = self.tree.filter(|tree| !tree.is_picture_only());
        let Some(tree) = tree.filter(|_| self.policy.grants.asks && hold > REPEATS) else {
            return Ok(());
        };
        let focus = tree.focused_in(self.window.or_else(|| tree.active_toplevel()));
        match may_press(tree, (None, Some(press)), focus) {
            Some(_) => Err(Error::Unsupported {
                what: "holding this key",
                why: "with --ask a held key may answer an alert: press it once".to_owned(),
            }),
            None => Ok(()),
        }
    }
}
