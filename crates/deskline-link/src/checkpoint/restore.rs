//! Step 8: restores the person's front window, pointer, workspace and devices.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::{Checkpoint, Deferral, DeferredRestore, Saved};
use crate::display::{Pointer, Window, WindowId};
use deskline_input::Cancel;

/// How many times to request the person's window. On a busy machine a window manager can take
/// longer than one request waits.
const RESTORES: usize = 3;

impl Checkpoint<'_> {
    /// Puts the windows that links have raised back to where they were, and shows the person's
    /// workspace.
    fn restore_places(&mut self) {
        let Some(workspaces) = self.desktop.workspaces() else {
            return;
        };
        let mut away = std::mem::take(&mut self.saved.away);
        away.retain(|window| window.minimised || window.shaded);
        for window in away {
            if let Err(e) = workspaces.put_away(&window) {
                tracing::warn!("a window was not put away again: {e}");
            }
        }
        let Some(workspace) = self.saved.workspace.take() else {
            return;
        };
        if let Err(e) = workspaces.show_workspace(workspace, &Cancel::new()) {
            tracing::warn!("the workspace was not put back: {e}");
        }
    }

    /// Brings the person's window back to the front, unless they have switched meanwhile, another
    /// app has opened a window for them, or the window is gone.
    fn restore_front(&mut self) {
        if self.keep || !self.touched && !self.quiet || self.desktop.is_private() {
            return;
        }
        let now = self.desktop.front().ok().flatten();
        if !self.touched {
            // The app's window goes behind only if the app itself has opened or raised it: Chromium
            // raises its window when one of its dialogs closes. While a menu is open no window goes
            // behind, because the menu would close.
            let unasked = self.person_pressed() == Some(false);
            let by_app =
                |now: &&Window| self.is_targets(now) && (unasked || !self.was_there(now.id));
            let Some(pid) = now.as_ref().filter(by_app).and_then(|now| now.pid) else {
                return;
            };
            if self.desktop.popup_open(pid).unwrap_or(true) {
                return;
            }
        }
        let Some(front) = self.saved.front.take() else {
            if now.as_ref().is_none_or(|now| self.is_targets(now)) {
                self.restore_places();
            }
            return;
        };
        let same_app = |now: &Window| {
            // The target was already in front before the link, and its new window covers the old
            // one.
            let new = !self
                .windows
                .iter()
                .any(|w| w.id == now.id && w.pid == now.pid);
            now.pid == front.pid && now.pid.is_some() && now.pid == self.subject.home() && new
        };
        // A window that a step has requested to raise may still come to the front. Then it is not
        // enough that the person's window is there now: the display waits for the late window, and
        // brings the person's back.
        let stays = |now: &Window| now.id == front.id && !self.may_come_late;
        if now.as_ref().is_some_and(|now| stays(now) || same_app(now)) {
            if now.is_some_and(|now| now.id == front.id) {
                self.restore_places();
            }
            return;
        }
        let elsewhere = |now: &Window| now.id != front.id && self.is_elsewhere(now);
        if now.as_ref().is_some_and(elsewhere) {
            return;
        }
        self.restore_places();
        // Several attempts with a `Cancel` of their own, because the person's window must come back
        // even if the link was cancelled or the window manager is slow.
        for _ in 0..RESTORES {
            let Ok(raising) = self.desktop.raising() else {
                return;
            };
            match raising.activate(front.id, &Cancel::new()) {
                Ok(()) => return,
                Err(e) => tracing::warn!("the front window was not put back: {e}"),
            }
            let now = self.desktop.front().ok().flatten();
            if now.is_some_and(|now| now.id == front.id || self.is_elsewhere(&now)) {
                return;
            }
        }
        if let Some(next) = self.next_after(front.id)
            && let Ok(raising) = self.desktop.raising()
            && let Err(e) = raising.activate(next, &Cancel::new())
        {
            tracing::warn!("the window below yours was not put back: {e}");
        }
    }

    /// Whether the person has switched to this window, or another app has opened it for the person.
    /// That is so for every window that is not the target's. While an app is starting, new windows
    /// count as that app's.
    fn is_elsewhere(&self, now: &Window) -> bool {
        !self.is_targets(now) && (self.subject.home().is_some() || self.was_there(now.id))
    }

    /// The window that the person would have in front if the link had done nothing and their window
    /// had closed.
    fn next_after(&mut self, closed: WindowId) -> Option<WindowId> {
        let windows = self.desktop.every_window().ok()?;
        if windows.iter().any(|w| w.id == closed) {
            return None;
        }
        let there = |id: WindowId| windows.iter().any(|w| w.id == id && w.is_plain());
        // The windows below the person's window follow it in the list.
        let at = self.windows.iter().position(|w| w.id == closed);
        let below = at.map_or(&self.windows[..], |at| &self.windows[at + 1..]);
        let mut may = below.iter().filter(|w| at.is_some() || !self.is_targets(w));
        may.find(|w| there(w.id)).map(|w| w.id)
    }

    /// Moves the pointer back if a link has moved it, and the person has neither moved it since nor
    /// holds a button. After a hover that was not cancelled, the next link that acts does this
    /// instead.
    fn restore_pointer(&mut self) {
        let Some(pointer) = self.saved.pointer.filter(|_| !self.keep) else {
            return;
        };
        if self.hovers_at.is_some() && self.cancel.reason().is_none() {
            *self.deferred = Some(DeferredRestore {
                saved: Saved {
                    front: None,
                    pointer: Some(pointer),
                    left: std::mem::take(&mut self.saved.left),
                    ..Saved::default()
                },
                why: Deferral::Hover,
                front: None,
                desktop: self.desktop.id(),
            });
            return;
        }
        let left = &self.saved.left;
        let stays = |now: Pointer| left.contains(&now.at) && now.at != pointer && !now.pressed;
        if let Ok(screen) = self.desktop.screen()
            && screen.pointer().is_ok_and(|now| now.is_some_and(stays))
            && let Err(e) = screen.move_pointer(pointer)
        {
            tracing::warn!("the pointer was not put back: {e}");
        }
    }

    /// Step 8. If the guard holds on, it is released once the person's window is back.
    pub(crate) fn restore(&mut self) {
        if std::mem::replace(&mut self.restored, true) {
            return;
        }
        let steps: [fn(&mut Self); 11] = [
            |desk| desk.desktop.release_all(),
            Self::restore_clipboard,
            |desk| {
                if desk.guard.holds() {
                    desk.note_drift();
                }
            },
            |desk| {
                if desk.holds_on.is_none() {
                    desk.open_guard();
                }
            },
            |desk| {
                if !desk.listens_on {
                    desk.desktop.rest();
                }
            },
            Self::keep_menu,
            Self::restore_pointer,
            Self::restore_front,
            Self::open_guard,
            Self::unwatch,
            // Called once more, in case the first call has panicked.
            Self::open_guard,
        ];
        let made = steps.map(|step| catch_unwind(AssertUnwindSafe(|| step(self))));
        if let Some(Err(panic)) = made.into_iter().find(Result::is_err)
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}

impl Drop for Checkpoint<'_> {
    fn drop(&mut self) {
        // After an error or a panic the person gets their devices back at once.
        self.holds_on = None;
        self.restore();
    }
}
