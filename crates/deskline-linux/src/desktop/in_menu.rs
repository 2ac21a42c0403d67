//! Clicks in open menus: the waits and the checks before one.

use std::time::Duration;

use deskline_contract::{AppWindows as _, Cancel, Result, Scope, TargetError, wait};
use deskline_core::{Element, ElementId, Point, Rect, States, Tree};

use deskline_wayland::Popups;

use super::LinuxDesktop;
use crate::menus::context::{self, Item, Source};
use crate::menus::{self, Heed};

/// How long a GTK 3 menu takes to notice the pointer, and how long the app may take to report the
/// item under it.
const HOVERS: Duration = Duration::from_millis(40);
const REPORTS: Duration = Duration::from_millis(800);

/// The menu item that the app reports under the pointer.
enum Selects {
    It,
    Disabled,
    Another,
}

impl LinuxDesktop {
    /// Corrects the places of a GTK 3 app's menu items. Returns those of context menus.
    pub(super) fn place_menus(
        &mut self,
        pid: u32,
        tree: &mut Tree,
        popups: &[Rect],
    ) -> Result<Vec<Item>> {
        menus::place_in_bars(tree);
        let wayland = self.display.wayland();
        let source = match wayland.map_or(Ok(Popups::Placed), |it| it.popups(pid))? {
            Popups::Placed => Source::Popups(popups),
            Popups::Within(screen) => {
                let clicked = self.menus.context_click(pid);
                clicked.map_or(Source::Nothing, |at| Source::Click(at, screen))
            }
        };
        Ok(context::place(tree, source))
    }

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

    /// Fails if the click may reach another item of a context menu than the tree shows there. If
    /// the compositor does not report the menu's place, the app reports the item under the pointer.
    pub(super) fn check_menu(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        let Some(pid) = self.aimed_at else {
            return Ok(());
        };
        let selects = match self.menus.before_click(pid, at) {
            Heed::Nothing => return Ok(()),
            Heed::Item(item) => {
                let item = item.clone();
                self.pointer_selects(pid, &item, at, cancel)?
            }
            Heed::UnknownMenu => Selects::Another,
        };
        match selects {
            Selects::It => Ok(()),
            Selects::Disabled => Err(TargetError::MenuItemDisabled(at).into()),
            Selects::Another => Err(TargetError::MenuPlaceUnknown(at).into()),
        }
    }

    /// Moves the pointer there, and returns the item that the app's menu reports under it.
    fn pointer_selects(
        &mut self,
        pid: u32,
        item: &ElementId,
        at: Point,
        cancel: &Cancel,
    ) -> Result<Selects> {
        let selected = wait::until(cancel, REPORTS, Duration::ZERO, || {
            // GTK ignores the pointer when it enters a new menu, and notices a later motion.
            let beside = Point { x: at.x - 1, ..at };
            let screen = self.display.screen()?;
            screen.move_pointer(beside)?;
            screen.move_pointer(at)?;
            // An item selected by a key stays selected until the pointer is on another one.
            cancel.wait(HOVERS)?;
            let windows = self.windows_of(pid)?;
            let tree = self.atspi.read(pid, Scope::Showing, &windows)?;
            let is_it = |e: &&Element| e.id == *item;
            let states = tree.elements.iter().find(is_it).map(|e| e.states);
            let states = states.unwrap_or(States::empty());
            // GTK selects no item that is disabled.
            let disabled = states
                .contains(States::DISABLED)
                .then_some(Selects::Disabled);
            let selected = states.contains(States::SELECTED).then_some(Selects::It);
            Ok(selected.or(disabled))
        })?;
        Ok(selected.unwrap_or(Selects::Another))
    }
}
