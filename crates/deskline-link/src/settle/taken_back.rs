//! Watches a control after the link has changed it: an app may take the change back a moment later,
//! because of its validation or a server's answer.

use std::thread;
use std::time::Duration;

use deskline_core::{Diff, Element, ElementId, Key, Modified, Rect, Role, States, Tree, summary};

use crate::answer::content::content;
use crate::call::{Action, ClickKind, Input, Quiet, Typing};
use crate::desktop::Desktop;
use crate::error::{Mismatch, NoEffect, Result, shown};
use crate::link::Link;
use crate::reader::AGAIN;
use crate::report::{ActedOn, Readings, Report};
use crate::resolve::lookup::Resolved;
use crate::secrecy::Witness;
use crate::settle::changed::{Changed, Control, Says, current_tab, row_around};
use crate::settle::chosen::switch_in;
use crate::settle::expected::QUIET;
use crate::settle::field::{Field, Verdict};
use crate::settle::readback::{chose, has_changed, read_back};
use crate::settle::stale::slid;
use crate::trees::Sign;
use deskline_input::Cancel;
use deskline_input::clock::Instant;

/// How long after the act an app may take a change back.
const TAKES_BACK: Duration = Duration::from_millis(300);

/// Notes the control that the action has changed, if its app may take the change back.
pub(crate) fn note_change(
    desktop: &mut dyn Desktop,
    (action, target): (&Action, Option<Resolved>),
    acted: Instant,
    report: &mut Report,
) {
    let Some((was, now, id)) = own(report) else {
        return;
    };
    let toggled = (was.states ^ now.states).intersects(Says::ON) && !presses_key(report);
    // A page may close its menu when its window goes behind, so that does not count.
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
    // The app may have taken long to be read after it changed the control.
    let told = desktop.switched(&id).filter(|_| toggled || selected);
    let told = told.and_then(|(ago, _)| acted.elapsed().checked_sub(ago));
    let shown = || report.step.settled.and_then(|settled| settled.shown);
    report.step.control = changed.then_some(Control {
        since: acted + told.or_else(shown).unwrap_or_default(),
        target,
        id,
        was,
        says: now,
        switched: toggled,
    });
}

/// Whether a text was typed into a field of one line, or of a web page. `false` if the field was
/// empty before and a key follows: that key may send the text, and then the field is empty again.
fn typed_over(action: &Action, report: &Report) -> bool {
    let before = report.step.keys.before.as_ref();
    before.is_some_and(|before| {
        // The editor of a cell is not a field here.
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

    /// Reads the control that the last step has changed once more, after the time in which its app
    /// may take the change back. By then the person has their window back, and the content of the
    /// answer's files is made.
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
        let report = &*self.report;
        let (heard, made) = thread::scope(|scope| {
            let make = || content(self.call, report, None);
            let making = thread::Builder::new().spawn_scoped(scope, make);
            let heard = hear(desktop, &changed, self.cancel);
            (heard, making.ok().and_then(|making| making.join().ok()))
        });
        let heard = heard?;
        self.report.content = made;
        // An app draws its window again when it loses the focus, and may be busy with that. So it
        // is not read unless it has sent an event.
        if changed.switched && heard < Some(Sign::Change) {
            return Ok(());
        }
        // The action may have closed the window, or keep the app busy.
        let Ok(tree) = desktop.read(pid, AGAIN) else {
            return Ok(());
        };
        let slider = self.report.step.acted_on.as_ref().map(|a| &a.was);
        let tree = slid(desktop, (pid, AGAIN), slider, tree)?;
        let settled = self.report.readings.after.replace(tree);
        let found = match verdict(action, changed.target.as_ref(), self.report) {
            Verdict::Failed(why) => Some(why),
            Verdict::Differs(note) => {
                self.report.notes.add(note);
                None
            }
            Verdict::Agrees => None,
        };
        let found = found.or_else(|| taken_back(&changed.says, self.report));
        let stays = own(self.report).is_none_or(|(_, now, _)| now == changed.says);
        if found.is_none() && stays {
            self.report.readings.after = settled;
            return Ok(());
        }
        self.report.content = None;
        self.diff(desktop)?;
        found.map_or(Ok(()), |why| Err(NoEffect::from(why).into()))
    }
}

/// The strongest sign of a change of this control until its app no longer takes the change back.
fn hear(desktop: &mut dyn Desktop, changed: &Control, cancel: &Cancel) -> Result<Option<Sign>> {
    let mut heard = (!desktop.watch(&changed.id)).then_some(Sign::Change);
    loop {
        cancel.check()?;
        let left = TAKES_BACK.saturating_sub(changed.since.elapsed());
        if left.is_zero() {
            return Ok(heard);
        }
        heard = heard.max(desktop.wait_for_change(left.min(QUIET))?);
    }
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
        // In a window that is behind, GTK 3 reports no focus. So the field that had it before the
        // keys counts.
        let field = report.step.keys.before.as_ref()?.field()?;
        (at(before, &field.id)?, at(tree, &field.id)?)
    };
    let chosen = report.step.chosen.as_ref();
    let switch = |tree: &Tree, at| switch_in(tree, at, chosen?);
    let part = |tree: &Tree, at| switch(tree, at).unwrap_or(at);
    let (was, now) = (Says::new(before, part(before, was)), part(tree, now));
    Some((was, Says::new(tree, now), tree.elements[now].id.clone()))
}

