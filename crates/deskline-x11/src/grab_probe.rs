//! Whether another client has grabbed the keyboard or the pointer.
//!
//! The probe is a grab that cannot succeed, on a window that is not viewable: the server answers
//! `AlreadyGrabbed` if another client holds a core or XI2 grab of the master device, and
//! `GrabNotViewable` otherwise. Neither changes anything, so no app sees a focus or crossing event.

use deskline_contract::Result;
use x11rb::cookie::Cookie;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, GrabKeyboardReply, GrabMode, GrabPointerReply, GrabStatus,
};

use super::connection::Connection;
use super::{During as _, X11};

const WHAT: &str = "looking for grabs";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grabbable {
    Keyboard,
    Pointer,
}

/// The pending reply to a probe.
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
    /// Sends a probe without waiting, so that the caller can pipeline its next request.
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
}
