//! Key names and modifiers, as an agent writes them.

use crate::escape::{is_hostile, short};
use crate::nearest::nearest;

/// A key, named by what it does. Its position depends on the keyboard layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// The key that gives this character; letters in lower case.
    Char(char),
    /// `Return`, `Enter`
    Return,
    /// `Tab`
    Tab,
    /// `Space`
    Space,
    /// `Escape`, `Esc`
    Escape,
    /// `Backspace`, and `Delete` on macOS: deletes to the left.
    Backspace,
    /// `ForwardDelete`, and `Delete` elsewhere: deletes to the right.
    ForwardDelete,
    /// `Insert`
    Insert,
    /// `Menu`: opens the context menu.
    Menu,
    /// `Print`
    Print,
    /// `Pause`
    Pause,
    /// `ScrollLock`
    ScrollLock,
    /// `Home`
    Home,
    /// `End`
    End,
    /// `PageUp`
    PageUp,
    /// `PageDown`
    PageDown,
    /// `Up`, `ArrowUp`
    Up,
    /// `Down`, `ArrowDown`
    Down,
    /// `Left`, `ArrowLeft`
    Left,
    /// `Right`, `ArrowRight`
    Right,
    /// `F1` … `F24`
    Function(u8),
}

bitflags::bitflags! {
    /// Modifiers held while a key is pressed or a button clicked.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct Modifiers: u16 {
        /// `Shift`
        const SHIFT = 1;
        /// `Control`, `Ctrl`
        const CONTROL = 1 << 1;
        /// `Option`, `Opt`, `Alt`
        const ALT = 1 << 2;
        /// `Command`, `Cmd`: the Super or Windows key on other systems.
        const COMMAND = 1 << 3;
        /// `CapsLock`
        const CAPS_LOCK = 1 << 4;
        /// `Function`, `Fn`
        const FUNCTION = 1 << 5;
        /// `NumericPad`, `Numpad`: selects the key of that name on the numeric pad.
        const NUMERIC_PAD = 1 << 6;
        /// `Help`
        const HELP = 1 << 7;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPress {
    pub key: Key,
    pub modifiers: Modifiers,
}

/// This platform's names of modifiers and keys that have several.
const ALT: &str = if cfg!(target_os = "macos") {
    "Option"
} else {
    "Alt"
};
const COMMAND: &str = if cfg!(target_os = "macos") {
    "Command"
} else {
    "Super"
};
const BACKSPACE: &str = if cfg!(target_os = "macos") {
    "Delete"
} else {
    "Backspace"
};
const FORWARD_DELETE: &str = if cfg!(target_os = "macos") {
    "ForwardDelete"
} else {
    "Delete"
};

/// What `Delete` names on this platform.
const DELETE: Key = if cfg!(target_os = "macos") {
    Key::Backspace
} else {
    Key::ForwardDelete
};

/// A name that is no key or modifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No key has this name.
    #[error(
        "unknown key '{name}'; the nearest is '{nearest}'. A key is one character, or Return, \
        Tab, Space, Escape, Backspace, Delete, Insert, Home, End, PageUp, PageDown, Up, Down, \
        Left, Right, Menu, Print, Pause, ScrollLock, F1–F24, or one of the keypad such as KP_0 or \
        KP_Enter; modifiers are given apart"
    )]
    Key {
        /// The name that was given, cut to 40 characters.
        name: String,
        /// The nearest valid name.
        nearest: &'static str,
    },
    /// No modifier has this name.
    #[error(
        "unknown modifier '{name}'; the nearest is '{nearest}'. Modifiers are Shift, Control, \
        {}, {}, CapsLock, Function, NumericPad, Help",
        ALT,
        COMMAND
    )]
    Modifier {
        /// The name that was given, cut to 40 characters.
        name: String,
        /// The nearest valid name.
        nearest: &'static str,
    },
}

