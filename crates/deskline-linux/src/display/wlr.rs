//! The windows of the wlroots family in AT-SPI's terms.

use std::path::Path;

use deskline_atspi as atspi;
use deskline_contract::{Display as _, Result};
use deskline_wayland::WlrDisplay;

use super::described::Described;
use super::system::{Findings, Popups, WaylandSystem};

/// Connects to the compositor that listens on `socket`: see [`WlrDisplay::connect`].
pub(super) fn connect(socket: &Path, session_bus: &str) -> Result<WlrDisplay<Described>> {
    WlrDisplay::connect(socket, Described::on(session_bus))
}

impl WaylandSystem for WlrDisplay<Described> {
    fn windows(&mut self, pid: u32) -> Result<atspi::Windows> {
        self.toplevels()?;
        Ok(self.source().windows(pid))
    }

    fn prepare(&mut self) -> Result<bool> {
        WlrDisplay::prepare(self)
    }

    fn popups(&mut self, pid: u32) -> Result<Popups> {
        self.screen_around(pid).map(Popups::Within)
    }

    fn findings(&mut self) -> Findings {
        Findings {
            pointer: "by the compositor's own protocols. It does not report where windows are: at \
                the first click in a window, Deskline shows it in full screen for a moment to \
                find out",
            has_reasons: true,
            ..Findings::by_protocols(self.guard())
        }
    }
}
