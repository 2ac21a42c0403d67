//! sway's windows in AT-SPI's terms.

use deskline_atspi as atspi;
use deskline_core::Rect;
use deskline_link::{Result, WindowId};
use deskline_wayland::{SwayDisplay, SwayWindow};

use super::DisplaySystem;

impl DisplaySystem for SwayDisplay {
    fn windows_for_tree(&mut self, pid: u32, _popups: bool) -> Result<atspi::Windows> {
        let mut windows = self.sway_windows()?;
        let front = windows.iter().find(|w| w.focused).map(|w| WindowId(w.id));
        windows.retain(|window| window.pid == pid);
        Ok(atspi::Windows {
            front: front.filter(|_| windows.len() > 1),
            toplevels: windows.into_iter().map(for_tree).collect(),
            popups: Vec::new(),
            unplaced: false,
        })
    }

    fn popup_open(&mut self, _pid: u32) -> Result<Option<bool>> {
        Ok(None)
    }

    fn unserved(&self, pid: u32) -> Option<&'static str> {
        SwayDisplay::unserved(self, pid)
    }

    fn guard_finding(&mut self) -> Result<String, String> {
        if self.has_own_seat() {
            return Ok("not needed: the agent has a seat of its own, whose keys and clicks cannot mix with yours".into());
        }
        match self.guarded() {
            Ok(devices) if devices.is_empty() => Err(
                "sway lists no device that could be kept out: virtual ones, such as a remote desktop's, cannot be told from the agent's".into(),
            ),
            Ok(devices) => Ok(format!(
                "disabled while an agent's keys and clicks go in: {}. Esc does not reach the guard, so it cancels nothing; the devices come back at the limit at the latest",
                devices.join(", ")
            )),
            Err(e) => Err(e.to_string()),
        }
    }

    fn prepare(&mut self) -> Result<bool> {
        SwayDisplay::prepare(self)
    }

    fn lists_all(&self) -> bool {
        true
    }

    fn popups_keep_to(&mut self, pid: u32) -> Result<Option<Rect>> {
        let windows = self.sway_windows()?;
        let its = windows.iter().filter(|w| w.pid == pid);
        // The one with the keyboard, else the frontmost.
        let window = its.min_by_key(|w| !w.focused);
        Ok(window.and_then(|w| w.screen))
    }

    /// sway (1.10) reports a window as focused also while the screen is locked.
    fn misses_launchers(&mut self) -> bool {
        self.has_one_seat()
    }

    fn places_popups(&self) -> bool {
        false
    }
}

fn for_tree(window: SwayWindow) -> atspi::Toplevel {
    atspi::Toplevel {
        id: WindowId(window.id),
        title: window.title,
        window: window.content,
        shadow: None,
        border: [0; 4],
        modal: false,
        on_screen: window.visible,
        in_buffer: window.native.then_some(atspi::InBuffer::NotTold),
        frame: None,
    }
}
