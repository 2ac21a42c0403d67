//! Keys by virtual-key code. The codes name functions and Latin letters in every layout.

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::{Gap, InputError};

/// A key in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WinKey {
    /// A key of the keyboard.
    Code {
        /// The virtual-key code (`wVk`).
        code: u16,
        /// Whether it is one of the keys that the first PC keyboard lacked
        /// (`KEYEVENTF_EXTENDEDKEY`).
        extended: bool,
    },
    /// The UTF-16 units of a character that is sent without a key (`KEYEVENTF_UNICODE`).
    Text(Vec<u16>),
}

impl WinKey {
    pub(crate) const fn code(code: u16) -> Self {
        Self::Code {
            code,
            extended: is_extended(code),
        }
    }

    pub(crate) fn text(char: char) -> Self {
        let mut units = [0; 2];
        Self::Text(char.encode_utf16(&mut units).to_vec())
    }
}

pub(crate) const RETURN: u16 = 0x0d;
pub(crate) const TAB: u16 = 0x09;
pub(crate) const ESCAPE: u16 = 0x1b;
const LEFT_SHIFT: u16 = 0xa0;
const LEFT_CONTROL: u16 = 0xa2;
const LEFT_ALT: u16 = 0xa4;
const RIGHT_ALT: u16 = 0xa5;
const LEFT_WINDOWS: u16 = 0x5b;

/// The modifiers, in the order in which to press them.
const HELD: [(Modifiers, u16); 5] = [
    (Modifiers::CONTROL, LEFT_CONTROL),
    (Modifiers::ALT, LEFT_ALT),
    (Modifiers::ALT_GR, RIGHT_ALT),
    (Modifiers::SHIFT, LEFT_SHIFT),
    (Modifiers::COMMAND, LEFT_WINDOWS),
];

/// XKB keysyms and the virtual-key codes of the same keys.
const SYMBOLS: [(u32, u16); 27] = [
    (0xffe1, 0xa0),      // Shift_L
    (0xffe2, 0xa1),      // Shift_R
    (0xffe3, 0xa2),      // Control_L
    (0xffe4, 0xa3),      // Control_R
    (0xffe5, 0x14),      // Caps_Lock
    (0xffe9, 0xa4),      // Alt_L
    (0xffea, 0xa5),      // Alt_R
    (0xfe03, 0xa5),      // ISO_Level3_Shift
    (0xffeb, 0x5b),      // Super_L
    (0xffec, 0x5c),      // Super_R
    (0xff6a, 0x2f),      // Help
    (0xff7f, 0x90),      // Num_Lock
    (0xff0b, 0x0c),      // Clear
    (0xff60, 0x29),      // Select
    (0x1008_ff11, 0xae), // XF86AudioLowerVolume
    (0x1008_ff12, 0xad), // XF86AudioMute
    (0x1008_ff13, 0xaf), // XF86AudioRaiseVolume
    (0x1008_ff14, 0xb3), // XF86AudioPlay
    (0x1008_ff15, 0xb2), // XF86AudioStop
    (0x1008_ff16, 0xb1), // XF86AudioPrev
    (0x1008_ff17, 0xb0), // XF86AudioNext
    (0x1008_ff26, 0xa6), // XF86Back
    (0x1008_ff27, 0xa7), // XF86Forward
    (0x1008_ff29, 0xa8), // XF86Refresh
    (0x1008_ff1b, 0xaa), // XF86Search
    (0x1008_ff18, 0xac), // XF86HomePage
    (0x1008_ff19, 0xb4), // XF86Mail
];

/// The characters on the keys of the numeric pad, and the codes of these keys.
const PAD: &str = "0123456789*+-./";
const PAD_CODES: [u16; 15] = [
    0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6d, 0x6e, 0x6f,
];

/// Whether the key is extended: arrows and the keys above them, the right-hand modifiers, the
/// Windows and menu keys, Num Lock, Print, the pad's division, media keys.
pub(crate) const fn is_extended(code: u16) -> bool {
    matches!(
        code,
        0x21..=0x28 | 0x2c..=0x2e | 0x5b..=0x5d | 0x6f | 0x90 | 0xa3 | 0xa5..=0xb7
    )
}

/// The keyboard's layout: the code for a character, with the Shift, Control and Alt that it needs.
pub(crate) type Layout<'l> = &'l dyn Fn(char) -> Option<(u16, Modifiers)>;

/// The key of this press, and the modifiers to hold.
///
/// # Errors
/// [`InputError::NoKey`].
pub(crate) fn find(press: KeyPress, layout: Layout<'_>) -> Result<(WinKey, Modifiers), InputError> {
    let mut modifiers = press.modifiers;
    let no_key = |why| InputError::NoKey { press, why };
    let on_pad = modifiers.contains(Modifiers::NUMERIC_PAD);
    let pad = |c: char| Some(PAD_CODES[PAD.find(c)?]);
    let code = match press.key {
        Key::Char(c) if on_pad && pad(c).is_some() => pad(c).unwrap_or_default(),
        Key::Char(c) => {
            let letter = c.to_ascii_uppercase();
            let shortcut =
                modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT | Modifiers::COMMAND);
            match layout(c) {
                Some((code, needs)) => {
                    modifiers |= needs;
                    code
                }
                // Letters and digits keep their codes even in layouts that lack these characters.
                None if shortcut && letter.is_ascii_alphanumeric() => letter as u16,
                None if shortcut => return Err(no_key(Gap::Layout)),
                None => return Ok((WinKey::text(c), modifiers & Modifiers::SHIFT)),
            }
        }
        Key::Return if on_pad => {
            let (code, extended) = (RETURN, true);
            return Ok((WinKey::Code { code, extended }, modifiers));
        }
        Key::Function(n @ 1..=24) => 0x6f + u16::from(n),
        Key::Function(_) => return Err(no_key(Gap::NoSuchKey)),
        Key::Symbol(symbol) => {
            let found = SYMBOLS.iter().find(|(its, _)| *its == symbol);
            found.ok_or_else(|| no_key(Gap::NoSuchKey))?.1
        }
        key => named(key),
    };
    if modifiers.contains(Modifiers::CAPS_LOCK)
        && matches!(press.key, Key::Char(c) if c.is_alphabetic())
    {
        modifiers |= Modifiers::SHIFT;
    }
    Ok((WinKey::code(code), modifiers))
}

