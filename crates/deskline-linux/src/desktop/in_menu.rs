//! Clicks in open menus: the waits and the checks before one.

use deskline_contract::{AppWindows as _, Cancel, Result, TargetError};
use deskline_core::Point;

use super::LinuxDesktop;

impl LinuxDesktop {
    /// Waits until the app no longer ignores a click in a menu that has just opened.
    pub(super) fn await_menu(&mut self, cancel: &Cancel) -> Result<()> {
        let Some(pid) = self
            .aimed_at
            .filter(|_| self.session.wayland_display.is_some())
        else {
            return Ok(());
        };
        if self.menus.ignores(pid).is_zero()
            || !self.atspi.ignores_clicks_in_new_menus(pid)
            || !self.popup_open(pid)?
        {
            return Ok(());
        }
        Ok(cancel.wait(self.menus.ignores(pid))?)
    }

    /// Fails if the click may reach another item of a menu than the tree shows there.
    pub(super) fn check_menu(&self, at: Point) -> Result<()> {
        match self.aimed_at {
            Some(pid) if self.menus.is_lost(pid) => Err(TargetError::MenuPlaceUnknown(at).into()),
            _ => Ok(()),
        }
    }
}