/// Whether the step acted on a key of a pad, such as a calculator's: one of many toggle buttons of
/// which none is down. It comes up again by itself.
fn presses_key(report: &Report) -> bool {
    const KEYS: usize = 8;
    let Some(tree) = report.readings.current() else {
        return false;
    };
    let acted_on = report.step.acted_on.as_ref();
    let own = acted_on.and_then(|acted_on| acted_on.in_before(tree));
    own.map(|own| &tree.elements[own]).is_some_and(|own| {
        let is_key = |e: &&Element| e.native_role == "toggle button" && e.parent == own.parent;
        let keys: Vec<_> = tree.elements.iter().filter(is_key).collect();
        let is_down = |e: &&Element| e.states.contains(States::CHECKED);
        is_key(&own) && keys.len() >= KEYS && !keys.iter().any(is_down)
    })
}

fn is_plain_click(action: &Action) -> bool {
    matches!(
        action,
        Action::Input(Input::Click { kind, then, .. })
            if *kind == ClickKind::default() && *then == Typing::default()
    )
}

/// The element that a plain click was for.
fn clicked<'r>(action: &Action, report: &'r Report) -> Option<&'r ActedOn> {
    let acted_on = report.step.acted_on.as_ref();
    acted_on.filter(|_| is_plain_click(action))
}

/// Whether a click may be lost because its window moved at the same time: a window manager that
/// ends takes the press along.
pub(crate) fn is_lost(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> bool {
    let changed = || report.step_changed(action, (before, after), &Diff::between(before, after));
    report.step.done.in_motion && changed() != Changed::Tree
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
                Some((name, true)) => Verdict::Failed(Mismatch::ClickedAnother(name)),
                Some((name, false)) if !is_field(after) => Verdict::Differs(format!(
                    "the focus went to {name}, which may have got the click"
                )),
                _ => match not_toggled(action, report, (before, after)) {
                    Verdict::Agrees => not_focused(action, report, (before, after)),
                    verdict => verdict,
                },
            },
            verdict => verdict,
        },
    }
}

/// Whether the focus is in a field. A page's button may give it to one.
fn is_field(tree: &Tree) -> bool {
    let focus = tree.focus();
    focus.is_some_and(|at| tree.elements[at].states.contains(States::EDITABLE))
}

