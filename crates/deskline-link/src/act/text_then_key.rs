//! Between a text and the key that follows it: waits for the effect of the text, and reads the text
//! back.

use std::collections::BTreeSet;
use std::time::Duration;

use deskline_core::{
    Diff, Element, ElementId, Key, KeyPress, Modifiers, Rect, Role, States, Tree, is_dialog,
    summary,
};

use super::action::Act;
use crate::error::{Mismatch, NoEffect, Result};
use crate::secrecy::{Keys, Way, Witness};
use crate::settle::field::{Field, Verdict};
use crate::settle::readback::{LATE, TAKES, reached, takes_more, took, went_nowhere};
use deskline_input::clock::Instant;

/// How long to wait for a button of a dialog to be enabled before Return presses it. GTK's file
/// dialogs look a path up first, and web forms validate the text.
const ENABLED: Duration = Duration::from_millis(400);

const DELETE: KeyPress = KeyPress::new(Key::ForwardDelete, Modifiers::empty());
const ERASE: KeyPress = KeyPress::new(Key::Backspace, Modifiers::empty());

impl Act<'_, '_> {
    /// Waits until the effect has come that the key depends on. The text may enable a button,
    /// narrow a list, or make a file dialog look a path up.
    ///
    /// # Errors
    ///
    /// [`NoEffect::KeyWithheld`] if the field has not taken the text: the key would submit another
    /// text.
    pub(super) fn await_text(&mut self, press: KeyPress) -> Result<()> {
        let mut tree = self.pause()?;
        self.step.keys.after = Some(Witness::new(&tree));
        let mut start = Instant::now();
        while matches!(self.arrived(&tree), Verdict::Failed(_)) {
            self.desk.wait_for_change(LATE)?;
            tree = self.pause()?;
            let now = Witness::new(&tree);
            let goes_on = takes_more(self.step.keys.after.as_ref(), &now);
            self.step.keys.after = Some(now);
            let is_over = !goes_on || start.elapsed() > TAKES;
            if is_over && let Some(now) = self.type_again()? {
                (tree, start) = (now, Instant::now());
            } else if is_over && let Verdict::Failed(why) = self.arrived(&tree) {
                return Err(NoEffect::KeyWithheld(why, press).into());
            }
        }
        if let Some(focus) = self.idle_focus(&tree) {
            return Err(NoEffect::KeyWithheld(Mismatch::NotTaken { focus }, press).into());
        }
        if press.key == Key::Return && press.modifiers.is_empty() {
            if self.has_completed(&tree) {
                self.desk.press_key(DELETE, Duration::ZERO)?;
                self.step.done.say("erased what the bar had added");
                tree = self.pause()?;
                self.step.keys.after = Some(Witness::new(&tree));
            }
            tree = self.await_button(tree)?;
        }
        self.step.keys.list = self.desk.popup_open(self.pid)?;
        self.step.keys.between = Some(tree);
        Ok(())
    }

    /// Whether a browser's own bar has completed the typed address: Return would open another one.
    fn has_completed(&self, tree: &Tree) -> bool {
        let Keys { text, after, .. } = &self.step.keys;
        let field = after.as_ref().and_then(Witness::field);
        let more = field.and_then(|field| field.text.strip_prefix(text.as_str()));
        let at = field.and_then(|field| tree.elements.iter().position(|e| e.id == field.id));
        let is_bar = |at: &usize| {
            let top = tree.toplevel(*at);
            let has_page = |top| tree.inside(top).any(|at| tree.page_around(at).is_some());
            tree.page_around(*at).is_none() && top.is_some_and(has_page)
        };
        more.is_some_and(|more| !more.is_empty()) && at.is_some_and(|at| is_bar(&at))
    }

    /// Types the characters that the field has lost once more, one by one: some apps drop keys
    /// while they process the key before. Returns the tree afterwards, or `None` if it is unknown
    /// which characters are lost.
    pub(crate) fn type_again(&mut self) -> Result<Option<Tree>> {
        let Some((erased, rest)) = self.step.keys.lost() else {
            return Ok(None);
        };
        let rest = rest.to_owned();
        for _ in 0..erased {
            self.desk.press_key(ERASE, Duration::ZERO)?;
        }
        let mut tree = self.pause()?;
        for character in rest.chars() {
            if Witness::new(&tree).field().is_none() {
                break;
            }
            self.desk.type_text(character.encode_utf8(&mut [0; 4]))?;
            tree = self.pause()?;
        }
        (self.step.keys.way, self.step.keys.after) = (Way::TypedAgain, Some(Witness::new(&tree)));
        self.step.done.say("slowly typed again what it had lost");
        Ok(Some(tree))
    }

