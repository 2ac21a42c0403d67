//! A session of typing: turns off locks, binds symbols that the layout lacks to spare key codes, and
//! restores all of it at the end.
//!
//! Clients read the keyboard map when they process the notice that it changed, which may be after the key
//! was pressed. So a code is rebound only after the app has read what was typed with it.

use std::time::{Duration, Instant};

use deskline_link::{Cancel, Error, Result};
use deskline_unix::family::Family;
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{Keycode, Keysym, ModMask};

use super::During as _;
use super::grab_probe::Grabbable;
use super::injector::{Injector, Pressed};
use super::keymap::{self, Keyboard, Keymap, Stroke};
use super::sticky::ModifierState;
use super::{X11, sync};

/// After a cancel, the app has this long to read the last keys before bindings are removed.
const CANCELLED: Duration = Duration::from_millis(100);

/// How long a binding stays after the app has read its keys: toolkits may read the map again when
/// they dispatch the event.
const LINGER: Duration = Duration::from_millis(5);

/// An app has taken a control character once its main threads have slept for this long. It has then
/// also carried out what it had put off: LibreOffice moves the cell cursor for a Tab when it is idle,
/// after all keys that are there by then. A shorter time may be a wait for the X server.
const IDLE: Duration = Duration::from_millis(5);

/// How long to wait for that. An app that is not idle by then is busy by itself: it plays a video, or
/// Writer checks the spelling.
const NEVER_IDLE: Duration = Duration::from_millis(250);

/// How long to wait for such an app at the next control character.
const RESTLESS: Duration = Duration::from_millis(25);

const WHAT: &str = "typing";

/// The wanted state of the locks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Locks {
    pub(super) caps_lock: bool,
    /// `None`: leave it as it is.
    pub(super) num_lock: Option<bool>,
}

pub(super) struct Typist<'a> {
    injector: Injector<'a>,
    keyboard: Keyboard,
    /// The locks and latches before.
    was: ModifierState,
    pub(super) keymap: Keymap,
    /// The locks while typing.
    locks: u8,
    num_lock: u8,
    /// Spare codes with the symbols that they are bound to, least recently used first.
    spare: Vec<(Keycode, Keysym)>,
    /// Whether keys were sent since the app was last known to have read everything.
    unread: bool,
    /// Whether the spare codes are recorded as ours.
    claimed: bool,
    group_locked: bool,
    app: Taking,
}

/// The app that is typed into, and whether it takes its time.
#[derive(Default)]
struct Taking {
    /// Its processes, once they are needed.
    family: Option<Family>,
    /// Whether it was busy for as long as it was last waited for.
    restless: bool,
}

impl Taking {
    fn await_idle(&mut self, pid: u32, cancel: &Cancel) -> Result<()> {
        let family = self.family.get_or_insert_with(|| Family::new(pid));
        let limit = if self.restless { RESTLESS } else { NEVER_IDLE };
        let until = Instant::now() + limit;
        let mut last = family.asleep();
        self.restless = loop {
            cancel.wait(IDLE)?;
            let now = family.asleep();
            if now.is_some() && now == last {
                break false;
            }
            if Instant::now() >= until {
                break true;
            }
            last = now;
        };
        Ok(())
    }
}

