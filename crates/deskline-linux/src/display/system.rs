//! The traits of a display system.

use std::time::Duration;

use deskline_atspi::{self as atspi, InBuffer};
use deskline_contract::doctor::Fix;
use deskline_contract::guard::Guards;
use deskline_contract::{
    Display, Offer, Result, Screen, Window, WindowId, WindowState, Workspaces,
};
use deskline_core::Rect;
use deskline_wayland::{Kind, Listed, WaylandDisplay};
use deskline_x11::X11Display;

/// The doctor's words about input and pictures on most display systems.
pub(crate) const BY_PROTOCOLS: &str = "by the compositor's own protocols";

/// A display system: the link's display, and more methods for AT-SPI and the start of apps. No
/// method has a default.
pub(crate) trait DisplaySystem: Display + Send {
    /// The app's windows, for the coordinates of toolkits that do not know their own; with its open
    /// pop-ups if `popups`.
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows>;

    /// Whether a menu or another pop-up of the app is open. `None` if only the app's tree shows
    /// that.
    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>>;

    /// The X display. It knows the processes of its windows from other pid namespaces, and which
    /// window a dialog is for.
    fn x11(&mut self) -> Option<&mut X11Display>;

    /// The Wayland compositor, if it lists all windows of the session, whatever draws them.
    fn wayland(&mut self) -> Option<&mut dyn WaylandSystem>;
}

/// A Wayland compositor that lists windows.
pub(crate) trait WaylandSystem {
    /// The app's windows, as [`DisplaySystem::windows_for_tree`].
    fn windows(&mut self, pid: u32) -> Result<atspi::Windows>;

    /// Whether a menu or another pop-up of the app is open, as [`DisplaySystem::popup_open`].
    fn shows_popup(&mut self, _pid: u32) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Creates the input devices that the seat lacks, so that apps know them before the first link.
    /// Returns whether a device was missing.
    fn prepare(&mut self) -> Result<bool>;

    /// Called between links: frees kept resources whose time is over. Returns the time until the
    /// next call; `None` if nothing is kept.
    fn idle(&mut self) -> Option<Duration> {
        None
    }

    /// Records whether the app's tree, which was just read, shows an open menu.
    fn menu_read(&mut self, _pid: u32, _open: bool) {}

    /// The known positions of the app's open pop-ups.
    ///
    /// # Errors
    ///
    /// If the compositor does not answer.
    fn popups(&mut self, pid: u32) -> Result<Popups>;

    /// Whether the reported front window may have lost the keyboard to a launcher or a lock screen
    /// without a report by the compositor. The app then reports it.
    fn misses_launchers(&mut self) -> bool {
        false
    }

    /// The app whose keys this link has taken from the compositor's input method.
    fn keys_taken_in(&self) -> Option<u32> {
        None
    }

    /// Gives the input method these keys back, if they still go `to_text` in that app.
    fn give_keys_back(&mut self, _to_text: bool) {}

    /// For the doctor.
    fn findings(&mut self) -> Findings;
}

impl<C> DisplaySystem for WaylandDisplay<C>
where
    Self: WaylandSystem + Display + Send,
{
    fn windows_for_tree(&mut self, pid: u32, _popups: bool) -> Result<atspi::Windows> {
        self.windows(pid)
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        self.shows_popup(pid)
    }

    fn x11(&mut self) -> Option<&mut X11Display> {
        None
    }

    fn wayland(&mut self) -> Option<&mut dyn WaylandSystem> {
        Some(self)
    }
}

/// The known places of an app's open pop-ups.
pub(crate) enum Popups {
    /// They are among the windows for the tree.
    Placed,
    /// The bounds of the screen that contains them, if it is known.
    Within(Option<Rect>),
}

/// The facts about a display system that the doctor reports.
pub(crate) struct Findings {
    /// The input that the guard keeps out, or why it keeps out none.
    pub(crate) guard: Result<String, String>,
    /// How windows are brought to the front.
    pub(crate) raise: &'static str,
    /// How the pointer and the keys reach apps.
    pub(crate) pointer: &'static str,
    pub(crate) keys: &'static str,
    /// Whether each ability that it lacks has a reason of its own.
    pub(crate) has_reasons: bool,
    /// The single step that would grant it pictures, or keys, if it lacks that right.
    pub(crate) mends_pictures: Option<Fix>,
    pub(crate) mends_keys: Option<Fix>,
}

impl Findings {
    /// The findings for a system that works through the compositor's protocols only.
    pub(crate) fn by_protocols(guard: Offer<&mut dyn Guards>) -> Self {
        Self {
            guard: guard
                .map(|_| "yes".into())
                .map_err(|why| why.0.into_owned()),
            raise: BY_PROTOCOLS,
            pointer: BY_PROTOCOLS,
            keys: BY_PROTOCOLS,
            has_reasons: false,
            mends_pictures: None,
            mends_keys: None,
        }
    }
}

/// A display system without a screen has no windows.
impl dyn DisplaySystem + '_ {
    pub(crate) fn findings(&mut self) -> Findings {
        match self.wayland() {
            Some(wayland) => wayland.findings(),
            None => Findings::by_protocols(self.guard()),
        }
    }

    pub(crate) fn front(&mut self) -> Result<Option<Window>> {
        self.screen().map_or(Ok(None), Screen::front)
    }

    pub(crate) fn window_states(&mut self) -> Result<Vec<(WindowId, WindowState)>> {
        let workspaces = self.workspaces();
        workspaces.map_or_else(|| Ok(Vec::new()), Workspaces::window_states)
    }

    pub(crate) fn every_window(&mut self) -> Result<Vec<Window>> {
        let screen = self.screen();
        screen.map_or_else(|_| Ok(Vec::new()), Screen::every_window)
    }
}

/// The windows of an app among all that the compositor lists. `in_buffer` returns where a window's
/// content begins in the client's buffer.
pub(super) fn placed<T>(
    all: &[Listed<T>],
    pid: u32,
    in_buffer: impl Fn(&Listed<T>) -> InBuffer,
) -> atspi::Windows {
    let front = all.iter().find(|w| w.focused).map(|w| WindowId(w.id));
    let its = || all.iter().filter(|w| w.pid == pid);
    let for_tree = |w: &Listed<T>| atspi::Toplevel {
        border: border(w.frame, w.content),
        modal: w.modal,
        on_screen: w.visible,
        in_buffer: w.native.then(|| in_buffer(w)),
        ..atspi::Toplevel::new(WindowId(w.id), w.title.clone(), w.content)
    };
    let popups = its().filter(|w| w.kind == Kind::Popup && w.visible);
    let popups = popups.map(|w| w.buffer);
    let toplevels = its().filter(|w| w.kind.is_listed()).map(for_tree);
    atspi::Windows::placed(toplevels.collect(), popups.collect(), front)
}

/// How far an area goes beyond one inside it: left, right, top, bottom.
fn border(outer: Rect, inner: Rect) -> [i32; 4] {
    let right = outer.x + outer.w - inner.x - inner.w;
    let bottom = outer.y + outer.h - inner.y - inner.h;
    [inner.x - outer.x, right, inner.y - outer.y, bottom]
}
