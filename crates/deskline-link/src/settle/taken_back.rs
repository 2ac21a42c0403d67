//! Watches a control after the link has changed it: an app may take the change back a moment later,
//! because of its validation or a server's answer.

use std::time::Duration;

use deskline_core::{Diff, Element, ElementId, Key, Modified, Role, States, Tree, summary};

use crate::call::{Action, ClickKind, Input, Quiet, Typing};
use crate::desktop::Desktop;
use crate::error::{Mismatch, NoEffect, Result, shown};
use crate::link::Link;
use crate::reader::AGAIN;
use crate::report::{Readings, Report};
use crate::resolve::lookup::Resolved;
use crate::secrecy::Witness;
use crate::settle::changed::{Control, Says};
use crate::settle::expected::QUIET;
use crate::settle::field::{Field, Verdict};
use crate::settle::readback::{LATE, chose, has_changed, read_back};
use crate::trees::{Scope, Sign};
use deskline_input::clock::Instant;

/// How long after the act an app may take a change back.
const TAKES_BACK: Duration = Duration::from_millis(300);

/// Notes the control that the action has changed, if its app may take the change back.
pub(crate) fn note_change(
    (action, target): (&Action, Option<Resolved>),
    acted: Instant,
    report: &mut Report,
) {
    let Some((was, now, id)) = own(report) else {
        return;
    };
    let toggled = (was.states ^ now.states).intersects(Says::ON);
    // A page's menu may close when its window goes behind.
    let opened = !now.in_page && (was.states ^ now.states).intersects(Says::OPEN);
    let selected = now.picks && !was.picks;
    let chooses = report.step.acted_on.as_ref().is_some_and(|acted_on| {
        let holds = [Role::SLIDER, Role::INCREMENTOR, Role::COMBO_BOX];
        holds.contains(&acted_on.was.role)
    });
    let changed = match action {
        Action::Quiet(Quiet::SetValue { .. }) | Action::Input(Input::Choose { .. }) => was != now,
        Action::Quiet(Quiet::SetSelected { .. }) => true,
        Action::Quiet(Quiet::PressAx { .. }) => toggled || opened,
        _ if action.keys().0.is_some() => {
            now.other_text(&was).is_some() && typed_over(action, report)
        }
        _ => toggled || opened || selected || was.value != now.value && chooses,
    };
    let shown = report.step.settled.and_then(|settled| settled.shown);
    report.step.control = changed.then_some(Control {
        since: acted + shown.unwrap_or_default(),
        target,
        id,
        was,
        says: now,
        switched: toggled,
    });
}

/// Whether a text was typed into a field of one line, or of a web page. `false` if the field was
/// empty before and a key follows: the key may send the text, which leaves the field empty again.
fn typed_over(action: &Action, report: &Report) -> bool {
    let before = report.step.keys.before.as_ref();
    before.is_some_and(|before| {
        // The editor of a cell does not count as a field.
        before.field().is_none_or(|field| {
            let takes_one = field.is_one_line() || before.page;
            takes_one && (action.keys().1.is_none() || !field.text.trim().is_empty())
        })
    })
}

