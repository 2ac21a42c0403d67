//! Raises a window with GNOME's own keys, Alt+Esc, which cycle through the windows of the
//! workspace. Mutter offers programs no other way to raise a window without its app's help.

use deskline_contract::{AppToplevel, Cancel, DisplayError, Result, WindowId, wait};
use std::time::{Duration, Instant};

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::Port as _;

use super::bus::On;
use super::plain::Plain;
use crate::compositor::gone;
use crate::described::{self, Toplevels};
use crate::keymap;

/// How long a window may take to report that it is in front. It takes 100 ms on an idle machine and
/// over a second on a busy one.
const RAISES: Duration = Duration::from_secs(2);

/// How long to wait until another window is in front. After this time, Deskline closes an open
/// menu, because the menu may keep the keys from the shell.
const SOON: Duration = Duration::from_millis(300);

/// Reports how long ago the shell handled the last key, click or motion, including the person's. An
/// event of the person can be mistaken for ours. The next key is then sent too early.
const IDLE: On<'static> = (
    "org.gnome.Mutter.IdleMonitor",
    "/org/gnome/Mutter/IdleMonitor/Core",
    "org.gnome.Mutter.IdleMonitor",
);

/// The pause before a key, and between two questions whether the key was handled. The answer is
/// rounded down to a millisecond, so the previous key must be older than one millisecond.
const MOMENT: Duration = Duration::from_millis(2);

/// The shell's state.
const SHELL: On<'static> = ("org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell");

/// How many nested menus are closed at most.
pub(super) const SUBMENUS: usize = 5;

pub(super) const ESC: KeyPress = KeyPress::new(Key::Escape, Modifiers::empty());

/// How many tries may have no effect.
const MISSES: usize = 2;

/// The maximum number of tries.
const MOST: usize = 12;

impl<T: Toplevels> Plain<T> {
    /// Raises a window and waits until it reports that it is in front.
    pub(super) fn bring_to_front(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        let mut misses = 0;
        for _ in 0..MOST {
            let before = self.look_for(window)?;
            if before == Some(window) {
                return Ok(());
            }
            if before.is_none() {
                self.spare_dialog(cancel)?;
            }
            let strokes = self.recency.place(window).max(1);
            self.cycle(strokes)?;
            let mut front = self.switched(before, SOON, cancel)?;
            if front.is_none() {
                // While a menu is open, the shell does not get these keys.
                self.close_menu()?;
                front = self.switched(before, RAISES, cancel)?;
            }
            tracing::debug!("{strokes} strokes of Alt+Esc led from {before:?} to {front:?}");
            if front == Some(window) {
                return Ok(());
            }
            // A busy shell may miss the keys of a switch that follows another switch at once.
            misses += usize::from(front.is_none());
            if misses > MISSES {
                break;
            }
        }
        Err(DisplayError::NotSwitched.into())
    }

