//! Watches which window is in front after an action, to decide whether the action brought it there.

use std::time::Duration;

use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::display::{Place, Window};
use crate::error::Result;

/// The front window at two times after the act: right after it, and once the app has settled.
#[derive(Debug, Default)]
pub(crate) struct FrontWatch {
    /// Whether the action only waits, and so has no effects of its own.
    waits: bool,
    /// How long the person's devices had been grabbed in this link before the action.
    held_before: Option<Duration>,
    fronts: Vec<Option<Window>>,
}

impl FrontWatch {
    /// Starts empty. `held` is how long the person's devices were grabbed in this link so far.
    pub(crate) fn new(action: &Action, held: Option<Duration>) -> Self {
        Self {
            waits: matches!(action, Action::WaitFor { .. }),
            held_before: held,
            fronts: Vec::new(),
        }
    }

    /// Records the front window. The first call is made while the person's devices are grabbed, the
    /// second once the app has settled.
    pub(crate) fn note(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        if !self.waits {
            self.fronts.push(desk.front()?);
        }
        Ok(())
    }

    /// The window of another process that the action brought to the front and that is still there,
    /// with its pid. `pid` is the target's process.
    pub(crate) fn decide(
        &self,
        desk: &mut Checkpoint<'_>,
        pid: u32,
    ) -> Result<Option<(Window, u32)>> {
        if self.waits {
            return Ok(None);
        }
        let theirs = desk.front_before().and_then(|window| window.pid);
        let front = desk
            .front()?
            .and_then(|front| front.pid.map(|pid| (front, pid)));
        let Some((front, owner)) =
            front.filter(|(_, owner)| *owner != pid && Some(*owner) != theirs)
        else {
            return Ok(None);
        };
        if desk.is_no_effect(&front)? {
            return Ok(None);
        }
        // If the front window is a part of the desktop itself, no app was brought to the front.
        if front.place != Place::App {
            return Ok(None);
        }
        if desk.is_private() || desk.person_pressed() == Some(false) {
            return Ok(Some((front, owner)));
        }
        let seen_at = |time: usize| {
            let window = self.fronts.get(time).and_then(Option::as_ref);
            window.is_some_and(|window| window.id == front.id)
        };
        let guarded = desk.guard.held() > self.held_before && seen_at(0);
        let came_up = !desk.was_there(front.id) && (seen_at(0) || seen_at(1));
        Ok((guarded || came_up).then_some((front, owner)))
    }
}
