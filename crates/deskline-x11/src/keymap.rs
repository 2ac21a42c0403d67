//! The keyboard map: the key and the modifiers for each symbol in the current group.
//!
//! It is read through XKB, because the core map does not tell which modifiers a level needs: Shift,
//! the third-level key, or Shift because Num Lock is on (The X Keyboard Extension: Protocol, §6.3
//! and §7).

use std::collections::HashMap;

use deskline_contract::Result;
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, DeviceType};
use x11rb::protocol::xkb::{
    self, ConnectionExt as _, GetMapReply, GetMapRequest, KeySymMap, KeyType, MapPart,
};
use x11rb::protocol::xproto::{Keycode, Keysym};
use xkeysym::{Keysym as Named, key};

use super::During as _;
use super::connection::Connection;

/// The real modifier of Caps Lock, as a bit of a state.
pub(super) const LOCK: u8 = 1 << 1;

const WHAT: &str = "reading the keyboard map";

/// A key, and the real modifiers that must be pressed for it to give the symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stroke {
    pub(super) code: Keycode,
    pub(super) modifiers: u8,
}

/// The map of one group, for a given set of locked modifiers.
#[derive(Debug, Default)]
pub(super) struct Keymap {
    symbols: HashMap<Keysym, Stroke>,
    chars: HashMap<char, Stroke>,
    /// For each real modifier that chooses levels, a key that sets it.
    choosers: [Option<Keycode>; 8],
    /// Key codes without symbols and modifiers.
    pub(super) spare: Vec<Keycode>,
}

pub(super) struct Keyboard {
    map: GetMapReply,
    pub(super) group: u8,
    /// The locked group, which held and latched keys do not change.
    pub(super) locked_group: u8,
    /// The real modifiers that are locked.
    pub(super) locked: u8,
    /// The modifier of Num Lock.
    pub(super) num_lock: u8,
}

/// The XKB device of synthetic keys. Keyboards may have different maps, and a key is looked up in
/// the map of the device that has sent it.
pub(super) fn xtest_keyboard(connection: &Connection) -> Result<xkb::DeviceSpec> {
    // A client gets the first version that it asks for. So this asks for the one that
    // `guard::devices` needs.
    let version = connection.xinput_xi_query_version(2, 2).during(WHAT)?;
    let devices = connection
        .xinput_xi_query_device(Device::ALL)
        .during(WHAT)?;
    version.reply().during(WHAT)?;
    let found = devices
        .reply()
        .during(WHAT)?
        .infos
        .into_iter()
        .find(|d| d.type_ == DeviceType::SLAVE_KEYBOARD && d.name.ends_with(b"XTEST keyboard"));
    Ok(found.map_or(xkb::ID::USE_CORE_KBD.into(), |device| device.deviceid))
}

impl Keyboard {
    /// Reads map and state in one round trip.
    pub(super) fn read(connection: &Connection, device: xkb::DeviceSpec) -> Result<Self> {
        let request = GetMapRequest {
            device_spec: device,
            full: MapPart::KEY_TYPES | MapPart::KEY_SYMS | MapPart::MODIFIER_MAP,
            ..GetMapRequest::default()
        };
        let map = connection
            .send_trait_request_with_reply(request)
            .during(WHAT)?;
        let state = connection
            .xkb_get_state(xkb::ID::USE_CORE_KBD.into())
            .during(WHAT)?;
        let map = map.reply().during(WHAT)?;
        let state = state.reply().during(WHAT)?;
        let mut keyboard = Self {
            group: state.group.into(),
            locked_group: state.locked_group.into(),
            locked: u16::from(state.locked_mods) as u8,
            num_lock: 0,
            map,
        };
        keyboard.num_lock = keyboard.modifiers_of(key::Num_Lock);
        Ok(keyboard)
    }

    /// The map of `group` while the modifiers `locked` are locked.
    pub(super) fn keymap(&self, group: u8, locked: u8) -> Keymap {
        let mut keymap = Keymap::default();
        for (code, symbols) in self.keys() {
            if symbols.syms.iter().all(|symbol| *symbol == 0) && self.modifiers(code) == 0 {
                keymap.spare.push(code);
            }
            let Some(first) = Self::symbol(symbols, group, 0) else {
                continue;
            };
            let chooses = matches!(
                first,
                key::Shift_L | key::Shift_R | key::ISO_Level3_Shift | key::ISO_Level5_Shift
            );
            for (bit, chooser) in keymap.choosers.iter_mut().enumerate() {
                if chooses && self.modifiers(code) == 1 << bit {
                    chooser.get_or_insert(code);
                }
            }
        }
        let choosable = (0u8..8)
            .filter(|bit| keymap.choosers[usize::from(*bit)].is_some())
            .fold(0, |mask, bit| mask | 1 << bit);
        for (code, symbols) in self.keys() {
            let Some(kind) = self.kind(symbols, group) else {
                continue;
            };
            for level in 0..kind.num_levels {
                let Some(symbol) = Self::symbol(symbols, group, level) else {
                    continue;
                };
                let Some(modifiers) = needed(kind, level, locked, choosable) else {
                    continue;
                };
                keymap.add(symbol, Stroke { code, modifiers });
            }
        }
        keymap
    }

