//! Key names and modifiers, as an agent writes them.

use xkeysym::key::{
    Alt_L, Alt_R, Control_L, Control_R, Hyper_L, ISO_Level3_Shift, Meta_L, Mode_switch, Shift_L,
    Shift_R, Super_L, Super_R,
};
use xkeysym::{Keysym, key};

use crate::escape::{is_hostile, short};
use crate::keysyms::{self, Name};
use crate::nearest::nearest;

/// A key, named by what it does. Its position depends on the keyboard layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// The key that gives this character; letters in lower case.
    Char(char),
    Return,
    Tab,
    Space,
    Escape,
    /// `Backspace`, and `Delete` on macOS: deletes to the left.
    Backspace,
    /// `ForwardDelete`, and `Delete` elsewhere: deletes to the right.
    ForwardDelete,
    Insert,
    /// `Menu`: opens the context menu.
    Menu,
    Print,
    Pause,
    ScrollLock,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
    /// `F1` … `F24`
    Function(u8),
    /// Any other key, by XKB's symbol: `XF86AudioPlay`, `Super_L`.
    Symbol(u32),
}

bitflags::bitflags! {
    /// Modifiers held while a key is pressed or a button clicked.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct Modifiers: u16 {
        const SHIFT = 1;
        const CONTROL = 1 << 1;
        /// `Option`, `Opt`, `Alt`
        const ALT = 1 << 2;
        /// `Command`, `Cmd`: the Super or Windows key on other systems.
        const COMMAND = 1 << 3;
        const CAPS_LOCK = 1 << 4;
        const FUNCTION = 1 << 5;
        /// `NumericPad`, `Numpad`: selects the numeric pad's key instead of the main one of the
        /// same name.
        const NUMERIC_PAD = 1 << 6;
        const HELP = 1 << 7;
        /// `AltGr`: selects the third symbol of a key; Option on macOS.
        const ALT_GR = 1 << 8;
    }
}

/// The modifiers that have keys of their own: the XKB symbols of these keys, the usual one first,
/// and the modifier's name.
#[rustfmt::skip]
const MODIFIER_KEYS: [(Modifiers, &[u32], &str); 5] = [
    (Modifiers::SHIFT, &[Shift_L, Shift_R], "Shift"),
    (Modifiers::CONTROL, &[Control_L, Control_R], "Control"),
    (Modifiers::ALT, &[Alt_L, Alt_R, Meta_L], "Alt"),
    (Modifiers::ALT_GR, &[ISO_Level3_Shift, Mode_switch], "AltGr"),
    (Modifiers::COMMAND, &[Super_L, Super_R, Hyper_L], "Super (Command)"),
];

impl Modifiers {
    /// The modifiers of this set that every keyboard has, each with the XKB symbols of its keys and
    /// its name.
    pub fn keys(self) -> impl Iterator<Item = (Self, &'static [u32], &'static str)> {
        let keys = MODIFIER_KEYS.into_iter();
        keys.filter(move |(modifier, ..)| self.contains(*modifier))
    }

    /// The modifiers that turn a key into a command, from a mask of XKB's real modifiers. Mod1
    /// counts as Alt: a keymap may choose another, but none does.
    pub fn of_state(state: u32) -> Self {
        let bits = [Self::SHIFT, Self::CONTROL, Self::ALT, Self::COMMAND].into_iter();
        let held = bits
            .zip([0, 2, 3, 6])
            .filter(|(_, bit)| state >> bit & 1 == 1);
        held.map(|(modifier, _)| modifier).collect()
    }

