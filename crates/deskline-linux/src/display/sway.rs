//! sway's windows in AT-SPI's terms.

use deskline_atspi::{self as atspi, InBuffer};
use deskline_contract::{Display as _, Result};
use deskline_wayland::SwayDisplay;

use super::system::{Findings, Popups, WaylandSystem, placed};

impl WaylandSystem for SwayDisplay {
    fn windows(&mut self, pid: u32) -> Result<atspi::Windows> {
        let windows = self.sway_windows()?;
        Ok(placed(&windows, pid, |_| InBuffer::NotTold))
    }

    fn prepare(&mut self) -> Result<bool> {
        SwayDisplay::prepare(self)
    }

    fn popups(&mut self, pid: u32) -> Result<Popups> {
        let windows = self.sway_windows()?;
        let its = windows.iter().filter(|w| w.pid == pid);
        // The app's window with the keyboard, or else its frontmost one.
        let window = its.min_by_key(|w| !w.focused);
        Ok(Popups::Within(window.and_then(|w| w.own.screen)))
    }

    /// sway (1.10) reports a window as focused even while the screen is locked.
    fn misses_launchers(&mut self) -> bool {
        self.has_one_seat()
    }

    fn findings(&mut self) -> Findings {
        Findings::by_protocols(self.guard())
    }
}
