//! Brings a window to the front: by Deskline's extension of the shell, where it is switched on;
//! else as a person would, by GNOME's own keys, Alt+Esc, which go through the windows of the
//! workspace. No program may do so by other means, unless the app takes part.

use std::time::{Duration, Instant};

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::Port as _;
use deskline_link::{Cancel, DisplayError, Result, WindowId};

use super::extension::candidates;
use super::plain::Plain;
use crate::compositor::gone;
use crate::described::{self, AppToplevel, Toplevels};
use crate::keymap;

/// How long a window may take to report that it is in front: 100 ms on an idle machine, over a
/// second on a busy one.
const RAISES: Duration = Duration::from_secs(2);

/// After how long of that to look for an open menu.
const SOON: Duration = Duration::from_millis(300);

/// How long the switcher may take to come up: 20 ms on an idle machine.
const SWITCHER: Duration = Duration::from_millis(300);

/// The pause between the moment the switcher comes up and the next stroke. Without one that stroke
/// was lost in most tries; with 10 ms in none, on an idle machine. It doubles, up to the longest,
/// when strokes that were counted from windows seen before lead elsewhere.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(160);

/// How often to look.
const LOOK: Duration = Duration::from_millis(10);

/// How deep an open menu may go.
const SUBMENUS: usize = 5;

const ESC: KeyPress = KeyPress {
    key: Key::Escape,
    modifiers: Modifiers::empty(),
};

/// How many tries may change nothing.
const MISSES: usize = 2;

/// The maximum number of tries.
const MOST: usize = 12;

impl<T: Toplevels> Plain<T> {
    /// Brings a window to the front and waits until it reports that.
    pub(super) fn bring_to_front(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        if self.extension.is_on() && self.raise_by_extension(window, cancel)? {
            return Ok(());
        }
        let mut pause = PAUSE;
        let mut misses = 0;
        for _ in 0..MOST {
            let before = self.look_for(window)?;
            if before == Some(window) {
                return Ok(());
            }
            let (strokes, known) = self.recency.strokes(window);
            self.cycle(strokes, pause)?;
            let mut front = self.switched(before, SOON, cancel)?;
            if front.is_none() || front == before {
                // An open menu keeps these keys from the shell until it is closed.
                self.close_menu()?;
                front = self.switched(before, RAISES, cancel)?;
            }
            tracing::debug!("{strokes} strokes of Alt+Esc led from {before:?} to {front:?}");
            if front == Some(window) {
                return Ok(());
            }
            if known {
                pause = LONGEST_PAUSE.min(pause * 2);
            }
            // A busy shell may miss the keys of a switch that comes right after another.
            misses += usize::from(front.is_none() || front == before);
            if misses > MISSES {
                break;
            }
        }
        Err(DisplayError::NotSwitched.into())
    }

    /// Asks the extension. `false` where there is none, or it did not bring the window to the
    /// front.
    fn raise_by_extension(&mut self, window: WindowId, cancel: &Cancel) -> Result<bool> {
        let start = Instant::now();
        let all = self.toplevels()?;
        let Some(wanted) = all.iter().find(|t| t.id == window) else {
            return Err(gone());
        };
        let ids: Vec<u64> = match &self.extension.toplevels() {
            Ok(windows) => candidates(wanted, windows).iter().map(|w| w.id).collect(),
            Err(_) => return Ok(false),
        };
        // Of windows that look the same, the app reports which is in front.
        for id in ids {
            let before = self.seen_front()?;
            if before == Some(window) {
                break;
            }
            // An open menu keeps the keyboard.
            if before.is_none() {
                self.close_menu()?;
            }
            if !self.extension.activate(id).unwrap_or(false) {
                continue;
            }
            if self.switched(before, RAISES, cancel)? == Some(window) {
                break;
            }
        }
        let done = self.seen_front()? == Some(window);
        tracing::debug!(
            "the extension raised {window:?}: {done}, {:?}",
            start.elapsed()
        );
        Ok(done)
    }

    /// Waits at most so long until another window is in front than before. Returns which is.
    fn switched(
        &mut self,
        before: Option<WindowId>,
        longest: Duration,
        cancel: &Cancel,
    ) -> Result<Option<WindowId>> {
        let start = Instant::now();
        let mut front = before;
        while (front.is_none() || front == before) && start.elapsed() < longest {
            cancel.wait(LOOK)?;
            front = self.seen_front()?;
        }
        Ok(front)
    }

    /// The window in front, which is noted.
    fn seen_front(&mut self) -> Result<Option<WindowId>> {
        let all = self.toplevels()?;
        Ok(self.note_front(&all))
    }

    /// The same while a window is to be raised: an error if that is gone.
    fn look_for(&mut self, window: WindowId) -> Result<Option<WindowId>> {
        let all = self.toplevels()?;
        if !all.iter().any(|t| t.id == window) {
            return Err(gone());
        }
        Ok(self.note_front(&all))
    }

    fn note_front(&mut self, all: &[AppToplevel]) -> Option<WindowId> {
        let front = described::front(all).map(|front| front.id)?;
        let ids: Vec<WindowId> = all.iter().map(|t| t.id).collect();
        self.recency.saw(front, &ids);
        Some(front)
    }

    /// Closes an open menu, with its submenus: it keeps the shell's keys from the shell, as it
    /// would go anyway where another window comes to the front.
    fn close_menu(&mut self) -> Result<()> {
        for _ in 0..SUBMENUS {
            let all = self.toplevels()?;
            let pid = match described::front(&all) {
                Some(front) => Some(front.pid),
                None if all.iter().any(|t| t.active) => None,
                None => {
                    let ids: Vec<WindowId> = all.iter().map(|t| t.id).collect();
                    let last = self.recency.latest(&ids);
                    all.iter().find(|t| Some(t.id) == last).map(|t| t.pid)
                }
            };
            let Some(pid) = pid else { return Ok(()) };
            if !self.find_menu(pid)? {
                return Ok(());
            }
            self.sessions.get()?.port((0.0, 0.0)).tap(ESC)?;
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Presses Esc so many times while Alt is held, with a pause before the second.
    fn cycle(&mut self, strokes: usize, pause: Duration) -> Result<()> {
        let hold = |it: &mut Self, down| {
            let alt = keymap::ALT.0;
            let mut port = it.sessions.get()?.port((0.0, 0.0));
            port.key(&alt, down)?;
            port.sync()
        };
        let strike = |it: &mut Self, strokes| -> Result<()> {
            let mut port = it.sessions.get()?.port((0.0, 0.0));
            (0..strokes).try_for_each(|_| port.tap(ESC))
        };
        hold(self, true)?;
        let mut struck = strike(self, 1);
        if struck.is_ok() && strokes > 1 {
            struck = self.await_switcher().and_then(|()| {
                std::thread::sleep(pause);
                strike(self, strokes - 1)
            });
        }
        struck.and(hold(self, false))
    }

    /// Waits until the shell's switcher has the keyboard (bounded): it takes no second stroke
    /// before.
    fn await_switcher(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < SWITCHER {
            if self.toplevels()?.iter().any(|t| t.shell && t.active) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}
