//! GNOME's windows, as apps describe them on the accessibility bus, or as Deskline's extension of
//! the shell reports them.

use std::time::Duration;

use deskline_atspi::{self as atspi, InBuffer};
use deskline_contract::{Display as _, Result};
use deskline_wayland::{ExtensionUse, GnomeAccess, GnomeDisplay};

use super::described::Described;
use super::system::{Findings, Popups, WaylandSystem, placed};
use crate::session::{GNOME_SHELL, Session};

/// Connects to GNOME Shell, where that is the session's compositor.
pub(super) fn connect(session: &Session) -> Option<Result<GnomeDisplay<Described>>> {
    let described = Described::on(session.session_bus.as_deref()?);
    let compositor = session.compositor()?;
    let access = GnomeAccess {
        session_bus: session.session_bus.as_deref()?,
        wayland_socket: &session.wayland_socket()?,
    };
    (compositor == GNOME_SHELL).then(|| GnomeDisplay::connect(&access, described))
}

impl WaylandSystem for GnomeDisplay<Described> {
    fn windows(&mut self, pid: u32) -> Result<atspi::Windows> {
        match self.shell_windows()? {
            Some(windows) => Ok(placed(&windows, pid, |w| InBuffer::Framed {
                left: w.content.x - w.buffer.x,
                top: w.content.y - w.buffer.y,
                unit: w.own.unit,
            })),
            None => Ok(self.described()?.windows(pid)),
        }
    }

    fn shows_popup(&mut self, pid: u32) -> Result<Option<bool>> {
        GnomeDisplay::popup_open(self, pid).map(Some)
    }

    // The input devices belong to GNOME's session, which creates them when a link begins.
    fn prepare(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn idle(&mut self) -> Option<Duration> {
        GnomeDisplay::idle(self)
    }

    fn menu_read(&mut self, pid: u32, open: bool) {
        self.source_mut().menu_read(pid, open);
    }

    fn popups(&mut self, _pid: u32) -> Result<Popups> {
        Ok(if self.has_places() {
            Popups::Placed
        } else {
            Popups::Within(None)
        })
    }

    fn findings(&mut self) -> Findings {
        let raise = match self.extension() {
            ExtensionUse::Places => {
                "by Deskline's extension, which also reports positions on the \
                screen"
            }
            ExtensionUse::Raise => {
                "by Deskline's extension. It is of another version than Deskline, and reports \
                 no positions on the screen: install it again from extensions/gnome in Deskline's source"
            }
            ExtensionUse::None => {
                "by Alt+Esc. Deskline's extension (extensions/gnome in its source) is faster and \
                 more reliable, and reports positions on the screen"
            }
        };
        Findings {
            raise,
            ..Findings::by_protocols(self.guard())
        }
    }
}
