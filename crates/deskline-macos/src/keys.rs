//! Maps keys, which are named by function, to virtual key codes of the current layout.

use std::collections::HashMap;

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::{Gap, InputError};

use crate::os::{Layout, LayoutKey, Os};

/// `kVK_Escape`
pub(crate) const ESCAPE: u16 = 53;
/// `kVK_CapsLock`
pub(crate) const CAPS_LOCK: u16 = 57;
/// `kVK_Return`
pub(crate) const RETURN: u16 = 36;
/// `kVK_Tab`
pub(crate) const TAB: u16 = 48;

/// `CGEventFlags` (`CGEventTypes.h`), with the bits for the left keys (`IOLLEvent.h`) that a real
/// keyboard sets too.
pub(crate) mod flags {
    pub(crate) const CAPS_LOCK: u64 = 0x1_0000;
    pub(crate) const SHIFT: u64 = 0x2_0000 | 0x2;
    pub(crate) const CONTROL: u64 = 0x4_0000 | 0x1;
    pub(crate) const OPTION: u64 = 0x8_0000 | 0x20;
    pub(crate) const COMMAND: u64 = 0x10_0000 | 0x8;
    pub(crate) const NUMERIC_PAD: u64 = 0x20_0000;
    pub(crate) const HELP: u64 = 0x40_0000;
    pub(crate) const FUNCTION: u64 = 0x80_0000;
    /// Esc has another meaning with one of these modifiers: Shift, Control, Option, Command.
    pub(crate) const MODIFIERS: u64 = 0x1e_0000;
}

/// What a key event carries: a key code or a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MacKey {
    /// A virtual key code, with the flags that do not come from held modifier keys.
    Code {
        /// `kCGKeyboardEventKeycode`
        code: u16,
        /// `CGEventFlags`
        flags: u64,
    },
    /// A text, with the code and flags of the key that gives it; 0 if no key does.
    Text {
        /// `kCGKeyboardEventKeycode`
        code: u16,
        /// `CGEventFlags`
        flags: u64,
        /// UTF-16 units.
        units: Vec<u16>,
    },
    /// A text that Accessibility inserts, so that no input method sees it.
    Insert(String),
}

impl MacKey {
    pub(crate) fn text(text: &[char], (code, flags): (u16, u64)) -> Self {
        let text: String = text.iter().collect();
        let units = text.encode_utf16().collect();
        Self::Text { code, flags, units }
    }
}

/// Modifiers that are held as keys: the flag, and the virtual key code of the left key.
pub(crate) const HELD: [(Modifiers, u64, u16); 4] = [
    (Modifiers::CONTROL, flags::CONTROL, 59),
    (Modifiers::ALT, flags::OPTION, 58),
    (Modifiers::SHIFT, flags::SHIFT, 56),
    (Modifiers::COMMAND, flags::COMMAND, 55),
];

/// Modifiers that are only flags of a key event.
const COLOURS: [(Modifiers, u64); 4] = [
    (Modifiers::CAPS_LOCK, flags::CAPS_LOCK),
    (Modifiers::NUMERIC_PAD, flags::NUMERIC_PAD),
    (Modifiers::HELP, flags::HELP),
    (Modifiers::FUNCTION, flags::FUNCTION),
];

/// F1 to F20 (`HIToolbox/Events.h`); a Mac's keyboard has no more.
const FUNCTION: [u16; 20] = [
    122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111, 105, 107, 113, 106, 64, 79, 80, 90,
];

/// `NSF1FunctionKey`: the characters of the function keys are consecutive.
const NS_F1: u32 = 0xF704;

/// The characters of the numeric pad, and the virtual key codes of their keys.
const PAD: &str = "0123456789.*+/-=";
const PAD_CODES: [u16; 16] = [
    82, 83, 84, 85, 86, 87, 88, 89, 91, 92, 65, 67, 69, 75, 78, 81,
];

/// `kVK_ANSI_KeypadEnter`
const PAD_ENTER: u16 = 76;

/// XKB's symbols of the keys that an Apple keyboard has too, and the virtual key codes. The keys
/// for playing music are left out, because macOS does not treat them as keys.
const SYMBOLS: [(u32, u16); 16] = [
    (0xffe1, 56), // Shift_L
    (0xffe2, 56), // Shift_R
    (0xffe3, 59), // Control_L
    (0xffe4, 59), // Control_R
    (0xffe5, CAPS_LOCK),
    (0xffe9, 58),      // Alt_L
    (0xffea, 58),      // Alt_R
    (0xfe03, 58),      // ISO_Level3_Shift
    (0xffeb, 55),      // Super_L
    (0xffec, 55),      // Super_R
    (0xff6a, 114),     // Help
    (0xff7f, 71),      // Num_Lock, which is Clear
    (0xff0b, 71),      // Clear
    (0x1008_ff12, 74), // XF86AudioMute
    (0x1008_ff11, 73), // XF86AudioLowerVolume
    (0x1008_ff13, 72), // XF86AudioRaiseVolume
];

