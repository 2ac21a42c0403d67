//! A keyboard and a pointer for a seat that has none: of a headless session, and of a remote one
//! while nobody is connected. Without a keyboard no app reports which window is in front; and apps
//! lose what is sent before they have asked for a device that is new.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wayland_client::protocol::wl_seat::Capability;

use super::bus::Bus;
use super::session::{Session, Way};
use crate::wlroots::client::{ASK, Client};

/// How long they are kept after the last link. GNOME shows in its panel that they are there, to a
/// person who connects meanwhile.
const KEPT: Duration = Duration::from_secs(300);

/// The devices that the seat was given, if it lacked one.
pub(super) struct Devices {
    /// Where the compositor listens.
    socket: PathBuf,
    seat: Option<Client>,
    kept: Option<Kept>,
    /// Whether the seat has a keyboard, as of the last look.
    has_keyboard: bool,
}

struct Kept {
    session: Session,
    since: Instant,
    used: Instant,
}

impl Devices {
    pub(super) fn on(socket: &Path) -> Self {
        Self {
            socket: socket.to_owned(),
            seat: None,
            kept: None,
            has_keyboard: true,
        }
    }

    /// Whether the seat has a keyboard, as of the last look.
    pub(super) fn has_keyboard(&self) -> bool {
        self.has_keyboard
    }

    /// A link begins: looks at the seat, and gives it what it lacks if input may follow.
    pub(super) fn begin_link(&mut self, bus: &Bus, way: &Way, acts: bool) {
        let has = self.look();
        self.has_keyboard = has.contains(Capability::Keyboard);
        if let Some(kept) = &mut self.kept {
            kept.used = Instant::now();
        }
        if !acts || has.contains(Capability::Keyboard | Capability::Pointer) {
            return;
        }
        // A session that the person has ended.
        self.end(bus);
        let since = Instant::now();
        match Session::start(bus, way, None) {
            Ok(session) => {
                self.has_keyboard = true;
                let used = since;
                self.kept = Some(Kept {
                    session,
                    since,
                    used,
                });
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
                tracing::debug!("the seat is not known: {e}");
                Capability::all()
            }
        }
    }

    /// Waits until apps have had the time to ask for devices that are new to the seat.
    pub(super) fn introduce(&self) {
        if let Some(kept) = &self.kept {
            // No event reports that they have.
            std::thread::sleep(ASK.saturating_sub(kept.since.elapsed()));
        }
    }

    /// Between links: ends them when they are due. Returns after which time to call it again.
    pub(super) fn idle(&mut self, bus: &Bus) -> Option<Duration> {
        let left = KEPT.saturating_sub(self.kept.as_ref()?.used.elapsed());
        if left.is_zero() {
            self.end(bus);
            return None;
        }
        Some(left)
    }

    fn end(&mut self, bus: &Bus) {
        if let Some(kept) = self.kept.take() {
            kept.session.stop(bus);
        }
    }
}
