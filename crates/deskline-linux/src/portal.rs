//! Detects that a portal's dialog is about to open.
//!
//! A file dialog of `xdg-desktop-portal` is a window of another process. It may open a second after
//! the click that requested it, and the app is quiet meanwhile. But the request crosses the session
//! bus at once. So a link that sees one waits for the window.

use std::time::{Duration, Instant};

use deskline_atspi::bus::{Body, Call, Connection};

/// Requests that open a window.
const WITH_WINDOWS: [&str; 8] = [
    "interface='org.freedesktop.portal.Account'",
    "interface='org.freedesktop.portal.Email'",
    "interface='org.freedesktop.portal.FileChooser'",
    "interface='org.freedesktop.portal.OpenURI'",
    "interface='org.freedesktop.portal.Print'",
    "interface='org.freedesktop.portal.ScreenCast'",
    "interface='org.freedesktop.portal.Screenshot'",
    // The other methods of this interface send input.
    "interface='org.freedesktop.portal.RemoteDesktop',member='CreateSession'",
];

/// How long to wait for the window after the request.
const PATIENCE: Duration = Duration::from_secs(3);

/// The time limit for the bus to answer.
const BUS: Duration = Duration::from_secs(1);

/// A monitor of the session bus that sees requests to the portal and nothing else.
#[derive(Debug)]
pub(crate) struct Portal {
    monitor: Connection,
    asked: Option<Instant>,
}

impl Portal {
    /// Starts monitoring. D-Bus specification, `org.freedesktop.DBus.Monitoring`.
    pub fn watch(session_bus: &str) -> Result<Self, deskline_atspi::bus::Error> {
        let mut monitor = Connection::open(session_bus, BUS)?;
        let rules: Vec<String> = WITH_WINDOWS
            .iter()
            .map(|request| format!("type='method_call',{request}"))
            .collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let call = Call {
            interface: "org.freedesktop.DBus.Monitoring",
            ..Call::to_bus("BecomeMonitor", Body::new().strs(&rules).u32(0))
        };
        monitor.call(&call, BUS)?;
        Ok(Self {
            monitor,
            asked: None,
        })
    }

    /// Forgets earlier requests, because a link waits only for the windows of its own action.
    pub fn forget(&mut self) {
        let _ = self.poll();
        self.asked = None;
    }

    /// Whether a window was requested and may still open.
    pub fn pending(&mut self) -> bool {
        if self.poll() {
            self.asked = Some(Instant::now());
        }
        self.asked.is_some_and(|at| at.elapsed() < PATIENCE)
    }

    /// Records that the window has opened.
    pub fn arrived(&mut self) {
        self.asked = None;
    }

    /// Whether a request has arrived. After the monitor is lost, none arrives.
    fn poll(&mut self) -> bool {
        self.monitor.take_calls(Instant::now()).unwrap_or(false)
    }
}
