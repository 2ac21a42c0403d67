//! Display systems, which also describe their windows in AT-SPI's terms.

use deskline_atspi::{self as atspi, InBuffer};
use deskline_contract::guard::Guards;
use deskline_contract::{
    Aim, Clipboard, Display, KeyInput, Missing, Offer, Overlay, Pictures, PointerInput, Raising,
    Result, Screen, Window, WindowId, offers,
};
use deskline_core::Rect;
use deskline_wayland::{
    Compositor, Corner, Current, Findings, Kind, ListedWindow, Listing, WaylandDisplay,
};
use deskline_x11::{Toplevel, X11Display};

use super::described::described;
use crate::session::Session;

/// A display system: the link's display, with additional methods for AT-SPI and the start of apps.
/// The defaults are those of a display without windows.
pub(crate) trait DisplaySystem: Display + Send {
    /// The app's windows, for toolkits that do not know the coordinates of their own windows.
    /// Includes the app's open pop-ups if `popups`.
    fn windows_for_tree(&mut self, _pid: u32, _popups: bool) -> Result<atspi::Windows> {
        Ok(atspi::Windows::default())
    }

    /// Whether a menu or another pop-up of the app is open. `None` if only the app's tree shows
    /// whether one is open.
    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        let wayland = self.wayland();
        wayland.map_or(Ok(None), |wayland| wayland.popup_open(pid))
    }

    /// The X display, if this display system is X11. It knows the processes of windows across pid
    /// namespaces, and which window a dialog belongs to.
    fn x11(&mut self) -> Option<&mut X11Display> {
        None
    }

    /// The Wayland compositor, if it lists all windows of the session, native ones and X11's.
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

/// How far `outer` extends beyond `inner`: left, right, top, bottom.
fn border(outer: Rect, inner: Rect) -> [i32; 4] {
    let right = outer.x + outer.w - inner.x - inner.w;
    let bottom = outer.y + outer.h - inner.y - inner.h;
    [inner.x - outer.x, right, inner.y - outer.y, bottom]
}

// X11's windows in AT-SPI's terms.

impl DisplaySystem for X11Display {
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows> {
        let x11 = X11Display::x11(self);
        let popups = popups.then(|| x11.popups(pid)).transpose()?;
        let mut toplevels = x11.toplevels()?;
        toplevels.retain(|t| t.pid == pid);
        toplevels.sort_by_key(Toplevel::rank);
        let front = match toplevels.len() {
            // A single window need not be distinguished from others.
            0 | 1 => None,
            _ => x11.front_id()?.map(|id| WindowId(id.into())),
        };
        let toplevels = toplevels.into_iter().map(for_tree).collect();
        let placed = atspi::Windows::placed(toplevels, popups.unwrap_or_default(), front);
        let screen = Some(x11.screen()?);
        Ok(atspi::Windows { screen, ..placed })
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        X11Display::x11(self).popup_open(pid).map(Some)
    }

    fn x11(&mut self) -> Option<&mut X11Display> {
        Some(self)
    }
}

fn for_tree(toplevel: Toplevel) -> atspi::Toplevel {
    atspi::Toplevel {
        shadow: toplevel.shadow,
        border: toplevel.border,
        modal: toplevel.modal,
        on_screen: toplevel.viewable && !toplevel.minimised,
        ..atspi::Toplevel::new(WindowId(toplevel.id.into()), toplevel.title, toplevel.raw)
    }
}

// A Wayland session of which Deskline reaches only the apps' accessibility trees: the core protocol
// lets no program list other programs' windows, or send input.

/// A display without windows, input and pictures: each ability is missing for the same reason.
pub(super) struct TreesOnly {
    /// Why the display lacks these abilities, as a clause.
    why: String,
}

impl TreesOnly {
    pub(super) fn new(session: &Session) -> Self {
        let compositor = session.compositor();
        let compositor = compositor.as_deref().unwrap_or("unknown compositor");
        Self {
            why: format!(
                "this is a Wayland session ({compositor}), where Deskline reaches only the \
                accessibility trees of apps"
            ),
        }
    }

    fn missing<T>(&self) -> Offer<T> {
        Err(Missing::new(self.why.clone()))
    }
}

impl Display for TreesOnly {
    fn begin_link(&mut self, _acts: bool) {}

    fn set_aim(&mut self, _aim: Aim) {}

    fn release_all(&mut self) {}

    offers!(self => self.missing();
        screen Screen, raising Raising, pointer_input PointerInput, key_input KeyInput,
        pictures Pictures, guard Guards, overlay Overlay);

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        let missing: Offer<_> = self.missing();
        missing.map_err(|missing| missing.for_action("pasting"))
    }
}

impl DisplaySystem for TreesOnly {}
