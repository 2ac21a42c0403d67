//! Finds the keys for a character in the compositor's keymap.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use deskline_contract::{DisplayError, Error};
use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::InputError;
use kbvm::lookup::LookupTable;
use kbvm::xkb::diagnostic::{Diagnostic, DiagnosticHandler};
use kbvm::xkb::keymap::Action;
use kbvm::xkb::{Context, Keymap};
use kbvm::{GroupIndex, Keycode, Keysym, ModifierMask, syms};

use crate::keymap::{self, code_of};

/// A key to press while others are held. Codes are those of `linux/input-event-codes.h`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) code: u32,
    pub(crate) held: Vec<u32>,
}

/// The person's present layout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    chars: HashMap<char, Stroke>,
    /// The keys of characters that any group of the layout types without modifiers. They are for
    /// shortcuts with Latin letters while the active group has none.
    elsewhere: HashMap<char, u32>,
    /// The strokes for XKB symbols.
    named: HashMap<u32, Stroke>,
}

/// Codes from here on belong to devices other than keyboards, such as remote controls. Not every
/// toolkit types their characters.
const EXTRA: u32 = 128;

/// Ignores the compiler's diagnostics of a keymap.
struct IgnoreDiagnostics;

impl DiagnosticHandler for IgnoreDiagnostics {
    fn filter(&self, _: kbvm::xkb::diagnostic::DiagnosticKind, _: bool) -> bool {
        false
    }

    fn handle(&mut self, _: Diagnostic) {}
}

/// The error if the compositor's keymap cannot be read.
pub(crate) fn unreadable() -> Error {
    DisplayError::NoKeymap.into()
}

impl Layout {
    /// Reads a keymap in XKB's text form. `locked` are the locked modifiers, such as Caps Lock, and
    /// `group` is the active group.
    pub(crate) fn read(keymap: &[u8], locked: u32, group: u32) -> Option<Self> {
        Some(Self::new(&parse(keymap)?, locked, group))
    }

    fn new(keymap: &Keymap, locked: u32, group: u32) -> Self {
        let table = keymap.to_builder().build_lookup_table();
        let mut codes: Vec<Keycode> = keymap.keys().map(kbvm::xkb::keymap::Key::keycode).collect();
        codes.sort_unstable();
        let symbol = |group: u32, mods: u32, code: Keycode| one(&table, group, mods, code);

        // The key of a modifier, and the modifier bits that the key sets.
        let modifier = |wanted: Keysym| {
            keymap.keys().find_map(|key| {
                let level = key.groups().next()??.levels().next()?;
                let set = level.actions().iter().find_map(|action| match action {
                    Action::ModsSet(set) => Some(set.mask().0),
                    _ => None,
                });
                let is = level.symbols() == [wanted];
                Some((key.keycode().to_evdev(), set?)).filter(|_| is)
            })
        };
        let shift = modifier(syms::Shift_L);
        let third = modifier(syms::ISO_Level3_Shift);
        let fifth = modifier(syms::ISO_Level5_Shift);
        let sets = [
            vec![],
            vec![shift],
            vec![third],
            vec![shift, third],
            vec![fifth],
            vec![shift, fifth],
        ];
        let sets: Vec<Vec<(u32, u32)>> = sets
            .into_iter()
            .filter_map(|set| set.into_iter().collect())
            .collect();

        let mut chars = HashMap::new();
        let extra = codes.partition_point(|code| code.to_evdev() < EXTRA);
        let (usual, extra) = codes.split_at(extra);
        let ways = [usual, extra]
            .into_iter()
            .flat_map(|codes| sets.iter().map(move |set| (codes, set)));
        for (codes, set) in ways {
            let mods = set.iter().fold(locked, |all, (_, mask)| all | mask);
            let held: Vec<u32> = set.iter().map(|(code, _)| *code).collect();
            for code in codes {
                let char = symbol(group, mods, *code).and_then(printed);
                if let Some(char) = char {
                    chars.entry(char).or_insert_with(|| Stroke {
                        code: code.to_evdev(),
                        held: held.clone(),
                    });
                }
            }
        }
        let mut named = HashMap::new();
        for set in &sets {
            let mods = set.iter().fold(locked, |all, (_, mask)| all | mask);
            for code in &codes {
                if let Some(symbol) = symbol(group, mods, *code) {
                    named.entry(symbol.0).or_insert_with(|| Stroke {
                        code: code.to_evdev(),
                        held: set.iter().map(|(code, _)| *code).collect(),
                    });
                }
            }
        }
        let mut elsewhere = HashMap::new();
        for code in &codes {
            for group in 0..4 {
                if let Some(char) = symbol(group, 0, *code).and_then(printed) {
                    elsewhere.entry(char).or_insert(code.to_evdev());
                }
            }
        }
        for (char, key) in [('\n', Key::Return), ('\t', Key::Tab)] {
            let code = code_of(key).unwrap_or_default();
            chars.insert(char, Stroke { code, held: vec![] });
        }
        Self {
            chars,
            elsewhere,
            named,
        }
    }

