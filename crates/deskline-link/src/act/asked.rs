//! With `--ask`: input that could answer an alert which comes in the middle of it is sent in parts,
//! and the app is read between them.

use std::time::Duration;

use deskline_core::{KeyPress, Tree};

use super::action::Act;
use crate::alert::{self, Keys, may_press};
use crate::error::{Error, Result};
use crate::question::Alert;
use crate::secrecy::Witness;
use deskline_input::{Click, Clicks};

/// Systems repeat a key that is held longer.
const REPEATS: Duration = Duration::from_millis(150);

impl Act<'_, '_> {
    /// Fails if these keys may answer an alert that has come up.
    pub(super) fn approve_keys(&mut self, keys: Keys<'_>) -> Result<()> {
        if !self.policy.grants.asks {
            return Ok(());
        }
        self.approve_now(|tree| alert::of_keys(tree, keys, None))?;
        Ok(())
    }

    /// Fails if there is such an alert in the app that is in front now. Returns what was read.
    fn approve_now(&mut self, alert: impl FnOnce(&Tree) -> Option<Alert>) -> Result<Tree> {
        let mut tree = self.pause()?;
        let front = self.desk.front()?.and_then(|front| front.pid);
        let pid = front.unwrap_or(self.pid);
        if pid != self.pid {
            // A click has led there.
            tree = self.desk.read(pid, crate::trees::Scope::Showing)?;
        }
        self.policy
            .approve_answer(&mut **self.desk, pid, || alert(&tree), None)?;
        Ok(tree)
    }

    /// Types a text, and reads the app before each character that may press a button: a control
    /// character, and where no field and no terminal has the focus, each one.
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
        let again = self.click_again(once);
        again.inspect_err(|_| self.step.done.say("Clicked once".to_owned()))
    }

    /// Clicks after an earlier click of the same action, if that has brought up no alert with a
    /// button there.
    pub(super) fn click_again(&mut self, click: Click) -> Result<()> {
        if self.policy.grants.asks {
            self.approve_now(|tree| alert::at(tree, click.at))?;
        }
        self.desk.click(click)
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