/// The key for this press on the current keyboard layout, and the modifiers to hold.
///
/// # Errors
/// [`InputError::NoKey`].
pub(crate) fn find<O: Os>(os: &O, press: KeyPress) -> Result<(MacKey, Modifiers), InputError> {
    let mut modifiers = press.modifiers;
    let mut flags = 0;
    for (modifier, flag) in COLOURS {
        if modifiers.contains(modifier) {
            flags |= flag;
        }
    }
    let on_pad = modifiers.contains(Modifiers::NUMERIC_PAD);
    let code = match press.key {
        Key::Char(c) if on_pad && pad(c).is_some() => pad(c).unwrap_or_default(),
        Key::Return if on_pad => PAD_ENTER,
        Key::Char(c) => {
            let Some((code, shift, option)) = by_layout(os, c, modifiers) else {
                return by_text(c, press);
            };
            modifiers.set(
                Modifiers::SHIFT,
                shift || modifiers.contains(Modifiers::SHIFT),
            );
            modifiers.set(Modifiers::ALT, option || modifiers.contains(Modifiers::ALT));
            code
        }
        Key::Function(n) => {
            let Some(&code) = FUNCTION.get(usize::from(n).wrapping_sub(1)) else {
                let c = char::from_u32(NS_F1 + u32::from(n).saturating_sub(1));
                return by_text(c.unwrap_or(' '), press);
            };
            flags |= flags::FUNCTION;
            code
        }
        Key::Up | Key::Down | Key::Left | Key::Right => {
            flags |= flags::FUNCTION | flags::NUMERIC_PAD;
            named(press.key)
        }
        Key::Home | Key::End | Key::PageUp | Key::PageDown | Key::ForwardDelete => {
            flags |= flags::FUNCTION;
            named(press.key)
        }
        Key::Symbol(symbol) => {
            let found = SYMBOLS.iter().find(|(its, _)| *its == symbol);
            let why = Gap::NoSuchKey;
            found.ok_or(InputError::NoKey { press, why })?.1
        }
        key => named(key),
    };
    Ok((MacKey::Code { code, flags }, modifiers))
}

/// The keys with the same code in every layout (`HIToolbox/Events.h`).
fn named(key: Key) -> u16 {
    match key {
        Key::Return => RETURN,
        Key::Tab => TAB,
        Key::Backspace => 51,
        Key::Escape => ESCAPE,
        Key::ForwardDelete => 117,
        // An Apple keyboard has Help, F13, F14 and F15 where others have Insert, Print, Scroll Lock
        // and Pause.
        Key::Insert => 114,
        Key::Menu => 110,
        Key::Print => 105,
        Key::ScrollLock => 107,
        Key::Pause => 113,
        Key::Home => 115,
        Key::End => 119,
        Key::PageUp => 116,
        Key::PageDown => 121,
        Key::Left => 123,
        Key::Right => 124,
        Key::Down => 125,
        Key::Up => 126,
        Key::Space | Key::Char(_) | Key::Function(_) | Key::Symbol(_) => 49,
    }
}

fn pad(c: char) -> Option<u16> {
    Some(PAD_CODES[PAD.find(c)?])
}

fn is_on_pad(code: u16) -> bool {
    code == PAD_ENTER || PAD_CODES.contains(&code)
}

/// The key that gives this character, and whether it needs Shift and Option. If Command or Control
/// is held, a layout without Latin letters falls back to the layout for shortcuts.
fn by_layout<O: Os>(os: &O, c: char, modifiers: Modifiers) -> Option<(u16, bool, bool)> {
    let shortcut = modifiers.intersects(Modifiers::COMMAND | Modifiers::CONTROL);
    let find = |keys: &[LayoutKey], command: bool| {
        let gives = |key: &&LayoutKey| {
            let mut chars = key.text.chars();
            chars.next() == Some(c) && chars.next().is_none()
        };
        keys.iter()
            .filter(gives)
            // With a shortcut, no key is dead.
            .filter(|key| key.command == command && (shortcut || !key.dead))
            .filter(|key| !is_on_pad(key.code))
            .min_by_key(|key| (key.option, key.shift, key.code))
            .map(|key| (key.code, key.shift, key.option))
    };
    let keys = os.keys(Layout::Current);
    // With Command, the layout "Dvorak – QWERTY ⌘" has QWERTY's keys.
    let command = modifiers.contains(Modifiers::COMMAND);
    let own = command.then(|| find(&keys, true)).flatten();
    own.or_else(|| find(&keys, false)).or_else(|| {
        let ascii = || find(&os.keys(Layout::Ascii), false);
        shortcut.then(ascii).flatten()
    })
}

/// The code and flags of a key for each character that the current layout gives without Option and
/// without dead keys. Web pages take a key with Option for a shortcut, and a dead key would begin a
/// composition.
pub(crate) fn by_character<O: Os>(os: &O) -> HashMap<char, (u16, u64)> {
    let mut found: HashMap<char, (u16, u64)> = HashMap::new();
    for key in os.keys(Layout::Current) {
        let mut chars = key.text.chars();
        let (Some(c), None) = (chars.next(), chars.next()) else {
            continue;
        };
        let flags = if key.shift { flags::SHIFT } else { 0 };
        let new = (key.code, flags);
        if !(key.option || key.command || key.dead || is_on_pad(key.code))
            && found
                .get(&c)
                .is_none_or(|old| (old.1, old.0) > (new.1, new.0))
        {
            found.insert(c, new);
        }
    }
    found
}

/// The event that types a character without a key. Fails with Command, Control or Option.
fn by_text(c: char, press: KeyPress) -> Result<(MacKey, Modifiers), InputError> {
    let held = Modifiers::COMMAND | Modifiers::CONTROL | Modifiers::ALT;
    if press.modifiers.intersects(held) {
        let why = Gap::Layout;
        return Err(InputError::NoKey { press, why });
    }
    Ok((MacKey::text(&[c], (0, 0)), Modifiers::empty()))
}
