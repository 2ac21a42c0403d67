//! X11's windows in AT-SPI's terms.

use deskline_atspi as atspi;
use deskline_link::{Result, Window, WindowId};
use deskline_x11::{Shadow, Toplevel, X11Display};

use super::DisplaySystem;

impl DisplaySystem for X11Display {
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows> {
        let popups = if popups {
            self.x11().popups(pid)?
        } else {
            Vec::new()
        };
        let mut toplevels = self.x11().toplevels()?;
        toplevels.retain(|t| t.pid == pid);
        let front = match toplevels.len() {
            // One window is told from no other.
            0 | 1 => None,
            _ => self.x11().front_id()?.map(|id| WindowId(id.into())),
        };
        Ok(atspi::Windows {
            toplevels: toplevels.into_iter().map(for_tree).collect(),
            popups,
            front,
            unplaced: false,
        })
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        self.x11().popup_open(pid).map(Some)
    }

    fn take_pids(&mut self, ours: Option<u32>) -> bool {
        self.take_pids(ours)
    }

    fn claimed_pid(&mut self, window: WindowId) -> Option<u32> {
        self.x11().claimed_pid(window).ok().flatten()
    }

    fn dialogs_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        let windows = self.app_windows()?;
        let is_for = |w: &&Toplevel| {
            let of = w.transient_for.filter(|_| w.pid != pid);
            of.is_some_and(|of| windows.iter().any(|w| w.id == of && w.pid == pid))
        };
        Ok(windows
            .iter()
            .filter(is_for)
            .map(Toplevel::window)
            .collect())
    }

    fn mapped_windows(&mut self) -> Result<Vec<Window>> {
        let windows = self.app_windows()?;
        let mapped = windows.iter().filter(|w| w.viewable);
        Ok(mapped.map(Toplevel::window).collect())
    }
}

fn for_tree(toplevel: Toplevel) -> atspi::Toplevel {
    atspi::Toplevel {
        id: WindowId(toplevel.id.into()),
        window: toplevel.raw,
        shadow: toplevel.shadow.map(Shadow::sides),
        border: toplevel.border.sides(),
        modal: toplevel.modal,
        on_screen: toplevel.viewable && !toplevel.minimised,
        in_buffer: None,
        frame: None,
        title: toplevel.title,
    }
}
