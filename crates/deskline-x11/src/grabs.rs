//! Active grabs of other clients. While one of them has grabbed the keyboard or the pointer, input
//! goes to it, wherever the focus is and whatever lies under the pointer.
//!
//! The probe is a grab that cannot succeed: for a window that is not viewable the server answers
//! `AlreadyGrabbed` where another client holds a core or XI2 grab of the master device, and
//! `GrabNotViewable` otherwise. Neither changes anything, so no app sees a focus or crossing event.

use std::time::Duration;

use deskline_link::{Cancel, Error, Result};
use x11rb::cookie::Cookie;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, GrabKeyboardReply, GrabMode, GrabPointerReply, GrabStatus,
};

use super::connection::Connection;
use super::popups::popups_among;
use super::toplevel::Kind;
use super::{During as _, X11};

/// How long a grab may last without counting. Toolkits grab before they map the menu that the grab
/// is for, and window managers grab for a moment to see what was pressed.
const PASSING: Duration = Duration::from_millis(300);

const WHAT: &str = "looking for grabs";

/// What can be grabbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grabbable {
    Keyboard,
    Pointer,
}

/// A probe that was sent.
pub(super) enum Probe<'c> {
    Keyboard(Cookie<'c, Connection, GrabKeyboardReply>),
    Pointer(Cookie<'c, Connection, GrabPointerReply>),
}

impl Probe<'_> {
    /// Whether another client holds the grab.
    pub(super) fn grabbed(self) -> Result<bool> {
        let status = match self {
            Self::Keyboard(cookie) => cookie.reply().during(WHAT)?.status,
            Self::Pointer(cookie) => cookie.reply().during(WHAT)?.status,
        };
        Ok(status == GrabStatus::ALREADY_GRABBED)
    }
}

impl X11 {
    /// Sends a probe, so that its answer comes with that of the next request.
    pub(super) fn probe(&self, what: Grabbable) -> Result<Probe<'_>> {
        let (window, now) = (self.own, x11rb::CURRENT_TIME);
        let mode = GrabMode::ASYNC;
        let c = &self.connection;
        Ok(match what {
            Grabbable::Keyboard => Probe::Keyboard(
                c.grab_keyboard(false, window, now, mode, mode)
                    .during(WHAT)?,
            ),
            Grabbable::Pointer => {
                let (events, none) = (EventMask::NO_EVENT, x11rb::NONE);
                Probe::Pointer(
                    c.grab_pointer(false, window, events, mode, mode, none, none, now)
                        .during(WHAT)?,
                )
            }
        })
    }

    /// The words for whoever holds a grab that was found, unless it is the target's own menu or
    /// pop-up. X does not say which client holds a grab; a menu that is open does.
    pub(super) fn stranger(&self, pid: u32) -> Result<Option<String>> {
        let facts = self.facts(&self.children_of_root()?)?;
        let own = popups_among(&facts, pid).last().map(|popup| popup.id);
        // The menu that was opened last lies on top.
        for above in facts.iter().rev() {
            let window = &above.toplevel;
            if Some(window.id) == own {
                return Ok(None);
            }
            let menu = matches!(window.kind, Kind::Menu | Kind::Popup);
            let theirs = above.override_redirect
                && menu
                && window.viewable
                && ![0, std::process::id()].contains(&window.pid);
            if theirs && self.takes_input(window.id)? {
                return Ok(Some(format!("an open menu of pid {}", window.pid)));
            }
        }
        Ok((!self.aim.has_menu()).then(|| "another program".to_owned()))
    }

    /// An error if another program than the target has grabbed this for longer than a moment.
    pub(super) fn check_grab(
        &mut self,
        what: Grabbable,
        cancel: &Cancel,
        progress: impl Fn() -> String,
    ) -> Result<()> {
        let Some(pid) = self.aim.pid() else {
            return Ok(());
        };
        let mut holder = None;
        self.wait_until(PASSING, cancel, |x11| {
            holder = if x11.probe(what)?.grabbed()? {
                x11.stranger(pid)?
            } else {
                None
            };
            Ok(holder.is_none())
        })?;
        match holder {
            Some(holder) => Err(grabbed(what, &holder, &progress())),
            None => Ok(()),
        }
    }
}

/// The error for input that would go to the holder of a grab.
pub(super) fn grabbed(what: Grabbable, holder: &str, progress: &str) -> Error {
    let (device, instead) = match what {
        Grabbable::Keyboard => ("keyboard", "set_value_and_traverse"),
        Grabbable::Pointer => ("pointer", "press_ax_and_traverse"),
    };
    Error::Input(format!(
        "{holder} has grabbed the {device}, as open menus, screen locks and password prompts do, and input would go there. {progress}. Close it, or use {instead}, which needs no {device}"
    ))
}