    /// Parses modifiers, ignoring case. An item may be one name or several joined by `+`, so
    /// `["Control", "Shift"]` and `["Control+Shift"]` are the same.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, KeyError> {
        let mut held = Self::empty();
        for name in names.into_iter().flat_map(|item| item.split(['+', ','])) {
            let squeezed = squeeze(name);
            if squeezed.is_empty() {
                continue;
            }
            let found = named(MODIFIERS).find(|(_, n)| n.eq_ignore_ascii_case(&squeezed));
            let (modifier, _) = found.ok_or_else(|| KeyError::Modifier {
                name: short(name, 40),
                nearest: nearest(&squeezed, named(MODIFIERS).map(|(_, n)| n)).unwrap_or("Shift"),
            })?;
            held |= modifier;
        }
        Ok(held)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPress {
    pub key: Key,
    pub modifiers: Modifiers,
}

/// This platform's names for the modifiers and keys whose names differ between platforms.
struct Platform {
    alt: &'static str,
    command: &'static str,
    backspace: &'static str,
    forward_delete: &'static str,
    /// The key that `Delete` names.
    delete: Key,
}

#[rustfmt::skip]
const HERE: Platform = if cfg!(target_os = "macos") {
    Platform {
        alt: "Option", command: "Command", backspace: "Delete", forward_delete: "ForwardDelete",
        delete: Key::Backspace,
    }
} else {
    Platform {
        alt: "Alt", command: "Super", backspace: "Backspace", forward_delete: "Delete",
        delete: Key::ForwardDelete,
    }
};

/// An unknown name of a key or of a modifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No key has this name.
    #[error(
        "unknown key '{name}'. The nearest is '{nearest}'. A key is one character, or Return, Tab, \
        Space, Escape, Backspace, Delete, Insert, Home, End, PageUp, PageDown, Up, Down, Left, \
        Right, Menu, Print, Pause, ScrollLock, F1–F24, one of the keypad such as KP_0 or KP_Enter, \
        or XKB's name of any other such as XF86AudioPlay or Super_L. Pass modifiers apart"
    )]
    Key {
        /// The name that was given, cut to 40 characters.
        name: String,
        /// The nearest valid name.
        nearest: &'static str,
    },
    /// No modifier has this name.
    #[error(
        "unknown modifier '{name}'. The nearest is '{nearest}'. Modifiers are Shift, Control, {}, \
        AltGr, {}, CapsLock, Function, NumericPad, Help",
        HERE.alt,
        HERE.command
    )]
    Modifier {
        /// The name that was given, cut to 40 characters.
        name: String,
        /// The nearest valid name.
        nearest: &'static str,
    },
}

/// The names of keys that are longer than one character, without the function keys.
#[rustfmt::skip]
const KEYS: &[(Key, &str)] = &[
    (Key::Return, "Return Enter"), (Key::Tab, "Tab"), (Key::Space, "Space"),
    (Key::Escape, "Escape Esc"), (HERE.delete, "Delete"), (Key::Backspace, "Backspace"),
    (Key::ForwardDelete, "ForwardDelete"), (Key::Insert, "Insert"), (Key::Menu, "Menu"),
    (Key::Print, "Print PrintScreen"), (Key::Pause, "Pause"), (Key::ScrollLock, "ScrollLock"),
    (Key::Home, "Home"), (Key::End, "End"), (Key::PageUp, "PageUp"), (Key::PageDown, "PageDown"),
    // These four names have to be listed: in XKB, `UpArrow` to `RightArrow` are the characters ↑ to
    // →.
    (Key::Up, "Up ArrowUp UpArrow"), (Key::Down, "Down ArrowDown DownArrow"),
    (Key::Left, "Left ArrowLeft LeftArrow"), (Key::Right, "Right ArrowRight RightArrow"),
    (Key::Char('+'), "Plus"), (Key::Char('-'), "Minus"), (Key::Char('='), "Equal"),
    (Key::Char(','), "Comma"), (Key::Char('.'), "Period"), (Key::Char('/'), "Slash"),
    (Key::Char('\\'), "Backslash"), (Key::Char(';'), "Semicolon"),
    (Key::Char('\''), "Quote Apostrophe"), (Key::Char('`'), "Grave Backquote"),
    (Key::Char('['), "BracketLeft LeftBracket"), (Key::Char(']'), "BracketRight RightBracket"),
];

