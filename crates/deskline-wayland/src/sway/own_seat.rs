//! Finds the apps that the agent's own seat does not reach, and restores the focus of the person's
//! seat.

use std::path::Path;

use deskline_unix::process;
use rustix::time::{ClockId, clock_gettime};

use crate::reader::{CHROMIUM, maps};
use crate::sway::ipc::Ipc;

/// Clock ticks per second in /proc (proc(5)).
const TICKS: u64 = 100;

/// Why the seat does not reach windows of Xwayland.
pub(super) const XWAYLAND: &str = "it runs through Xwayland, which has one focus for all seats";

/// Libraries that a GTK process has mapped.
const GTK: [&str; 2] = ["/libgtk-3.so", "/libgtk-4.so"];

/// The agent's own seat.
pub(super) struct Own {
    /// When the seat was created, in clock ticks since boot.
    since: u64,
    /// The person's focus and all windows at the beginning of the link.
    before: Option<(u64, Vec<u64>)>,
}

impl Own {
    pub(super) fn new() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        let part = now.tv_nsec.cast_unsigned() * TICKS / 1_000_000_000;
        Self {
            since: now.tv_sec.cast_unsigned() * TICKS + part,
            before: None,
        }
    }

    /// Why the process does not receive the seat's input; `None` if it does. Measured on sway 1.10:
    /// GTK 3, GTK 4 and Qt 6 receive it if started after the seat was created, Qt 6 also before.
    pub(super) fn unserved(&self, pid: u32) -> Option<&'static str> {
        let maps = maps(pid);
        if maps.contains(CHROMIUM) {
            return Some("Chromium and Electron take input from the first seat only");
        }
        let older = process::read(Path::new("/proc"), pid.cast_signed())
            .is_some_and(|process| process.started < self.since);
        let gtk = GTK.iter().any(|library| maps.contains(library));
        (older && gtk).then_some(
            "it was started before the seat, and GTK accepts input only from seats that existed at its start",
        )
    }

    /// Records the person's focus and all windows.
    pub(super) fn note(&mut self, ipc: &mut dyn Ipc) {
        let windows = ipc.windows();
        self.before = windows.ok().and_then(|windows| {
            let focus = windows.iter().find(|w| w.focused)?.id;
            Some((focus, windows.iter().map(|w| w.id).collect()))
        });
    }

    /// Restores the person's focus if a new window of the agent's app has taken it: sway focuses a
    /// new window on every seat.
    pub(super) fn give_back(&mut self, ipc: &mut dyn Ipc, pid: Option<u32>) {
        let Some((focus, known)) = self.before.take() else {
            return;
        };
        let Ok(windows) = ipc.windows() else { return };
        let new = |w: &&crate::sway::ipc::SwayWindow| w.focused && !known.contains(&w.id);
        let taken = windows.iter().find(new).is_some_and(|w| Some(w.pid) == pid);
        if taken && windows.iter().any(|w| w.id == focus) {
            let _ = ipc.focus(focus);
        }
    }
}
