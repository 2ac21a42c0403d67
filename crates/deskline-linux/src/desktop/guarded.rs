//! The guard of a Linux desktop. If the display itself does not show that the agent acts, a Wayland
//! banner does.

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{Cancel, Offer, Result};

use super::LinuxDesktop;

impl LinuxDesktop {
    /// The kernel's guard, or the display's own.
    pub(super) fn guards(&mut self) -> Offer<&mut dyn Guards> {
        match &mut self.by_kernel {
            Some(guard) => Ok(guard),
            None => self.display.guard(),
        }
    }
}

impl Guards for LinuxDesktop {
    fn watch(&mut self) {
        if let Ok(guard) = self.guards() {
            guard.watch();
        }
    }

    fn unwatch(&mut self) {
        if let Ok(guard) = self.guards() {
            guard.unwatch();
        }
    }

    fn pressed(&mut self) -> Option<bool> {
        self.guards().ok()?.pressed()
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let grab = self.guards()?.grab(task, cancel)?;
        if matches!(grab, Grab::Held | Grab::Partly(_)) {
            let shown = self.announcer.show(task, &mut *self.display);
            self.announcer.check(shown);
        }
        Ok(grab)
    }

    fn ungrab(&mut self) {
        // The guard is released first: a compositor that hangs must not lock the person out.
        if let Ok(guard) = self.guards() {
            guard.ungrab();
        }
        let hidden = self.announcer.hide(&mut *self.display);
        self.announcer.check(hidden);
    }

    fn lapse(&mut self) -> Option<String> {
        self.guards().ok()?.lapse()
    }

    fn holds_on(&mut self) -> bool {
        self.guards().is_ok_and(Guards::holds_on)
    }
}
