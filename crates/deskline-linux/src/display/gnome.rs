//! GNOME's windows, as apps describe them on the accessibility bus, or as Deskline's extension of
//! the shell reports them.

use std::time::Duration;

use deskline_atspi as atspi;
use deskline_link::{Result, WindowId};
use deskline_wayland::{ExtensionUse, GnomeAccess, GnomeDisplay, ShellWindow};

use super::described::Described;
use super::{BY_PROTOCOLS, DisplaySystem};
use crate::session::{GNOME_SHELL, Session};

/// Connects to GNOME Shell, where that is the session's compositor.
pub(super) fn connect(session: &Session) -> Option<Result<GnomeDisplay<Described>>> {
    let described = Described::on(session.session_bus.as_deref()?);
    let compositor = session.compositor()?;
    let access = GnomeAccess {
        session_bus: session.session_bus.as_deref()?,
        wayland_socket: &session.wayland_socket()?,
        input: session.gnome_input,
    };
    (compositor == GNOME_SHELL).then(|| GnomeDisplay::connect(&access, described))
}

impl DisplaySystem for GnomeDisplay<Described> {
    fn windows_for_tree(&mut self, pid: u32, _popups: bool) -> Result<atspi::Windows> {
        match self.shell_windows()? {
            Some(windows) => Ok(placed(windows, pid)),
            None => Ok(self.described()?.windows(pid)),
        }
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        GnomeDisplay::popup_open(self, pid).map(Some)
    }

    fn idle(&mut self) -> Option<Duration> {
        GnomeDisplay::idle(self)
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn menu_read(&mut self, pid: u32, open: bool) {
        self.source_mut().menu_read(pid, open);
    }

    fn places_popups(&self) -> bool {
        self.has_places()
    }

    fn input_finding(&self) -> &'static str {
        if self.sends_by_calls() {
            "by Mutter's Notify calls"
        } else {
            BY_PROTOCOLS
        }
    }

    fn raise_finding(&self) -> &'static str {
        match self.extension() {
            ExtensionUse::Places => "by Deskline's extension, which tells places on the screen too",
            ExtensionUse::Raise => {
                "by Deskline's extension. It is of another version than Deskline, or is used with --gnome-input notify, and tells no places on the screen: install it anew from extensions/gnome in Deskline's source"
            }
            ExtensionUse::None => {
                "by Alt+Esc. Deskline's extension (extensions/gnome in its source) is quicker and surer, and tells places on the screen"
            }
        }
    }
}

/// The windows of an app, of all that the shell has.
fn placed(windows: Vec<ShellWindow>, pid: u32) -> atspi::Windows {
    let front = windows.iter().find(|w| w.focused).map(|w| WindowId(w.id));
    let its = windows.into_iter().filter(|w| w.pid == pid);
    let (toplevels, popups): (Vec<_>, Vec<_>) = its.partition(ShellWindow::is_toplevel);
    let popups = popups.into_iter().filter(|w| w.visible);
    atspi::Windows {
        front: front.filter(|_| toplevels.len() > 1),
        toplevels: toplevels.into_iter().map(for_tree).collect(),
        popups: popups.map(|w| w.buffer).collect(),
        unplaced: false,
    }
}

fn for_tree(window: ShellWindow) -> atspi::Toplevel {
    let (frame, buffer) = (window.frame, window.buffer);
    let (left, top) = (frame.x - buffer.x, frame.y - buffer.y);
    let in_buffer = atspi::InBuffer::Framed {
        left,
        top,
        unit: window.unit,
    };
    atspi::Toplevel {
        id: WindowId(window.id),
        title: window.title,
        window: frame,
        shadow: None,
        // By it GTK 3's frames, which count their shadow, are told apart by their size.
        border: [
            left,
            buffer.w - frame.w - left,
            top,
            buffer.h - frame.h - top,
        ],
        modal: window.modal,
        on_screen: window.visible,
        in_buffer: window.native.then_some(in_buffer),
        frame: None,
    }
}