impl Link<'_> {
    /// # Errors
    ///
    /// The app has taken back what the last link has changed, and this link follows that link at
    /// once.
    pub(crate) fn undone(&self) -> Result<()> {
        let (changed, tree) = (&self.last_trees.changed, &self.report.readings.before);
        let (Some(changed), Some(tree)) = (changed, tree) else {
            return Ok(());
        };
        let Control { was, says, id, .. } = changed;
        let now = tree.elements.iter().position(|e| e.id == *id);
        let now = now.filter(|_| changed.since.elapsed() < TAKES_BACK && says.picks == was.picks);
        let why = now.and_then(|at| reverted(was, says, &Says::new(tree, at)));
        why.map_or(Ok(()), |why| Err(NoEffect::from(why).into()))
    }

    /// Once more reads the control that the last step has changed, after the time in which its app
    /// may take the change back. The person has their window back by then.
    ///
    /// # Errors
    ///
    /// The control has its old state again. The new reading is then the answer's tree.
    pub(crate) fn watch(&mut self, desktop: &mut dyn Desktop) -> Result<()> {
        let changed = self.report.step.control.take();
        let pid = self.subject.current().filter(|_| self.subject.is_home());
        let stays = self.report.handoff.is_none() && !self.report.app.is_gone();
        let Some((changed, pid)) = changed.zip(pid).filter(|_| stays) else {
            return Ok(());
        };
        let Some((_, action)) = self.call.runs().last() else {
            return Ok(());
        };
        // A menu stays open until the next call.
        let opens = (changed.was.states ^ changed.says.states).intersects(Says::OPEN);
        if opens && desktop.popup_open(pid)? {
            return Ok(());
        }
        let mut heard = (!desktop.watch(&changed.id)).then_some(Sign::Change);
        loop {
            self.cancel.check()?;
            let left = TAKES_BACK.saturating_sub(changed.since.elapsed());
            if left.is_zero() {
                break;
            }
            heard = heard.max(desktop.wait_for_change(left.min(QUIET))?);
        }
        // No new reading, as the app may be busy: it draws its window again when the window loses
        // the focus.
        if changed.switched && heard < Some(Sign::Change) {
            return Ok(());
        }
        // The action may close the window, or keep the app busy.
        let Ok(tree) = desktop.read(pid, AGAIN) else {
            return Ok(());
        };
        let slider = self.report.step.acted_on.as_ref().map(|a| &a.was);
        let tree = slid(desktop, (pid, AGAIN), slider, tree)?;
        let settled = self.report.readings.after.replace(tree);
        let found = match verdict(action, changed.target.as_ref(), self.report) {
            Verdict::Failed(why) => Some(why),
            _ => taken_back(&changed.says, self.report),
        };
        let stays = own(self.report).is_none_or(|(_, now, _)| now == changed.says);
        if found.is_none() && stays {
            self.report.readings.after = settled;
            return Ok(());
        }
        self.diff(desktop)?;
        found.map_or(Ok(()), |why| Err(NoEffect::from(why).into()))
    }
}

/// The tree with the number that the pointer or the page has given to a slider: Chromium reports
/// the number only when it is asked what lies at the slider.
pub(crate) fn slid(
    desktop: &mut dyn Desktop,
    (pid, scope): (u32, Scope),
    target: Option<&Element>,
    tree: Tree,
) -> Result<Tree> {
    let slider = target.and_then(|was| tree.elements.iter().position(|e| e.id == was.id));
    let is_slider = |at: &usize| tree.elements[*at].role == Role::SLIDER;
    let slider = slider.filter(|at| is_slider(at) && tree.page_around(*at).is_some());
    let place = slider.and_then(|at| tree.elements[at].place());
    let Some((slider, place)) = slider.zip(place) else {
        return Ok(tree);
    };
    desktop.hit_test(&tree, slider, place.center())?;
    desktop.wait_for_change(LATE)?;
    Ok(desktop.read(pid, scope).unwrap_or(tree))
}

/// What the element that the step acted on showed before the step, what it shows now, and its
/// present id.
fn own(report: &Report) -> Option<(Says, Says, ElementId)> {
    let (before, tree) = (report.readings.current()?, report.readings.after.as_ref()?);
    let at = |tree: &Tree, id: &ElementId| tree.elements.iter().position(|e| e.id == *id);
    let (was, now) = if let Some(acted_on) = &report.step.acted_on {
        (
            acted_on.in_before(before)?,
            acted_on.find(tree, Some(before))?,
        )
    } else {
        // GTK 3 reports no focus in a window that is behind.
        let field = report.step.keys.before.as_ref()?.field()?;
        (at(before, &field.id)?, at(tree, &field.id)?)
    };
    let was = Says::new(before, was);
    Some((was, Says::new(tree, now), tree.elements[now].id.clone()))
}

fn is_plain_click(action: &Action) -> bool {
    matches!(
        action,
        Action::Input(Input::Click { kind, then, .. })
            if *kind == ClickKind::default() && *then == Typing::default()
    )
}

/// The verdict about an action, according to the last reading.
pub(crate) fn verdict(action: &Action, target: Option<&Resolved>, report: &Report) -> Verdict {
    let Readings { after, .. } = &report.readings;
    let (Some(before), Some(after)) = (report.readings.current(), after) else {
        return Verdict::Agrees;
    };
    let step = &report.step;
    match (&step.chosen, target) {
        (Some(text), Some(target)) => chose(target, text, (before, after)),
        _ => match read_back(action, target, &step.keys, (before, after)) {
            Verdict::Agrees if action.keys().0.is_some() => {
                not_confirmed(action, report, (before, after))
            }
            Verdict::Agrees => match another(action, report, (before, after)) {
                Some(name) => Verdict::Failed(Mismatch::ClickedAnother(name)),
                None => match not_toggled(action, report, (before, after)) {
                    Verdict::Agrees => not_focused(action, report, (before, after)),
                    verdict => verdict,
                },
            },
            verdict => verdict,
        },
    }
}