/// All names of modifiers, in the order in which they are written.
#[rustfmt::skip]
const MODIFIERS: &[(Modifiers, &str)] = &[
    (Modifiers::CONTROL, "Control Ctrl"), (Modifiers::ALT, "Option Opt Alt"),
    (Modifiers::ALT_GR, "AltGr"), (Modifiers::COMMAND, "Command Cmd Super Meta Windows Win"),
    (Modifiers::SHIFT, "Shift"), (Modifiers::CAPS_LOCK, "CapsLock"),
    (Modifiers::FUNCTION, "Function Fn"), (Modifiers::NUMERIC_PAD, "NumericPad Numpad"),
    (Modifiers::HELP, "Help"),
];

/// Each name in a table, with the key or modifier that it names.
fn named<T: Copy>(table: &[(T, &'static str)]) -> impl Iterator<Item = (T, &'static str)> {
    let each = |(what, names): &(T, &'static str)| {
        let what = *what;
        names.split(' ').map(move |name| (what, name))
    };
    table.iter().flat_map(each)
}

impl Key {
    /// Parses a key, ignoring case: a single character, or one of the longer names.
    pub fn parse(name: &str) -> Result<Self, KeyError> {
        let mut chars = name.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            match c {
                ' ' => return Ok(Self::Space),
                '\t' => return Ok(Self::Tab),
                '\r' | '\n' => return Ok(Self::Return),
                c => {
                    if let Some(key) = Self::of_char(c) {
                        return Ok(key);
                    }
                }
            }
        }
        let squeezed = squeeze(name);
        if let Some((key, _)) = named(KEYS).find(|(_, n)| n.eq_ignore_ascii_case(&squeezed)) {
            return Ok(key);
        }
        let function = FUNCTION_KEYS
            .iter()
            .position(|n| n.eq_ignore_ascii_case(&squeezed));
        if let Some(n) = function.and_then(|n| u8::try_from(n + 1).ok()) {
            return Ok(Self::Function(n));
        }
        if let Some(symbol) = keysyms::by_name(name.trim()) {
            return Ok(Self::of_symbol(symbol));
        }
        let names = named(KEYS).map(|(_, name)| name).chain(FUNCTION_KEYS);
        Err(KeyError::Key {
            name: short(name, 40),
            nearest: nearest(&squeezed, names).unwrap_or("Return"),
        })
    }

    /// The key of a character. A capital whose lower case would be two characters stays a capital,
    /// because a key has one character.
    pub(crate) fn of_char(c: char) -> Option<Self> {
        let mut lower = c.to_lowercase();
        let first = lower.next().filter(|_| lower.next().is_none());
        let types = !is_hostile(c) && !c.is_whitespace();
        types.then(|| Self::Char(first.unwrap_or(c)))
    }

    /// The named keys that every keyboard has, without the function keys.
    pub fn named() -> impl Iterator<Item = Self> {
        SYMBOLS.iter().map(|(key, ..)| *key)
    }

    /// XKB's symbol of this key. `None` for a character, which may have several symbols.
    pub fn symbol(self) -> Option<u32> {
        match self {
            Self::Symbol(symbol) => Some(symbol),
            Self::Function(n @ 1..=24) => Some(key::F1 + u32::from(n) - 1),
            Self::Char(_) | Self::Function(_) => None,
            named => SYMBOLS.iter().find(|(k, ..)| *k == named).map(|s| s.1),
        }
    }

    fn of_symbol(symbol: u32) -> Self {
        if let Some((key, ..)) = SYMBOLS.iter().find(|(_, its, _)| *its == symbol) {
            return *key;
        }
        let keyboards = (0xff00..=0xffff).contains(&symbol);
        let char = Keysym::new(symbol).key_char().filter(|_| !keyboards);
        match (char.map(Self::of_char), symbol) {
            (Some(Some(key)), _) => key,
            (_, key::F1..=key::F24) => Self::Function((symbol - key::F1 + 1) as u8),
            _ => Self::Symbol(symbol),
        }
    }
}

const FUNCTION_KEYS: [&str; 24] = [
    "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "F13", "F14", "F15",
    "F16", "F17", "F18", "F19", "F20", "F21", "F22", "F23", "F24",
];

impl KeyPress {
    pub const fn new(key: Key, modifiers: Modifiers) -> Self {
        Self { key, modifiers }
    }

    /// Parses the names of a key and its modifiers; see [`Key::parse`] and [`Modifiers::parse`].
    pub fn parse(key: &str, modifiers: &[&str]) -> Result<Self, KeyError> {
        let modifiers = Modifiers::parse(modifiers.iter().copied())?;
        Ok(match on_keypad(key) {
            Some(key) => Self::new(key, modifiers | Modifiers::NUMERIC_PAD),
            None => Self::new(Key::parse(key)?, modifiers),
        })
    }

    /// XKB's symbol of the key on the keypad, if the press names the keypad and the keypad has the
    /// key.
    pub fn keypad_symbol(self) -> Option<u32> {
        if !self.modifiers.contains(Modifiers::NUMERIC_PAD) {
            return None;
        }
        match self.key {
            Key::Char(digit @ '0'..='9') => Some(key::KP_0 + u32::from(digit) - u32::from('0')),
            Key::Char(sign) => SIGNS.iter().find(|s| s.1 == sign).map(|s| s.2),
            Key::Function(n @ 1..=4) => Some(key::KP_F1 + u32::from(n) - 1),
            named => SYMBOLS.iter().find(|(k, ..)| *k == named)?.2,
        }
    }
}

/// The signs on the keypad: XKB's name without `KP_`, the character, and XKB's symbol.
#[rustfmt::skip]
const SIGNS: [(&str, char, u32); 7] = [
    ("Add", '+', key::KP_Add), ("Subtract", '-', key::KP_Subtract),
    ("Multiply", '*', key::KP_Multiply), ("Divide", '/', key::KP_Divide),
    ("Equal", '=', key::KP_Equal), ("Decimal", '.', key::KP_Decimal),
    ("Separator", ',', key::KP_Separator),
];

/// The key that a keypad name such as `KP_Enter` names.
fn on_keypad(name: &str) -> Option<Key> {
    let (pad, name) = name.trim().split_at_checked(3)?;
    if !pad.eq_ignore_ascii_case("KP_") {
        return None;
    }
    let sign = SIGNS.iter().find(|(n, ..)| n.eq_ignore_ascii_case(name));
    let digit = || {
        name.chars()
            .next()
            .filter(|c| name.len() == 1 && c.is_ascii_digit())
    };
    match sign.map(|sign| sign.1).or_else(digit) {
        Some(c) => Some(Key::Char(c)),
        None if name.eq_ignore_ascii_case("Delete") => Some(Key::ForwardDelete),
        None => Key::parse(name)
            .ok()
            .filter(|key| !matches!(key, Key::Char(_) | Key::Symbol(_))),
    }
}

/// Removes separators: `page_up`, `Page Up` and `page-up` are all `pageup`.
fn squeeze(name: &str) -> String {
    let chars = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-'));
    // No name is this long.
    chars.take(64).collect()
}

impl std::fmt::Display for Modifiers {
    /// Writes `Control+Shift`, with this platform's names, which [`Modifiers::parse`] can read.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let held = MODIFIERS.iter().filter(|(its, _)| self.contains(*its));
        for (i, (modifier, names)) in held.enumerate() {
            let name = match *modifier {
                Modifiers::ALT => HERE.alt,
                Modifiers::COMMAND => HERE.command,
                _ => names.split(' ').next().unwrap_or_default(),
            };
            let plus = if i > 0 { "+" } else { "" };
            write!(f, "{plus}{name}")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for KeyPress {
    /// Writes `Control+Shift+S`, with this platform's names, which [`KeyPress::parse`] can read.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.modifiers.is_empty() {
            write!(f, "{}+", self.modifiers)?;
        }
        match self.key {
            Key::Char(c) => write!(f, "{}", c.to_uppercase()),
            Key::Function(n) => write!(f, "F{n}"),
            Key::Symbol(symbol) => match Name::of_symbol(symbol) {
                Some(name) => write!(f, "{name}"),
                None => write!(f, "{symbol:#x}"),
            },
            Key::Backspace => f.write_str(HERE.backspace),
            Key::ForwardDelete => f.write_str(HERE.forward_delete),
            key => write!(f, "{key:?}"),
        }
    }
}

/// The named keys: for each, its symbol, and the symbol of the keypad's key with the same name.
#[rustfmt::skip]
const SYMBOLS: &[(Key, u32, Option<u32>)] = &[
    (Key::Return, key::Return, Some(key::KP_Enter)), (Key::Tab, key::Tab, Some(key::KP_Tab)),
    (Key::Space, key::space, Some(key::KP_Space)), (Key::Escape, key::Escape, None),
    (Key::Backspace, key::BackSpace, None), (Key::ForwardDelete, key::Delete, Some(key::KP_Delete)),
    (Key::Insert, key::Insert, Some(key::KP_Insert)), (Key::Menu, key::Menu, None),
    (Key::Print, key::Print, None), (Key::Pause, key::Pause, None),
    (Key::ScrollLock, key::Scroll_Lock, None), (Key::Home, key::Home, Some(key::KP_Home)),
    (Key::End, key::End, Some(key::KP_End)), (Key::PageUp, key::Page_Up, Some(key::KP_Page_Up)),
    (Key::PageDown, key::Page_Down, Some(key::KP_Page_Down)), (Key::Up, key::Up, Some(key::KP_Up)),
    (Key::Down, key::Down, Some(key::KP_Down)), (Key::Left, key::Left, Some(key::KP_Left)),
    (Key::Right, key::Right, Some(key::KP_Right)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_of_xkb() {
        let parse = |name| Key::parse(name).unwrap();
        for (name, key) in [
            ("Page_Down", Key::PageDown),
            ("Prior", Key::PageUp),
            ("BackSpace", Key::Backspace),
            ("F13", Key::Function(13)),
            ("Super_L", Key::Symbol(key::Super_L)),
            ("super_l", Key::Symbol(key::Super_L)),
            ("ISO_Level3_Shift", Key::Symbol(key::ISO_Level3_Shift)),
            ("dead_acute", Key::Symbol(key::dead_acute)),
            ("XF86AudioPlay", Key::Symbol(key::XF86_AudioPlay)),
            (
                "xf86audioraisevolume",
                Key::Symbol(key::XF86_AudioRaiseVolume),
            ),
            ("adiaeresis", Key::Char('ä')),
            ("EuroSign", Key::Char('€')),
            ("Greek_ALPHA", Key::Char('α')),
            ("plus", Key::Char('+')),
        ] {
            assert_eq!(parse(name), key, "{name}");
        }
        assert!(Key::parse("XF86AudioPlayy").is_err());
        let play = KeyPress::parse("xf86audioplay", &["Control"]).unwrap();
        assert_eq!(play.to_string(), "Control+XF86AudioPlay");
    }

    #[test]
    fn each_named_key_has_a_symbol() {
        for n in 1..=24 {
            assert_eq!(
                Key::of_symbol(Key::Function(n).symbol().unwrap()),
                Key::Function(n)
            );
        }
        for (key, symbol, _) in SYMBOLS {
            assert_eq!(key.symbol(), Some(*symbol));
        }
    }

    #[test]
    fn the_keypad_has_keys_of_its_own() {
        for (name, symbol) in [
            ("KP_0", key::KP_0),
            ("KP_Enter", key::KP_Enter),
            ("KP_Decimal", key::KP_Decimal),
            ("KP_Delete", key::KP_Delete),
            ("KP_Page_Up", key::KP_Page_Up),
            ("KP_Begin", key::KP_Begin),
        ] {
            let press = KeyPress::parse(name, &[]).unwrap();
            let found = press.keypad_symbol().or(press.key.symbol());
            assert_eq!(found, Some(symbol), "{name}");
        }
        assert_eq!(KeyPress::parse("5", &[]).unwrap().keypad_symbol(), None);
        let five = KeyPress::parse("5", &["NumericPad"]).unwrap();
        assert_eq!(five.keypad_symbol(), Some(key::KP_5));
    }
}
