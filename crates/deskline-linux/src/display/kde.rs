//! KWin's windows in AT-SPI's terms.

use std::time::{Duration, Instant};

use deskline_atspi as atspi;
use deskline_link::doctor::Fix;
use deskline_link::{Display as _, Result, WindowId};
use deskline_wayland::{KdeDisplay, KdeWindow};

use super::system::{Findings, Popups, WaylandSystem, border};
use crate::session::Kwin;

/// How long a KWin whose process is there may take to be on the session bus, and then to run
/// scripts: a server that the session starts can be quicker.
const JOINS: Duration = Duration::from_secs(3);

/// Connects to KWin: see [`KdeDisplay::connect`].
pub(super) fn connect(kwin: &Kwin) -> Result<KdeDisplay> {
    let start = Instant::now();
    loop {
        match KdeDisplay::connect(&kwin.bus, kwin.pid, &kwin.folder, &kwin.socket) {
            Err(e) if e.costs_connection() && start.elapsed() < JOINS => {
                std::thread::sleep(Duration::from_millis(50));
            }
            connected => return connected,
        }
    }
}

impl WaylandSystem for KdeDisplay {
    fn windows(&mut self, pid: u32) -> Result<atspi::Windows> {
        let windows = self.kde_windows(None)?;
        let front = windows.iter().find(|w| w.active).map(|w| WindowId(w.id));
        let its = windows.into_iter().filter(|w| w.pid == pid);
        let (toplevels, popups): (Vec<_>, Vec<_>) = its.partition(|w| w.toplevel);
        let toplevels = toplevels.into_iter().map(for_tree).collect();
        let popups = popups.into_iter().map(|w| w.buffer).collect();
        Ok(atspi::Windows::placed(toplevels, popups, front))
    }

    fn shows_popup(&mut self, pid: u32) -> Result<Option<bool>> {
        KdeDisplay::popup_open(self, pid).map(Some)
    }

    fn prepare(&mut self) -> Result<bool> {
        KdeDisplay::prepare(self)
    }

    fn idle(&mut self) -> Option<Duration> {
        None
    }

    fn menu_read(&mut self, _pid: u32, _open: bool) {}

    fn popups(&mut self, _pid: u32) -> Result<Popups> {
        Ok(Popups::Placed)
    }

    fn misses_launchers(&mut self) -> bool {
        false
    }

    fn unserved(&self, _pid: u32) -> Option<&'static str> {
        None
    }

    fn findings(&mut self) -> Findings {
        let mends = |missing: bool| missing.then_some(Fix::KwinFile);
        let (pictures, keys) = (self.pictures_need_a_file(), self.input_needs_a_file());
        let found = Findings::by_protocols(self.guard());
        Findings {
            guard: found.guard.map(|_| "KWin's input capture. Esc cancels, Super+Shift+Esc ends it; while a burst of an agent's own input goes in, for some milliseconds, the user's passes too".into()),
            mends_pictures: mends(pictures),
            mends_keys: mends(keys),
            ..found
        }
    }
}

fn for_tree(window: KdeWindow) -> atspi::Toplevel {
    let (content, buffer) = (window.content, window.buffer);
    let in_buffer = atspi::InBuffer::At(content.x - buffer.x, content.y - buffer.y);
    atspi::Toplevel {
        border: border(window.frame, content),
        modal: window.modal,
        on_screen: window.visible,
        in_buffer: window.native.then_some(in_buffer),
        ..atspi::Toplevel::new(WindowId(window.id), window.title, content)
    }
}