/// The control of a web page that got the click in place of the target, which has not changed. The
/// control showed before, has the focus now, and was switched or lies at the clicked point.
/// Browsers focus what is pressed.
fn another(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Option<String> {
    let acted_on = report.step.acted_on.as_ref();
    let acted_on = acted_on.filter(|_| is_plain_click(action))?;
    own(report).filter(|(was, now, _)| was == now)?;
    let target = acted_on.find(after, Some(before))?;
    let focus = after.focus()?;
    let was = &before.elements[before.find_again(after, focus)?];
    let [own, now] = [target, focus].map(|at| &after.elements[at]);
    let is_control = |element: &Element| element.visible && element.role.is_interactive();
    let is_apart =
        focus != target && !after.is_inside(focus, target) && !after.is_inside(target, focus);
    let comes = was.visible && !was.states.contains(States::FOCUSED);
    let at = report.step.done.at?;
    let lies = |element: &Element| element.place().is_some_and(|place| place.contains(at));
    let got = (was.states ^ now.states).intersects(Says::ON) || lies(now) && !lies(own);
    let told = is_control(own) && is_control(now) && is_apart && comes && got;
    (told && after.page_around(target).is_some()).then(|| summary::name_of(after, focus))
}

/// A note about a control of a web page that was clicked and has not got the focus, while the tree
/// shows no effect. The page may prevent the focus, or have drawn something over the control that
/// is in no tree.
fn not_focused(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let acted_on = report.step.acted_on.as_ref();
    let acted_on = acted_on.filter(|_| is_plain_click(action));
    let target = acted_on.and_then(|acted_on| acted_on.find(after, Some(before)));
    let misses = |at: &usize| {
        let element = &after.elements[*at];
        let is_control = element.visible && element.role.is_interactive();
        let has_focus = |at: usize| after.elements[at].states.contains(States::FOCUSED);
        is_control && after.page_around(*at).is_some() && !after.with_inside(*at).any(has_focus)
    };
    let Some(target) = target.filter(misses) else {
        return Verdict::Agrees;
    };
    // For the next new tab, Firefox adds a page that does not show.
    let diff = Diff::between(before, after);
    let changes = diff.modified.iter().filter(|m| !m.is_focus_alone());
    let mut now = changes.map(|m| m.after).chain(diff.added.iter().copied());
    let is_seen = now.any(|at| after.elements[at].visible)
        || diff.removed.iter().any(|at| before.elements[*at].visible);
    if is_seen {
        return Verdict::Agrees;
    }
    Verdict::Differs(format!(
        "{} did not get the focus: something that is in no tree may lie over it. Use \
        press_ax_and_traverse if the click had no effect",
        summary::name_of(after, target)
    ))
}

/// The verdict about a click on a check box or a radio button: the app may have taken the change
/// back at once. Toggle buttons that open something may report no other state.
fn not_toggled(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let acted_on = report.step.acted_on.as_ref();
    let acted_on = acted_on.filter(|_| is_plain_click(action));
    let Some((acted_on, (was, now, _))) = acted_on.zip(own(report)) else {
        return Verdict::Agrees;
    };
    let on = was.states.intersects(States::CHECKED);
    let opens = acted_on.was.states & (States::EXPANDED | States::COLLAPSED);
    let switches = match acted_on.was.role {
        Role::CHECK_BOX => acted_on.was.native_role != "toggle button" || opens.is_empty(),
        role => role == Role::RADIO_BUTTON && !on,
    };
    let stays = was.states - States::SELECTED == now.states - States::SELECTED;
    if !switches || !stays || has_changed(before, after) {
        return Verdict::Agrees;
    }
    let is = if on { "checked" } else { "not checked" };
    Verdict::Failed(Mismatch::NotToggled(is.to_owned()))
}

/// Whether a click or a press on a cell without text has not switched the cell. In GTK 3 only the
/// actions of a cell tell that it is a check box.
pub(crate) fn not_switched(desktop: &mut dyn Desktop, action: &Action, report: &Report) -> bool {
    let acted_on = report.step.acted_on.as_ref();
    let presses = matches!(action, Action::Quiet(Quiet::PressAx { .. }));
    let acted_on = acted_on.filter(|_| presses || is_plain_click(action));
    let is_cell = acted_on.is_some_and(|a| a.was.role == Role::CELL && a.was.title.is_blank());
    let own = own(report).filter(|(was, now, _)| !(was.states ^ now.states).intersects(Says::ON));
    own.is_some_and(|(_, _, id)| is_cell && desktop.takes(&id).is_ok_and(|takes| takes.toggle))
}

/// What a clicked row, check box or radio button is again, if it was selected or switched for a
/// moment: it has its old state, and of a row nothing else has changed. On a busy machine, the
/// reading may come too late for that moment.
pub(crate) fn soon_back(
    desktop: &mut dyn Desktop,
    action: &Action,
    report: &Report,
) -> Option<String> {
    let role = report.step.acted_on.as_ref()?.was.role;
    let (was, now, id) = own(report).filter(|_| is_plain_click(action))?;
    let trees = report
        .readings
        .current()
        .zip(report.readings.after.as_ref());
    let alone = trees.is_some_and(|(before, after)| changes_selection_alone(before, after));
    let is_selected = |says: &Says| says.picks || says.states.contains(States::SELECTED);
    let never = !is_selected(&was) && !is_selected(&now);
    let on = now.states & Says::ON;
    let is = match role {
        // A menu deselects its item as it closes.
        Role::ROW | Role::CELL if never && alone => "not selected",
        Role::CHECK_BOX | Role::RADIO_BUTTON if was.states & Says::ON == on => {
            on.words().next().unwrap_or("not checked")
        }
        _ => return None,
    };
    desktop.was_turned_on(&id).then(|| is.to_owned())
}

/// The verdict about a text that a key has confirmed, if the field has its old text: the app may
/// have taken the typed text back. A note if something else has changed, because the field may wait
/// for more.
fn not_confirmed(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let field = report.step.keys.before.as_ref().and_then(Witness::field);
    let ((Some(typed), Some(press)), Some(field)) = (action.keys(), field) else {
        return Verdict::Agrees;
    };
    let at = after.elements.iter().position(|e| e.id == field.id);
    let now = at.and_then(|at| Field::new(after, at));
    let Some(now) = now.filter(|now| now.has_other(field, typed)) else {
        return Verdict::Agrees;
    };
    let confirms = matches!(press.key, Key::Return | Key::Tab) && press.modifiers.is_empty();
    if confirms && !has_changed(before, after) {
        return Verdict::Failed(Mismatch::TakenBack(shown(&now.text)));
    }
    if now.stays(field) {
        return Verdict::Differs(format!("it shows {} still", shown(&now.text)));
    }
    now.differs()
}

/// The mismatch, if the control is again as it was before the action, after the action had changed
/// it.
fn taken_back(then: &Says, report: &Report) -> Option<Mismatch> {
    let (was, now, _) = own(report)?;
    // A click that switches a cell selects the cell too.
    let switched = (then.states ^ was.states).intersects(Says::ON);
    if !switched && then.picks && !was.picks && !now.picks {
        // A row that opens something may lose its selection.
        let (before, after) = (report.readings.current()?, report.readings.after.as_ref()?);
        let is_lost = changes_selection_alone(before, after);
        return is_lost.then(|| Mismatch::TakenBack("not selected".to_owned()));
    }
    reverted(&was, then, &now)
}

/// The mismatch, if a control that was changed is on or off again as before, or shows its old
/// content again.
fn reverted(was: &Says, then: &Says, now: &Says) -> Option<Mismatch> {
    let back = |of: &States| {
        let [was, then, now] = [was, then, now].map(|says| says.states & *of);
        then != was && now == was
    };
    let is = if let Some(of) = [Says::ON, Says::OPEN].into_iter().find(back) {
        let now = now.states & of;
        now.words().next().unwrap_or("not checked").to_owned()
    } else if now == was && then != was {
        shown(now.other_text(then).unwrap_or_default())
    } else {
        return None;
    };
    Some(Mismatch::TakenBack(is))
}

fn changes_selection_alone(before: &Tree, after: &Tree) -> bool {
    let diff = Diff::between(before, after);
    let mut modified = diff.modified.iter();
    diff.added.is_empty() && diff.removed.is_empty() && modified.all(Modified::is_selection_alone)
}
