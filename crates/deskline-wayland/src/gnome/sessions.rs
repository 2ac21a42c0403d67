//! The session that sends input. It is kept between links: starting a session takes round trips to
//! a shell that is busy drawing the windows that were just raised.
//!
//! It also gives a keyboard and a pointer to a seat without them: in a headless session, and in a
//! remote session while nobody is connected. Without a keyboard no app reports which window is in
//! front. Apps lose events that are sent before they have bound a new device.

use deskline_contract::{Result, wait};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use deskline_core::WindowId;
use wayland_client::protocol::wl_seat::Capability;

use super::bus::Calls;
use super::session::{Access, Session, Stream};
use crate::wlroots::client::{ASK, Client};

/// How long a session is kept after its last input. GNOME shows an indicator in its panel for as
/// long, but at least 5 s.
const KEPT: Duration = Duration::from_secs(5);

/// How long after the last link to keep the devices that we gave to a seat without devices.
const SEAT_KEPT: Duration = Duration::from_secs(300);

/// The session, if there is one.
pub(super) struct Sessions {
    pub(super) bus: Calls,
    /// Whether the session's pointer is relative to windows instead of the screen.
    casts: bool,
    open: Option<Open>,
    /// The compositor's socket.
    socket: PathBuf,
    seat: Option<Client>,
    /// Whether the seat has a keyboard, as of the last check.
    pub(super) has_keyboard: bool,
}

struct Open {
    session: Session,
    since: Instant,
    used: Instant,
    /// Whether the session exists because the seat lacks devices of its own.
    for_seat: bool,
}

impl Sessions {
    /// Connects. Starts no session.
    pub(super) fn connect(to: &Access<'_>, casts: bool) -> Result<Self> {
        Ok(Self {
            bus: Calls::connect(to.session_bus)?,
            casts,
            open: None,
            socket: to.wayland_socket.to_owned(),
            seat: None,
            has_keyboard: true,
        })
    }

    /// Called when a link begins: drops a session that the person has ended, checks the seat and,
    /// if input may follow, gives the seat the devices that it lacks.
    pub(super) fn begin_link(&mut self, acts: bool) {
        self.drop_closed();
        let has = self.look();
        self.has_keyboard = has.contains(Capability::Keyboard);
        if let Some(open) = self.open.as_mut().filter(|open| open.for_seat) {
            open.used = Instant::now();
        }
        if !acts || has.contains(Capability::Keyboard | Capability::Pointer) {
            return;
        }
        self.end();
        self.start_for_seat();
    }

    fn start_for_seat(&mut self) {
        match self.start(true) {
            Ok(open) => {
                self.open = Some(open);
                self.has_keyboard = true;
            }
            Err(e) => tracing::debug!("the seat gets no keyboard: {e}"),
        }
    }

    /// The capabilities of the seat; all of them if the compositor does not answer.
    fn look(&mut self) -> Capability {
        let looked = match self.seat.take() {
            Some(mut seat) => seat.roundtrip().map(|()| seat),
            None => Client::connect(&self.socket),
        };
        match looked {
            Ok(seat) => self.seat.insert(seat).heard.capabilities,
            Err(e) => {
                tracing::debug!("the seat is unknown: {e}");
                Capability::all()
            }
        }
    }

    fn start(&self, for_seat: bool) -> Result<Open> {
        let since = Instant::now();
        Ok(Open {
            session: Session::start(&self.bus, self.casts)?,
            since,
            used: since,
            for_seat,
        })
    }

    /// Waits until apps have had the time to bind devices that are new to the seat.
    pub(super) fn introduce(&self) {
        if let Some(open) = self.open.as_ref().filter(|open| open.for_seat) {
            // No event reports that apps have bound the devices.
            wait::pause(ASK.saturating_sub(open.since.elapsed()));
        }
    }

    /// The session. Starts one if there is none. A session that the person ends during a link is
    /// replaced only after the link's input.
    pub(super) fn get(&mut self) -> Result<&mut Session> {
        Ok(self.get_on_bus()?.0)
    }

    fn get_on_bus(&mut self) -> Result<(&mut Session, &Calls)> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.start(false)?,
        };
        open.used = Instant::now();
        Ok((&mut self.open.insert(open).session, &self.bus))
    }

    /// The stream of this window, if the session has it.
    pub(super) fn stream_of(&mut self, window: WindowId, size: (i32, i32)) -> Option<&mut Stream> {
        self.open.as_mut()?.session.stream_of(window, size)
    }

    /// The stream of the focused window: see [`Session::point_at`].
    pub(super) fn point_at(&mut self, window: WindowId, size: (i32, i32)) -> Result<&mut Stream> {
        let (session, bus) = self.get_on_bus()?;
        session.point_at(bus, window, size)
    }

    /// Called when the target's input is over.
    pub(super) fn end_input(&mut self) {
        self.drop_closed();
        if let Some(open) = &mut self.open {
            open.session.end_input();
        }
    }

    fn drop_closed(&mut self) {
        let open = self.open.as_mut();
        if open.is_some_and(|open| !open.session.is_open()) {
            self.end();
        }
    }

    /// Called between links: ends the session once it has been unused for long enough. Returns how
    /// long to wait before the next call; `None` if there is no session.
    pub(super) fn idle(&mut self) -> Option<Duration> {
        let open = self.open.as_ref()?;
        let kept = if open.for_seat { SEAT_KEPT } else { KEPT };
        let left = kept.saturating_sub(open.used.elapsed());
        if left.is_zero() {
            self.end();
            return None;
        }
        Some(left)
    }

    /// Ends the session, which releases all pressed keys and buttons. If the session existed for a
    /// seat without devices, starts another one for that seat.
    pub(super) fn release(&mut self) {
        let for_seat = self.open.as_ref().is_some_and(|open| open.for_seat);
        self.end();
        if for_seat {
            self.start_for_seat();
        }
    }

    /// Ends the session.
    pub(super) fn end(&mut self) {
        if let Some(open) = self.open.take() {
            open.session.stop(&self.bus);
        }
    }
}
