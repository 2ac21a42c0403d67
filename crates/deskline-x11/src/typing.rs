//! The keyboard during an action: its map, the symbols that are bound to spare key codes because
//! the layout lacks them, and waiting until the app has read the typed keys.
//!
//! Clients read the keyboard map when they process MappingNotify, which may be after the key was
//! pressed. So a code is rebound only after the app has read the keys typed with it.

use std::time::Duration;

use deskline_contract::Result;
use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::{Cancel, InputError, Progress, Stroke};
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{Keycode, Keysym, ModMask};

use super::acting::Keys;
use super::keymap::Keyboard;
use super::{Answer as _, During as _};
use super::{X11, sync};

const WHAT: &str = "typing";

impl X11 {
    /// Reads the keyboard for this action. `num_lock` is the state of Num Lock to type with; `None`
    /// keeps the person's.
    pub(super) fn read_keys(&mut self, num_lock: Option<bool>) -> Result<&mut Keys> {
        self.hear()?;
        self.heard.keymap = None;
        let keyboard = Keyboard::read(&self.connection, self.keyboard)?;
        let num_lock = match num_lock {
            Some(true) => keyboard.num_lock,
            Some(false) => 0,
            None => self.acting.was.map_or(0, |was| was.locked) & keyboard.num_lock,
        };
        // Caps Lock is not among the locks of the map, so that its effect is not undone with Shift.
        let keymap = keyboard.keymap(keyboard.group, num_lock);
        let spare = keymap.spare.iter().map(|code| (*code, 0)).collect();
        Ok(self.acting.keys.insert(Keys {
            keyboard,
            keymap,
            num_lock,
            spare,
            claimed: false,
            group_locked: false,
        }))
    }

    pub(super) fn keys(&mut self) -> Result<&mut Keys> {
        if self.acting.keys.is_none() {
            self.read_keys(None)?;
        }
        let keys = self.acting.keys.as_mut();
        keys.ok_or_else(|| deskline_contract::Error::system(WHAT)("the keyboard was not read"))
    }

    /// Binds these symbols to spare codes, as far as there are enough.
    pub(super) fn bind(&mut self, symbols: &[Keysym], cancel: &Cancel) -> Result<()> {
        let keys = self.keys()?;
        // Move codes that are needed again to the end: codes are reused from the front.
        keys.spare.sort_by_key(|(_, bound)| symbols.contains(bound));
        let new = symbols.iter().copied();
        let missing: Vec<_> = new.filter(|s| keys.bound(*s).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let claimed = std::mem::replace(&mut keys.claimed, true);
        let codes: Vec<_> = keys.spare.iter().map(|(code, _)| *code).collect();
        if !self.await_typed(sync::PATIENCE, cancel)? {
            let progress = Progress::PartlySent;
            return Err(InputError::NotReading { progress }.into());
        }
        if !claimed {
            self.claim_keycodes(&codes)?;
        }
        for (slot, symbol) in missing.into_iter().enumerate() {
            let Some((code, bound)) = self.keys()?.spare.get_mut(slot) else {
                break;
            };
            *bound = symbol;
            let code = *code;
            self.bind_keycode(code, symbol)?;
        }
        self.round_trip()
    }

    /// Waits until the server has processed all strokes, and adapts to a layout that was switched
    /// meanwhile.
    pub(super) fn keep_up(&mut self) -> Result<()> {
        let core = xkb::ID::USE_CORE_KBD.into();
        let state = self.connection.xkb_get_state(core).answer(WHAT)?;
        self.hear()?;
        let remapped = self.heard.keymap.take();
        let Some(keys) = &mut self.acting.keys else {
            return Ok(());
        };
        let ours = |code| keys.spare.iter().any(|(spare, _)| *spare == code);
        let foreign = remapped.is_some_and(|(first, count)| count != 1 || !ours(first));
        if !foreign && u8::from(state.group) == keys.keyboard.group {
            return Ok(());
        }
        let keyboard = Keyboard::read(&self.connection, self.keyboard)?;
        keys.keymap = keyboard.keymap(keyboard.group, keys.num_lock);
        keys.keyboard.group = keyboard.group;
        Ok(())
    }

    /// Waits until the app has read the typed keys. `false` if it has not after `limit`.
    pub(super) fn await_typed(&mut self, limit: Duration, cancel: &Cancel) -> Result<bool> {
        if std::mem::take(&mut self.acting.unread) == 0 {
            return Ok(true);
        }
        let focus = self.focus()?;
        self.has_read(focus, limit, cancel)
    }

    /// Locks another group that has this character, and returns its key: for shortcuts.
    pub(super) fn other_group(&mut self, char: char) -> Result<Option<Stroke<Keycode>>> {
        let keys = self.keys()?;
        let current = keys.keyboard.group;
        for group in (0..keys.keyboard.groups()).filter(|g| *g != current) {
            let keymap = keys.keyboard.keymap(group, keys.num_lock);
            if keymap.char(char).is_some() {
                keys.keymap = keymap;
                keys.group_locked = true;
                let stroke = keys.on_layout(char);
                self.lock_group(group)?;
                return Ok(stroke);
            }
        }
        Ok(None)
    }

    pub(super) fn lock_group(&self, group: u8) -> Result<()> {
        let none = ModMask::from(0u16);
        let core = xkb::ID::USE_CORE_KBD.into();
        let group = xkb::Group::from(group);
        self.connection
            .xkb_latch_lock_state(core, none, none, true, group, none, false, 0)
            .sent(WHAT)
    }
}

/// The state of Num Lock for a press on the keypad, where digits and arrows share keys; `None` for
/// other keys.
pub(super) fn wants_num_lock(press: KeyPress) -> Option<bool> {
    let keypad = press.modifiers.contains(Modifiers::NUMERIC_PAD);
    keypad.then_some(matches!(press.key, Key::Char(_)))
}
