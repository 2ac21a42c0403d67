//! GNOME as the compositor of a display. While Deskline's extension is on, uses the window
//! positions that it reports. Otherwise uses the interfaces that Mutter offers every program.

use deskline_contract::{Cancel, Raising, Result, WindowId};

use super::placed::Placed;
use super::plain::Plain;
use super::raise::SUBMENUS;
use super::session::Access;
use crate::compositor::{Compositor, Current};
use crate::described::Toplevels;
use crate::display::WaylandDisplay;

/// A GNOME session as the display of a link.
pub type GnomeDisplay<T> = WaylandDisplay<Gnome<T>>;

/// A GNOME session.
pub struct Gnome<T> {
    plain: Plain<T>,
    placed: Placed,
    /// Whether this link uses screen coordinates.
    has_places: bool,
}

impl<T: Toplevels> GnomeDisplay<T> {
    /// Connects.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`](deskline_contract::Error::Unavailable) if Mutter offers no remote
    /// desktop.
    pub fn connect(to: &Access<'_>, toplevels: T) -> Result<Self> {
        let plain = Plain::connect(to, toplevels)?;
        let placed = Placed::connect(to)?;
        let mut gnome = Gnome {
            plain,
            placed,
            has_places: false,
        };
        gnome.look_for_places();
        Ok(Self::new(gnome))
    }
}

impl<T: Toplevels> Gnome<T> {
    /// Checks whether the extension is on and reports positions.
    fn look_for_places(&mut self) {
        let extension = &mut self.placed.extension;
        self.plain.has_extension = extension.look();
        let now = self.plain.has_extension && extension.screen().is_ok();
        if now != self.has_places {
            tracing::debug!("the extension reports places: {now}");
            self.plain.sessions.end();
            self.placed.sessions.end();
            self.has_places = now;
        }
    }

    fn places(&mut self) -> Option<&mut Placed> {
        self.has_places.then_some(&mut self.placed)
    }

    /// Closes another app's open menu, with its submenus: an open menu would keep the keyboard.
    fn close_menus_beside(&mut self, window: WindowId) -> Result<()> {
        for _ in 0..SUBMENUS {
            let Some(placed) = self.places() else { break };
            let Some(popup) = placed.popup_beside(window)? else {
                break;
            };
            // The shell does not distinguish menus from tooltips. The app does.
            if !self.plain.find_menu(popup.pid)? {
                break;
            }
            if let Some(placed) = self.places() {
                placed.escape(&popup)?;
            }
        }
        Ok(())
    }
}

impl<T: Toplevels> Raising for Gnome<T> {
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        self.close_menus_beside(window)?;
        self.current_mut().activate(window, cancel)
    }
}

impl<T: Toplevels> Current for Gnome<T> {
    fn current(&self) -> &dyn Compositor {
        if self.has_places {
            return &self.placed;
        }
        &self.plain
    }

    fn current_mut(&mut self) -> &mut dyn Compositor {
        if self.has_places {
            return &mut self.placed;
        }
        &mut self.plain
    }

    fn begin(&mut self, acts: bool) {
        self.look_for_places();
        self.current_mut().begin_link(acts);
    }
}
