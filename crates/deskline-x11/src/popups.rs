//! Menus, pop-ups and drop-downs: override-redirect children of the root, which the window manager
//! does not list.

use deskline_contract::Result;
use deskline_core::{Point, Rect};
use x11rb::protocol::xproto::Window;

use super::X11;
use super::grab_probe::Grabbable;
use super::toplevel::Kind;
use super::windows::Facts;

/// Ignore smaller windows: toolkits have windows of a pixel or two for selections and grabs.
const SMALLEST: i32 = 4;

/// An open pop-up.
pub(super) struct Popup {
    pub(super) id: Window,
    pub(super) kind: Kind,
    /// The bounds without the shadow, in root coordinates.
    pub(super) extents: Rect,
}

impl X11 {
    /// The bounds of the process's open menus, pop-ups and drop-downs, with their shadows, in root
    /// coordinates.
    pub fn popups(&self, pid: u32) -> Result<Vec<Rect>> {
        let facts = self.facts(&self.children_of_root()?)?;
        let open = facts
            .iter()
            .filter(|f| pid != 0 && f.toplevel.pid == pid && is_popup(f));
        Ok(open.map(|f| f.toplevel.raw).collect())
    }

    /// Whether a menu, pop-up or drop-down of the process is open.
    pub fn popup_open(&self, pid: u32) -> Result<bool> {
        let facts = self.facts(&self.children_of_root()?)?;
        let popups = popups_among(&facts, pid);
        if popups.iter().all(|popup| popup.kind == Kind::Menu) {
            // GTK 4's tooltips claim to be menus. Only menus grab the pointer.
            return Ok(!popups.is_empty() && self.probe(Grabbable::Pointer)?.grabbed()?);
        }
        Ok(true)
    }

    /// Whether an open pop-up of the process that is elsewhere has grabbed the pointer, and so
    /// takes a click at this point.
    pub fn popup_takes(&self, pid: u32, at: Point) -> Result<bool> {
        let open = self.popups(pid)?;
        let beside = !open.is_empty() && !open.iter().any(|popup| popup.contains(at));
        Ok(beside && self.probe(Grabbable::Pointer)?.grabbed()?)
    }
}

pub(super) fn popups_among(facts: &[Facts], pid: u32) -> Vec<Popup> {
    facts
        .iter()
        .filter(|f| pid != 0 && f.toplevel.pid == pid && is_popup(f))
        .map(|f| Popup {
            id: f.toplevel.id,
            kind: f.toplevel.kind,
            extents: f.toplevel.extents,
        })
        .collect()
}

/// Whether a window is an open pop-up: a visible override-redirect window of a menu type, of the
/// normal type or of no type.
fn is_popup(facts: &Facts) -> bool {
    let window = &facts.toplevel;
    facts.override_redirect
        && !facts.input_only
        && window.viewable
        && window.extents.w >= SMALLEST
        && window.extents.h >= SMALLEST
        && matches!(
            window.kind,
            Kind::Menu | Kind::Popup | Kind::Normal | Kind::Dialog | Kind::Utility
        )
}
