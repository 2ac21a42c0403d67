//! In LibreOffice every document is a window of one process. So keys of a link go only to the
//! window of its last input, or to a window that this input has opened. They never go to another
//! window of the process that has come to the front meanwhile.

use deskline_core::{Tree, WindowId, escape, is_dialog};

use super::action::Act;
use crate::checkpoint::InputWindow;
use crate::display::Window;
use crate::error::{Error, Result};

impl Act<'_, '_> {
    /// Records the window that is about to get input, if keys may follow in this link. Records no
    /// window on a desktop that does not report its front window.
    pub(crate) fn note_window(&mut self, keys_follow: bool) -> Result<()> {
        if !keys_follow && !self.call.is_chain {
            return Ok(());
        }
        let front = self.desk.front()?;
        self.desk.front_then = front.as_ref().map(|front| front.id);
        let front = front.filter(|front| front.pid == Some(self.pid));
        self.desk.last_input = match front {
            Some(front) => Some(InputWindow {
                pid: self.pid,
                window: front.id,
                dialog: self.tree.is_some_and(|tree| shows_dialog(tree, front.id)),
                beside: self
                    .desk
                    .windows_of(self.pid)?
                    .iter()
                    .map(|w| w.id)
                    .collect(),
            }),
            None => None,
        };
        Ok(())
    }

    /// Fails if keys would go to a window that is not the window of the link's last input, but was
    /// open at that time and belongs to the same process. `now` is the window that would get them.
    /// Two kinds of windows are allowed: a dialog that has come to the front, even if it was open
    /// before, and the only window that is left after the one of the last input has closed. `tree`
    /// is the latest reading.
    pub(crate) fn check_window(&mut self, tree: Option<&Tree>, now: &Window) -> Result<()> {
        let Some(last) = self
            .desk
            .last_input
            .clone()
            .filter(|last| last.pid == self.pid)
        else {
            return Ok(());
        };
        if last.window == now.id || !last.beside.contains(&now.id) {
            return Ok(());
        }
        if tree.is_some_and(|tree| shows_dialog(tree, now.id)) {
            return Ok(());
        }
        let left = self.desk.windows_of(self.pid)?;
        let has_closed = left.iter().all(|w| w.id != last.window);
        if has_closed && (last.dialog || left.len() == 1) {
            return Ok(());
        }
        let title = escape::short(&now.title, 40);
        Err(Error::Elsewhere {
            title: now.title.clone(),
            pid: self.pid,
            why: format!(
                "came to the front, but the last input of this call went to another window of the \
                 app. So no key was sent. Pass window '{title}' in a call of its own if the keys \
                 are for that window"
            ),
            unsent: false,
        })
    }

    /// [`Act::check_window`] for the keys of a call that names no window: they go to the app's
    /// front window.
    pub(crate) fn check_front_window(&mut self) -> Result<()> {
        if self.window.is_some() || self.desk.last_input.is_none() {
            return Ok(());
        }
        let front = self
            .desk
            .front()?
            .filter(|front| front.pid == Some(self.pid));
        let now = match front {
            Some(front) => Some(front),
            None => self.desk.windows_of(self.pid)?.into_iter().next(),
        };
        now.map_or(Ok(()), |now| self.check_window(self.tree, &now))
    }
}

fn shows_dialog(tree: &Tree, window: WindowId) -> bool {
    let its = tree.window(window).map_or(&[][..], |w| &w.elements);
    its.iter().any(|top| {
        let element = tree.elements.get(*top);
        tree.dialog == Some(*top) || element.is_some_and(|e| is_dialog(&e.native_role))
    })
}
