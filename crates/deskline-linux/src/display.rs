//! The display systems of Linux: their trait, and how to connect to them.

mod described;
mod system;

use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_unix::wait;
use deskline_wayland::{GnomeAccess, GnomeDisplay, KdeDisplay, SwayDisplay, WlrDisplay};
use deskline_x11::X11Display;

use crate::session::{GNOME_SHELL, Session};
use described::Described;
pub(crate) use described::accessibility;
pub(crate) use system::DisplaySystem;
use system::TreesOnly;

/// How long a running KWin may take until it is on the session bus and runs scripts. A session may
/// start this server before KWin is ready.
const JOINS: Duration = Duration::from_secs(3);

/// KWin's display, if KWin is the compositor: see [`KdeDisplay::connect`].
pub(crate) fn kwin(session: &Session) -> Option<Result<KdeDisplay>> {
    let kwin = session.kwin()?;
    let connect = || KdeDisplay::connect(&kwin.bus, kwin.pid, &kwin.folder, &kwin.socket);
    let connected = wait::until(JOINS, Duration::from_millis(50), || {
        Some(connect()).filter(|it| !it.as_ref().is_err_and(Error::costs_connection))
    });
    Some(connected.unwrap_or_else(connect))
}

/// GNOME Shell's display, where that is the session's compositor.
fn gnome(session: &Session) -> Option<Result<GnomeDisplay<Described>>> {
    let session_bus = session.session_bus.as_deref()?;
    let compositor = session.compositor()?;
    let access = GnomeAccess {
        session_bus,
        wayland_socket: &session.wayland_socket()?,
    };
    let described = Described::on(session_bus);
    (compositor == GNOME_SHELL).then(|| GnomeDisplay::connect(&access, described))
}

/// The display, if there is one that can be connected to. If the connection fails, logs why.
fn used<D>(unused: &str, display: Option<Result<D>>) -> Option<Box<dyn DisplaySystem>>
where
    D: DisplaySystem + 'static,
{
    let display = display?.inspect_err(|e| tracing::warn!("{unused}: {e}"));
    Some(Box::new(display.ok()?))
}

/// Connects to the display of the session. A new display system needs a line here.
///
/// A Wayland session works without X11: if Xwayland does not run or keeps us out, apps are read
/// and driven through their trees.
pub(crate) fn connect(session: &Session) -> Result<Box<dyn DisplaySystem>> {
    let wayland = session.wayland_display.is_some();
    let sway = session.sway();
    let sway = sway.map(|(socket, ipc)| SwayDisplay::connect(&socket, &ipc));
    let wlr = || {
        let (socket, bus) = session.wlr()?;
        Some(WlrDisplay::connect(&socket, Described::on(&bus)))
    };
    let found = used("sway is not used", sway)
        .or_else(|| used("Mutter's interfaces are not used", gnome(session)))
        .or_else(|| used("KWin is not used", kwin(session)))
        .or_else(|| used("the compositor's protocols are not used", wlr()));
    if let Some(display) = found {
        return Ok(display);
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
