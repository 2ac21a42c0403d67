//! X11's windows in AT-SPI's terms.

use deskline_atspi as atspi;
use deskline_contract::{Result, WindowId};
use deskline_x11::{Toplevel, X11Display};

use super::system::DisplaySystem;

impl DisplaySystem for X11Display {
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows> {
        let popups = if popups {
            X11Display::x11(self).popups(pid)?
        } else {
            Vec::new()
        };
        let mut toplevels = X11Display::x11(self).toplevels()?;
        toplevels.retain(|t| t.pid == pid);
        toplevels.sort_by_key(Toplevel::rank);
        let front = match toplevels.len() {
            // A single window need not be distinguished from others.
            0 | 1 => None,
            _ => X11Display::x11(self)
                .front_id()?
                .map(|id| WindowId(id.into())),
        };
        let toplevels = toplevels.into_iter().map(for_tree).collect();
        let screen = X11Display::x11(self).screen()?;
        Ok(atspi::Windows {
            screen: Some(screen),
            ..atspi::Windows::placed(toplevels, popups, front)
        })
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        X11Display::x11(self).popup_open(pid).map(Some)
    }

    fn x11(&mut self) -> Option<&mut X11Display> {
        Some(self)
    }
}

fn for_tree(toplevel: Toplevel) -> atspi::Toplevel {
    atspi::Toplevel {
        shadow: toplevel.shadow,
        border: toplevel.border,
        modal: toplevel.modal,
        on_screen: toplevel.viewable && !toplevel.minimised,
        ..atspi::Toplevel::new(WindowId(toplevel.id.into()), toplevel.title, toplevel.raw)
    }
}
