//! The display systems of Linux: what a desktop of this crate needs of one, and how to reach it.

mod described;
mod gnome;
mod kde;
mod sway;
mod wayland;
mod wlr;
mod x11;

use std::time::Duration;

use deskline_atspi as atspi;
use deskline_core::Rect;
use deskline_link::capabilities::Ability;
use deskline_link::doctor::Fix;
use deskline_link::{Display, Error, Result, Window};
use deskline_wayland::{Seat, SwayDisplay};
use deskline_x11::X11Display;

use crate::session::Session;
pub(crate) use gnome::ask_portal;
use wayland::TreesOnly;

/// How most display systems do what they do, for the doctor.
pub(crate) const BY_PROTOCOLS: &str = "by the compositor's own protocols";

/// A display system: the contract's display, and what AT-SPI and the start of apps need beyond it.
pub(crate) trait DisplaySystem: Display + Send {
    /// The app's windows, for the coordinates of toolkits that do not know their own; with its open
    /// pop-ups if `popups`.
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows>;

    /// Between links: ends what is kept for a next link and is due. Returns after which time to call it
    /// again, if at all.
    fn idle(&mut self) -> Option<Duration> {
        None
    }

    /// Makes the input devices that the seat lacks, so that apps know them before the first link. Returns
    /// whether it lacked one.
    fn prepare(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Whether [`Display::every_window`] has all windows of the session, whatever draws them.
    fn lists_all(&self) -> bool {
        false
    }

    /// Whether [`Display::popup_open`] knows. Where not, the app's tree does.
    fn lists_popups(&self) -> bool {
        true
    }

    /// Takes note whether the app's tree, which was just read, shows an open menu.
    fn menu_read(&mut self, _pid: u32, _open: bool) {}

    /// Whether the windows for the tree have the places of open pop-ups.
    fn places_popups(&self) -> bool {
        self.lists_popups()
    }

    /// The screen that the app's pop-ups keep to, where it is known.
    ///
    /// # Errors
    ///
    /// Where the compositor does not answer.
    fn popups_keep_to(&mut self, _pid: u32) -> Result<Option<Rect>> {
        Ok(None)
    }

    /// Whether the window that it reports as the front one may have lost the keyboard to a launcher or a lock
    /// screen. The app reports that.
    fn misses_launchers(&mut self) -> bool {
        false
    }

    /// Why the agent's own seat, if there is one, does not reach this process.
    fn unserved(&self, _pid: u32) -> Option<&'static str> {
        None
    }

    /// What the guard keeps out, or why it keeps out nothing, for the doctor.
    fn guard_finding(&mut self) -> Result<String, String> {
        match self.capabilities().guard {
            Ability::Yes => Ok("yes".into()),
            Ability::No(why) => Err(why.into_owned()),
        }
    }

    /// How windows are brought to the front, for the doctor.
    fn raise_finding(&self) -> &'static str {
        BY_PROTOCOLS
    }

    /// How the pointer and the keys reach apps, for the doctor.
    fn input_finding(&self) -> &'static str {
        BY_PROTOCOLS
    }

    /// How the pointer does, where that is another way.
    fn pointer_finding(&self) -> &'static str {
        self.input_finding()
    }

    /// Whether each ability that it lacks has a reason of its own, for the doctor.
    fn tells_what_is_missing(&self) -> bool {
        false
    }

    /// What gives it pictures, where it has none and that is one step.
    fn mends_pictures(&self) -> Option<Fix> {
        None
    }

    /// What lets it send keys, where it may not and that is one step.
    fn mends_keys(&self) -> Option<Fix> {
        None
    }

    /// The windows of other processes that are dialogs of this one's windows, where the display
    /// says which window a dialog is for.
    fn dialogs_of(&mut self, _pid: u32) -> Result<Vec<Window>> {
        Ok(Vec::new())
    }

    /// Those of [`Display::every_window`] that are not minimised.
    fn mapped_windows(&mut self) -> Result<Vec<Window>> {
        self.every_window()
    }
}

/// Connects to the display of the session. A further display system is a line here.
///
/// A Wayland session works without X11: where Xwayland is not there, or refuses us, apps are read and
/// driven through their trees.
pub(crate) fn connect(session: &Session) -> Result<Box<dyn DisplaySystem>> {
    let wayland = session.wayland_display.is_some();
    if let Some((socket, ipc)) = session.sway() {
        let seat = if session.own_seat {
            Seat::Own
        } else {
            Seat::Shared
        };
        match SwayDisplay::connect(&socket, &ipc, seat) {
            Ok(sway) => return Ok(Box::new(sway)),
            Err(e) if session.own_seat => return Err(e),
            Err(e) => tracing::warn!("sway is not used: {e}"),
        }
    }
    if session.own_seat {
        return Err(Error::Unavailable(
            "--seat own needs sway 1.10 or later, which is not what runs here. Serve without it"
                .into(),
        ));
    }
    match gnome::connect(session) {
        Some(Ok(gnome)) => return Ok(Box::new(gnome)),
        Some(Err(e)) => tracing::warn!("Mutter's interfaces are not used: {e}"),
        None => {}
    }
    if let Some(kwin) = session.kwin() {
        match kde::connect(&kwin) {
            Ok(kde) => return Ok(Box::new(kde)),
            Err(e) => tracing::warn!("KWin is not used: {e}"),
        }
    }
    if let Some((socket, bus)) = session.wlr() {
        match wlr::connect(&socket, &bus) {
            Ok(wlr) => return Ok(Box::new(wlr)),
            Err(e) => tracing::warn!("the compositor's protocols are not used: {e}"),
        }
    }
    match &session.display {
        Some(name) => match X11Display::connect(name, session.xauthority.as_deref()) {
            Ok(x11) => Ok(Box::new(x11)),
            Err(e) if wayland => {
                tracing::warn!("Xwayland is not used: {e}");
                Ok(Box::new(TreesOnly::of(session)))
            }
            Err(e) => Err(e),
        },
        None if wayland => Ok(Box::new(TreesOnly::of(session))),
        None => Err(Error::Unavailable(session.missing().join(" "))),
    }
}