    /// The largest number of groups that a key has.
    pub(super) fn groups(&self) -> u8 {
        let groups = self.keys().map(|(_, symbols)| symbols.group_info & 0xf);
        groups.max().unwrap_or(1).clamp(1, 4)
    }

    fn keys(&self) -> impl Iterator<Item = (Keycode, &KeySymMap)> {
        let first = self.map.first_key_sym;
        let symbols = self.map.map.syms_rtrn.iter().flatten();
        symbols
            .enumerate()
            .filter_map(move |(i, s)| Some((first.checked_add(u8::try_from(i).ok()?)?, s)))
    }

    /// The symbol that a key gives in the current group, while these real modifiers are held.
    pub(super) fn pressed(&self, code: Keycode, held: u8) -> Option<Keysym> {
        let (_, symbols) = self.keys().find(|(other, _)| *other == code)?;
        let level = level(self.kind(symbols, self.group)?, held);
        Self::symbol(symbols, self.group, level)
    }

    /// The real modifiers that a key sets.
    pub(super) fn modifiers(&self, code: Keycode) -> u8 {
        let maps = self.map.map.modmap_rtrn.iter().flatten();
        maps.filter(|map| map.keycode == code)
            .fold(0, |mask, map| mask | u16::from(map.mods) as u8)
    }

    fn modifiers_of(&self, symbol: Keysym) -> u8 {
        self.keys()
            .filter(|(_, symbols)| symbols.syms.first() == Some(&symbol))
            .fold(0, |mask, (code, _)| mask | self.modifiers(code))
    }

    fn symbol(symbols: &KeySymMap, group: u8, level: u8) -> Option<Keysym> {
        let group = effective_group(symbols, group)?;
        let at = usize::from(group) * usize::from(symbols.width) + usize::from(level);
        let symbol = symbols.syms.get(at).copied();
        symbol.filter(|symbol| *symbol != 0 && level < symbols.width)
    }

    fn kind(&self, symbols: &KeySymMap, group: u8) -> Option<&KeyType> {
        let group = effective_group(symbols, group)?;
        let index = symbols.kt_index.get(usize::from(group))?;
        self.map.map.types_rtrn.as_ref()?.get(usize::from(*index))
    }
}

impl Keymap {
    fn add(&mut self, symbol: Keysym, stroke: Stroke) {
        let simpler = |old: &Stroke| stroke.modifiers.count_ones() < old.modifiers.count_ones();
        let char = Named::new(symbol).key_char();
        // Keys of the keypad give characters too, but an app may take them for arrows.
        if let Some(char) = char.filter(|c| !c.is_control() && !(0xff00..=0xffff).contains(&symbol))
            && self.chars.get(&char).is_none_or(simpler)
        {
            self.chars.insert(char, stroke);
        }
        if self.symbols.get(&symbol).is_none_or(simpler) {
            self.symbols.insert(symbol, stroke);
        }
    }

    pub(super) fn symbol(&self, symbol: Keysym) -> Option<Stroke> {
        self.symbols.get(&symbol).copied()
    }

    pub(super) fn char(&self, char: char) -> Option<Stroke> {
        self.chars.get(&char).copied()
    }

    /// The keys to hold for these real modifiers.
    pub(super) fn choosers(&self, modifiers: u8) -> impl Iterator<Item = Keycode> {
        let bits = self.choosers.iter().enumerate();
        bits.filter(move |(bit, _)| modifiers >> bit & 1 == 1)
            .filter_map(|(_, code)| *code)
    }
}

/// The group that a key uses: `group`, or its substitute if the key has no such group (XKB protocol
/// §5).
fn effective_group(symbols: &KeySymMap, group: u8) -> Option<u8> {
    let groups = symbols.group_info & 0xf;
    if groups == 0 {
        return None;
    }
    if group < groups {
        return Some(group);
    }
    Some(match symbols.group_info & 0xc0 {
        0x40 => groups - 1,
        0x80 => Some(symbols.group_info >> 4 & 3)
            .filter(|redirect| *redirect < groups)
            .unwrap_or(0),
        _ => group % groups,
    })
}

/// The fewest modifiers with which a key of this type gives this level; `None` if no combination of
/// `choosable` ones does.
fn needed(kind: &KeyType, level: u8, locked: u8, choosable: u8) -> Option<u8> {
    (0..=choosable)
        .filter(|press| press & !choosable == 0 && self::level(kind, locked | press) == level)
        .min_by_key(|press| press.count_ones())
}

/// The level that a key of this type has under these modifiers. A combination without an entry,
/// such as Shift under Caps Lock, gives the first level.
fn level(kind: &KeyType, state: u8) -> u8 {
    let bits = |mods| u16::from(mods) as u8;
    let mask = bits(kind.mods_mask);
    let mut entries = kind.map.iter().filter(|entry| entry.active);
    let entry = entries.find(|entry| bits(entry.mods_mask) == state & mask);
    entry.map_or(0, |entry| entry.level)
}