/// The control that has come to the focus by a plain click on another control, which has not
/// changed, and whether that control got the click: it was switched, or lies or lay at the clicked
/// point. Browsers and GTK 4 focus what is pressed; elsewhere only a control that got the click
/// counts.
fn another(
    action: &Action,
    report: &Report,
    (before, after): (&Tree, &Tree),
) -> Option<(String, bool)> {
    let acted_on = clicked(action, report)?;
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
    let lies = |place: Option<Rect>| place.is_some_and(|place| place.contains(at));
    // A list that goes on moving carries what got the click away.
    let moved = was
        .place()
        .zip(now.place())
        .map(|(was, now)| was.union(&now));
    let got = (was.states ^ now.states).intersects(Says::ON) || lies(moved) && !lies(own.place());
    let told = is_control(own) && is_control(now) && is_apart && comes;
    let counts = got || after.page_around(target).is_some();
    (told && counts).then(|| (summary::name_of(after, focus), got))
}

/// A note that a control of a web page was clicked but has not got the focus, if the tree shows no
/// effect. The page may prevent the focus, or may have drawn something over the control that is in
/// no tree.
fn not_focused(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let target = clicked(action, report).and_then(|acted_on| acted_on.find(after, Some(before)));
    let misses = |at: &usize| {
        let element = &after.elements[*at];
        let is_control = element.visible && element.role.is_interactive();
        let has_focus = |at: usize| after.elements[at].states.contains(States::FOCUSED);
        is_control && after.page_around(*at).is_some() && !after.with_inside(*at).any(has_focus)
    };
    let Some(target) = target.filter(misses) else {
        return Verdict::Agrees;
    };
    // For the next new tab, Firefox adds a page that does not show. Bars show the link under the
    // pointer.
    let diff = Diff::between(before, after);
    let changes = diff.modified.iter().filter(|m| !m.is_focus_alone());
    let mut now = changes.map(|m| m.after).chain(diff.added.iter().copied());
    let shows = |tree: &Tree, at: usize| {
        let element = &tree.elements[at];
        let counts = element.role.is_interactive() || element.role == Role::WINDOW;
        element.visible && (counts || tree.page_around(at).is_some())
    };
    let is_seen =
        now.any(|at| shows(after, at)) || diff.removed.iter().any(|at| shows(before, *at));
    if is_seen {
        let clicked = report.step.done.at;
        let lies = |place: Option<Rect>| place.zip(clicked).is_some_and(|(p, at)| p.contains(at));
        let is_apart = |at: usize| !after.is_inside(at, target) && !after.is_inside(target, at);
        let comes = |at: &usize| lies(after.elements[*at].place()) && is_apart(*at);
        // A dialog that the click has opened takes the focus.
        let focus = after.focus();
        let takes_it =
            |at: usize| focus.is_some_and(|focus| after.with_inside(at).any(|i| i == focus));
        let mut over = diff.added.iter().copied().filter(|at| shows(after, *at));
        return match over.find(|at| comes(at) && !takes_it(*at)) {
            Some(over) => Verdict::Differs(format!(
                "{} has come over {}, and may have got the click",
                summary::name_of(after, over),
                summary::name_of(after, target)
            )),
            None => Verdict::Agrees,
        };
    }
    Verdict::Differs(format!(
        "{} did not get the focus: something that is in no tree may lie over it. Use \
        press_ax_and_traverse if the click had no effect",
        summary::name_of(after, target)
    ))
}

/// The verdict about a click on a check box, a radio button or a tab that is unchanged: the app may
/// have taken the change back at once. A toggle button that opens something may report no other
/// state, so it is excluded.
fn not_toggled(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let clicked = clicked(action, report);
    let Some((acted_on, (was, now, _))) = clicked.zip(own(report)) else {
        return Verdict::Agrees;
    };
    let on = was.states.intersects(States::CHECKED) || was.picks;
    let opens = acted_on.was.states & (States::EXPANDED | States::COLLAPSED);
    let switches = match acted_on.was.role {
        Role::CHECK_BOX => acted_on.was.native_role != "toggle button" || opens.is_empty(),
        Role::RADIO_BUTTON => !on,
        // A tab of a bar that reports no current tab is excluded.
        Role::TAB => {
            !on && acted_on
                .find(after, Some(before))
                .is_some_and(|at| current_tab(after, at).is_some())
        }
        _ => acted_on.was.native_role == "check menu item",
    };
    let stays =
        was.states - States::SELECTED == now.states - States::SELECTED && was.picks == now.picks;
    if !switches || !stays || presses_key(report) || has_changed(before, after) {
        return Verdict::Agrees;
    }
    let is = match acted_on.was.role {
        Role::TAB => "not selected",
        _ if on => "checked",
        _ => "not checked",
    };
    Verdict::Failed(Mismatch::NotToggled(is.to_owned()))
}

