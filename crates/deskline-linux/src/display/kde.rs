//! KWin's windows in AT-SPI's terms.

use deskline_unix::wait;
use std::time::Duration;

use deskline_atspi::{self as atspi, InBuffer};
use deskline_contract::doctor::Fix;
use deskline_contract::{Display as _, Error, Result};
use deskline_wayland::KdeDisplay;

use super::system::{Findings, Popups, WaylandSystem, placed};
use crate::session::Kwin;

/// How long a running KWin may take to join the session bus, and then to run scripts: the session
/// may start a server earlier.
const JOINS: Duration = Duration::from_secs(3);

/// Connects to KWin: see [`KdeDisplay::connect`].
pub(super) fn connect(kwin: &Kwin) -> Result<KdeDisplay> {
    let connect = || KdeDisplay::connect(&kwin.bus, kwin.pid, &kwin.folder, &kwin.socket);
    let connected = wait::until(JOINS, Duration::from_millis(50), || {
        Some(connect()).filter(|it| !it.as_ref().is_err_and(Error::costs_connection))
    });
    connected.unwrap_or_else(connect)
}

impl WaylandSystem for KdeDisplay {
    fn windows(&mut self, pid: u32) -> Result<atspi::Windows> {
        Ok(placed(&self.kde_windows()?, pid, |w| {
            InBuffer::At(w.content.x - w.buffer.x, w.content.y - w.buffer.y)
        }))
    }

    fn shows_popup(&mut self, pid: u32) -> Result<Option<bool>> {
        KdeDisplay::popup_open(self, pid).map(Some)
    }

    fn prepare(&mut self) -> Result<bool> {
        KdeDisplay::prepare(self)
    }

    fn popups(&mut self, _pid: u32) -> Result<Popups> {
        Ok(Popups::Placed)
    }

    fn keys_taken_in(&self) -> Option<u32> {
        KdeDisplay::keys_taken_in(self)
    }

    fn give_keys_back(&mut self, to_text: bool) {
        KdeDisplay::give_keys_back(self, to_text);
    }

    fn findings(&mut self) -> Findings {
        let mends = |missing: bool| missing.then_some(Fix::KwinFile);
        let (pictures, keys) = (self.pictures_need_a_file(), self.input_needs_a_file());
        let found = Findings::by_protocols(self.guard());
        Findings {
            guard: found.guard.map(|_| {
                "KWin's input capture. Esc cancels, Super+Shift+Esc ends \
                it; while a burst of an agent's own input goes in, for some milliseconds, the \
                user's passes too"
                    .into()
            }),
            mends_pictures: mends(pictures),
            mends_keys: mends(keys),
            ..found
        }
    }
}