    /// The shell's stage, if a dialog or a menu of the shell's own has the keyboard, for example to
    /// ask for a password or about a portal's screenshot. `None` if the overview has the keyboard.
    pub(super) fn dialog<'t>(&self, all: &'t [AppToplevel]) -> Option<&'t AppToplevel> {
        let stage = all.iter().find(|t| t.shell && t.active && !t.focused)?;
        let overview = self.sessions.bus.property(SHELL, "OverviewActive");
        let in_overview = overview.is_ok_and(|is| bool::try_from(is).unwrap_or(false));
        (!in_overview).then_some(stage)
    }

    /// Fails if a dialog or a menu of the shell's own stays open: Esc would close it. Waits a
    /// moment first, because the shell's switcher also has the keyboard for a moment.
    fn spare_dialog(&mut self, cancel: &Cancel) -> Result<()> {
        let spared = wait::holds(cancel, SOON, wait::LOOK, || {
            self.toplevels().map(|all| self.dialog(&all).is_none())
        })?;
        let why = "a dialog or a menu of GNOME Shell's own is open, and Alt+Esc would close it: ask \
                   the user to answer it";
        spared
            .then_some(())
            .ok_or_else(|| DisplayError::NotBroughtUp(why).into())
    }

    /// Waits at most `longest` until another window than `before` is in front, and returns that
    /// window. Asks the apps: the new front window reports itself once the shell has closed its
    /// switcher. The shell is not asked, as it is busy drawing the windows in their new order.
    fn switched(
        &mut self,
        before: Option<WindowId>,
        longest: Duration,
        cancel: &Cancel,
    ) -> Result<Option<WindowId>> {
        self.last = None;
        wait::until(cancel, longest, 2 * MOMENT, || {
            let all = self.toplevels.toplevels(false)?;
            let front = self.note_front(&all);
            Ok(front.filter(|front| Some(*front) != before))
        })
    }

    /// Returns and remembers the front window. Fails if `window` is gone.
    fn look_for(&mut self, window: WindowId) -> Result<Option<WindowId>> {
        let all = self.recent()?;
        if !all.iter().any(|t| t.id == window) {
            return Err(gone());
        }
        Ok(self.note_front(&all))
    }

    pub(super) fn note_front(&mut self, all: &[AppToplevel]) -> Option<WindowId> {
        let front = described::front(all).map(|front| front.id)?;
        let ids: Vec<WindowId> = all.iter().map(|t| t.id).collect();
        self.recency.saw(front, &ids);
        Some(front)
    }

    /// Closes an open menu with its submenus: while a menu is open, the shell does not get its own
    /// keys. Raising another window would close the menu anyway.
    fn close_menu(&mut self) -> Result<()> {
        for _ in 0..SUBMENUS {
            let all = self.toplevels()?;
            let pid = match described::front(&all) {
                Some(front) => Some(front.pid),
                None if all.iter().any(|t| t.active) => None,
                None => {
                    let last = all.iter().min_by_key(|t| self.recency.place(t.id));
                    last.map(|t| t.pid)
                }
            };
            let Some(pid) = pid else { return Ok(()) };
            if !self.find_menu(pid)? {
                return Ok(());
            }
            self.sessions.get()?.port((0.0, 0.0)).tap(ESC)?;
            wait::pause(wait::LOOK);
        }
        Ok(())
    }

    /// Presses Esc `strokes` times while Alt is held. At each release of a key the shell checks
    /// whether Alt is still down, and ends its switcher if it is not. If all strokes were sent at
    /// once, those after the second would reach an app or nobody.
    fn cycle(&mut self, strokes: usize) -> Result<()> {
        let alt = keymap::ALT.0;
        let mut port = self.sessions.get()?.port((0.0, 0.0));
        let esc = port.press(ESC, &Cancel::new())?.key;
        let keys = [(alt, true), (esc, true), (esc, false)];
        let struck = (0..strokes).try_for_each(|n| self.strike(&keys[usize::from(n > 0)..]));
        // The caller waits for the effect.
        let session = self.sessions.get();
        struck.and(session.and_then(|session| session.port((0.0, 0.0)).key(&alt, false)))
    }

    /// Presses or releases keys, and waits until the shell has handled them. The shell handles a
    /// stroke's release before it answers `GetIdletime`, and before it draws its switcher.
    fn strike(&mut self, keys: &[(u32, bool)]) -> Result<()> {
        wait::pause(MOMENT);
        let sent = Instant::now();
        let mut port = self.sessions.get()?.port((0.0, 0.0));
        keys.iter()
            .try_for_each(|(key, down)| port.key(key, *down))?;
        port.sync()?;
        // Waits even if the link is cancelled: the switcher stays open until Alt is released.
        let handled = wait::holds(&Cancel::new(), RAISES, MOMENT, || {
            let asked = sent.elapsed();
            let ago: u64 = self.sessions.bus.ask(IDLE, "GetIdletime", &())?;
            Ok(Duration::from_millis(ago) <= asked)
        })?;
        handled
            .then_some(())
            .ok_or_else(|| DisplayError::NotSwitched.into())
    }
}
