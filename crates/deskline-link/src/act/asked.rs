//! With `--ask`, input that could press a button of an alert is sent in parts. Between two parts
//! the app is read, because an alert may have come up meanwhile.

use std::time::Duration;

use deskline_core::{KeyPress, Tree};

use super::action::Act;
use crate::alert::{self, Keys, may_press};
use crate::error::{Error, Result};
use crate::question::Alert;
use crate::secrecy::Witness;
use deskline_input::{Click, Clicks};

/// A key that is held longer than this may repeat.
const REPEATS: Duration = Duration::from_millis(150);

impl Act<'_, '_> {
    /// Fails if an alert has come up and these keys may press a button of it.
    pub(super) fn approve_keys(&mut self, keys: Keys<'_>) -> Result<()> {
        if !self.policy.grants.asks {
            return Ok(());
        }
        self.approve_now(|tree| alert::of_keys(tree, keys, None))?;
        Ok(())
    }

    /// Fails if `alert` finds an alert in the front app that the person has to be asked about.
    /// Returns the reading of that app.
    fn approve_now(&mut self, alert: impl FnOnce(&Tree) -> Option<Alert>) -> Result<Tree> {
        let mut tree = self.pause()?;
        let front = self.desk.front()?.and_then(|front| front.pid);
        let pid = front.unwrap_or(self.pid);
        if pid != self.pid {
            // A click has brought another app to the front.
            tree = self.desk.read(pid, crate::trees::Scope::Showing)?;
        }
        self.policy
            .approve_answer(&mut **self.desk, pid, || alert(&tree), None)?;
        Ok(tree)
    }

    /// Types a text. Reads the app before each character that may press a button: any character
    /// while neither a field nor a terminal has the focus, and any control character.
    pub(super) fn type_asked(&mut self, text: &str) -> Result<()> {
        if !self.policy.grants.asks {
            return self.desk.type_text(text);
        }
        let is_for_text =
            |focus: &Witness| focus.field().is_some() || focus.terminal || focus.secure_focus;
        let mut in_field = self.step.keys.before.as_ref().is_some_and(is_for_text);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let presses = |c: char| c.is_control() || !in_field;
            let length = match rest.find(presses) {
                Some(0) => first.len_utf8(),
                found => found.unwrap_or(rest.len()),
            };
            let (part, after) = rest.split_at(length);
            self.desk.type_text(part)?;
            rest = after;
            if rest.is_empty() {
                break;
            }
            match self.approve_now(|tree| alert::of_keys(tree, (Some(rest), None), None)) {
                Ok(tree) => in_field = is_for_text(&Witness::new(&tree)),
                Err(e) => {
                    let typed = &text[..text.len() - rest.len()];
                    self.step.done.text("typed", typed);
                    return Err(e);
                }
            }
        }
        Ok(())
    }

    /// Clicks. With `--ask`, sends a double click on a button as two single clicks and reads the
    /// app between them.
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
        let again = self.click_again(once);
        again.inspect_err(|_| self.step.done.say("Clicked once".to_owned()))
    }

    /// Clicks again in the same action. With `--ask`, first reads the app, and fails if an alert
    /// that has come up has a button at this point.
    pub(super) fn click_again(&mut self, click: Click) -> Result<()> {
        if self.policy.grants.asks {
            self.approve_now(|tree| alert::at(tree, click.at))?;
        }
        self.desk.click(click)
    }

    /// Fails if the key may press a button and is held so long that it repeats: the app cannot be
    /// read between two repeats.
    pub(super) fn check_hold(&self, press: KeyPress, hold: Duration) -> Result<()> {
        let tree = self.tree.filter(|tree| !tree.is_picture_only());
        let Some(tree) = tree.filter(|_| self.policy.grants.asks && hold > REPEATS) else {
            return Ok(());
        };
        let focus = tree.focused_in(self.window.or_else(|| tree.active_toplevel()));
        match may_press(tree, (None, Some(press)), focus) {
            Some(_) => Err(Error::Unsupported {
                what: "holding this key",
                why: "with --ask a held key may answer an alert. Press it without hold".to_owned(),
            }),
            None => Ok(()),
        }
    }
}