/// Whether a click or a press on a cell without text has not switched the cell. In GTK 3 such a
/// cell is a check box only if its actions say so.
pub(crate) fn not_switched(desktop: &mut dyn Desktop, action: &Action, report: &Report) -> bool {
    let acted_on = report.step.acted_on.as_ref();
    let presses = matches!(action, Action::Quiet(Quiet::PressAx { .. }));
    let acted_on = acted_on.filter(|_| presses || is_plain_click(action));
    let is_cell = acted_on.is_some_and(|a| a.was.role == Role::CELL && a.was.title.is_blank());
    let own = own(report).filter(|(was, now, _)| !(was.states ^ now.states).intersects(Says::ON));
    own.is_some_and(|(_, _, id)| is_cell && desktop.takes(&id).is_ok_and(|takes| takes.toggle))
}

/// The state that a clicked row, check box or radio button has again, if it may have been selected
/// or switched only for a moment. Nothing else must have changed for a row, or for what it holds.
/// On a busy machine the reading may come after that moment.
pub(crate) fn soon_back(
    desktop: &mut dyn Desktop,
    action: &Action,
    report: &Report,
) -> Option<String> {
    let role = report.step.acted_on.as_ref()?.was.role;
    let (was, now, id) = own(report).filter(|_| is_plain_click(action))?;
    let (before, after) = (report.readings.current()?, report.readings.after.as_ref()?);
    let row = after.elements.iter().position(|e| e.id == id);
    let row = row.and_then(|at| row_around(after, at));
    let is_selected = |says: &Says| says.picks || says.states.contains(States::SELECTED);
    let never = !is_selected(&was) && !is_selected(&now);
    let on = now.states & Says::ON;
    let (id, is) = match (role, row) {
        (Role::CHECK_BOX | Role::RADIO_BUTTON, _)
            if was.states & Says::ON == on && !presses_key(report) =>
        {
            (&id, on.words().next().unwrap_or("not checked"))
        }
        // A menu deselects its item as it closes.
        (_, Some(row)) if never && changes_selection_alone(before, after) => {
            (&after.elements[row].id, "not selected")
        }
        _ => return None,
    };
    let was_on = desktop.switched(id).is_some_and(|(_, on)| on);
    was_on.then(|| is.to_owned())
}

/// The verdict about a text that a key has confirmed, if the field has its old text again: the app
/// may have taken the typed text back. Only a note if something else has changed, because the field
/// may wait for more.
fn not_confirmed(action: &Action, report: &Report, (before, after): (&Tree, &Tree)) -> Verdict {
    let focused = report.step.keys.before.as_ref().and_then(Witness::field);
    let acted_on = report.step.acted_on.as_ref();
    let clicked = || Field::new(before, acted_on?.in_before(before)?);
    let field = focused.cloned().or_else(clicked);
    let ((Some(typed), Some(press)), Some(field)) = (action.keys(), &field) else {
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
    match now.other_number(typed).filter(|_| confirms) {
        Some(why) => Verdict::Failed(why),
        None => now.differs(),
    }
}

/// The mismatch, if the control was changed by the action, and now is as it was before the action.
fn taken_back(then: &Says, report: &Report) -> Option<Mismatch> {
    let (was, now, _) = own(report)?;
    // A click that switches a cell also selects it.
    let switched = (then.states ^ was.states).intersects(Says::ON);
    if !switched && then.picks && !was.picks && !now.picks {
        // A row that opens something may lose its selection by that.
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
