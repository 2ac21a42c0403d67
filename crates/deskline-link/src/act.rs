//! Step 4: acts. [`front`] raises the target's window, [`reach`] brings the target into view,
//! [`input`] carries the action out, [`choose`] picks a choice, [`until`] scrolls until a text
//! shows, [`paste`] pastes a text, [`text_then_key`] waits for the effect of a text before the key
//! after it, [`open`] starts apps, and [`wait_for`] waits for an element.

mod abilities;
pub(crate) mod action;
mod asked;
mod choose;
mod date;
pub(crate) mod done;
mod front;
pub(crate) mod input;
mod input_window;
mod open;
mod paste;
mod reach;
mod receives;
mod text_then_key;
mod until;
pub(crate) mod wait_for;

use crate::apps::Identity;
use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result, TargetError};
use crate::report::Report;
use crate::resolve::Targets;
use crate::resolve::lookup::Resolved;
use crate::steps::{Found, Steps};
use action::Act;
use deskline_input::clock::Instant;
use open::open;
use wait_for::Wanted;

impl Steps<'_> {
    /// Step 4 of one action.
    pub(crate) fn act(
        &mut self,
        desk: &mut Checkpoint<'_>,
        action: &Action,
        targets: &Targets,
        report: &mut Report,
    ) -> Result<()> {
        if let (Action::Input(_) | Action::Quiet(_), false) = (action, self.subject.is_home()) {
            self.policy.approve(&mut **desk, self.subject.required()?)?;
        }
        match action {
            Action::Open { identifier } => {
                self.policy.permit_identifier(identifier)?;
                let is_private = desk.is_private();
                let permit = |app: &Identity| self.policy.permit_start(app, is_private);
                let notes = &mut report.notes;
                let policy = self.policy;
                report.step.started = open(desk, identifier, &permit, policy, notes)?;
            }
            Action::WaitFor { .. } => {
                let found = match (self.found.take(), Wanted::new(action, Instant::now())) {
                    (None, Some(wanted)) => {
                        let wanted = wanted.after_runs(self.call, report.ended_runs.len());
                        self.wait_for(&mut **desk, &wanted, None, report)?
                    }
                    (found, _) => found,
                };
                let Found { sentence, helper } = found.unwrap_or_default();
                report.step.done.say(sentence);
                if let Some(helper) = helper {
                    self.turn_to(desk, helper)?;
                }
            }
            Action::Input(input) => self.acting(desk, action, targets, report)?.input(input)?,
            Action::Quiet(quiet) => self.acting(desk, action, targets, report)?.quiet(quiet)?,
            Action::Read { .. } => {
                let found = targets.target.as_ref().zip(report.readings.current());
                if let Some((target, tree)) = found {
                    let index = target.index.ok_or_else(|| no_element(target))?;
                    report.step.results.read = Some(tree.whole_text(index));
                    report.step.done.say(format!("read {}", target.name));
                }
            }
            // The question only needed a look, and has been answered.
            Action::Refresh => {}
        }
        Ok(())
    }

    /// From here on the steps go to this process.
    pub(crate) fn turn_to(&self, desk: &mut Checkpoint<'_>, pid: u32) -> Result<()> {
        self.subject.turn_to(pid);
        self.listen(&mut **desk)
    }

    fn acting<'a, 'd>(
        &'a self,
        desk: &'a mut Checkpoint<'d>,
        action: &'a Action,
        targets: &'a Targets,
        report: &'a mut Report,
    ) -> Result<Act<'a, 'd>> {
        let picture = &mut report.pictures.before;
        Ok(Act {
            pid: self.subject.required()?,
            call: self.call,
            action,
            policy: self.policy,
            cancel: self.cancel,
            tree: report.readings.current(),
            target: targets.target.as_ref(),
            to: targets.to.as_ref(),
            drop_on: targets.drop_on.as_ref(),
            window: targets.window,
            desk,
            step: &mut report.step,
            is_pictured: picture.is_some() && report.ended_runs.is_empty(),
            picture,
        })
    }
}

fn no_element(target: &Resolved) -> Error {
    TargetError::NoElement(target.name.clone()).into()
}
