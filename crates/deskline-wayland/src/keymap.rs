//! Our own keymap, with a key without modifiers for each symbol that is needed. With Shift, the
//! keys are those of a US keyboard.
//!
//! A virtual keyboard has a keymap of its own, so the person's layout does not matter. Named keys
//! and the letters of shortcuts have the same codes as on every keyboard, because some apps read
//! codes. Codes are those of `linux/input-event-codes.h`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use deskline_core::{Key, KeyPress, Modifiers};

/// Further keys of a keyboard, besides named keys, characters and modifiers: code and XKB name.
#[rustfmt::skip]
const USUAL: [(u32, &str); 41] = [
    (55, "KP_Multiply"), (58, "Caps_Lock"), (69, "Num_Lock"), (71, "KP_7"), (72, "KP_8"),
    (73, "KP_9"), (74, "KP_Subtract"), (75, "KP_4"), (76, "KP_5"), (77, "KP_6"), (78, "KP_Add"),
    (79, "KP_1"), (80, "KP_2"), (81, "KP_3"), (82, "KP_0"), (83, "KP_Decimal"), (71, "KP_Home"),
    (72, "KP_Up"), (73, "KP_Page_Up"), (75, "KP_Left"), (76, "KP_Begin"), (77, "KP_Right"),
    (79, "KP_End"), (80, "KP_Down"), (81, "KP_Page_Down"), (82, "KP_Insert"), (83, "KP_Delete"),
    (96, "KP_Enter"), (98, "KP_Divide"), (117, "KP_Equal"), (121, "KP_Separator"), (54, "Shift_R"),
    (97, "Control_R"), (126, "Super_R"), (113, "XF86AudioMute"), (114, "XF86AudioLowerVolume"),
    (115, "XF86AudioRaiseVolume"), (163, "XF86AudioNext"), (164, "XF86AudioPlay"),
    (165, "XF86AudioPrev"), (166, "XF86AudioStop"),
];

/// The modifier keys: code, and the XKB names of the symbol and of the modifier.
#[rustfmt::skip]
const HELD: [((u32, u32), &str, &str); 5] = [
    (SHIFT, "Shift_L", "Shift"), (CONTROL, "Control_L", "Control"), (ALT, "Alt_L", "Mod1"),
    (SUPER, "Super_L", "Mod4"), (ALT_GR, "ISO_Level3_Shift", "Mod5"),
];

/// Rows of letters and digits, with the code of the first key in each row.
#[rustfmt::skip]
const ROWS: [(u32, &str); 4] =
    [(2, "1234567890"), (16, "qwertyuiop"), (30, "asdfghjkl"), (44, "zxcvbnm")];

/// Signs, and the signs on the same keys with Shift.
const SIGNS: [&str; 2] = ["1234567890-=[]\\;'`,./", "!@#$%^&*()_+{}|:\"~<>?"];

/// The codes for other characters and keys. Some apps (Chromium, games) read codes. So these are
/// first the sign keys of usual keyboards, then those of Japanese and Brazilian ones, then codes
/// that no desktop keyboard has. None of them controls sound, windows, sleep or brightness.
const FREE: [u32; MOST] = [
    12, 13, 26, 27, 39, 40, 41, 43, 51, 52, 53, 86, 89, 124, 84, 101, 112, 118, 120, 132, 141, 145,
    146, 147, 148, 149, 151, 170, 175, 176, 195, 196, 197, 198, 199, 209, 211, 214, 218, 219, 220,
    221, 236, 240,
];

/// How many characters a keymap can have in addition to those of every keyboard.
pub(crate) const MOST: usize = 44;

/// The codes of the modifiers, and their bits in a mask.
pub(crate) const SHIFT: (u32, u32) = (42, 1);
pub(crate) const CONTROL: (u32, u32) = (29, 1 << 2);
pub(crate) const ALT: (u32, u32) = (56, 1 << 3);
pub(crate) const SUPER: (u32, u32) = (125, 1 << 6);
pub(crate) const ALT_GR: (u32, u32) = (100, 1 << 7);

/// The character or XKB symbol of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Gives {
    Char(char),
    Symbol(u32),
}

