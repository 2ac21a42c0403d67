//! Menus, pop-ups and drop-downs: override-redirect children of the root, which the window manager
//! does not list.

use deskline_contract::Result;
use deskline_core::{Point, Rect};

use super::X11;
use super::grab_probe::Grabbable;
use super::toplevel::{Kind, Toplevel};

/// Windows smaller than this are ignored: toolkits have windows of a pixel or two for selections
/// and grabs.
const SMALLEST: i32 = 4;

impl X11 {
    /// The bounds of the process's open menus, pop-ups and drop-downs, with their shadows, in root
    /// coordinates.
    pub fn popups(&self, pid: u32) -> Result<Vec<Rect>> {
        let facts = self.facts(&self.children_of_root()?)?;
        Ok(popups_among(&facts, pid).map(|popup| popup.raw).collect())
    }

    /// Whether a menu, pop-up or drop-down of the process is open.
    pub fn popup_open(&self, pid: u32) -> Result<bool> {
        let facts = self.facts(&self.children_of_root()?)?;
        let mut popups = popups_among(&facts, pid).peekable();
        let is_any = popups.peek().is_some();
        if popups.all(|popup| popup.kind == Kind::Menu) {
            // In GTK 4 tooltips claim to be menus, but only menus grab the pointer.
            return Ok(is_any && self.probe(Grabbable::Pointer)?.grabbed()?);
        }
        Ok(true)
    }

    /// Whether an open pop-up of the process takes a click at this point because it has grabbed the
    /// pointer, although the pop-up is not there, or only its shadow.
    pub fn popup_takes(&self, pid: u32, at: Point) -> Result<bool> {
        let facts = self.facts(&self.children_of_root()?)?;
        let mut open = popups_among(&facts, pid).peekable();
        let is_any = open.peek().is_some();
        for popup in open {
            if self.takes_input_over(popup, Rect::at(at.x, at.y, 1, 1))? {
                return Ok(false);
            }
        }
        Ok(is_any && self.probe(Grabbable::Pointer)?.grabbed()?)
    }
}

/// The open pop-ups of the process.
pub(super) fn popups_among(all: &[Toplevel], pid: u32) -> impl Iterator<Item = &Toplevel> {
    let its = move |window: &&Toplevel| pid != 0 && window.pid == pid && is_popup(window);
    all.iter().filter(its)
}

/// Whether a window is an open pop-up: a visible override-redirect window of a menu type, of the
/// normal type or of no type.
fn is_popup(window: &Toplevel) -> bool {
    window.override_redirect
        && !window.input_only
        && window.viewable
        && window.extents.w >= SMALLEST
        && window.extents.h >= SMALLEST
        && matches!(
            window.kind,
            Kind::Menu | Kind::Popup | Kind::Normal | Kind::Dialog | Kind::Utility
        )
}
