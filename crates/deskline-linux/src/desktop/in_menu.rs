//! What a click in an open menu waits for, and what it makes sure of.

use std::time::{Duration, Instant};

use deskline_core::{Element, ElementId, Point, Rect, States, Tree};
use deskline_link::{Cancel, Display as _, Error, Result, Scope};

use super::LinuxDesktop;
use crate::menus::context::{self, Item, Told};
use crate::menus::{self, Heed};

/// How long a GTK 3 menu takes to notice the pointer, and may take until the app says which item it is on.
const HOVERS: Duration = Duration::from_millis(40);
const TELLS: Duration = Duration::from_millis(800);

impl LinuxDesktop {
    /// Puts the items of a GTK 3 app's menus where they are. Returns those of context menus.
    pub(super) fn place_menus(
        &mut self,
        pid: u32,
        tree: &mut Tree,
        popups: &[Rect],
    ) -> Result<Vec<Item>> {
        menus::place_in_bars(tree);
        let told = if self.display.places_popups() {
            Told::Popups(popups)
        } else {
            let screen = self.display.popups_keep_to(pid)?;
            let clicked = self.menus.context_click(pid);
            clicked.map_or(Told::Nothing, |at| Told::Click(at, screen))
        };
        Ok(context::place(tree, told))
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
        cancel.wait(self.menus.ignores(pid))
    }

    /// An error if the click may reach another item of a context menu than the tree says. Where the
    /// compositor does not tell the menu's place, the app tells which item the pointer is on.
    pub(super) fn check_menu(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        let Some(pid) = self.aimed_at else {
            return Ok(());
        };
        match self.menus.before_click(pid, at) {
            Heed::Nothing => return Ok(()),
            Heed::Item(item) => {
                let item = item.clone();
                if self.pointer_selects(pid, &item, at, cancel)? {
                    return Ok(());
                }
            }
            Heed::UnknownMenu => {}
        }
        Err(Error::Input(format!(
            "GTK 3 does not tell where its open menu is, or the item at ({}, {}) is disabled. Nothing was clicked. Use press_ax_and_traverse on the item, or press_key_and_traverse with Up, Down, Return or Escape",
            at.x, at.y
        )))
    }

    /// Puts the pointer there, and tells whether the app's menu takes it to be on this item.
    fn pointer_selects(
        &mut self,
        pid: u32,
        item: &ElementId,
        at: Point,
        cancel: &Cancel,
    ) -> Result<bool> {
        let start = Instant::now();
        loop {
            // GTK ignores that the pointer enters a new menu, and takes note of a later motion.
            let beside = Point { x: at.x - 1, ..at };
            self.display.move_pointer(beside)?;
            self.display.move_pointer(at)?;
            // An item that a key has selected is no longer so then, if the pointer is on another one.
            cancel.wait(HOVERS)?;
            let windows = self.windows_of(pid)?;
            let tree = self.atspi.read(pid, Scope::Showing, &windows)?;
            let on = |e: &Element| e.id == *item && e.states.contains(States::SELECTED);
            let selected = tree.elements.iter().any(on);
            if selected || start.elapsed() > TELLS {
                return Ok(selected);
            }
        }
    }
}
