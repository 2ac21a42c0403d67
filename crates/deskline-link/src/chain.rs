//! The steps of a chain. Each step is resolved in the state that the step before it has left. A
//! call that is not a chain has one step.

use deskline_core::{Attribute, Change, Diff, Key, Modified, Tree, Value, escape, summary, target};

use crate::act::wait_for;
use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::desktop::Desktop;
use crate::error::{Error, Result, TargetError};
use crate::link::Link;
use crate::ocr::has_texts;
use crate::picture::texts::Spots;
use crate::reader::{AGAIN, WHOLE};
use crate::report::{ActedOn, AppState, EndedRun, Report, Step};
use crate::resolve::lookup;
use crate::resolve::lookup::Resolved;
use crate::secrecy::Witness;
use crate::settle::changed::{Changed, drawn, row_around};
use crate::settle::front_watch::FrontWatch;
use crate::settle::has_ended;
use crate::settle::taken_back::note_change;
use deskline_input::clock::Instant;

impl Link<'_> {
    /// Carries out every step; the first one has been resolved. Returns the error of a later step
    /// that failed: the answer still reports the steps before it.
    ///
    /// # Errors
    /// An error of the first step, unless that error says that the effect is not the requested one.
    /// Also an error after which there is nothing to report: the user's Esc, a lost connection, or
    /// an app that does not answer.
    pub(crate) fn walk(&mut self, desk: &mut Checkpoint<'_>) -> Result<Option<Error>> {
        let mut runs = self.call.runs().peekable();
        let mut resolved = Ok(());
        while let Some((step, action)) = runs.next() {
            self.action = action;
            self.front = FrontWatch::new(action, desk.guard.held());
            let mut done = resolved.and_then(|()| self.carry_out(desk));
            let follows = self.report.readings.step_before.is_some();
            if let (Err(Error::Target(TargetError::NotShowing(_))), Some(pid), true) =
                (&done, self.subject.current(), follows)
            {
                done = self.again(desk, pid);
            }
            if let Err(e) = done {
                desk.ungrab();
                self.report.note_guard(desk);
                return self.stop(desk, e).map(Some);
            }
            let tells = self.call.is_chain || moves_selection(action);
            let readings = &self.report.readings;
            if let (true, Some(before), Some(after)) = (tells, readings.current(), &readings.after)
            {
                let diff = Diff::between(before, after);
                let led_to = led_to((before, after), &diff, self.report);
                let changed = self.report.step_changed(action, (before, after), &diff);
                let results = &mut self.report.step.results;
                (results.led_to, results.changed) = (led_to, Some(changed));
            }

            let Some(&(_, next)) = runs.peek() else {
                break;
            };
            // Each step grabs again, so that the overlay describes that step.
            desk.ungrab();
            self.report.note_guard(desk);
            resolved = self.timed("resolve", |link| {
                link.go_on(desk, (step, next))?;
                link.action = next;
                let resolved = link.resolve(&mut **desk);
                let is_missing = matches!(resolved, Err(Error::NotFound { .. }));
                if !is_missing || !link.resolve_in_helper(desk)? {
                    resolved?;
                }
                if link.targets.away {
                    link.reveal(desk)?;
                }
                Ok(())
            });
        }
        Ok(None)
    }

    /// Ends a run of step `at`, and decides which app the next run goes to: the app that this run
    /// brought to the front, or else the call's app.
    fn go_on(&mut self, desk: &mut Checkpoint<'_>, (at, next): (usize, &Action)) -> Result<()> {
        let home = self.subject.home().ok_or(Error::NoPid)?;
        let to = self.other_in_front(desk)?;
        if let Some((window, pid)) = &to {
            let is_new = self.subject.current() != Some(*pid);
            desk.refuse_substitute(home, (window, *pid), next.is_for_focus() && is_new)?;
        }
        let to = to.map_or(home, |(_, pid)| pid);
        let after = self.report.readings.after.take();
        let same = self.subject.current() == Some(to) && !self.report.app.is_gone();
        let tree = match after {
            Some(mut tree) if same => {
                self.reader.add_texts(&mut **desk, &mut tree, Spots::None);
                self.rename_since_step(&tree);
                if let (Some(_), Some(before)) = (&self.call.window, self.report.readings.current())
                {
                    let now = desk.front()?.map(|front| front.id);
                    self.windows.note(before, &tree, now);
                }
                let accepted = self.accept(&mut **desk, &mut tree);
                accepted.map(|()| tree)
            }
            _ => self
                .turn_to(desk, to)
                .and_then(|()| self.read(&mut **desk, to)),
        };
        // Another window has come to the front, and some of the text may have reached it.
        let bare = |tree: &Tree| !Witness::new(tree).secure;
        let public = self.report.step.is_public() && (same || tree.as_ref().is_ok_and(bare));
        let mut step = std::mem::take(&mut self.report.step);
        if let (false, Ok(tree)) = (same, &tree) {
            let app = escape::name(&tree.app.name, 40);
            step.results.led_to = Some(format!("{app} came to the front"));
            step.results.changed = Some(Changed::Tree);
        }
        self.report.ended_runs.push(EndedRun {
            step: at,
            sentence: step.done.sentence(public),
            results: step.results,
            public,
        });
        let following = self.call.runs().nth(self.report.ended_runs.len());
        self.report.step.repeats_secret = !public && following.is_some_and(|(step, _)| step == at);
        self.report.app = AppState::Running;
        match tree {
            // The app is busy, and the next step waits for it: that step needs no tree before it
            // begins.
            Err(Error::NotAnswering { .. }) if next.waits() => {}
            tree => {
                self.report.readings.step_before = None;
                self.report.readings.step_before = Some(tree?);
            }
        }
        Ok(())
    }

    /// Resolves a step in a dialog that a helper of the app draws, if the dialog has the step's
    /// target. Later steps then go to the dialog too.
    fn resolve_in_helper(&mut self, desk: &mut Checkpoint<'_>) -> Result<bool> {
        let (Some(pid), Some(wanted)) = (self.subject.current(), lookup::target_of(self.action))
        else {
            return Ok(false);
        };
        for helper in wait_for::helpers(&mut **desk, pid) {
            let Ok(tree) = self.read(&mut **desk, helper) else {
                continue;
            };
            if lookup::resolve(&tree, wanted, &[]).is_ok() {
                self.turn_to(desk, helper)?;
                self.report.readings.step_before = Some(tree);
                return self.resolve(&mut **desk).map(|()| true);
            }
        }
        Ok(false)
    }

    /// Called when a step has failed. Reads the tree that the steps before it have left.
    fn stop(&mut self, desk: &mut Checkpoint<'_>, e: Error) -> Result<Error> {
        let tells_nothing = matches!(e, Error::Cancelled(_) | Error::NotAnswering { .. });
        // `NoEffect`: the action was carried out, and its unexpected effect belongs in the answer.
        let did = !self.report.ended_runs.is_empty() || matches!(e, Error::NoEffect(_));
        if !did || tells_nothing || e.costs_connection() {
            // The file of the answer lists this tree. So its elements need refs.
            if let Some(mut tree) = self.report.readings.after.take() {
                self.rename_since_step(&tree);
                let accepted = self.accept(&mut **desk, &mut tree);
                self.report.readings.after = accepted.is_ok().then_some(tree);
            }
            return Err(e);
        }
        if self.report.readings.after.is_some() {
            return Ok(e);
        }
        let Step { done, .. } = &self.report.step;
        let untouched = done.is_empty() && !done.underway;
        if untouched && self.report.readings.step_before.is_some() {
            self.report.readings.after = self.report.readings.step_before.take();
        } else if let Some(pid) = self.subject.current().filter(|_| self.subject.is_home()) {
            match desk.read(pid, AGAIN) {
                Ok(tree) => self.report.readings.after = Some(tree),
                Err(e) => has_ended(e, self.report)?,
            }
        }
        Ok(e)
    }

    /// Steps 3 to 5 of one action. Grabs the person's devices right before input, and releases them
    /// right after it.
    pub(crate) fn carry_out(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let step = &mut self.report.step;
        step.acted_on = self.targets.acted_on.take();
        let ends = [&self.targets.target, &self.targets.to]
            .into_iter()
            .flatten();
        step.results.doubts = ends.flat_map(Resolved::doubts).collect();
        step.public_value = self.targets.public_value;
        if let Some(end) = &self.targets.drop_on {
            self.subject.dropped_on.borrow_mut().push(end.pid);
            desk.listen(end.pid)?;
        }
        let acted = self.timed("act", |link| link.act(desk));
        let keys = self.report.step.keys.before.as_ref();
        let took = |acted_on: &mut ActedOn| {
            !acted_on.by_keys || keys.is_none_or(|keys| keys.may_go_to(&acted_on.was.id))
        };
        self.report.step.acted_on = self.report.step.acted_on.take_if(|acted_on| took(acted_on));
        let since = Instant::now();
        if acted.is_ok() {
            self.front.note(desk)?;
        }
        if acted.is_err() {
            // The person's keys reach the apps again after this. So keys and buttons are released,
            // and the clipboard is given back, before.
            desk.release_all();
            desk.restore_clipboard();
            desk.hovers_at = None;
        }
        match acted {
            Ok(()) => desk.hold_on(),
            Err(_) => desk.ungrab(),
        }
        self.report.note_guard(desk);
        acted?;
        if let Some(end) = self.targets.drop_on.take() {
            self.timed("settle", |link| link.settle_drop(desk, end))?;
        }
        self.timed("settle", |link| link.settle(desk))?;
        self.timed("read_back", |link| {
            let mut read = link.read_back(desk);
            if read.is_err() && link.type_again(desk)? {
                link.settle(desk)?;
                read = link.read_back(desk);
            }
            read?;
            link.await_expected(desk)
        })?;
        note_change(
            &mut **desk,
            (self.action, self.targets.target.take()),
            since,
            self.report,
        );
        Ok(())
    }

    /// Whether the current step may select something, and the next step acts on the details that
    /// show for it.
    pub(crate) fn may_show_details(&self, before: Option<&Tree>) -> bool {
        use crate::call::Input::{Choose, Click, PressKey};
        let next = self.call.runs().nth(self.report.ended_runs.len() + 1);
        let acts = next.is_some_and(|(_, next)| match next {
            Action::Input(input) => matches!(input, Click { .. } | Choose { .. }),
            next => matches!(next, Action::Quiet(_) | Action::Read { .. }),
        });
        let selects = match before.zip(self.targets.index()) {
            Some((tree, index)) => row_around(tree, index).is_some(),
            None => matches!(self.action, Action::Input(PressKey { .. })),
        };
        acts && selects
    }

    /// Step 6: the changes of the whole call.
    pub(crate) fn diff(&mut self, desktop: &mut dyn Desktop) -> Result<()> {
        if !self.subject.is_home() {
            self.read_home(desktop)?;
        }
        let Some(mut tree) = self.report.readings.after.take() else {
            return Ok(());
        };
        let by_keys = self.call.actions().any(Action::is_for_focus);
        let was = self.report.readings.before.as_ref();
        let was = was.zip(self.report.before_input());
        let drawn = was.and_then(|was| drawn(desktop, (&tree, by_keys), was));
        let awaited = match &self.call.action {
            Action::WaitFor { target, .. } => lookup::resolve(&tree, target, &[]).is_err(),
            _ => self.report.readings.before.as_ref().is_some_and(has_texts),
        };
        let spots = match &drawn {
            _ if awaited => Spots::All,
            Some((window, places)) => Spots::At(*window, places),
            None => Spots::None,
        };
        self.reader.add_texts(desktop, &mut tree, spots);
        self.rename_since_step(&tree);
        let before = self.report.readings.before.as_ref();
        let mut diff = before.map(|before| Diff::between(before, &tree));
        if let Some((before, diff)) = before.zip(diff.as_mut()) {
            if let Some(last) = self.last_trees.last(&tree.app) {
                diff.add_unknown((before, last), &tree);
            }
            self.reader.rename(&diff.renamed(before, &tree));
        }
        self.accept(desktop, &mut tree)?;
        self.report.diff = diff.filter(|_| self.call.options.show_diff);
        self.report.readings.after = Some(tree);
        Ok(())
    }

    /// Reads the call's app if the last step went to another one.
    fn read_home(&mut self, desktop: &mut dyn Desktop) -> Result<()> {
        let home = self.subject.home().ok_or(Error::NoPid)?;
        self.report.readings.step_before = None;
        self.report.app = AppState::Running;
        self.report.readings.after = None;
        match desktop.read(home, WHOLE) {
            Ok(tree) => {
                self.report.readings.after = Some(tree);
                Ok(())
            }
            Err(e) => has_ended(e, self.report),
        }
    }

    /// Keeps the refs of elements that the step has replaced by equal ones. Renames the elements in
    /// the tree from before the call too: otherwise their later changes would not be found.
    fn rename_since_step(&mut self, tree: &Tree) {
        let of_app = |last: &&Tree| last.app.pid == tree.app.pid;
        let Some(last) = self.report.readings.current().filter(of_app) else {
            return;
        };
        let renamed = Diff::between(last, tree).renamed(last, tree);
        self.reader.rename(&renamed);
        let first = self.report.readings.before.as_mut();
        if let Some(first) = first.filter(|tree| of_app(&&**tree)) {
            first.rename(&renamed);
        }
    }
}