    /// The stroke for this character.
    pub(crate) fn stroke(&self, char: char) -> Option<&Stroke> {
        self.chars.get(&char)
    }

    /// The stroke for this press: the key that the layout has for it, otherwise the key with the
    /// usual code.
    pub(crate) fn key(&self, press: KeyPress) -> Option<Stroke> {
        let bare = |code| Stroke { code, held: vec![] };
        let named = |symbol: u32| self.named.get(&symbol).cloned();
        if let Some(stroke) = press.keypad_symbol().and_then(named) {
            return Some(stroke);
        }
        if let Key::Char(char) = press.key {
            let elsewhere = || self.elsewhere.get(&char).copied().map(bare);
            return self.stroke(char).cloned().or_else(elsewhere);
        }
        let usual = || code_of(press.key).map(bare);
        press.key.symbol().and_then(named).or_else(usual)
    }

    /// The keys that the layout has for these modifiers, otherwise the keys with the usual codes.
    ///
    /// # Errors
    /// If the layout has no AltGr.
    pub(crate) fn modifiers(&self, modifiers: Modifiers) -> Result<Vec<u32>, InputError> {
        let bare = |symbol: &u32| self.named.get(symbol).filter(|s| s.held.is_empty());
        let codes = modifiers.keys().map(|(modifier, symbols, name)| {
            let found = symbols.iter().find_map(bare).map(|stroke| stroke.code);
            let mut usual = keymap::MODIFIERS.into_iter();
            let usual = usual.find(|(its, _)| *its == modifier && modifier != Modifiers::ALT_GR);
            let code = found.or(usual.map(|(_, (code, _))| code));
            code.ok_or(InputError::NoModifier(name))
        });
        codes.collect()
    }
}

/// Reads the text of a keymap.
pub(crate) fn text(fd: OwnedFd, size: u32) -> Option<Vec<u8>> {
    /// The most bytes to read. A keymap with several layouts has 80 kB.
    const LONGEST: u32 = 4 << 20;
    let mut text = vec![0; size.min(LONGEST) as usize];
    let read = File::from(fd).read_exact_at(&mut text, 0);
    read.is_ok().then_some(text)
}

/// Compiles a keymap.
pub(crate) fn parse(keymap: &[u8]) -> Option<Keymap> {
    let mut builder = Context::builder();
    // The text is complete, so the compiler need not read files.
    builder.clear();
    builder.enable_default_includes(false);
    builder.enable_environment(false);
    let end = keymap.iter().position(|b| *b == 0).unwrap_or(keymap.len());
    let context = builder.build();
    context
        .keymap_from_bytes(IgnoreDiagnostics, None, &keymap[..end])
        .ok()
}

/// The symbol of a key, if the key has exactly one symbol with these modifiers.
fn one(table: &LookupTable, group: u32, mods: u32, code: Keycode) -> Option<Keysym> {
    let looked = table.lookup(GroupIndex(group), ModifierMask(mods), code);
    let mut symbols = looked.into_iter().map(|props| props.keysym());
    symbols.next().filter(|_| symbols.next().is_none())
}

