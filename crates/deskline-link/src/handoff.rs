//! Step 7: decides whether the action brought another process to the front.
//!
//! A handoff is an effect of the action, never a switch by the person (the contract, §7.7): the
//! agent must not read the window that the person turns to. A front change counts as the action's
//! in three cases: the window opened after the checkpoint, the front changed while the person's
//! devices were grabbed, or the person has pressed nothing since the checkpoint.

use std::time::Duration;

use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::display::Window;
use crate::error::Result;

/// The front window at each look since the act.
#[derive(Debug, Default)]
pub(crate) struct Handoff {
    /// Whether the action only waits. It then has no effects.
    waits: bool,
    /// How long the guard had held before the action.
    held_before: Option<Duration>,
    looks: Vec<Option<Window>>,
}

impl Handoff {
    /// Starts without any look. `held` is how long the guard has held in this link so far.
    pub(crate) fn of(action: &Action, held: Option<Duration>) -> Self {
        Self {
            waits: matches!(action, Action::WaitFor { .. }),
            held_before: held,
            looks: Vec::new(),
        }
    }

    /// Whether the person's key and button presses have to be watched.
    pub(crate) fn watches(&self) -> bool {
        !self.waits
    }

    /// Records the front window: first while the person's devices are still grabbed, then after the
    /// app has settled.
    pub(crate) fn look(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        if !self.waits {
            self.looks.push(desk.front()?);
        }
        Ok(())
    }

    /// The window of another process that the action brought to the front and that is still there,
    /// with its pid. `pid` is the target's.
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
        if desk.is_private() || desk.person_pressed() == Some(false) {
            return Ok(Some((front, owner)));
        }
        let seen_at = |look: usize| {
            let window = self.looks.get(look).and_then(Option::as_ref);
            window.is_some_and(|window| window.id == front.id)
        };
        let guarded = desk.guard.held() > self.held_before && seen_at(0);
        let came_up = !desk.was_there(front.id) && (seen_at(0) || seen_at(1));
        Ok((guarded || came_up).then_some((front, owner)))
    }
}
