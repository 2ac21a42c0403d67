//! The keys of modifiers.

use deskline_contract::{InputError, Result};
use deskline_core::Modifiers;
use x11rb::protocol::xproto::{Keycode, Keysym};
use xkeysym::key;

use super::acting::Keys;

/// `XF86Fn`, from the vendor keysyms in `XF86keysym.h`.
const XF86_FN: Keysym = 0x1008_11d0;

/// The key codes that hold these modifiers.
pub(super) fn holding(on: &Keys, modifiers: Modifiers) -> Result<Vec<Keycode>> {
    let mut codes = vec![];
    for (_, symbols, name) in modifiers.keys() {
        let stroke = symbols.iter().find_map(|symbol| on.symbol(*symbol));
        codes.push(stroke.ok_or(InputError::NoModifier(name))?.key);
    }
    // Most keyboards have neither `Fn` nor `Help`.
    for (modifier, symbol) in [(Modifiers::FUNCTION, XF86_FN), (Modifiers::HELP, key::Help)] {
        let stroke = modifiers.contains(modifier).then(|| on.symbol(symbol));
        codes.extend(stroke.flatten().map(|stroke| stroke.key));
    }
    Ok(codes)
}
