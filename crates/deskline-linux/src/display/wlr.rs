//! The windows of the wlroots family in AT-SPI's terms.

use std::path::Path;

use deskline_atspi as atspi;
use deskline_core::Rect;
use deskline_link::Result;
use deskline_wayland::WlrDisplay;

use super::DisplaySystem;
use super::described::Described;

/// Connects to the compositor that listens on `socket`: see [`WlrDisplay::connect`].
pub(super) fn connect(socket: &Path, session_bus: &str) -> Result<WlrDisplay<Described>> {
    WlrDisplay::connect(socket, Described::on(session_bus))
}

impl DisplaySystem for WlrDisplay<Described> {
    fn windows_for_tree(&mut self, pid: u32, _popups: bool) -> Result<atspi::Windows> {
        self.toplevels()?;
        Ok(self.source().windows(pid))
    }

    fn popup_open(&mut self, _pid: u32) -> Result<Option<bool>> {
        Ok(None)
    }

    fn prepare(&mut self) -> Result<bool> {
        WlrDisplay::prepare(self)
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn places_popups(&self) -> bool {
        false
    }

    fn popups_keep_to(&mut self, pid: u32) -> Result<Option<Rect>> {
        self.screen_around(pid)
    }

    fn pointer_finding(&self) -> &'static str {
        "by the compositor's own protocols. It does not tell where windows are: Deskline shows a window in full screen for a moment to find that out, when it first clicks in it"
    }

    fn tells_what_is_missing(&self) -> bool {
        true
    }
}
