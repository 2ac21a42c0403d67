//! The symbols of named keys and of modifiers.

use deskline_core::{Key, Modifiers};
use deskline_link::{InputError, Result};
use x11rb::protocol::xproto::{Keycode, Keysym};
use xkeysym::key;

use super::typing::{self, Keys};

/// `XF86Fn`, from the vendor keysyms in `XF86keysym.h`.
const XF86_FN: Keysym = 0x1008_11d0;

/// The key codes that hold these modifiers.
pub(super) fn holding(on: &Keys, modifiers: Modifiers) -> Result<Vec<Keycode>> {
    let keys: [(Modifiers, &[Keysym], bool, &str); 6] = [
        (
            Modifiers::SHIFT,
            &[key::Shift_L, key::Shift_R],
            true,
            "Shift",
        ),
        (
            Modifiers::CONTROL,
            &[key::Control_L, key::Control_R],
            true,
            "Control",
        ),
        (
            Modifiers::ALT,
            &[key::Alt_L, key::Alt_R, key::Meta_L],
            true,
            "Alt",
        ),
        (
            Modifiers::COMMAND,
            &[key::Super_L, key::Super_R, key::Hyper_L],
            true,
            "Super (Command)",
        ),
        (Modifiers::FUNCTION, &[XF86_FN], false, "Fn"),
        (Modifiers::HELP, &[key::Help], false, "Help"),
    ];
    let mut codes = vec![];
    for (modifier, symbols, required, name) in keys {
        if !modifiers.contains(modifier) {
            continue;
        }
        let found = symbols.iter().find_map(|s| on.symbol(*s));
        match found {
            Some(stroke) => codes.push(stroke.key),
            None if required => {
                return Err(InputError::NoModifier(name).into());
            }
            None => {}
        }
    }
    Ok(codes)
}

/// The symbol of a key; `None` if there is no such key.
pub(super) fn symbol_of(key: Key) -> Option<Keysym> {
    Some(match key {
        Key::Char(char) => typing::symbol(char),
        Key::Return => key::Return,
        Key::Tab => key::Tab,
        Key::Space => key::space,
        Key::Escape => key::Escape,
        Key::Backspace => key::BackSpace,
        Key::ForwardDelete => key::Delete,
        Key::Insert => key::Insert,
        Key::Menu => key::Menu,
        Key::Print => key::Print,
        Key::Pause => key::Pause,
        Key::ScrollLock => key::Scroll_Lock,
        Key::Home => key::Home,
        Key::End => key::End,
        Key::PageUp => key::Page_Up,
        Key::PageDown => key::Page_Down,
        Key::Up => key::Up,
        Key::Down => key::Down,
        Key::Left => key::Left,
        Key::Right => key::Right,
        Key::Function(n @ 1..=24) => key::F1 + Keysym::from(n) - 1,
        Key::Function(_) => return None,
    })
}

/// The key of the same name on the keypad.
pub(super) fn on_keypad(key: Key) -> Option<Keysym> {
    Some(match key {
        Key::Char(digit @ '0'..='9') => key::KP_0 + u32::from(digit) - u32::from('0'),
        Key::Char('+') => key::KP_Add,
        Key::Char('-') => key::KP_Subtract,
        Key::Char('*') => key::KP_Multiply,
        Key::Char('/') => key::KP_Divide,
        Key::Char('=') => key::KP_Equal,
        Key::Char('.') => key::KP_Decimal,
        Key::Char(',') => key::KP_Separator,
        Key::Return => key::KP_Enter,
        Key::Tab => key::KP_Tab,
        Key::Space => key::KP_Space,
        Key::ForwardDelete => key::KP_Delete,
        Key::Insert => key::KP_Insert,
        Key::Home => key::KP_Home,
        Key::End => key::KP_End,
        Key::PageUp => key::KP_Page_Up,
        Key::PageDown => key::KP_Page_Down,
        Key::Up => key::KP_Up,
        Key::Down => key::KP_Down,
        Key::Left => key::KP_Left,
        Key::Right => key::KP_Right,
        Key::Function(n @ 1..=4) => key::KP_F1 + Keysym::from(n) - 1,
        _ => return None,
    })
}
