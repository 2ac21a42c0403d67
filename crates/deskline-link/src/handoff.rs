//! Step 7: whether the action brought another process to the front.
//!
//! A handoff is the action's effect, never the person's own switch (SPEC §7.7): what the person
//! turns to is not the agent's to read. A window that has come up since the checkpoint, or a front
//! change while the guard kept the person out, is the action's. Any later change is the action's only
//! as long as the person has pressed nothing.

use crate::call::Action;
use crate::checkpoint::Checkpoint;
use crate::display::Window;
use crate::error::Result;

/// What was in front at each look since the act.
#[derive(Debug, Default)]
pub(crate) struct Handoff {
    /// Whether the action only waits: then nothing is its effect.
    waits: bool,
    looks: Vec<Option<Window>>,
}

impl Handoff {
    /// Nothing was looked at yet.
    pub(crate) fn of(action: &Action) -> Self {
        Self {
            waits: matches!(action, Action::WaitFor { .. }),
            looks: Vec::new(),
        }
    }

    /// Whether it matters what the person presses.
    pub(crate) fn watches(&self) -> bool {
        !self.waits
    }

    /// Notes what is in front: first while the guard still holds, then when the app has settled.
    pub(crate) fn look(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        if !self.waits {
            self.looks.push(desk.front()?);
        }
        Ok(())
    }

    /// The window of another process that the action has brought to the front, where it is there
    /// now, and its pid. `pid` is the target's.
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
        if desk.person_pressed() == Some(false) {
            return Ok(Some((front, owner)));
        }
        let seen_at = |look: usize| {
            let window = self.looks.get(look).and_then(Option::as_ref);
            window.is_some_and(|window| window.id == front.id)
        };
        let guarded = desk.guard.held().is_some() && seen_at(0);
        let came_up = !desk.was_there(front.id) && (seen_at(0) || seen_at(1));
        Ok((guarded || came_up).then_some((front, owner)))
    }
}