/// Whether an action is a key that may select something else.
fn moves_selection(action: &Action) -> bool {
    use Key::{Down, End, Home, Left, PageDown, PageUp, Right, Up};
    let (_, press) = action.keys();
    let key = press.map(|press| press.key);
    matches!(
        key,
        Some(Up | Down | Left | Right | Home | End | PageUp | PageDown)
    )
}

/// The windows that a step opened or closed, and the changes of its target or selection, in a few
/// words.
fn led_to((before, after): (&Tree, &Tree), diff: &Diff, report: &Report) -> Option<String> {
    // The step was a wait, and its element was found in a helper of the app. These are trees of two
    // apps.
    if before.app.pid != after.app.pid {
        return None;
    }
    let title = |tree: &Tree, index: usize| summary::name_of(tree, index);
    if let Some(opened) = after.opened_since(before, diff) {
        return Some(format!("opened {}", title(after, opened)));
    }
    let id = |tree: &Tree, top: usize| tree.elements.get(top).map(|e| e.id.clone());
    let now = after.toplevels().into_iter().map(|top| id(after, top));
    let now: Vec<_> = now.collect();
    let gone = |top: &usize| !now.contains(&id(before, *top));
    if let Some(closed) = before.toplevels().into_iter().find(gone) {
        return Some(format!("closed {}", title(before, closed)));
    }
    if let Some(menu) = after.menu_closed_since(before) {
        return Some(format!("closed the menu {}", title(before, menu)));
    }
    // The elements of `after` have no refs yet. So the target is found by its id.
    let was = report.step.acted_on.as_ref().map(|acted_on| &acted_on.was);
    let is = was.and_then(|was| after.elements.iter().find(|e| e.id == was.id));
    if let Some(changed) = was
        .zip(is)
        .and_then(|(was, is)| target::own_change(was, is))
    {
        return Some(changed);
    }
    let chosen = |m: &&Modified| {
        let is = |change: &Change| {
            change.attribute == Attribute::Selected && change.new == Value::Flag(true)
        };
        m.changes.iter().any(is)
    };
    let chosen = diff.modified.iter().filter(chosen).map(|m| m.after);
    let chosen: Vec<usize> = chosen.collect();
    match chosen.as_slice() {
        [] => None,
        [one] => Some(format!("selected {}", title(after, *one))),
        several => Some(format!("selected {} elements", several.len())),
    }
}