/// The character that a symbol types. `None` for the numeric pad, which depends on Num Lock, and
/// for vendor symbols (XF86NumericPound), which no toolkit accepts as text.
fn printed(symbol: Keysym) -> Option<char> {
    let pad = 0xff80..=0xffbd;
    let vendor = 0x1000_0000 & symbol.0 != 0;
    let char = symbol.char().filter(|char| !char.is_control());
    char.filter(|_| !pad.contains(&symbol.0) && !vendor)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// German letters of two keys, a third level, Escape and Caps Lock swapped, and a second group.
    pub(crate) const KEYMAP: &str = r#"xkb_keymap {
        xkb_keycodes "k" { minimum = 8; maximum = 255; <ESC> = 9; <AD01> = 24; <AD06> = 29;
            <AC10> = 47; <LFSH> = 50; <CAPS> = 66; <LVL3> = 108; <KP7> = 79;
            <I187> = 187; <I188> = 188; };
        xkb_types "t" { virtual_modifiers LevelThree;
            type "ONE_LEVEL" { modifiers = none; };
            type "ALPHABETIC" { modifiers = Shift+Lock; map[Shift] = 2; map[Lock] = 2; };
            type "FOUR_LEVEL_ALPHABETIC" { modifiers = Shift+Lock+LevelThree; map[Shift] = 2; map[Lock] = 2;
                map[LevelThree] = 3; map[Shift+LevelThree] = 4; map[Lock+LevelThree] = 3; }; };
        xkb_compatibility "c" { virtual_modifiers LevelThree;
            interpret ISO_Level3_Shift { virtualModifier = LevelThree; action = SetMods(modifiers = LevelThree); };
            interpret Shift_L { action = SetMods(modifiers = Shift); }; };
        xkb_symbols "s" {
            key <ESC> { [ Caps_Lock ] }; key <CAPS> { [ Escape ] }; key <KP7> { [ KP_7 ] };
            key <I187> { [ at ] }; key <I188> { [ XF86NumericStar ] };
            key <AD01> { type = "FOUR_LEVEL_ALPHABETIC", symbols[1] = [ q, Q, at, Greek_OMEGA ] };
            key <AD06> { type = "ALPHABETIC", symbols[1] = [ z, Z ], symbols[2] = [ Cyrillic_en, Cyrillic_EN ] };
            key <AC10> { type = "ALPHABETIC", symbols[1] = [ odiaeresis, Odiaeresis ] };
            key <LFSH> { [ Shift_L ] }; key <LVL3> { [ ISO_Level3_Shift ] };
            modifier_map Shift { <LFSH> }; modifier_map Mod5 { <LVL3> }; };
    };"#;

    fn layout(locked: u32, group: u32) -> Layout {
        Layout::read(KEYMAP.as_bytes(), locked, group).unwrap()
    }

    fn press(key: Key) -> KeyPress {
        let modifiers = Modifiers::empty();
        KeyPress { key, modifiers }
    }

    fn stroke(code: u32, held: &[u32]) -> Stroke {
        let held = held.to_vec();
        Stroke { code, held }
    }

    #[test]
    fn characters_have_the_keys_of_the_persons_layout() {
        let layout = layout(0, 0);
        assert_eq!(layout.stroke('z'), Some(&stroke(21, &[])));
        assert_eq!(layout.stroke('Ö'), Some(&stroke(39, &[42])));
        assert_eq!(layout.stroke('@'), Some(&stroke(16, &[100])));
        assert_eq!(layout.stroke('Ω'), Some(&stroke(16, &[42, 100])));
        assert_eq!(layout.stroke('\n'), Some(&stroke(28, &[])));
        // In another group, on the numeric pad, and a vendor symbol.
        assert!(['н', '7', '*'].iter().all(|c| layout.stroke(*c).is_none()));
    }

    #[test]
    fn caps_lock_swaps_upper_and_lower_case() {
        let layout = layout(ModifierMask::LOCK.0, 0);
        assert_eq!(layout.stroke('Z'), Some(&stroke(21, &[])));
        assert_eq!(layout.stroke('@'), Some(&stroke(16, &[100])));
    }

    #[test]
    fn a_shortcut_letter_is_found_in_another_group_of_the_layout() {
        let layout = layout(0, 1);
        assert_eq!(layout.stroke('н'), Some(&stroke(21, &[])));
        assert_eq!(layout.stroke('z'), None);
        assert_eq!(layout.key(press(Key::Char('z'))), Some(stroke(21, &[])));
    }

    #[test]
    fn a_remapped_key_has_its_new_code() {
        assert_eq!(layout(0, 0).key(press(Key::Escape)), Some(stroke(58, &[])));
        assert_eq!(
            layout(0, 0).key(press(Key::Function(1))),
            Some(stroke(59, &[]))
        );
    }

    #[test]
    fn an_invalid_keymap_is_not_read() {
        assert!(Layout::read(b"xkb_keymap { include \"pc\" };", 0, 0).is_none());
        assert!(Layout::read(&[0xff; 40], 0, 0).is_none());
    }
}
