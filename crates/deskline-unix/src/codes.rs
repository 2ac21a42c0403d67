//! Codes of keys and mouse buttons (`linux/input-event-codes.h`), as the kernel and Wayland have
//! them.

use deskline_guard::{Event, Role};

/// `KEY_ESC`
pub const ESCAPE: u32 = 1;

/// Control, Shift, Alt and Super, on both sides.
pub const MODIFIERS: [u32; 8] = [29, 97, 42, 54, 56, 100, 125, 126];

/// What a key means to a guard.
pub fn role(code: u32) -> Role {
    match MODIFIERS.iter().position(|other| *other == code) {
        _ if code == ESCAPE => Role::Escape,
        Some(bit) => Role::Modifier(1 << bit),
        None => Role::Other,
    }
}

/// An event of a key or a button, for a guard.
pub fn event(code: u32, down: bool) -> Event {
    let role = role(code);
    Event::Key { code, role, down }
}

/// `BTN_LEFT`
pub const LEFT: u32 = 0x110;

/// `BTN_RIGHT`
pub const RIGHT: u32 = 0x111;

/// `BTN_MIDDLE`
pub const MIDDLE: u32 = 0x112;

/// `BTN_LEFT` to `BTN_TASK`
pub const BUTTONS: std::ops::RangeInclusive<u32> = LEFT..=0x117;
