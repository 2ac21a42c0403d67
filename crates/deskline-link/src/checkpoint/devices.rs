//! Step 3: grabs the person's devices before input is sent. They are released in step 8 at the
//! latest.

use std::time::Duration;

use deskline_input::clock::Instant;

use super::Checkpoint;
use crate::error::{Missing, Result, TargetError};
use crate::guard::{Grab, Guards, Task};

/// How long to wait for the person to release a mouse button before an action that needs the
/// pointer fails.
const BUTTON: Duration = Duration::from_secs(1);

/// The polling interval while the person holds a mouse button.
const LOOK: Duration = Duration::from_millis(4);

/// How long the guard holds on while an app settles. Most apps settle within half a second.
const HOLD: Duration = Duration::from_secs(1);

impl Checkpoint<'_> {
    /// Grabs the person's devices until [`Checkpoint::ungrab`]. If this desktop cannot grab,
    /// records why and goes on.
    pub(crate) fn grab(&mut self, task: &Task) -> Result<()> {
        if self.guard.holds() || self.desktop.is_private() {
            return Ok(());
        }
        if task.pointer {
            self.await_button()?;
        }
        let start = Instant::now();
        let grabbed = match self.desktop.guard() {
            Ok(guard) => {
                // A panic in `grab` may leave the devices grabbed. The restore releases them,
                // because the grab is recorded before.
                self.guard.taken(start);
                let grabbed = guard.grab(task, self.cancel);
                self.guard.since = None;
                grabbed?
            }
            Err(Missing(why)) => Grab::Unable(why.into_owned()),
        };
        let again = matches!(grabbed, Grab::NotYet(_));
        let before = std::mem::replace(&mut self.guard.again, again);
        match grabbed {
            Grab::Held => {
                self.guard.taken(start);
                self.guard.unable.take_if(|_| before);
            }
            Grab::Partly(why) => {
                self.guard.taken(start);
                self.guard.unable = Some(format!("the input lock has a gap: {why}"));
            }
            Grab::Unable(why) | Grab::NotYet(why) => {
                self.guard.unable = Some(format!("the user's input was not blocked: {why}"));
            }
        }
        Ok(())
    }

    /// Waits until the person holds no mouse button: while they drag, a click of the agent would be
    /// lost.
    fn await_button(&mut self) -> Result<()> {
        let freed = self.until(BUTTON, LOOK, |desk| {
            let held = desk.pointer()?.is_some_and(|now| now.pressed);
            Ok((!held).then_some(()))
        })?;
        freed.ok_or_else(|| TargetError::ButtonHeld.into())
    }

    /// Called once all input of a step has been sent. The target's app is still in front of the
    /// person's, and would get the person's keys. So the guard keeps them out until the person's
    /// window is back, or for [`HOLD`].
    pub(crate) fn hold_on(&mut self) {
        let can = self.desktop.guard().is_ok_and(Guards::holds_on);
        if can && self.guard.holds() && self.brings_back_another_app() {
            self.holds_on = Some(Instant::now());
        } else {
            self.ungrab();
        }
    }

    /// Releases the person's devices if the app takes long to settle.
    pub(crate) fn ungrab_in_time(&mut self) {
        if self.holds_on.is_some_and(|since| since.elapsed() >= HOLD) {
            self.ungrab();
        }
    }

    /// Releases the person's devices.
    pub(crate) fn ungrab(&mut self) {
        if self.guard.holds() {
            self.note_drift();
        }
        self.open_guard();
    }

    /// Releases the person's devices without asking the display anything before.
    pub(super) fn open_guard(&mut self) {
        self.holds_on = None;
        if self.guard.holds() {
            let guard = self.desktop.guard();
            let lapse = guard.ok().and_then(|guard| {
                guard.ungrab();
                guard.lapse()
            });
            self.guard.opened();
            if let Some(why) = lapse {
                self.guard.unable = Some(format!("the user's input got through at the end: {why}"));
            }
        }
    }

    /// Records where the pointer is, for the restore. Under the guard the person's motions do not
    /// reach the apps, but they may still move the pointer. That does not count as a move that the
    /// person has made on purpose.
    pub(super) fn note_drift(&mut self) {
        if self.pointed
            && self.guard.unable.is_none()
            && let Ok(Some(now)) = self.desktop.pointer()
        {
            self.saved.left.push(now.at);
        }
    }
}
