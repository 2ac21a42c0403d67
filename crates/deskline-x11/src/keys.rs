//! The keys of modifiers.

use deskline_core::Modifiers;
use deskline_link::{InputError, Result};
use x11rb::protocol::xproto::{Keycode, Keysym};
use xkeysym::key;

use super::acting::Keys;

/// `XF86Fn`, from the vendor keysyms in `XF86keysym.h`.
const XF86_FN: Keysym = 0x1008_11d0;

/// The key codes that hold these modifiers.
pub(super) fn holding(on: &Keys, modifiers: Modifiers) -> Result<Vec<Keycode>> {
    let keys: [(Modifiers, &[Keysym], bool, &str); 7] = [
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
            Modifiers::ALT_GR,
            &[key::ISO_Level3_Shift, key::Mode_switch],
            true,
            "AltGr",
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