impl Gives {
    /// The symbol of this press: the keypad's symbol if the press has `NUMERIC_PAD`.
    pub(crate) fn on_press(press: KeyPress) -> Option<Self> {
        match (press.keypad_symbol(), press.key) {
            (Some(symbol), _) => Some(Self::Symbol(symbol)),
            (None, Key::Char(char)) => Some(Self::Char(char)),
            (None, key) => key.symbol().map(Self::Symbol),
        }
    }

    /// The character that the same key gives with Shift.
    fn shifted(self) -> Option<Self> {
        let Self::Char(char) = self else { return None };
        let [plain, shifted] = SIGNS.map(str::chars);
        let sign = plain.zip(shifted).find(|(plain, _)| *plain == char);
        let mut upper = char.to_uppercase();
        let letter = upper
            .next()
            .filter(|u| *u != char && upper.next().is_none());
        sign.map(|(_, shifted)| shifted).or(letter).map(Self::Char)
    }

    /// XKB's text form: a number, as libxkbcommon has no name for most characters.
    fn text(self) -> String {
        match self {
            Self::Char(char) => format!("U{:04X}", u32::from(char)),
            Self::Symbol(symbol) => format!("{symbol:#x}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keymap {
    keys: HashMap<Gives, u32>,
    /// The keymap in XKB's text form.
    pub(crate) text: String,
}

/// The modifiers, with the code and the bit of each.
#[rustfmt::skip]
pub(crate) const MODIFIERS: [(Modifiers, (u32, u32)); 5] = [
    (Modifiers::SHIFT, SHIFT), (Modifiers::CONTROL, CONTROL), (Modifiers::ALT, ALT),
    (Modifiers::ALT_GR, ALT_GR), (Modifiers::COMMAND, SUPER),
];

/// The codes of named keys.
#[rustfmt::skip]
const NAMED: [(Key, u32); 19] = [
    (Key::Return, 28), (Key::Tab, 15), (Key::Space, 57), (Key::Escape, 1), (Key::Backspace, 14),
    (Key::ForwardDelete, 111), (Key::Insert, 110), (Key::Menu, 127), (Key::Print, 99),
    (Key::Pause, 119), (Key::ScrollLock, 70), (Key::Home, 102), (Key::End, 107), (Key::PageUp, 104),
    (Key::PageDown, 109), (Key::Up, 103), (Key::Down, 108), (Key::Left, 105), (Key::Right, 106),
];

/// The code of a named key.
pub(crate) fn code_of(key: Key) -> Option<u32> {
    let function = |n: u8| match n {
        1..=10 => 58 + u32::from(n),
        11 | 12 => 76 + u32::from(n),
        _ => 170 + u32::from(n),
    };
    match key {
        Key::Function(n) => Some(function(n)),
        key => NAMED
            .iter()
            .find(|(named, _)| *named == key)
            .map(|(_, code)| *code),
    }
}

impl Keymap {
    /// A keymap with the usual keys and with `extra`. At most [`MOST`] symbols fit that are not on
    /// the usual keys.
    pub(crate) fn with(extra: impl IntoIterator<Item = Gives>) -> Self {
        let functions = (1..=24).map(Key::Function);
        let named = Key::named().chain(functions);
        let named = named.filter_map(|key| Some((code_of(key)?, Gives::Symbol(key.symbol()?))));
        let held = HELD.map(|((code, _), name, _)| (code, name));
        let usual = held.into_iter().chain(USUAL);
        let usual = usual.filter_map(|(code, name)| {
            Some((code, Gives::on_press(KeyPress::parse(name, &[]).ok()?)?))
        });
        let usual: Vec<(u32, Gives)> = usual.collect();
        let rows = ROWS.into_iter().flat_map(|(first, row)| {
            let chars = row.chars().map(Gives::Char);
            (first..).zip(chars)
        });
        // The keypad's keys have two symbols. The later entry stays.
        let mut symbols: BTreeMap<u32, Gives> =
            usual.iter().copied().chain(named).chain(rows).collect();
        let mut free = FREE.into_iter();
        for gives in extra {
            if symbols.values().any(|there| *there == gives) {
                continue;
            }
            let its = usual.iter().find(|(_, usual)| *usual == gives);
            let Some(code) = its.map(|(code, _)| *code).or_else(|| free.next()) else {
                break;
            };
            symbols.insert(code, gives);
        }
        let mut keys: HashMap<Gives, u32> = symbols.iter().map(|(c, g)| (*g, *c)).collect();
        for (char, code) in [('\n', 28), ('\t', 15), (' ', 57)] {
            keys.insert(Gives::Char(char), code);
        }
        Self {
            keys,
            text: text(&symbols),
        }
    }

    pub(crate) fn code(&self, gives: Gives) -> Option<u32> {
        self.keys.get(&gives).copied()
    }
}

fn text(keys: &BTreeMap<u32, Gives>) -> String {
    let (mut codes, mut symbols) = (String::new(), String::new());
    for (code, gives) in keys {
        // Writing to a String cannot fail.
        let _ = write!(codes, "<K{code}> = {};", code + 8);
        let shifted = gives.shifted().map(|gives| format!(", {}", gives.text()));
        let (plain, shifted) = (gives.text(), shifted.unwrap_or_default());
        let _ = write!(symbols, "key <K{code}> {{ [ {plain}{shifted} ] }};");
    }
    for ((code, _), _, modifier) in HELD {
        let _ = write!(symbols, "modifier_map {modifier} {{ <K{code}> }};");
    }
    format!(
        "xkb_keymap {{ xkb_keycodes \"deskline\" {{ minimum = 8; maximum = 255; {codes} }}; \
         xkb_types \"deskline\" {{ include \"complete\" }}; \
         xkb_compatibility \"deskline\" {{ include \"complete\" }}; \
         xkb_symbols \"deskline\" {{ {symbols} }}; }};\0"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_a_key_of_its_own() {
        let wanted: Vec<char> = ('A'..='Z').chain("é€漢😀".chars()).collect();
        let keymap = Keymap::with(wanted.iter().copied().map(Gives::Char));
        let code = |char: char| keymap.code(Gives::Char(char));
        let mut codes: Vec<Option<u32>> = wanted.iter().map(|c| code(*c)).collect();
        codes.extend(('a'..='z').map(code));
        assert!(codes.iter().all(Option::is_some), "{codes:?}");
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), wanted.len() + 26);
        assert!(keymap.text.contains("[ U1F600 ]"));
    }

    #[test]
    fn shift_levels_are_those_of_a_us_keyboard() {
        let text = Keymap::with([Gives::Char('/'), Gives::Char('é'), Gives::Char('ß')]).text;
        let keys = [
            "U0061, U0041",
            "U0031, U0021",
            "U002F, U003F",
            "U00E9, U00C9",
            "U00DF",
        ];
        assert!(
            keys.iter().all(|k| text.contains(&format!("[ {k} ]"))),
            "{text}"
        );
    }

    #[test]
    fn a_keymap_has_room_for_the_promised_number_of_characters() {
        let many: Vec<char> = ('\u{4e00}'..).take(MOST).collect();
        let keymap = Keymap::with(many.iter().copied().map(Gives::Char));
        assert!(many.iter().all(|c| keymap.code(Gives::Char(*c)).is_some()));
    }

    #[test]
    fn free_codes_belong_to_no_other_key() {
        let usual = USUAL.iter().map(|(code, _)| *code);
        let held = HELD.iter().map(|((code, _), ..)| *code);
        let rows = ROWS
            .iter()
            .flat_map(|(first, row)| (*first..).take(row.len()));
        let functions = (1..=24).map(Key::Function);
        let named = Key::named().chain(functions).filter_map(code_of);
        let taken: Vec<u32> = usual.chain(held).chain(rows).chain(named).collect();
        assert!(FREE.iter().all(|code| !taken.contains(code)));
    }

    #[test]
    fn keypad_and_media_keys_have_their_usual_codes() {
        for (name, code) in [
            ("KP_7", 71),
            ("KP_Home", 71),
            ("KP_Enter", 96),
            ("XF86AudioPlay", 164),
        ] {
            let gives = Gives::on_press(KeyPress::parse(name, &[]).unwrap()).unwrap();
            assert_eq!(Keymap::with([gives]).code(gives), Some(code), "{name}");
        }
    }
}
