//! Reaches the desktop: finds the session, and connects to its parts.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use deskline_contract::question::{Approval, Question};
use deskline_contract::{Cancel, Desktop, Error, Platform, Result};

use crate::desktop::LinuxDesktop;
use crate::display::{self, DisplaySystem};
use crate::portal::Portal;
use crate::session::Session;
use deskline_atspi::AtSpi;
use deskline_atspi::toolkits::mapped;
use deskline_unix::process;
use deskline_wayland::Compositor;
use deskline_x11::{X11, question};

/// A Linux session, connected to when a call first needs it.
pub struct LinuxPlatform {
    /// The session to use; `None` to find the person's session at each connection.
    session: Option<Session>,
    /// Whether a person is at the desktop even if it is a private one.
    attended: bool,
    /// The display whose devices [`Platform::prepare`] has created, and its session.
    prepared: Mutex<Option<(Session, Box<dyn DisplaySystem>)>>,
    /// A connection for [`Platform::ping`] alone, so that a ping does not wait for a link.
    pings: Mutex<Option<AtSpi>>,
}

impl LinuxPlatform {
    /// Uses the session of this environment, or the person's session if the environment has none.
    pub fn find() -> Self {
        Self::new(None)
    }

    /// Uses this session and no other.
    pub fn on(session: Session) -> Self {
        Self::new(Some(session))
    }

    fn new(session: Option<Session>) -> Self {
        Self {
            session,
            attended: false,
            prepared: Mutex::new(None),
            pings: Mutex::new(None),
        }
    }

    /// With `attended`, somebody watches the private desktop. So it is guarded and restored like a
    /// person's own.
    #[must_use]
    pub fn attended(self, attended: bool) -> Self {
        Self { attended, ..self }
    }

    fn pings(&self) -> MutexGuard<'_, Option<AtSpi>> {
        self.pings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The display that has been prepared, if it is this session's and still answers. Waits while
    /// it is being prepared.
    fn prepared_for(&self, session: &Session) -> Option<Box<dyn DisplaySystem>> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, mut display) = prepared.take()?;
        (of == *session && display.front().is_ok()).then_some(display)
    }

    fn session(&self) -> Result<Session> {
        let session = self.session.clone().unwrap_or_else(Session::find);
        match session.missing() {
            missing if missing.is_empty() => Ok(session),
            missing => Err(Error::Unavailable(missing.join(" "))),
        }
    }

    /// Connects to the session's accessibility bus. Returns the bus's address too.
    fn accessibility_bus(session: &Session) -> Result<(AtSpi, String)> {
        // `missing` has already checked that there is a bus.
        let bus = session.session_bus.as_deref().unwrap_or_default();
        display::accessibility(bus)
    }
}

impl Platform for LinuxPlatform {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        let session = self.session()?;
        let mut display = match self.prepared_for(&session) {
            Some(display) => display,
            None => display::connect(&session)?,
        };
        let (mut atspi, address) = Self::accessibility_bus(&session)?;
        let ours = atspi.own_pid();
        let agreed = match display.x11() {
            Some(x11) => {
                x11.show_accessibility_bus(&address)?;
                x11.take_pids(ours)
            }
            None => ours == Some(std::process::id()),
        };
        process::set_elsewhere(agreed && ours != Some(std::process::id()));
        let portal = session.session_bus.as_deref().and_then(|bus| {
            Portal::watch(bus)
                .inspect_err(|e| tracing::debug!("portal dialogs are not awaited: {e}"))
                .ok()
        });
        let desktop = LinuxDesktop::new(session, atspi, display, portal, self.attended);
        Ok(Box::new(desktop))
    }

    fn prepare(&self) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = self.session().ok().filter(|s| s.wayland_display.is_some()) else {
            return;
        };
        let made = display::connect(&session).and_then(|mut display| {
            let wayland = display.wayland();
            let made = wayland.map_or(Ok(false), Compositor::prepare)?;
            Ok(made.then_some(display))
        });
        match made {
            Ok(display) => *prepared = display.map(|display| (session, display)),
            Err(e) => tracing::debug!("no input devices before the first call: {e}"),
        }
    }

    fn catalogues(&self, pid: u32) -> Vec<PathBuf> {
        mapped::catalogues(pid)
    }

    fn ping(&self, pid: u32) -> Result<()> {
        // Taken out during the ping, so that a ping of another app at the same time makes a
        // connection of its own.
        let kept = self.pings().take();
        // Missing parts are reported by the link, not by the ping.
        let connect = || {
            self.session()
                .and_then(|s| Self::accessibility_bus(&s))
                .ok()
                .map(|(atspi, _)| atspi)
        };
        let Some(mut atspi) = kept.or_else(connect) else {
            return Ok(());
        };
        let answered = atspi.answers(pid);
        if answered.is_ok() {
            *self.pings() = Some(atspi);
        }
        match answered {
            // That the process has ended is reported by the link.
            Ok(false) if process::is_gone(pid) => Ok(()),
            Ok(false) => {
                let name = process::app_name(pid);
                Err(Error::not_answering(pid, name, deskline_atspi::PATIENCE))
            }
            // That the connection is lost is reported by the link too.
            Ok(true) | Err(_) => Ok(()),
        }
    }

    fn ask(&self, question: &Question, cancel: &Cancel) -> Result<Option<Approval>, String> {
        let session = self.session().map_err(|e| e.to_string())?;
        let Some(display) = session
            .display
            .as_deref()
            .filter(|_| session.wayland_display.is_none())
        else {
            return Err("on Wayland Deskline cannot ask them itself".to_owned());
        };
        let xauthority = session.xauthority.as_deref();
        let private = || X11::connect(display, xauthority)?.is_private();
        if !self.attended && private().map_err(|e| e.to_string())? {
            return Err("nobody sits at this desktop".to_owned());
        }
        let answers = question.answers();
        let words: Vec<_> = answers.iter().map(|answer| answer.word()).collect();
        let asked = question::ask(display, xauthority, &question.words(), &words, cancel);
        let chosen = asked.map_err(|e| e.to_string())??;
        Ok(chosen.and_then(|at| answers.get(at).copied()))
    }
}