const fn named(key: Key) -> u16 {
    match key {
        Key::Return => RETURN,
        Key::Tab => TAB,
        Key::Backspace => 0x08,
        Key::Escape => ESCAPE,
        Key::ForwardDelete => 0x2e,
        Key::Insert => 0x2d,
        Key::Menu => 0x5d,
        Key::Print => 0x2c,
        Key::Pause => 0x13,
        Key::ScrollLock => 0x91,
        Key::Home => 0x24,
        Key::End => 0x23,
        Key::PageUp => 0x21,
        Key::PageDown => 0x22,
        Key::Left => 0x25,
        Key::Up => 0x26,
        Key::Right => 0x27,
        Key::Down => 0x28,
        Key::Space | Key::Char(_) | Key::Function(_) | Key::Symbol(_) => 0x20,
    }
}

/// The keys for these modifiers. Windows has only the five in [`HELD`].
pub(crate) fn holding(modifiers: Modifiers) -> Vec<WinKey> {
    let held = HELD
        .iter()
        .filter(|(modifier, _)| modifiers.contains(*modifier));
    held.map(|(_, code)| WinKey::code(*code)).collect()
}

/// The modifier of this key; `None` if it is not a modifier key.
pub(crate) fn modifier(code: u16) -> Option<Modifiers> {
    Some(match code {
        0x10 | 0xa0 | 0xa1 => Modifiers::SHIFT,
        0x11 | 0xa2 | 0xa3 => Modifiers::CONTROL,
        0x12 | 0xa4 | 0xa5 => Modifiers::ALT,
        0x5b | 0x5c => Modifiers::COMMAND,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A German keyboard, in part.
    fn german(c: char) -> Option<(u16, Modifiers)> {
        Some(match c {
            'a'..='z' => (c.to_ascii_uppercase() as u16, Modifiers::empty()),
            'A'..='Z' => (c as u16, Modifiers::SHIFT),
            '@' => (0x51, Modifiers::CONTROL | Modifiers::ALT),
            '/' => (0x37, Modifiers::SHIFT),
            _ => return None,
        })
    }

    fn found(key: &str, modifiers: &[&str]) -> (WinKey, Modifiers) {
        find(KeyPress::parse(key, modifiers).unwrap(), &german).unwrap()
    }

    #[test]
    fn shortcuts_use_the_key_of_the_layout() {
        assert_eq!(
            found("z", &["Control"]),
            (WinKey::code(0x5a), Modifiers::CONTROL)
        );
        let (key, modifiers) = found("/", &["Control"]);
        assert_eq!(key, WinKey::code(0x37));
        assert_eq!(modifiers, Modifiers::CONTROL | Modifiers::SHIFT);
    }

    #[test]
    fn shortcuts_use_latin_letters_that_the_layout_lacks() {
        let greek = |_| None;
        let press = KeyPress::parse("c", &["Control"]).unwrap();
        let (key, modifiers) = find(press, &greek).unwrap();
        assert_eq!((key, modifiers), (WinKey::code(0x43), Modifiers::CONTROL));
        // Without a modifier the character itself is sent.
        let press = KeyPress::parse("c", &[]).unwrap();
        assert_eq!(find(press, &greek).unwrap().0, WinKey::text('c'));
    }

    #[test]
    fn arrow_keys_are_distinguished_from_those_of_the_keypad() {
        let extended = |key: &str, modifiers: &[&str]| match found(key, modifiers).0 {
            WinKey::Code { extended, .. } => extended,
            WinKey::Text(_) => false,
        };
        assert!(extended("Left", &[]) && extended("Delete", &[]) && extended("Home", &[]));
        assert!(!extended("Return", &[]) && extended("Return", &["NumericPad"]));
        assert!(!extended("F5", &[]) && !extended("a", &["Shift"]));
        assert_eq!(found("5", &["NumericPad"]).0, WinKey::code(0x65));
    }

    #[test]
    fn a_key_that_no_keyboard_has_is_refused() {
        for (key, modifiers) in [
            (Key::Function(25), ""),
            (Key::Symbol(0x1234), ""),
            (Key::Char('ю'), "c"),
        ] {
            let modifiers = if modifiers.is_empty() {
                Modifiers::empty()
            } else {
                Modifiers::CONTROL
            };
            let press = KeyPress { key, modifiers };
            assert!(
                matches!(find(press, &german), Err(InputError::NoKey { .. })),
                "{press}"
            );
        }
    }
}
