//! The keyboard during an action: its map, the symbols that are bound to spare key codes because
//! the layout lacks them, and waiting until the app has read the typed keys.
//!
//! A client reads the keyboard map when it processes MappingNotify, which may be after the key was
//! pressed. So a code is rebound only after the app has read the keys typed with it.

use std::time::Duration;

use deskline_contract::Result;
use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::{Cancel, InputError, Progress, Stroke};
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Keycode, Keysym, ModMask, PropMode};
use x11rb::wrapper::ConnectionExt as _;
use xkeysym::key;

use super::acting::Keys;
use super::keymap::Keyboard;
use super::{Answer as _, During as _, X11, sync};

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
        // Caps Lock is left out of the map's locks. Otherwise Shift would undo its effect.
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

    /// Binds these symbols to spare codes, as far as there are enough codes.
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

    /// For shortcuts: locks another group that has this character, and returns the character's key.
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

// The keys of modifiers.

/// `XF86Fn`, from the vendor keysyms in `XF86keysym.h`.
const XF86_FN: Keysym = 0x1008_11d0;

/// The key codes that hold these modifiers.
pub(super) fn holding(on: &Keys, modifiers: Modifiers) -> Result<Vec<Keycode>> {
    let mut codes = vec![];
    for (_, symbols, name) in modifiers.keys() {
        let stroke = symbols.iter().find_map(|symbol| on.symbol(*symbol));
        codes.push(stroke.ok_or(InputError::NoModifier(name))?.key);
    }
    // Most keyboards have neither `Fn` nor `Help`.
    for (modifier, symbol) in [(Modifiers::FUNCTION, XF86_FN), (Modifiers::HELP, key::Help)] {
        let stroke = modifiers.contains(modifier).then(|| on.symbol(symbol));
        codes.extend(stroke.flatten().map(|stroke| stroke.key));
    }
    Ok(codes)
}

// Key codes that are bound to symbols temporarily.
//
// A binding outlives its client. So a property of the root window lists the codes and a window of
// the client. If that window has gone, the next client that types frees the codes.

const BINDING: &str = "binding a key code";

impl X11 {
    /// Binds a key code to this symbol, with and without Shift; 0 frees it.
    pub(super) fn bind_keycode(&self, code: Keycode, symbol: Keysym) -> Result<()> {
        self.connection
            .change_keyboard_mapping(1, code, 2, &[symbol, symbol])
            .sent(BINDING)
    }

    /// Records that this client has bound these codes, and that it may hold keys or buttons down
    /// across requests.
    pub(super) fn claim_keycodes(&self, codes: &[Keycode]) -> Result<()> {
        let mut note = vec![self.own];
        note.extend(codes.iter().map(|code| u32::from(*code)));
        let property = self.atoms._DESKLINE_BOUND_KEYCODES;
        let (mode, kind) = (PropMode::REPLACE, AtomEnum::CARDINAL);
        self.connection
            .change_property32(mode, self.root, property, kind, &note)
            .sent(BINDING)
    }

    pub(super) fn give_keycodes_back(&self) -> Result<()> {
        self.connection
            .delete_property(self.root, self.atoms._DESKLINE_BOUND_KEYCODES)
            .sent(BINDING)
    }

    /// Frees the codes that an ended client has left bound, and releases the keys that it has left
    /// pressed. `false` if another client still claims key codes.
    pub(super) fn reclaim_keycodes(&self) -> Result<bool> {
        let property = self.atoms._DESKLINE_BOUND_KEYCODES;
        let note = self.numbers(self.root, property, AtomEnum::CARDINAL)?;
        let [owner, codes @ ..] = note.as_slice() else {
            return Ok(true);
        };
        // The server reuses ids, so our own id in the property may have been an earlier client's.
        let attributes = self.connection.get_window_attributes(*owner);
        if attributes.answer_if_present(BINDING)?.is_some() && *owner != self.own {
            return Ok(false);
        }
        crate::guard::held_keys::release_synthetic(&self.connection)?;
        for code in codes
            .iter()
            .filter_map(|code| Keycode::try_from(*code).ok())
        {
            self.bind_keycode(code, 0)?;
        }
        self.give_keycodes_back()?;
        self.round_trip()?;
        Ok(true)
    }
}