/// The names of keys that are longer than one character, without the function keys.
const KEYS: &[(&str, Key)] = &[
    ("Return", Key::Return),
    ("Enter", Key::Return),
    ("Tab", Key::Tab),
    ("Space", Key::Space),
    ("Escape", Key::Escape),
    ("Esc", Key::Escape),
    ("Delete", DELETE),
    ("Backspace", Key::Backspace),
    ("ForwardDelete", Key::ForwardDelete),
    ("Insert", Key::Insert),
    ("Menu", Key::Menu),
    ("Print", Key::Print),
    ("PrintScreen", Key::Print),
    ("Pause", Key::Pause),
    ("ScrollLock", Key::ScrollLock),
    ("Home", Key::Home),
    ("End", Key::End),
    ("PageUp", Key::PageUp),
    ("PageDown", Key::PageDown),
    ("Up", Key::Up),
    ("Down", Key::Down),
    ("Left", Key::Left),
    ("Right", Key::Right),
    ("ArrowUp", Key::Up),
    ("ArrowDown", Key::Down),
    ("ArrowLeft", Key::Left),
    ("ArrowRight", Key::Right),
    ("Plus", Key::Char('+')),
    ("Minus", Key::Char('-')),
    ("Equal", Key::Char('=')),
    ("Comma", Key::Char(',')),
    ("Period", Key::Char('.')),
    ("Slash", Key::Char('/')),
    ("Backslash", Key::Char('\\')),
    ("Semicolon", Key::Char(';')),
    ("Quote", Key::Char('\'')),
    ("Apostrophe", Key::Char('\'')),
    ("Grave", Key::Char('`')),
    ("Backquote", Key::Char('`')),
    ("BracketLeft", Key::Char('[')),
    ("LeftBracket", Key::Char('[')),
    ("BracketRight", Key::Char(']')),
    ("RightBracket", Key::Char(']')),
];

/// All names of modifiers.
const MODIFIERS: &[(&str, Modifiers)] = &[
    ("Shift", Modifiers::SHIFT),
    ("Control", Modifiers::CONTROL),
    ("Ctrl", Modifiers::CONTROL),
    ("Option", Modifiers::ALT),
    ("Opt", Modifiers::ALT),
    ("Alt", Modifiers::ALT),
    ("Command", Modifiers::COMMAND),
    ("Cmd", Modifiers::COMMAND),
    ("Super", Modifiers::COMMAND),
    ("Meta", Modifiers::COMMAND),
    ("Windows", Modifiers::COMMAND),
    ("Win", Modifiers::COMMAND),
    ("CapsLock", Modifiers::CAPS_LOCK),
    ("Function", Modifiers::FUNCTION),
    ("Fn", Modifiers::FUNCTION),
    ("NumericPad", Modifiers::NUMERIC_PAD),
    ("Numpad", Modifiers::NUMERIC_PAD),
    ("Help", Modifiers::HELP),
];

impl Modifiers {
    /// Parses modifiers, ignoring case. An item may be one name or several joined by `+`, so
    /// `["Control", "Shift"]` and `["Control+Shift"]` are the same.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, KeyError> {
        let mut held = Self::empty();
        for name in names.into_iter().flat_map(|item| item.split(['+', ','])) {
            let squeezed = squeeze(name);
            if squeezed.is_empty() {
                continue;
            }
            let found = MODIFIERS
                .iter()
                .find(|(n, _)| n.eq_ignore_ascii_case(&squeezed));
            let &(_, modifier) = found.ok_or_else(|| KeyError::Modifier {
                name: short(name, 40),
                nearest: nearest(&squeezed, MODIFIERS.iter().map(|&(n, _)| n)).unwrap_or("Shift"),
            })?;
            held |= modifier;
        }
        Ok(held)
    }
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
                // A key stands for one character: keep the capital if its lower case has two.
                c if !is_hostile(c) && !c.is_whitespace() => {
                    let mut lower = c.to_lowercase();
                    let first = lower.next().filter(|_| lower.next().is_none());
                    return Ok(Self::Char(first.unwrap_or(c)));
                }
                _ => {}
            }
        }
        let squeezed = squeeze(name);
        if let Some(&(_, key)) = KEYS.iter().find(|(n, _)| n.eq_ignore_ascii_case(&squeezed)) {
            return Ok(key);
        }
        let function = FUNCTION_KEYS
            .iter()
            .position(|n| n.eq_ignore_ascii_case(&squeezed));
        if let Some(n) = function.and_then(|n| u8::try_from(n + 1).ok()) {
            return Ok(Self::Function(n));
        }
        let names = KEYS.iter().map(|&(n, _)| n).chain(FUNCTION_KEYS);
        Err(KeyError::Key {
            name: short(name, 40),
            nearest: nearest(&squeezed, names).unwrap_or("Return"),
        })
    }
}

