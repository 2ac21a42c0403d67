//! Step 7: decides whether the action brought another process to the front.
//!
//! A handoff is an effect of the action, never a switch by the person: the agent must not read the
//! window that the person switches to. A front change counts as the action's effect in three cases:
//! the window opened after the checkpoint, the front changed while the person's devices were
//! grabbed, or the person has pressed nothing since the checkpoint.

use deskline_core::Tree;

use crate::checkpoint::Checkpoint;
use crate::display::{Place, Window};
use crate::error::{Error, Result};
use crate::link::Link;
use crate::report::Handoff;

impl Link<'_> {
    /// Step 7: records the process that the action has brought to the front. If there is none,
    /// records the windows of the app's helpers.
    pub(crate) fn note_handoff(&mut self, desk: &mut Checkpoint<'_>) -> Result<()> {
        self.report.handoff = self.read_handoff(desk)?;
        if self.report.handoff.is_none() {
            self.report.helpers = self.helper_windows(desk)?;
        }
        Ok(())
    }

    /// Reads the process that the action brought to the front. `None` if there is none.
    fn read_handoff(&mut self, desk: &mut Checkpoint<'_>) -> Result<Option<Handoff>> {
        let Some((window, pid)) = self.other_in_front(desk)? else {
            return Ok(None);
        };
        desk.hand_off();
        let mut title = window.title;
        let mut tree = self.read(&mut **desk, pid);
        // The app's windows may be on another Space. The switch takes a while, and accessibility
        // lists them only after it.
        if tree.as_ref().is_ok_and(Tree::is_elsewhere) {
            desk.reveal(pid)?;
            tree = self.read(&mut **desk, pid);
        }
        if let Err(e) = &tree {
            // If the app cannot be read, it may be a blocked one, whose titles must not be shown.
            if self.policy.is_bounded() || matches!(e, Error::Blocked { .. }) {
                title = "another app".into();
            }
            self.report
                .notes
                .add(format!("the app now in front was not read: {e}"));
        }
        let tree = tree.ok();
        Ok(Some(Handoff { pid, title, tree }))
    }

    /// The windows that other processes draw for the app. A dialog of a helper or of a service may
    /// have opened late, or behind the front window.
    fn helper_windows(&self, desk: &mut Checkpoint<'_>) -> Result<Vec<Window>> {
        let Some(home) = self.subject.home().filter(|_| !self.policy.is_bounded()) else {
            return Ok(Vec::new());
        };
        let mut found = desk.helper_windows(home)?;
        let settled = self.report.step.settled;
        let unseen = settled.is_some_and(|settled| settled.shown.is_none());
        let acts = self.call.acts() && !self.call.action.opens();
        if acts && unseen && (desk.is_private() || desk.person_pressed() == Some(false)) {
            let is_others = |pid| pid != home && !self.subject.dropped_on(pid);
            let mut came = desk.every_window()?;
            came.retain(|w| w.place == Place::App && w.pid.is_some_and(is_others));
            found.extend(came.into_iter().filter(|w| !desk.was_there(w.id)));
        }
        Ok(found)
    }

    /// The process that keys go to now, if it is not the call's process, and its window. Either
    /// this step has brought the process to the front, or an earlier step did so and the process
    /// still has a window.
    pub(crate) fn other_in_front(
        &self,
        desk: &mut Checkpoint<'_>,
    ) -> Result<Option<(Window, u32)>> {
        let (Some(home), Some(pid)) = (self.subject.home(), self.subject.current()) else {
            return Ok(None);
        };
        let taken = self.front.decide(desk, pid)?;
        // An app may come to the front because something was dropped on it.
        let dropped_on = |(window, owner): &(Window, u32)| {
            self.subject.dropped_on(*owner) && desk.was_there(window.id)
        };
        let mut taken = taken.filter(|taken| !dropped_on(taken));
        if let Some((window, _)) = &taken
            && desk.is_substitute(home, window)?
        {
            taken = None;
        }
        if taken.is_some() || pid == home {
            return Ok(taken.filter(|(_, taken)| *taken != home));
        }
        let front = desk.front()?.and_then(|front| front.pid);
        if front == Some(home) {
            return Ok(None);
        }
        let still = desk.windows_of(pid)?.into_iter().next();
        Ok(still.map(|window| (window, pid)))
    }
}