impl<'a> Typist<'a> {
    /// Begins a session, with the locks as wanted.
    pub(super) fn begin(x11: &'a mut X11, wanted: Locks) -> Result<Self> {
        x11.hear()?;
        x11.heard.keymap = None;
        x11.reclaim_keycodes()?;
        // A modifier stays down if this process dies: record that.
        x11.claim_keycodes(&[])?;
        let was = x11.modifier_state()?;
        let keyboard = Keyboard::read(&x11.connection, x11.keyboard)?;
        let num_lock = match wanted.num_lock {
            Some(true) => keyboard.num_lock,
            Some(false) => 0,
            None => was.locked & keyboard.num_lock,
        };
        let locks = num_lock | if wanted.caps_lock { keymap::LOCK } else { 0 };
        // Caps Lock, if it is wanted, is wanted for its effect: do not compensate with Shift.
        let keymap = keyboard.keymap(keyboard.group, num_lock);
        let spare = keymap.spare.iter().map(|code| (*code, 0)).collect();
        let typist = Self {
            injector: Injector::of(x11),
            keyboard,
            was,
            keymap,
            locks,
            num_lock,
            spare,
            unread: false,
            claimed: false,
            group_locked: false,
            app: Taking::default(),
        };
        if (was.locked, was.latched) != (locks, 0) {
            typist.injector.set_modifiers(locks, 0)?;
        }
        Ok(typist)
    }

    /// The key for `symbol` if it is bound to a spare code.
    pub(super) fn bound(&self, symbol: Keysym) -> Option<Stroke> {
        let slot = self.spare.iter().find(|(_, bound)| *bound == symbol);
        slot.map(|(code, _)| Stroke {
            code: *code,
            modifiers: 0,
        })
    }

    pub(super) fn spare_codes(&self) -> usize {
        self.spare.len()
    }

    /// Binds these symbols. There must be no more of them than spare codes.
    pub(super) fn bind(&mut self, symbols: &[Keysym], cancel: &Cancel) -> Result<()> {
        // Move codes that are wanted again to the end: codes are taken from the front.
        self.spare.sort_by_key(|(_, bound)| symbols.contains(bound));
        let missing: Vec<_> = symbols
            .iter()
            .copied()
            .filter(|symbol| self.bound(*symbol).is_none())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        if missing.len() > self.spare.len() {
            return Err(Error::Input(
                "the keyboard layout does not have the key, and no spare key code to bind it to"
                    .into(),
            ));
        }
        self.await_reader(cancel)?;
        if !self.claimed {
            let codes: Vec<_> = self.spare.iter().map(|(code, _)| *code).collect();
            self.injector.claim_keycodes(&codes)?;
            self.claimed = true;
        }
        for (slot, symbol) in missing.into_iter().enumerate() {
            let Some((code, bound)) = self.spare.get_mut(slot) else {
                break;
            };
            *bound = symbol;
            let code = *code;
            self.injector.bind_keycode(code, symbol)?;
        }
        self.injector.round_trip()
    }

    /// Presses and releases a key while `holding` these keys, all in one write.
    pub(super) fn strike(&mut self, stroke: Stroke, holding: &[Keycode]) -> Result<()> {
        let choosers = self.keymap.choosers(stroke.modifiers);
        let mut held: Vec<Keycode> = holding.to_vec();
        held.extend(choosers.filter(|code| !holding.contains(code)));
        for code in &held {
            self.injector.press(Pressed::Key(*code))?;
        }
        self.injector.tap(Pressed::Key(stroke.code))?;
        for code in held.iter().rev() {
            self.injector.release(Pressed::Key(*code))?;
        }
        self.unread = true;
        Ok(())
    }

    /// Waits until the server has processed all strokes, and adapts to a layout that was switched
    /// meanwhile.
    pub(super) fn keep_up(&mut self) -> Result<()> {
        let core = xkb::ID::USE_CORE_KBD.into();
        let state = self.injector.connection.xkb_get_state(core).during(WHAT)?;
        let state = state.reply().during(WHAT)?;
        self.injector.hear()?;
        let ours = |code| self.spare.iter().any(|(spare, _)| *spare == code);
        let remapped = self.injector.heard.keymap.take();
        let foreign = remapped.is_some_and(|(first, count)| count != 1 || !ours(first));
        if !foreign && u8::from(state.group) == self.keyboard.group {
            return Ok(());
        }
        let device = self.injector.keyboard;
        let keyboard = Keyboard::read(&self.injector.connection, device)?;
        self.keymap = keyboard.keymap(keyboard.group, self.num_lock);
        self.keyboard.group = keyboard.group;
        Ok(())
    }

