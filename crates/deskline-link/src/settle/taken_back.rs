//! Watches a control after the link has changed it: an app may take a change back a moment later,
//! as its validation or a server's answer does.

use std::time::Duration;

use deskline_core::{Element, Role, States, Tree};

use crate::call::{Action, ClickKind, Input, Quiet, Typing};
use crate::desktop::Desktop;
use crate::error::{Mismatch, NoEffect, Result, shown};
use crate::link::Link;
use crate::report::{Readings, Report};
use crate::resolve::lookup::Resolved;
use crate::settle::changed::Control;
use crate::settle::expected::QUIET;
use crate::settle::field::Verdict;
use crate::settle::readback::{chose, has_changed, read_back};
use crate::trees::Sign;
use deskline_input::clock::Instant;

/// How long after the act an app may take a change back.
const TAKES_BACK: Duration = Duration::from_millis(300);

/// The states of a control that is on, and of an expander.
const ON: States = States::CHECKED.union(States::MIXED);
const OPEN: States = States::EXPANDED.union(States::COLLAPSED);

/// Notes the control that the action has changed, if its app may take that back.
pub(crate) fn note_change(
    (action, target): (&Action, Option<Resolved>),
    acted: Instant,
    report: &mut Report,
) {
    let (Some(target), Some((was, now))) = (target, own(report)) else {
        return;
    };
    let toggled = (was.states ^ now.states).intersects(ON);
    let changed = match action {
        Action::Quiet(Quiet::SetValue { .. }) | Action::Input(Input::Choose { .. }) => {
            says(was) != says(now)
        }
        Action::Quiet(Quiet::SetSelected { .. }) => true,
        Action::Quiet(Quiet::PressAx { .. }) => toggled,
        _ => toggled && is_plain_click(action),
    };
    let now = now.clone();
    report.step.control = changed.then_some(Control {
        since: acted,
        target,
        now,
        switched: toggled,
    });
}

impl Link<'_> {
    /// Reads the changed control of the last step once more when its app can no longer be expected
    /// to take the change back. The person has their window back by then.
    ///
    /// # Errors
    ///
    /// The control has its old state again. The answer's tree is then the new one.
    pub(crate) fn watch(&mut self, desktop: &mut dyn Desktop) -> Result<()> {
        let changed = self.report.step.control.take();
        let pid = self.subject.current().filter(|_| self.subject.is_home());
        let (Some(changed), Some(pid), None, false) = (
            changed,
            pid,
            &self.report.handoff,
            self.report.app.is_gone(),
        ) else {
            return Ok(());
        };
        let Some((_, action)) = self.call.runs().last() else {
            return Ok(());
        };
        let mut heard = (!desktop.watch(&changed.now.id)).then_some(Sign::Change);
        loop {
            self.cancel.check()?;
            let left = TAKES_BACK.saturating_sub(changed.since.elapsed());
            if left.is_zero() {
                break;
            }
            heard = heard.max(desktop.wait_for_change(left.min(QUIET))?);
        }
        // The app may be busy: it draws its window once more when that loses the focus.
        if changed.switched && heard < Some(Sign::Change) {
            return Ok(());
        }
        // The action may close the window, or keep the app busy.
        let Ok(tree) = desktop.read(pid, self.reader.again()) else {
            return Ok(());
        };
        let settled = self.report.readings.after.replace(tree);
        let found = match verdict(action, Some(&changed.target), self.report) {
            Verdict::Failed(why) => Some(why),
            _ => taken_back(&changed.now, self.report),
        };
        let Some(why) = found else {
            self.report.readings.after = settled;
            return Ok(());
        };
        self.diff(desktop)?;
        Err(NoEffect::from(why).into())
    }
}

/// The element that the step acted on, before and now.
fn own(report: &Report) -> Option<(&Element, &Element)> {
    let (acted_on, tree) = (
        report.step.acted_on.as_ref()?,
        report.readings.after.as_ref()?,
    );
    let now = acted_on.find(tree, report.readings.current())?;
    Some((&acted_on.was, &tree.elements[now]))
}

fn is_plain_click(action: &Action) -> bool {
    matches!(
        action,
        Action::Input(Input::Click { kind, then, .. })
            if *kind == ClickKind::default() && *then == Typing::default()
    )
}

/// The verdict about an action by the last reading.
pub(crate) fn verdict(action: &Action, target: Option<&Resolved>, report: &Report) -> Verdict {
    let Readings { after, .. } = &report.readings;
    let (Some(before), Some(after)) = (report.readings.current(), after) else {
        return Verdict::Agrees;
    };
    let step = &report.step;
    match (&step.chosen, target) {
        (Some(text), Some(target)) => chose(target, text, (before, after)),
        _ => match read_back(action, target, &step.keys, (before, after)) {
            Verdict::Agrees => not_toggled(action, report, (before, after)),
            verdict => verdict,
        },
    }
}

/// The verdict about a click on a check box or a radio button: the app may have taken the change
/// back at once. Toggle buttons may report no state.
fn not_toggled(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let Some((was, now)) = own(report).filter(|_| is_plain_click(action)) else {
        return Verdict::Agrees;
    };
    let on = was.states.intersects(States::CHECKED);
    let switches = was.role == Role::CHECK_BOX && was.native_role != "toggle button"
        || was.role == Role::RADIO_BUTTON && !on;
    let stays = was.states & (ON | OPEN) == now.states & (ON | OPEN);
    if !switches || !stays || has_changed(before, after) {
        return Verdict::Agrees;
    }
    let is = if on { "checked" } else { "not checked" };
    Verdict::Failed(Mismatch::NotToggled(is.to_owned()))
}

/// What a control shows, in the parts that an action changes.
fn says(element: &Element) -> (&str, &str, States) {
    let Element { value, title, .. } = element;
    (
        &value.shown,
        &title.shown,
        element.states & (ON | States::SELECTED),
    )
}

/// Whether the control is as it was before the action, and was not right after it.
fn taken_back(then: &Element, report: &Report) -> Option<Mismatch> {
    let (was, now) = own(report)?;
    let is_back = says(now) == says(was) && says(then) != says(was);
    let is = if (then.states ^ now.states).intersects(ON) {
        let state = (now.states & ON).words().next();
        state.unwrap_or("not checked").to_owned()
    } else {
        shown(&now.value.shown)
    };
    is_back.then_some(Mismatch::TakenBack(is))
}
