//! GNOME's windows, as apps describe them on the accessibility bus.

use deskline_atspi as atspi;
use deskline_link::Result;
use deskline_wayland::GnomeDisplay;

use super::described::Described;
use super::{BY_PROTOCOLS, DisplaySystem};
use crate::session::{GNOME_SHELL, Session};

/// Connects to GNOME Shell, where that is the session's compositor.
pub(super) fn connect(session: &Session) -> Option<Result<GnomeDisplay<Described>>> {
    let bus = session.session_bus.as_deref()?;
    let compositor = session.compositor()?;
    let socket = session.wayland_socket()?;
    (compositor == GNOME_SHELL)
        .then(|| GnomeDisplay::connect(bus, &socket, session.gnome_calls, Described::on(bus)))
}

impl DisplaySystem for GnomeDisplay<Described> {
    fn windows_for_tree(&mut self, pid: u32, _popups: bool) -> Result<atspi::Windows> {
        self.toplevels()?;
        Ok(self.source().windows(pid))
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn places_popups(&self) -> bool {
        false
    }

    fn input_finding(&self) -> &'static str {
        if self.sends_by_calls() {
            "by Mutter's Notify calls"
        } else {
            BY_PROTOCOLS
        }
    }

    fn raise_finding(&self) -> &'static str {
        if self.has_extension() {
            "by Deskline's extension"
        } else {
            "by Alt+Esc. Deskline's extension (extensions/gnome in its source) is quicker and surer"
        }
    }
}
