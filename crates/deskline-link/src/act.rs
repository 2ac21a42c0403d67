//! Step 4: acts. [`front`] raises the target's window, [`reach`] brings the target into view,
//! [`input`] carries the action out, [`click`] clicks, [`choose`] picks a choice, [`until`] scrolls
//! until a text shows, [`paste`] pastes a text, [`text_then_key`] waits for the effect of a text
//! before the key after it, [`open`] starts apps, and [`wait_for`] waits for an element.

mod abilities;
pub(crate) mod action;
mod asked;
mod choose;
mod click;
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
mod wheel;

use crate::apps::Identity;
use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result, TargetError};
use crate::link::{Found, Link};
use crate::resolve::lookup::Resolved;
use action::Act;
use deskline_input::clock::Instant;
use open::open;
use wait_for::Wanted;

impl Link<'_> {
    /// Step 4: carries out the current action of the link.
    pub(crate) fn act(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let action = self.action;
        if let (Action::Input(_) | Action::Quiet(_), false) = (action, self.subject.is_home()) {
            self.policy.approve(&mut **desk, self.subject.required()?)?;
        }
        match action {
            Action::Open { identifier } => {
                self.policy.permit_identifier(identifier)?;
                let is_private = desk.is_private();
                let permit = |app: &Identity| self.policy.permit_start(app, is_private);
                let notes = &mut self.report.notes;
                let policy = self.policy;
                self.report.step.started = open(desk, identifier, &permit, policy, notes)?;
            }
            Action::WaitFor { .. } => {
                let found = match (self.found.take(), Wanted::new(action, Instant::now())) {
                    (None, Some(wanted)) => {
                        let wanted = wanted.after_runs(self.call, self.report.ended_runs.len());
                        self.wait_for(&mut **desk, &wanted, None)?
                    }
                    (found, _) => found,
                };
                let Found { sentence, helper } = found.unwrap_or_default();
                self.report.step.done.say(sentence);
                if let Some(helper) = helper {
                    self.turn_to(desk, helper)?;
                }
            }
            Action::Input(input) => self.acting(desk)?.input(input)?,
            Action::Quiet(quiet) => self.acting(desk)?.quiet(quiet)?,
            Action::Read { .. } => {
                let found = self
                    .targets
                    .target
                    .as_ref()
                    .zip(self.report.readings.current());
                if let Some((target, tree)) = found {
                    let index = target.index.ok_or_else(|| no_element(target))?;
                    self.report.step.results.read = Some(tree.whole_text(index));
                    self.report.step.done.say(format!("read {}", target.name));
                }
            }
            // A refresh only needs a reading, and acts on nothing.
            Action::Refresh => {}
        }
        Ok(())
    }

    /// Types again what a field has lost of a text. `false` if the lost part is unknown, or if the
    /// action is more than a text.
    pub(crate) fn type_again(&mut self, desk: &mut Checkpoint<'_>) -> Result<bool> {
        let is_alone = matches!(self.action.keys(), (Some(_), None));
        if !is_alone || self.report.step.keys.lost().is_none() {
            return Ok(false);
        }
        let mut act = self.acting(desk)?;
        act.front(act.wanted_for_keys())?;
        Ok(act.type_again()?.is_some())
    }

    fn acting<'a, 'd>(&'a mut self, desk: &'a mut Checkpoint<'d>) -> Result<Act<'a, 'd>> {
        let picture = &mut self.report.pictures.before;
        Ok(Act {
            pid: self.subject.required()?,
            call: self.call,
            action: self.action,
            policy: self.policy,
            cancel: self.cancel,
            tree: self.report.readings.current(),
            target: self.targets.target.as_ref(),
            to: self.targets.to.as_ref(),
            drop_on: self.targets.drop_on.as_ref(),
            window: self.targets.window,
            desk,
            step: &mut self.report.step,
            is_pictured: picture.is_some() && self.report.ended_runs.is_empty(),
            picture,
        })
    }
}

fn no_element(target: &Resolved) -> Error {
    TargetError::NoElement(target.name.clone()).into()
}