    /// See [`X11::check_keyboard`].
    pub(super) fn check_keyboard(
        &mut self,
        cancel: &Cancel,
        progress: impl Fn() -> String,
    ) -> Result<()> {
        self.injector.check_keyboard(cancel, progress)
    }

    /// See [`X11::check_grab`], for the keyboard.
    pub(super) fn check_grab(
        &mut self,
        cancel: &Cancel,
        progress: impl Fn() -> String,
    ) -> Result<()> {
        self.injector
            .check_grab(Grabbable::Keyboard, cancel, progress)
    }

    /// Waits until the app has read what was typed.
    pub(super) fn await_reader(&mut self, cancel: &Cancel) -> Result<()> {
        if !std::mem::take(&mut self.unread) {
            return Ok(());
        }
        let focus = self.injector.focus()?;
        self.injector.await_reader(focus, sync::PATIENCE, cancel)
    }

    /// Waits until the app has acted on what was typed, not only read it: what follows a control
    /// character is for what that leads to.
    pub(super) fn await_effect(&mut self, cancel: &Cancel) -> Result<()> {
        self.await_reader(cancel)?;
        let Some(pid) = self.injector.target.pid() else {
            return Ok(());
        };
        self.app.await_idle(pid, cancel)
    }

    /// Locks another group that has this character, so that a shortcut uses its own key.
    pub(super) fn other_group(&mut self, char: char) -> Result<Option<Stroke>> {
        for group in (0..self.keyboard.groups()).filter(|g| *g != self.keyboard.group) {
            let keymap = self.keyboard.keymap(group, self.num_lock);
            if let Some(stroke) = keymap.char(char) {
                self.keymap = keymap;
                self.group_locked = true;
                self.lock_group(group)?;
                return Ok(Some(stroke));
            }
        }
        Ok(None)
    }

    /// Ends the session once the app has read everything. As `Drop`, but reports errors.
    pub(super) fn finish(mut self, cancel: &Cancel) -> Result<()> {
        if self.spare.iter().any(|(_, bound)| *bound != 0) {
            self.await_reader(cancel)?;
            cancel.wait(LINGER)?;
        }
        self.injector.round_trip()
    }

    fn lock_group(&self, group: u8) -> Result<()> {
        let none = ModMask::from(0u16);
        let core = xkb::ID::USE_CORE_KBD.into();
        let group = xkb::Group::from(group);
        self.injector
            .connection
            .xkb_latch_lock_state(core, none, none, true, group, none, false, 0)
            .during(WHAT)?;
        Ok(())
    }

    fn put_back(&mut self) -> Result<()> {
        if self.spare.iter().any(|(_, bound)| *bound != 0) {
            if std::mem::take(&mut self.unread) {
                let focus = self.injector.focus()?;
                let read = self.injector.await_reader(focus, CANCELLED, &Cancel::new());
                if let Err(error) = read {
                    tracing::debug!(%error, "bindings are taken back unread");
                }
            }
            for (code, bound) in &mut self.spare {
                if std::mem::take(bound) != 0 {
                    self.injector.bind_keycode(*code, 0)?;
                }
            }
        }
        self.injector.give_keycodes_back()?;
        if self.group_locked {
            self.lock_group(self.keyboard.locked_group)?;
        }
        let was = self.was;
        if (was.locked, was.latched) != (self.locks, 0) || was.sticky {
            self.injector.put_back_modifiers(was)?;
        }
        // Sync, not flush: the server drops unread requests of a client that has gone.
        self.injector.round_trip()
    }
}

impl Drop for Typist<'_> {
    fn drop(&mut self) {
        self.injector.release_all();
        if let Err(error) = self.put_back() {
            tracing::warn!(%error, "could not put the keyboard back");
        }
    }
}