    /// Whether the text is in its field, according to `tree`, the last reading.
    fn arrived(&mut self, tree: &Tree) -> Verdict {
        let step = &self.step;
        let was = step.before_input.as_ref().or(self.picture.as_ref());
        let (Verdict::Agrees, Some(before)) = (took(&step.keys, tree), self.tree) else {
            return took(&step.keys, tree);
        };
        let clicked = self
            .target
            .and_then(|target| Field::new(before, target.index?));
        match reached(clicked.as_ref(), &step.keys, (before, tree)) {
            Verdict::Agrees => went_nowhere(&step.keys, (before, tree), was, &mut **self.desk),
            verdict => verdict,
        }
    }

    /// The name of the element that got the text and did nothing with it: it is no field, and
    /// neither the tree nor the picture has changed. That happens in browsers: they give the keys
    /// to the page when a new tab has loaded, and when their window comes to the front again.
    fn idle_focus(&mut self, now: &Tree) -> Option<String> {
        let Keys { before, after, .. } = &self.step.keys;
        let stays = before.as_ref()?.keeps_focus(after.as_ref()?);
        let focus = now.focus().filter(|_| stays)?;
        let Element { role, states, .. } = &now.elements[focus];
        let takes_none = matches!(
            *role,
            Role::WEB_AREA | Role::BUTTON | Role::LINK | Role::CHECK_BOX | Role::RADIO_BUTTON
        );
        if !takes_none || states.contains(States::EDITABLE) || page_took(self.tree?, now, focus) {
            return None;
        }
        let picture = self.step.before_input.as_ref();
        let picture = picture.or(self.picture.as_ref())?;
        // A browser that comes to the front redraws its bars, so they do not count.
        let place = |at: usize| now.elements.get(at)?.extents;
        let bars = now.toplevel(focus).and_then(place).zip(place(focus));
        let bars = bars.map(|(top, page)| Rect {
            h: page.y - top.y,
            ..top
        });
        let same = picture.has_moved(&mut **self.desk, bars.as_slice()) == Some(false);
        same.then(|| summary::name_of(now, focus))
    }

    /// Waits until a disabled button of the dialog or page that has the focus is enabled. Returns
    /// the latest reading.
    fn await_button(&mut self, tree: Tree) -> Result<Tree> {
        let disabled = disabled_buttons(&tree);
        if disabled.is_empty() {
            return Ok(tree);
        }
        let has_enabled = |tree: &Tree| !disabled_buttons(tree).is_superset(&disabled);
        self.read_until(tree, ENABLED, has_enabled)
    }
}

/// Whether the tree shows an effect of a text: in a field, or in the page or window of the focus.
/// Changes in the bars of a browser do not count, because raising it changes them.
fn page_took(before: &Tree, now: &Tree, focus: usize) -> bool {
    let scope = now.page_around(focus).or_else(|| now.toplevel(focus));
    let counts = |at: usize| {
        let is_field = now.elements[at].states.contains(States::EDITABLE);
        is_field || scope.is_none_or(|scope| now.is_inside(at, scope))
    };
    let diff = Diff::between(before, now);
    let changed = diff.modified.iter().filter(|m| !m.is_focus_alone());
    let mut changed = diff.added.into_iter().chain(changed.map(|m| m.after));
    changed.any(counts)
}

/// The visible disabled push buttons of the dialog or the web page that has the focus. Buttons of a
/// main window do not count: most of its tool bar is always disabled.
fn disabled_buttons(tree: &Tree) -> BTreeSet<ElementId> {
    let focused = |e: &deskline_core::Element| e.states.contains(States::FOCUSED);
    let focus = tree.elements.iter().rposition(focused);
    let is_scope = |at: &usize| {
        let e = &tree.elements[*at];
        matches!(e.role, Role::SHEET | Role::WEB_AREA)
            || is_dialog(&e.native_role)
            || tree.dialog == Some(*at)
    };
    let Some(scope) = focus.and_then(|focus| tree.outwards(focus).find(is_scope)) else {
        return BTreeSet::new();
    };
    let buttons = tree.elements.iter().enumerate().skip(scope);
    let waits =
        |e: &Element| e.role == Role::BUTTON && e.visible && e.states.contains(States::DISABLED);
    let waiting = buttons.filter(|(at, e)| waits(e) && tree.is_inside(*at, scope));
    waiting.map(|(_, e)| e.id.clone()).collect()
}
