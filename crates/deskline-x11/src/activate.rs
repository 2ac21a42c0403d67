//! Brings a window to the front, and waits until it is there.

use std::time::Duration;

use deskline_contract::{Cancel, Error, Raising, Result, TargetError, WindowId, Workspaces as _};
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _, InputFocus, StackMode};

use super::toplevel::Toplevel;
use super::{During as _, Present as _, X11};

/// How long activation may take. It takes a window manager about 50 ms, or 70 ms if it has to
/// restore a minimised window.
const LIMIT: Duration = Duration::from_secs(1);

/// How long to wait for a window that was not in front within [`LIMIT`].
const LATE: Duration = Duration::from_secs(2);

/// Source indication of `_NET_ACTIVE_WINDOW`: a pager, which acts for the user. As an app (1),
/// focus stealing prevention would apply.
const FROM_USER: u32 = 2;

/// Window managers that mark a window as urgent instead of activating it.
const IGNORING: [&str; 1] = ["dwm"];

const WHAT: &str = "activating a window";

impl Raising for X11 {
    /// Restores the window if it is minimised, and waits until it is active and has the input
    /// focus. Two other ends count as success: the window manager activates a modal dialog of the
    /// window, or the window is a panel or a notification, which cannot be active.
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        let Some(wanted) = self.toplevel(window)? else {
            return Err(TargetError::WindowGone.into());
        };
        if std::mem::take(&mut self.raises_late) {
            // The window of an earlier call may still come to the front, and would stay there.
            self.watching_root(|x11| {
                x11.wait_until(LATE, cancel, |x11| Ok(!x11.is_front(&wanted)?))
            })?;
        }
        if self.is_front(&wanted)? || !wanted.takes_front() {
            return Ok(());
        }
        let managed = self.has_window_manager()?;
        // Switch workspaces first: otherwise some window managers move the window to the person's
        // workspace.
        if let Some(workspace) = wanted.workspace {
            self.show_workspace(workspace, cancel)?;
        }
        let there = self.watching_root(|x11| {
            if managed {
                x11.ask_manager(&wanted)?;
            } else {
                x11.take_front(&wanted)?;
            }
            x11.wait_until(LIMIT, cancel, |x11| x11.is_front(&wanted))
        })?;
        if there {
            return Ok(());
        }
        let name = self.manager_name()?;
        let ignoring = IGNORING.into_iter().find(|known| *known == name);
        self.raises_late = ignoring.is_none();
        Err(Error::from(TargetError::HeldBack {
            title: wanted.title,
            front: self.front()?.map(|front| front.pid),
            manager: ignoring,
        }))
    }
}

impl X11 {
    fn is_front(&self, wanted: &Toplevel) -> Result<bool> {
        let Some(front) = self.front()? else {
            return Ok(false);
        };
        if front.id != wanted.id && !self.is_modal_for(&front, wanted.id)? {
            return Ok(false);
        }
        let Some(focus) = self.focus()? else {
            return Ok(false);
        };
        Ok(self.ancestry(focus)?.contains(&front.id))
    }

    /// Whether `dialog` is modal for `window`, directly or through other dialogs.
    fn is_modal_for(&self, dialog: &Toplevel, window: u32) -> Result<bool> {
        let mut at = dialog.clone();
        // WM_TRANSIENT_FOR may have a cycle.
        for _ in 0..8 {
            let Some(owner) = at.transient_for else { break };
            if at.modal && owner == window {
                return Ok(true);
            }
            let Some(next) = self.toplevel(WindowId(owner.into()))? else {
                break;
            };
            at = next;
        }
        Ok(false)
    }

    fn ask_manager(&mut self, wanted: &Toplevel) -> Result<()> {
        let time = self.server_time()?;
        if wanted.minimised {
            // ICCCM §4.1.4: a client leaves the iconic state by mapping its window.
            self.connection.map_window(wanted.id).during(WHAT)?;
        }
        if wanted.shaded {
            self.unshade(wanted.id)?;
        }
        let data = [FROM_USER, time, 0, 0, 0];
        self.tell_manager(wanted.id, self.atoms._NET_ACTIVE_WINDOW, data)
    }

    fn take_front(&self, wanted: &Toplevel) -> Result<()> {
        let c = &self.connection;
        let raise = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        c.map_window(wanted.id).during(WHAT)?;
        c.configure_window(wanted.id, &raise).during(WHAT)?;
        // Setting the focus fails for a window that is not viewable. The caller notices that while
        // it waits.
        c.set_input_focus(InputFocus::PARENT, wanted.id, x11rb::CURRENT_TIME)
            .during(WHAT)?
            .check()
            .present(WHAT)?;
        Ok(())
    }
}
