//! A keymap of our own: each symbol that is needed has a key, without modifiers.
//!
//! A virtual keyboard has its own keymap, so the person's layout does not matter. Named keys and the
//! letters of a shortcut have the codes that they have on every keyboard, because some apps go by
//! those. Codes are those of `linux/input-event-codes.h`.

use std::collections::HashMap;
use std::fmt::Write as _;

use deskline_core::Key;

/// Named keys: code, keysym.
const NAMED: [(u32, &str); 24] = [
    (1, "Escape"),
    (14, "BackSpace"),
    (15, "Tab"),
    (28, "Return"),
    (29, "Control_L"),
    (42, "Shift_L"),
    (56, "Alt_L"),
    (57, "space"),
    (102, "Home"),
    (103, "Up"),
    (104, "Prior"),
    (105, "Left"),
    (106, "Right"),
    (107, "End"),
    (108, "Down"),
    (109, "Next"),
    (110, "Insert"),
    (111, "Delete"),
    (127, "Menu"),
    (99, "Print"),
    (119, "Pause"),
    (70, "Scroll_Lock"),
    (125, "Super_L"),
    (58, "Caps_Lock"),
];

/// Rows of letters and digits, by the code of the first.
const ROWS: [(u32, &str); 4] = [
    (2, "1234567890"),
    (16, "qwertyuiop"),
    (30, "asdfghjkl"),
    (44, "zxcvbnm"),
];

/// The last code that XKB has: 255, less the offset between its codes and the kernel's.
const LAST: u32 = 247;

/// How many characters beside those of every keyboard one keymap has.
pub(crate) const MOST: usize = 120;

/// The codes of the modifiers, and their bits in a mask.
pub(crate) const SHIFT: (u32, u32) = (42, 1);
pub(crate) const CONTROL: (u32, u32) = (29, 1 << 2);
pub(crate) const ALT: (u32, u32) = (56, 1 << 3);
pub(crate) const SUPER: (u32, u32) = (125, 1 << 6);

/// A keymap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keymap {
    chars: HashMap<char, u32>,
    /// In XKB's text form.
    pub(crate) text: String,
}

/// The code of a key with a name.
pub(crate) fn code_of(key: Key) -> Option<u32> {
    let function = |n: u8| match n {
        1..=10 => 58 + u32::from(n),
        11 | 12 => 76 + u32::from(n),
        _ => 170 + u32::from(n),
    };
    Some(match key {
        Key::Char(_) => return None,
        Key::Return => 28,
        Key::Tab => 15,
        Key::Space => 57,
        Key::Escape => 1,
        Key::Backspace => 14,
        Key::ForwardDelete => 111,
        Key::Insert => 110,
        Key::Menu => 127,
        Key::Print => 99,
        Key::Pause => 119,
        Key::ScrollLock => 70,
        Key::Home => 102,
        Key::End => 107,
        Key::PageUp => 104,
        Key::PageDown => 109,
        Key::Up => 103,
        Key::Down => 108,
        Key::Left => 105,
        Key::Right => 106,
        Key::Function(n) => function(n),
    })
}

impl Keymap {
    /// One with the usual keys, and with these characters, at most [`MOST`] new ones.
    pub(crate) fn with(extra: impl IntoIterator<Item = char>) -> Self {
        let mut keys: Vec<(u32, String)> = NAMED.map(|(code, name)| (code, name.to_owned())).into();
        keys.extend((1..=24).filter_map(|n| Some((code_of(Key::Function(n))?, format!("F{n}")))));
        let mut chars = HashMap::from([('\n', 28), ('\t', 15), (' ', 57)]);
        for (first, row) in ROWS {
            for (code, char) in (first..).zip(row.chars()) {
                keys.push((code, symbol(char)));
                chars.insert(char, code);
            }
        }
        let taken: Vec<u32> = keys.iter().map(|(code, _)| *code).collect();
        let mut free = (2..=LAST).filter(|code| !taken.contains(code));
        for char in extra {
            if chars.contains_key(&char) {
                continue;
            }
            let Some(code) = free.next() else { break };
            keys.push((code, symbol(char)));
            chars.insert(char, code);
        }
        Self {
            chars,
            text: text(&keys),
        }
    }

    pub(crate) fn code(&self, char: char) -> Option<u32> {
        self.chars.get(&char).copied()
    }
}

/// A character's keysym, by its number: libxkbcommon knows no other name for most.
fn symbol(char: char) -> String {
    format!("U{:04X}", u32::from(char))
}

fn text(keys: &[(u32, String)]) -> String {
    let (mut codes, mut symbols) = (String::new(), String::new());
    for (code, symbol) in keys {
        // Writing to a String cannot fail.
        let _ = write!(codes, "<K{code}> = {};", code + 8);
        let _ = write!(symbols, "key <K{code}> {{ [ {symbol} ] }};");
    }
    for (name, (code, _)) in [
        ("Shift", SHIFT),
        ("Control", CONTROL),
        ("Mod1", ALT),
        ("Mod4", SUPER),
    ] {
        let _ = write!(symbols, "modifier_map {name} {{ <K{code}> }};");
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
        let keymap = Keymap::with(wanted.iter().copied());
        let mut codes: Vec<Option<u32>> = wanted.iter().map(|c| keymap.code(*c)).collect();
        codes.extend(('a'..='z').map(|c| keymap.code(c)));
        assert!(codes.iter().all(Option::is_some), "{codes:?}");
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), wanted.len() + 26);
        assert!(keymap.text.contains("[ U1F600 ]"));
    }

    #[test]
    fn there_is_room_for_as_many_as_promised() {
        let many: Vec<char> = ('\u{4e00}'..).take(MOST).collect();
        let keymap = Keymap::with(many.iter().copied());
        assert!(many.iter().all(|c| keymap.code(*c).is_some()));
    }
}