const FUNCTION_KEYS: [&str; 24] = [
    "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "F13", "F14", "F15",
    "F16", "F17", "F18", "F19", "F20", "F21", "F22", "F23", "F24",
];

impl KeyPress {
    /// Parses the names of a key and its modifiers; see [`Key::parse`] and [`Modifiers::parse`].
    pub fn parse(key: &str, modifiers: &[&str]) -> Result<Self, KeyError> {
        let modifiers = Modifiers::parse(modifiers.iter().copied())?;
        if let Some(key) = on_keypad(key) {
            return Ok(Self {
                key,
                modifiers: modifiers | Modifiers::NUMERIC_PAD,
            });
        }
        Ok(Self {
            key: Key::parse(key)?,
            modifiers,
        })
    }
}

/// The names of the keypad's keys that are no names of other keys, as XKB has them after `KP_`.
const KEYPAD: [(&str, char); 7] = [
    ("Add", '+'),
    ("Subtract", '-'),
    ("Multiply", '*'),
    ("Divide", '/'),
    ("Equal", '='),
    ("Decimal", '.'),
    ("Separator", ','),
];

/// The key of a name such as `KP_Enter`.
fn on_keypad(name: &str) -> Option<Key> {
    let (pad, name) = name.trim().split_at_checked(3)?;
    if !pad.eq_ignore_ascii_case("KP_") {
        return None;
    }
    let symbol = KEYPAD.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
    let digit = || {
        name.chars()
            .next()
            .filter(|c| name.len() == 1 && c.is_ascii_digit())
    };
    match symbol.map(|&(_, c)| c).or_else(digit) {
        Some(c) => Some(Key::Char(c)),
        None if name.eq_ignore_ascii_case("Delete") => Some(Key::ForwardDelete),
        None => Key::parse(name)
            .ok()
            .filter(|key| !matches!(key, Key::Char(_))),
    }
}

/// Removes separators: `page_up`, `Page Up` and `page-up` are all `pageup`.
fn squeeze(name: &str) -> String {
    let chars = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-'));
    // Longer than any name.
    chars.take(64).collect()
}

impl std::fmt::Display for Modifiers {
    /// Writes `Control+Shift`, as this platform names them and [`Modifiers::parse`] reads them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NAMES: [(Modifiers, &str); 8] = [
            (Modifiers::CONTROL, "Control"),
            (Modifiers::ALT, ALT),
            (Modifiers::COMMAND, COMMAND),
            (Modifiers::SHIFT, "Shift"),
            (Modifiers::CAPS_LOCK, "CapsLock"),
            (Modifiers::FUNCTION, "Function"),
            (Modifiers::NUMERIC_PAD, "NumericPad"),
            (Modifiers::HELP, "Help"),
        ];
        let held = NAMES
            .iter()
            .filter(|(modifier, _)| self.contains(*modifier));
        for (i, (_, name)) in held.enumerate() {
            let plus = if i > 0 { "+" } else { "" };
            write!(f, "{plus}{name}")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for KeyPress {
    /// Writes `Control+Shift+S`, as this platform names them and [`KeyPress::parse`] reads them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.modifiers.is_empty() {
            write!(f, "{}+", self.modifiers)?;
        }
        match self.key {
            Key::Char(c) => write!(f, "{}", c.to_uppercase()),
            Key::Function(n) => write!(f, "F{n}"),
            Key::Backspace => f.write_str(BACKSPACE),
            Key::ForwardDelete => f.write_str(FORWARD_DELETE),
            key => write!(f, "{key:?}"),
        }
    }
}
