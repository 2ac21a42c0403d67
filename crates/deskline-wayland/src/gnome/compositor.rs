//! GNOME as the compositor of a display. Uses the window positions that Deskline's extension
//! reports while it is on, and otherwise the interfaces that Mutter offers every program.

use std::time::Duration;

use deskline_contract::{Cancel, Raising, Result, WindowId};

use super::extension::ShellWindow;
use super::placed::Placed;
use super::plain::Plain;
use super::raise::SUBMENUS;
use super::session::Access;
use crate::compositor::{Compositor, Current};
use crate::described::Toplevels;
use crate::display::WaylandDisplay;

/// How Deskline's extension of the shell is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionUse {
    /// It is not used.
    None,
    /// It is used only to raise windows: its version differs.
    Raise,
    /// It is used to raise windows, and for their positions on the screen.
    Places,
}

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
        let placed = Placed::connect(to, &plain.extension)?;
        let mut gnome = Gnome {
            plain,
            placed,
            has_places: false,
        };
        gnome.look_for_places();
        Ok(Self::new(gnome))
    }

    /// The source of the toplevels that apps describe, brought up to date.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    pub fn described(&mut self) -> Result<&T> {
        self.compositor.plain.recent()?;
        Ok(self.compositor.plain.source())
    }

    /// The source of the toplevels.
    pub fn source_mut(&mut self) -> &mut T {
        self.compositor.plain.source_mut()
    }

    /// All windows, topmost first. `None` if their positions are unknown.
    ///
    /// # Errors
    ///
    /// If the extension was switched off since the link began: the coordinates would have another
    /// meaning.
    pub fn shell_windows(&mut self) -> Result<Option<Vec<ShellWindow>>> {
        let placed = self.compositor.places();
        placed.map(|placed| placed.shell_windows()).transpose()
    }

    /// Whether a menu or another pop-up of the app is open.
    ///
    /// # Errors
    ///
    /// If the shell or the accessibility bus does not answer.
    pub fn popup_open(&mut self, pid: u32) -> Result<bool> {
        let gnome = &mut self.compositor;
        match gnome.places() {
            Some(placed) => placed.popup_open(pid),
            None => gnome.plain.find_menu(pid),
        }
    }

    /// Call it between links. Returns when to call it again, if ever.
    pub fn idle(&mut self) -> Option<Duration> {
        let Gnome { plain, placed, .. } = &mut self.compositor;
        let idle = [plain.sessions.idle(), placed.sessions.idle()];
        idle.into_iter().flatten().min()
    }

    /// Whether coordinates are the screen's, as of the last check.
    pub fn has_places(&self) -> bool {
        self.compositor.has_places
    }

    /// How Deskline's extension of the shell is used.
    pub fn extension(&self) -> ExtensionUse {
        match self.compositor.plain.extension.look() {
            _ if self.compositor.has_places => ExtensionUse::Places,
            true => ExtensionUse::Raise,
            false => ExtensionUse::None,
        }
    }
}

impl<T: Toplevels> Gnome<T> {
    /// Checks whether the extension is on and reports positions.
    fn look_for_places(&mut self) {
        self.plain.extension.look();
        let now = self.placed.is_there();
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

    /// Closes another app's open menu, with its submenus: it would keep the keyboard.
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

    fn raising(&mut self) -> &mut dyn Raising {
        self
    }
}
