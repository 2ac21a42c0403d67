//! Which guard a session has: the display's own, or the kernel's.

use deskline_evdev::Seen;

use crate::display::DisplaySystem;
use crate::session::Session;

/// What the kernel's guard would keep out, where it is used: on a Wayland session of which this user
/// may read all devices. There it keeps the person out of every app, Xwayland's or not, and sees
/// their Esc. An X server has a better one, which puts back what the person holds.
pub(crate) fn by_kernel(session: &Session) -> Option<Seen> {
    session.wayland_display.as_ref()?;
    // On a seat of its own the agent's input cannot mix with the person's.
    if session.own_seat {
        return None;
    }
    Some(deskline_evdev::look()).filter(Seen::can_guard)
}

/// What the guard keeps out, or why it keeps out nothing, for the doctor.
pub(crate) fn finding(
    session: &Session,
    display: &mut dyn DisplaySystem,
) -> Result<String, String> {
    match by_kernel(session) {
        Some(seen) => Ok(format!(
            "Esc cancels, and the kernel keeps out {} keyboards and pointers in /dev/input while an agent's keys and clicks go in",
            seen.readable
        )),
        None => display.guard_finding(),
    }
}
