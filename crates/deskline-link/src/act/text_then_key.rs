//! Between a text and the key that follows it: waits for the text's effect, and reads it back.

use std::collections::BTreeSet;
use std::time::Duration;

use deskline_core::{ElementId, Key, KeyPress, Role, States, Tree};

use super::action::{Act, Outcome};
use crate::checkpoint::Checkpoint;
use crate::error::{NoEffect, Result};
use crate::secrecy::Witness;
use crate::settle::field::Verdict;
use crate::settle::readback::{LATE, TAKES, takes_more, took, went_nowhere};
use deskline_input::clock::Instant;

/// How long to wait for a button of a dialog to be enabled before Return presses it. GTK's file
/// dialogs look a path up first, and web forms validate the text.
const ENABLED: Duration = Duration::from_millis(400);

impl Act<'_> {
    /// Waits for the effect that the key depends on: a button that the text enables, a list that it
    /// narrows, a path that a file dialog looks up.
    ///
    /// # Errors
    ///
    /// [`NoEffect::KeyWithheld`] if the field has not taken the text: the key would submit another
    /// one.
    pub(super) fn await_text(
        &self,
        desk: &mut Checkpoint<'_>,
        press: KeyPress,
        outcome: &mut Outcome<'_>,
    ) -> Result<()> {
        let mut tree = self.pause(desk)?;
        outcome.step.keys.after = Some(Witness::new(&tree));
        let start = Instant::now();
        while matches!(self.arrived(desk, &tree, outcome), Verdict::Failed(_)) {
            desk.wait_for_change(LATE)?;
            tree = self.pause(desk)?;
            let now = Witness::new(&tree);
            let goes_on = takes_more(outcome.step.keys.after.as_ref(), &now);
            outcome.step.keys.after = Some(now);
            let is_over = !goes_on || start.elapsed() > TAKES;
            if is_over && let Verdict::Failed(why) = self.arrived(desk, &tree, outcome) {
                return Err(NoEffect::KeyWithheld(why, press).into());
            }
        }
        if press.key == Key::Return && press.modifiers.is_empty() {
            tree = self.await_button(desk, tree)?;
        }
        outcome.step.keys.list = desk.popup_open(self.pid)?;
        outcome.step.keys.between = Some(tree);
        Ok(())
    }

    /// The verdict about the text, by the last reading.
    fn arrived(&self, desk: &mut Checkpoint<'_>, tree: &Tree, outcome: &Outcome<'_>) -> Verdict {
        let step = &outcome.step;
        let was = step.before_input.as_ref().or(outcome.picture.as_ref());
        match (took(&step.keys, tree), self.tree) {
            (Verdict::Agrees, Some(before)) => {
                went_nowhere(&step.keys, (before, tree), was, &mut **desk)
            }
            (verdict, _) => verdict,
        }
    }

    /// Waits until a disabled button of the dialog or page that has the focus is enabled. Returns
    /// the latest reading.
    fn await_button(&self, desk: &mut Checkpoint<'_>, tree: Tree) -> Result<Tree> {
        let disabled = disabled_buttons(&tree);
        if disabled.is_empty() {
            return Ok(tree);
        }
        let has_enabled = |tree: &Tree| !disabled_buttons(tree).is_superset(&disabled);
        self.read_until(desk, tree, ENABLED, has_enabled)
    }
}

/// The visible disabled push buttons of the dialog or the web page that has the focus. Buttons of a
/// main window do not count: most of its tool bar is always disabled.
fn disabled_buttons(tree: &Tree) -> BTreeSet<ElementId> {
    let focused = |e: &deskline_core::Element| e.states.contains(States::FOCUSED);
    let focus = tree.elements.iter().rposition(focused);
    let is_scope = |at: &usize| {
        let e = &tree.elements[*at];
        let native = e.native_role.as_ref();
        matches!(e.role, Role::SHEET | Role::WEB_AREA)
            || matches!(native, "dialog" | "alert" | "file chooser")
            || tree.dialog == Some(*at)
    };
    let Some(scope) = focus.and_then(|focus| tree.outwards(focus).find(is_scope)) else {
        return BTreeSet::new();
    };
    let buttons = tree.elements.iter().enumerate().skip(scope);
    buttons
        .filter(|(_, e)| e.role == Role::BUTTON && e.visible && e.states.contains(States::DISABLED))
        .filter(|(at, _)| tree.is_inside(*at, scope))
        .map(|(_, e)| e.id.clone())
        .collect()
}
