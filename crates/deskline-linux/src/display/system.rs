//! A display system, in AT-SPI's terms too.

use deskline_atspi::{self as atspi, InBuffer};
use deskline_contract::{Display, Result, Screen, Window, WindowId};
use deskline_core::Rect;
use deskline_wayland::{
    Compositor, Corner, Current, Findings, Kind, ListedWindow, Listing, WaylandDisplay,
};
use deskline_x11::X11Display;

use super::described::described;

/// A display system: the link's display, and more methods for AT-SPI and the start of apps. The
/// defaults are those of a display without windows.
pub(crate) trait DisplaySystem: Display + Send {
    /// The app's windows, for the coordinates of toolkits that do not know their own; with its open
    /// pop-ups if `popups`.
    fn windows_for_tree(&mut self, _pid: u32, _popups: bool) -> Result<atspi::Windows> {
        Ok(atspi::Windows::default())
    }

    /// Whether a menu or another pop-up of the app is open. `None` if only the app's tree shows
    /// that.
    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        let wayland = self.wayland();
        wayland.map_or(Ok(None), |wayland| wayland.popup_open(pid))
    }

    /// The X display. It knows the processes of its windows from other pid namespaces, and which
    /// window a dialog is for.
    fn x11(&mut self) -> Option<&mut X11Display> {
        None
    }

    /// The Wayland compositor, if it lists all windows of the session, whatever draws them.
    fn wayland(&mut self) -> Option<&mut dyn Compositor> {
        None
    }
}

impl<C: Current + Send + 'static> DisplaySystem for WaylandDisplay<C> {
    fn windows_for_tree(&mut self, pid: u32, _popups: bool) -> Result<atspi::Windows> {
        Ok(match self.compositor().windows()? {
            Listing::Listed(all) => placed(&all, pid),
            Listing::Described(all) => described(&all, pid),
        })
    }

    fn wayland(&mut self) -> Option<&mut dyn Compositor> {
        Some(self.compositor())
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

    pub(crate) fn every_window(&mut self) -> Result<Vec<Window>> {
        let screen = self.screen();
        screen.map_or_else(|_| Ok(Vec::new()), Screen::every_window)
    }
}

/// The windows of an app among all that the compositor lists.
fn placed(all: &[ListedWindow], pid: u32) -> atspi::Windows {
    let front = all.iter().find(|w| w.focused).map(|w| WindowId(w.id));
    let its = || all.iter().filter(|w| w.pid == pid);
    let for_tree = |w: &ListedWindow| atspi::Toplevel {
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

/// Where the window's content begins in its buffer.
fn in_buffer(window: &ListedWindow) -> InBuffer {
    let left = window.content.x - window.buffer.x;
    let top = window.content.y - window.buffer.y;
    match window.corner {
        Corner::Exact => InBuffer::At(left, top),
        Corner::Framed { unit } => InBuffer::Framed { left, top, unit },
        Corner::NotTold => InBuffer::NotTold,
    }
}

/// How far an area goes beyond one inside it: left, right, top, bottom.
fn border(outer: Rect, inner: Rect) -> [i32; 4] {
    let right = outer.x + outer.w - inner.x - inner.w;
    let bottom = outer.y + outer.h - inner.y - inner.h;
    [inner.x - outer.x, right, inner.y - outer.y, bottom]
}
