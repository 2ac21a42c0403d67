//! Steps 2 and 8: what the person had, and putting it back.
//!
//! A [`Checkpoint`] is the only way a link reaches the desktop while it acts, and putting back is
//! its `Drop`: success, error, cancellation and panic all pass through it.

use std::ops::{Deref, DerefMut};
use std::time::Instant;

use deskline_core::Point;

use crate::cancel::Cancel;
use crate::desktop::{Desktop, Window, WindowId};
use crate::error::Result;
use crate::guard::{Kept, Task, Watch};

/// How often the person's window is asked to the front: on a busy machine a window manager can take
/// longer than one request waits.
const RESTORES: usize = 3;

/// What the person had in front of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// Their front window.
    pub(crate) front: Option<Window>,
    /// Their pointer.
    pub(crate) pointer: Option<Point>,
}

/// The desktop, with what has to be put back on it.
pub(crate) struct Checkpoint<'a> {
    desktop: &'a mut dyn Desktop,
    saved: Saved,
    /// The windows of the target as they were, to tell its new ones.
    windows: Vec<WindowId>,
    /// The target's process, where it was known beforehand.
    pid: Option<u32>,
    pub(crate) guard: Watch,
    /// Whether the pointer was moved or the front window changed by us.
    pub(crate) disturbed: bool,
    /// Set where nothing must be put back: a handoff.
    keep: bool,
    /// Where a menu of the target is left open, what was saved goes here and waits.
    held: &'a mut Option<Saved>,
}

impl<'a> Checkpoint<'a> {
    /// Notes what the person has; what an earlier link still holds counts as theirs.
    pub(crate) fn save(
        desktop: &'a mut dyn Desktop,
        pid: Option<u32>,
        held: &'a mut Option<Saved>,
    ) -> Result<Self> {
        let disturbed = held.is_some();
        let saved = match held.take() {
            Some(saved) => saved,
            None => Saved {
                front: desktop.front()?,
                pointer: Some(desktop.pointer()?),
            },
        };
        let windows = match pid {
            Some(pid) => desktop.windows(pid)?.iter().map(|w| w.id).collect(),
            None => Vec::new(),
        };
        Ok(Self {
            desktop,
            saved,
            windows,
            pid,
            guard: Watch::default(),
            disturbed,
            keep: false,
            held,
        })
    }

    /// The front window as it was.
    pub(crate) fn front_before(&self) -> Option<&Window> {
        self.saved.front.as_ref()
    }

    /// Leaves everything as it is: another process took over.
    pub(crate) fn hand_off(&mut self) {
        self.keep = true;
    }

    /// Leaves everything as it is until a later link: a menu is open that would close.
    pub(crate) fn hold(&mut self) {
        *self.held = Some(std::mem::take(&mut self.saved));
        self.keep = true;
    }

    /// Keeps the person's input out until [`Checkpoint::let_in`]. Where the platform cannot, that
    /// is noted and the link goes on.
    pub(crate) fn keep_out(&mut self, task: &Task, cancel: &Cancel) -> Result<()> {
        if self.guard.holds() {
            return Ok(());
        }
        let start = Instant::now();
        match self.desktop.keep_out(task, cancel)? {
            Kept::Out => self.guard.taken(start),
            Kept::Unable(why) => self.guard.unable = Some(why),
        }
        Ok(())
    }

    /// Lets the person's input in again.
    pub(crate) fn let_in(&mut self) {
        if self.guard.holds() {
            self.desktop.let_in();
            self.guard.opened();
        }
    }

    /// Puts back what changed. What cannot be put back (a window that is gone) stays as it is.
    fn restore(&mut self) {
        if self.keep || !self.disturbed {
            return;
        }
        if let Some(pointer) = self.saved.pointer
            && self.desktop.pointer().is_ok_and(|now| now != pointer)
            && let Err(e) = self.desktop.move_pointer(pointer)
        {
            tracing::warn!("the pointer was not put back: {e}");
        }
        let Some(front) = self.saved.front.take() else {
            return;
        };
        let now = self.desktop.front().ok().flatten();
        let same_app = |now: &Window| {
            // The app was in front before and has opened a window of its own over the other.
            now.pid == front.pid && !self.windows.contains(&now.id) && !self.windows.is_empty()
        };
        if now
            .as_ref()
            .is_some_and(|now| now.id == front.id || same_app(now))
        {
            return;
        }
        // Neither theirs from before nor the target's: they have switched, or something that
        // wants them has come up.
        let elsewhere = |now: &Window| self.pid.is_some_and(|pid| now.pid != pid);
        if now.as_ref().is_some_and(elsewhere) {
            return;
        }
        // The person's window must come back even where the link itself was cancelled, and where
        // the window manager is slow.
        for _ in 0..RESTORES {
            match self.desktop.activate(front.id, &Cancel::new()) {
                Ok(()) => return,
                Err(e) => tracing::warn!("the front window was not put back: {e}"),
            }
        }
    }
}

impl Drop for Checkpoint<'_> {
    fn drop(&mut self) {
        self.desktop.release_all();
        self.let_in();
        self.desktop.stop_listening();
        self.restore();
    }
}

impl<'a> Deref for Checkpoint<'a> {
    type Target = dyn Desktop + 'a;

    fn deref(&self) -> &Self::Target {
        self.desktop
    }
}

impl DerefMut for Checkpoint<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.desktop
    }
}
