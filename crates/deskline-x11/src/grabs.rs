//! Detects active grabs of other clients, and describes who holds them. A client that has grabbed
//! the keyboard or the pointer gets all its input, whichever window has the focus or is under the
//! pointer.

use std::time::Duration;

use super::X11;
use super::grab_probe::Grabbable;
use super::popups::popups_among;
use super::toplevel::Kind;
use deskline_contract::{Aim, Cancel, Result};

/// Grabs shorter than this are ignored. A toolkit grabs the devices for a menu before it maps the
/// menu, and a window manager grabs briefly to inspect a press.
const PASSING: Duration = Duration::from_millis(300);

impl X11 {
    /// Describes the client that holds a detected grab. `None` if it is the target's own menu or
    /// pop-up. X does not name the holder, so the topmost open menu tells.
    pub(super) fn stranger(&self, aim: Aim) -> Result<Option<String>> {
        let facts = self.facts(&self.children_of_root()?)?;
        let own = popups_among(&facts, aim.pid).last().map(|popup| popup.id);
        // The last opened menu is on top.
        for window in facts.iter().rev() {
            if Some(window.id) == own {
                return Ok(None);
            }
            let menu = matches!(window.kind, Kind::Menu | Kind::Popup);
            let theirs = window.override_redirect && menu && window.viewable;
            let theirs = theirs && ![0, std::process::id()].contains(&window.pid);
            if theirs && self.takes_input(window.id)? {
                return Ok(Some(format!("an open menu of pid {}", window.pid)));
            }
        }
        Ok((!aim.menu).then(|| "another program".to_owned()))
    }

    /// Describes another client that keeps the device grabbed for longer than [`PASSING`].
    pub(super) fn holder(
        &mut self,
        what: Grabbable,
        aim: Aim,
        cancel: &Cancel,
    ) -> Result<Option<String>> {
        let mut holder = None;
        self.wait_until(PASSING, cancel, |x11| {
            holder = if x11.probe(what)?.grabbed()? {
                x11.stranger(aim)?
            } else {
                None
            };
            Ok(holder.is_none())
        })?;
        Ok(holder)
    }
}
