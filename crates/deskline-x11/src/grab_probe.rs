//! Finds out whether another client has grabbed the keyboard or the pointer.
//!
//! The probe is a grab that cannot succeed, on a window that is not viewable: the server answers
//! `AlreadyGrabbed` if another client holds a core or XI2 grab of the master device, and
//! `GrabNotViewable` otherwise. Neither case changes anything, so no app sees a focus or crossing
//! event.

use deskline_contract::Result;
use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::{ConnectionExt as _, EventMask, GrabMode, GrabStatus};

use super::{During as _, X11};

const WHAT: &str = "looking for grabs";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grabbable {
    Keyboard,
    Pointer,
}

/// The pending reply to a probe.
pub(super) struct Probe<'c>(Box<dyn FnOnce() -> Result<GrabStatus, ReplyError> + 'c>);
impl Probe<'_> {
    /// Whether another client holds the grab.
    pub(super) fn grabbed(self) -> Result<bool> {
        Ok(self.0().during(WHAT)? == GrabStatus::ALREADY_GRABBED)
    }
}

impl X11 {
    /// Sends a probe without waiting, so that the caller can pipeline its next request.
    pub(super) fn probe(&self, what: Grabbable) -> Result<Probe<'_>> {
        let (window, now) = (self.own, x11rb::CURRENT_TIME);
        let (c, mode) = (&self.connection, GrabMode::ASYNC);
        if what == Grabbable::Keyboard {
            let grab = c
                .grab_keyboard(false, window, now, mode, mode)
                .during(WHAT)?;
            return Ok(Probe(Box::new(|| Ok(grab.reply()?.status))));
        }
        let (events, none) = (EventMask::NO_EVENT, x11rb::NONE);
        let grab = c.grab_pointer(false, window, events, mode, mode, none, none, now);
        let grab = grab.during(WHAT)?;
        Ok(Probe(Box::new(|| Ok(grab.reply()?.status))))
    }
}
