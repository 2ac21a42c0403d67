//! GNOME as the display of a link: with the places that Deskline's extension tells, where it is switched on, else
//! with what Mutter lets every program do.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Display, Picture, Pointer, Result, Window, WindowId,
};

use super::bus::Bus;
use super::extension::{Extension, ShellWindow};
use super::placed::PlacedDisplay;
use super::plain::PlainDisplay;
use super::portal::Portal;
use super::session::{Access, Way};
use crate::described::Toplevels;

/// How deep an open menu may go.
const SUBMENUS: usize = 5;

/// How Deskline's extension of the shell is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionUse {
    /// There is none.
    None,
    /// For raising windows: it is of another version, or input cannot go to places on the screen.
    Raise,
    /// For the places of windows too.
    Places,
}

/// A GNOME session.
pub struct GnomeDisplay<T> {
    plain: PlainDisplay<T>,
    /// Where input can go to a place on the screen.
    placed: Option<PlacedDisplay>,
    /// Whether that is used in this link.
    has_places: bool,
}

impl<T: Toplevels> GnomeDisplay<T> {
    /// Connects. Where Mutter's own remote desktop is closed to this program, input goes by the desktop's portal.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`](deskline_link::Error::Unavailable) where neither is there.
    pub fn connect(to: &Access<'_>, toplevels: T) -> Result<Self> {
        let plain = PlainDisplay::connect(to, toplevels)?;
        let placed = PlacedDisplay::connect(to.session_bus, plain.way())?;
        Ok(Self {
            has_places: placed.as_ref().is_some_and(PlacedDisplay::is_there),
            plain,
            placed,
        })
    }

    /// What tells the toplevels that apps describe, after a look.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    pub fn described(&mut self) -> Result<&T> {
        self.plain.toplevels()?;
        Ok(self.plain.source())
    }

    /// What reports the toplevels.
    pub fn source_mut(&mut self) -> &mut T {
        self.plain.source_mut()
    }

    /// The toplevels and open pop-ups of all apps, the topmost first. `None` where their places are not known.
    ///
    /// # Errors
    ///
    /// Where the extension was switched off since the link began: coordinates would change their meaning.
    pub fn shell_windows(&mut self) -> Result<Option<Vec<ShellWindow>>> {
        let placed = self.places();
        placed.map(|placed| placed.shell_windows(None)).transpose()
    }

    /// Between links. Returns after which time to call it again, if at all.
    pub fn idle(&mut self) -> Option<Duration> {
        self.plain.idle()
    }

    /// Whether coordinates are the screen's, as of the last look.
    pub fn has_places(&self) -> bool {
        self.has_places
    }

    /// Whether input goes by calls of Mutter's session, and not by EIS.
    pub fn sends_by_calls(&self) -> bool {
        matches!(self.plain.way(), Way::Notify(_))
    }

    /// Whether it goes by the desktop's portal, as Mutter's own remote desktop is closed to this program.
    pub fn sends_by_portal(&self) -> bool {
        matches!(self.plain.way(), Way::Portal(_))
    }

    /// How Deskline's extension of the shell is used.
    pub fn extension(&self) -> ExtensionUse {
        match Extension::find(&self.plain.bus) {
            _ if self.has_places => ExtensionUse::Places,
            Some(_) => ExtensionUse::Raise,
            None => ExtensionUse::None,
        }
    }

    /// Looks whether the extension reports places now. If that has changed, releases what was pressed before.
    fn look_for_places(&mut self) {
        let Some(placed) = &mut self.placed else {
            return;
        };
        let now = placed.is_there();
        if now != self.has_places {
            tracing::debug!("the extension tells places: {now}");
            placed.release_all();
            self.plain.release_all();
            self.has_places = now;
        }
    }

    fn places(&mut self) -> Option<&mut PlacedDisplay> {
        self.placed.as_mut().filter(|_| self.has_places)
    }

    fn now(&mut self) -> &mut dyn Display {
        match &mut self.placed {
            Some(placed) if self.has_places => placed,
            _ => &mut self.plain,
        }
    }

    /// Closes another app's open menu, with its submenus: it would keep the keyboard.
    fn close_menus_beside(&mut self, window: WindowId) -> Result<()> {
        for _ in 0..SUBMENUS {
            let Some(placed) = self.places() else { break };
            let Some(popup) = placed.popup_beside(window)? else {
                break;
            };
            // The shell does not tell menus from tooltips. The app does.
            if !self.plain.popup_open(popup.pid)? {
                break;
            }
            if let Some(placed) = self.places() {
                placed.escape(&popup)?;
            }
        }
        Ok(())
    }
}

/// Asks the person for the portal's permission, who has a minute to answer its dialog.
///
/// # Errors
///
/// Where there is no such portal, or the person refuses or does not answer.
pub fn ask_portal(to: &Access<'_>) -> Result<()> {
    let bus = Bus::connect(to.session_bus)?;
    Portal::find(&bus, to.portal_token)?.ask(&bus)
}

impl<T: Toplevels> Display for GnomeDisplay<T> {
    fn capabilities(&self) -> Capabilities {
        match &self.placed {
            Some(placed) if self.has_places => placed.capabilities(),
            _ => self.plain.capabilities(),
        }
    }

    fn begin_link(&mut self, acts: bool) {
        self.look_for_places();
        self.plain.look_at_seat(acts);
    }

    fn front(&mut self) -> Result<Option<Window>> {
        self.now().front()
    }

    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        self.close_menus_beside(window)?;
        self.now().activate(window, cancel)
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        self.now().windows(pid)
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.now().every_window()
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.now().popup_open(pid)
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.now().pointer()
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.now().move_pointer(to)
    }

    fn aim(&mut self, aim: Aim) {
        self.now().aim(aim);
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        self.plain.introduce_devices();
        self.now().click(click, cancel)
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        self.plain.introduce_devices();
        self.now().drag(from, to, modifiers, cancel)
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.plain.introduce_devices();
        self.now().type_text(text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, held: Duration, cancel: &Cancel) -> Result<()> {
        self.plain.introduce_devices();
        self.now().press_key(press, held, cancel)
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        self.plain.introduce_devices();
        self.now().scroll(at, right, down, cancel)
    }

    fn release_all(&mut self) {
        self.now().release_all();
    }

    fn pictures_are_quick(&self) -> bool {
        false
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.now().picture(window)
    }
}
