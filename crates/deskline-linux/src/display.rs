//! The display systems of Linux: their trait, and how to connect to them.

mod described;
mod gnome;
mod kde;
mod sway;
mod system;
mod wayland;
mod wlr;
mod x11;

use deskline_contract::{Error, Result};
use deskline_wayland::{KdeDisplay, SwayDisplay};
use deskline_x11::X11Display;

use crate::session::Session;
pub(crate) use described::accessibility;
pub(crate) use system::{BY_PROTOCOLS, DisplaySystem, Popups, WaylandSystem};
use wayland::TreesOnly;

/// KWin's display, in a session of KDE's.
pub(crate) fn kwin(session: &Session) -> Option<Result<KdeDisplay>> {
    session.kwin().map(|kwin| kde::connect(&kwin))
}

/// Connects to the display of the session. A further display system needs a line here.
///
/// A Wayland session works without X11: if Xwayland does not run, or refuses us, apps are read and
/// driven through their trees.
pub(crate) fn connect(session: &Session) -> Result<Box<dyn DisplaySystem>> {
    let wayland = session.wayland_display.is_some();
    if let Some((socket, ipc)) = session.sway() {
        match SwayDisplay::connect(&socket, &ipc) {
            Ok(sway) => return Ok(Box::new(sway)),
            Err(e) => tracing::warn!("sway is not used: {e}"),
        }
    }
    match gnome::connect(session) {
        Some(Ok(gnome)) => return Ok(Box::new(gnome)),
        Some(Err(e)) => tracing::warn!("Mutter's interfaces are not used: {e}"),
        None => {}
    }
    match kwin(session) {
        Some(Ok(kwin)) => return Ok(Box::new(kwin)),
        Some(Err(e)) => tracing::warn!("KWin is not used: {e}"),
        None => {}
    }
    if let Some((socket, bus)) = session.wlr() {
        match wlr::connect(&socket, &bus) {
            Ok(wlr) => return Ok(Box::new(wlr)),
            Err(e) => tracing::warn!("the compositor's protocols are not used: {e}"),
        }
    }
    match &session.display {
        Some(name) => match X11Display::connect(name, session.xauthority.as_deref()) {
            Ok(x11) => Ok(Box::new(x11)),
            Err(e) if wayland => {
                tracing::warn!("Xwayland is not used: {e}");
                Ok(Box::new(TreesOnly::new(session)))
            }
            Err(e) => Err(e),
        },
        None if wayland => Ok(Box::new(TreesOnly::new(session))),
        None => Err(Error::Unavailable(session.missing().join(" "))),
    }
}
