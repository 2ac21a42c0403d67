//! Step 1: reads the app, and resolves a call's target on the fresh tree.

pub(crate) mod late_changes;
pub(crate) mod lookup;
pub(crate) mod targets;
pub(crate) mod windows;

use std::time::Duration;

use deskline_core::{Diff, Point, Ref, Role, States, Tree};

use crate::alert;
use crate::call::{Action, Input, Quiet, Target};
use crate::checkpoint::Checkpoint;
use crate::desktop::Desktop;
use crate::error::{Error, Result, TargetError, WindowHint};
use crate::link::Link;
use crate::picture::texts::Spots;
use crate::reader::{AGAIN, WHOLE};
use crate::report::ActedOn;
use crate::settle::stale::{AGREE, has_empty_frame, lacks_page, may_be_stale};
use crate::trees::Scope;
use deskline_input::clock::Instant;
use lookup::Resolved;
use targets::{DropOn, Targets};

/// How long a disabled element may take to be enabled, and the polling interval where no event
/// comes.
const ENABLED: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(100);

impl Link<'_> {
    /// Reads the app, and records the changes since the last answer about it.
    pub(crate) fn read_since(
        &mut self,
        desktop: &mut dyn Desktop,
        pid: u32,
        scope: Scope,
    ) -> Result<Tree> {
        let mut tree = desktop.read(pid, scope)?;
        self.reader.add_texts(desktop, &mut tree, Spots::None);
        let since = self.last_trees.since(&tree);
        if let Some(since) = &since {
            self.reader.rename(&since.renamed(&tree));
        }
        self.accept(desktop, &mut tree)?;
        self.report.late = since.and_then(|since| since.late_changes(&tree));
        Ok(tree)
    }

    /// Finds the element of a stale ref again, after its app has re-created it with differences: a
    /// web page may render a combo box anew after a choice. The new element is the one that looks
    /// as the old one did before an earlier step, or else the only element with that role and text.
    /// It gets the ref.
    fn find_recreated(&mut self, desktop: &mut dyn Desktop, reference: Ref) -> Result<()> {
        let readings = &self.report.readings;
        let Some(tree) = readings.current() else {
            return Ok(());
        };
        if tree.find_ref(reference).is_some() {
            return Ok(());
        }
        let first = readings.before.as_ref();
        let first = first.filter(|_| readings.step_before.is_some());
        let last = self.last_trees.last(&tree.app);
        let find = |old: &Tree| {
            let index = old.find_ref(reference)?;
            let id = &old.elements[index].id;
            let twins = Diff::between(old, tree).renamed(old, tree);
            let twin = twins.into_iter().find(|(was, _)| was == id);
            let only = || {
                let now = tree.only_like(old, index)?;
                let is_taken = old.elements.iter().any(|e| e.id == tree.elements[now].id);
                // A button with the same text in another dialog is another button.
                let top =
                    |tree: &Tree, at| tree.toplevel(at).map(|top| tree.elements[top].id.clone());
                let stays = top(old, index) == top(tree, now);
                (!is_taken && stays).then(|| (id.clone(), tree.elements[now].id.clone()))
            };
            twin.or_else(only)
        };
        let Some(pair) = first.into_iter().chain(last).find_map(find) else {
            return Ok(());
        };
        self.reader.rename(&[pair]);
        match self.report.readings.current_mut() {
            Some(tree) => self.reader.accept(desktop, tree, &mut self.report.notes),
            None => Ok(()),
        }
    }

    /// Step 1. For windows that nobody sees, the tree may have an older reading. Those that the
    /// action is for are read again; if the action cannot be resolved, all are.
    pub(crate) fn resolve(&mut self, desktop: &mut dyn Desktop) -> Result<()> {
        let action = self.action;
        let start = Instant::now();
        // An action through accessibility does not wait for a disabled element: the app itself
        // refuses the press.
        let is_quiet = matches!(action, Action::Quiet(_));
        let (mut looked, mut known) = (false, 0);
        loop {
            let found = self.resolve_once(desktop);
            let (Some(tree), Some(pid)) = (self.report.readings.current(), self.subject.current())
            else {
                return found.map(|found| self.targets = found);
            };
            let older = tree.older.as_ref().map_or(&[][..], |older| &older.windows);
            let tops = found.as_ref().map(|targets| targets.toplevels(tree));
            let tops = tops.unwrap_or_default();
            for &top in &tops {
                desktop.act_in(&tree.elements[top].id);
            }
            // This loop ends: in each round there are fewer windows with an older reading.
            let disabled = found
                .as_ref()
                .is_ok_and(|targets| targets.is_disabled(tree, action));
            let pressed = found.as_ref().ok().and_then(|found| found.pressed(action));
            let ignored = pressed
                .and_then(|target| target.index)
                .is_some_and(|at| desktop.ignores_presses(tree, at));
            // An element with exactly this text may still come: further down, while the page is
            // loading, or in what has not been read yet.
            let target = found.as_ref().ok().and_then(|found| found.target.as_ref());
            let comes = target.filter(|_| !action.waits()).is_some_and(|target| {
                may_be_better(tree, target) || target.is_part && desktop.is_loading(pid)
            });
            // The text may still come: in the first page of a browser that is starting, in a page
            // that is loading, or in what the step before has opened.
            let by_text = matches!(lookup::target_of(action), Some(Target::Text { .. }));
            let by_text = by_text && !action.waits();
            // A browser's own hidden menus may have the text that its page is going to have.
            let is_hidden = target.and_then(|target| target.index).is_some_and(|at| {
                let element = &tree.elements[at];
                !element.visible && element.role == Role::MENU_BAR_ITEM && may_be_stale(tree)
            });
            let missing = matches!(found, Err(Error::NotFound { .. })) || is_hidden;
            let missing = by_text && missing;
            let loads = missing && (desktop.is_loading(pid) || lacks_page(tree));
            let opens = loads || by_text && has_empty_frame(tree);
            let follows = missing && self.report.readings.step_before.is_some();
            // Each reading goes on where the time budget of the last one was used up.
            let is_partial = missing && !tree.partial.is_empty();
            let most = known.max(tree.elements.len());
            let grows = std::mem::replace(&mut known, most) < most && !tree.partial.is_empty();
            let patience = if opens || grows { 5 * ENABLED } else { ENABLED };
            let awaits = disabled || comes || ignored || opens || follows || is_partial;
            let scope = match &found {
                Ok(_) | Err(Error::NotFound { .. }) if awaits && start.elapsed() < patience => {
                    self.cancel.check()?;
                    desktop.wait_for_change(LOOK)?;
                    AGAIN
                }
                Ok(_) if tops.iter().any(|top| older.contains(top)) => AGAIN,
                Err(_) if !older.is_empty() => WHOLE,
                Ok(Targets {
                    target: Some(target),
                    ..
                }) if disabled && !is_quiet => {
                    return Err(TargetError::Disabled(target.name.clone()).into());
                }
                Ok(targets) => {
                    if matches!(action, Action::Input(_) | Action::Quiet(_)) {
                        for pid in &tree.shows {
                            self.policy.approve(desktop, *pid)?;
                        }
                    }
                    let alert =
                        || alert::answered_by(tree, action, targets.index(), targets.window);
                    let approved = self.call.approved.as_deref();
                    let approved = approved.filter(|_| self.report.ended_runs.is_empty());
                    self.policy.approve_answer(desktop, pid, alert, approved)?;
                    let target = targets.target.as_ref();
                    let element = target.and_then(|target| tree.elements.get(target.index?));
                    let is_off = element.is_some_and(|e| e.states.contains(States::DISABLED));
                    if let (true, false, Some(target)) = (is_off, disabled, target) {
                        let note = format!("{} is disabled", target.name);
                        self.report.notes.add(note);
                    }
                    return found.map(|found| self.targets = found);
                }
                Err(Error::NotFound { .. } | Error::StaleRef { .. })
                    if !looked && self.look_in_picture(desktop)? =>
                {
                    looked = true;
                    continue;
                }
                Err(_) => return found.map(drop),
            };
            if self.report.readings.step_before.is_some() {
                let mut tree = desktop.read(pid, scope)?;
                self.accept(desktop, &mut tree)?;
                self.report.readings.step_before = Some(tree);
            } else {
                let tree = self.read_since(desktop, pid, scope)?;
                self.report.readings.before = Some(tree);
            }
        }
    }

    /// Carries out a step once more if it found no more than what the step before it has hidden:
    /// one page may slide or fade into another for a while.
    pub(crate) fn again(&mut self, desk: &mut Checkpoint<'_>, pid: u32) -> Result<()> {
        desk.ungrab();
        self.cancel.wait(AGREE)?;
        let mut tree = desk.read(pid, WHOLE)?;
        self.accept(&mut **desk, &mut tree)?;
        self.report.readings.step_before = Some(tree);
        self.resolve(&mut **desk)?;
        self.carry_out(desk)
    }

    /// Adds the texts of blind spots to the tree that the current step starts from. Returns whether
    /// any were added.
    fn look_in_picture(&mut self, desktop: &mut dyn Desktop) -> Result<bool> {
        let tree = self.report.readings.current_mut();
        match tree.filter(|tree| !tree.is_picture_only()) {
            Some(tree) => {
                let notes = &mut self.report.notes;
                self.reader.look_closer(desktop, tree, Spots::All, notes)
            }
            None => Ok(false),
        }
    }

    /// Resolves the action once. Reads the tree, unless the step before has just read it.
    fn resolve_once(&mut self, desktop: &mut dyn Desktop) -> Result<Targets> {
        let action = self.action;
        let Some(pid) = self.subject.current().filter(|_| !action.opens()) else {
            return Ok(Targets::default());
        };
        let wanted = lookup::target_of(action);
        let needs_tree = wanted.is_some_and(|target| !matches!(target, Target::Point(_)));
        let needs_tree = needs_tree || self.call.window.is_some() || self.call.is_chain;
        // A `wait_for` has found the element in trees from before this link. No reading is needed.
        if self.report.readings.current().is_none()
            && self.found.is_none()
            && (self.call.options.traverse_before || needs_tree || self.policy.needs_tree())
        {
            self.report.readings.before = match self.read_since(desktop, pid, AGAIN) {
                Ok(tree) => Some(tree),
                Err(Error::NotAnswering { .. }) if action.waits() => None,
                Err(e) => return Err(e),
            };
        }
        let (end, drop_on) = match action {
            Action::Input(Input::Drag { to, to_pid, .. }) => match to_pid.filter(|to| *to != pid) {
                Some(other) => (None, Some((to, other))),
                None => (Some(to), None),
            },
            _ => (None, None),
        };
        for target in wanted.into_iter().chain(end) {
            if let Target::Ref(reference) = target {
                self.find_recreated(desktop, *reference)?;
            }
        }
        let tree = self.report.readings.current();
        let sends_input = || self.call.actions().any(|a| matches!(a, Action::Input(_)));
        if tree.is_some_and(Tree::is_elsewhere) && sends_input() {
            return Ok(Targets {
                away: true,
                ..Targets::default()
            });
        }
        let windows = &mut self.windows;
        let within = tree.map(|tree| windows.of_step(self.call, self.subject, tree));
        let within = within.transpose()?.unwrap_or_default();
        let window = tree.and_then(|tree| lookup::toplevel_at(tree, &within, place_of(action)));
        let Some(wanted) = wanted.filter(|_| !action.waits()) else {
            let acted_on = tree.filter(|_| action.is_for_focus()).and_then(|tree| {
                let top = window.or_else(|| tree.active_toplevel());
                ActedOn::new(tree, tree.focused_in(top)?, true)
            });
            return Ok(Targets {
                window,
                acted_on,
                ..Targets::default()
            });
        };
        let mut target = resolve_on(tree, wanted, &within)?;
        if let Some(tree) = tree {
            target = lookup::meant(tree, action, wanted, target);
        }
        let to = end.map(|to| resolve_on(tree, to, &within)).transpose()?;
        let element = target.index.and_then(|i| tree?.elements.get(i));
        let is = |state| element.is_some_and(|e| e.states.contains(state));
        let gives_value = matches!(
            action,
            Action::Quiet(Quiet::SetValue { .. }) | Action::Input(Input::Choose { .. })
        );
        let public_value = gives_value && element.is_some() && !is(States::SECURE);
        let drop_on = drop_on.map(|(to, pid)| {
            let notes = &mut self.report.notes;
            let tree = self.reader.read(desktop, pid, notes)?;
            let target = lookup::resolve(&tree, to, &[])?;
            Ok::<_, Error>(DropOn { pid, tree, target })
        });
        let drop_on = drop_on.transpose()?;
        let acted_on = tree.zip(target.index);
        let acted_on = acted_on.and_then(|(tree, index)| {
            let control = lookup::labelled(tree, index).unwrap_or(index);
            ActedOn::new(tree, control, false)
        });
        if let (Action::Input(Input::Click { .. }), Some(tree)) = (action, tree) {
            target = lookup::clickable(tree, target);
        }
        Ok(Targets {
            target: Some(target),
            to,
            drop_on,
            window,
            away: false,
            acted_on,
            public_value,
        })
    }

    /// Switches to the virtual desktop of the app's windows, and resolves there. The checkpoint
    /// switches back.
    pub(crate) fn reveal(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let pid = self.subject.required()?;
        let tree = self.report.readings.current();
        let name = tree.map(|tree| tree.app.name.clone());
        desk.reveal(pid)?;
        if self.report.readings.step_before.is_some() {
            let tree = self.read(&mut **desk, pid)?;
            self.report.readings.step_before = Some(tree);
        } else {
            self.report.readings.before = None;
        }
        self.resolve(&mut **desk)?;
        if self.targets.away {
            let hint = WindowHint::DidNotCome;
            return Err(Error::no_window(pid, name.unwrap_or_default(), hint));
        }
        Ok(())
    }
}

/// Whether what has not been read yet may have a better match: an exact text, or the button that
/// names the header cell of a table.
fn may_be_better(tree: &Tree, target: &Resolved) -> bool {
    let is_unread = |at: usize| {
        let element = &tree.elements[at];
        element.role == Role::BUTTON && !element.children_read
    };
    !tree.partial.is_empty() && (target.is_part || target.index.is_some_and(is_unread))
}

/// The point that an action names as its target.
fn place_of(action: &Action) -> Option<Point> {
    let target = match action {
        Action::Input(Input::Scroll { at, .. }) => Some(at),
        _ => lookup::target_of(action),
    };
    match target {
        Some(Target::Point(place)) => Some(*place),
        _ => None,
    }
}

fn resolve_on(tree: Option<&Tree>, target: &Target, within: &[usize]) -> Result<Resolved> {
    match (tree, target) {
        (Some(tree), Target::Text { .. }) if within.is_empty() => {
            let dialog = lookup::dialog(tree);
            lookup::resolve(tree, target, dialog.as_slice())
        }
        (Some(tree), target) => lookup::resolve(tree, target, within),
        (None, Target::Point(point)) => Ok(Resolved::place(*point)),
        (None, _) => Err(TargetError::NotRead.into()),
    }
}
