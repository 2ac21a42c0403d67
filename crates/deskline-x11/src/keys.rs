//! Presses one key, by name, with modifiers.

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_link::{Cancel, Error, Result};
use x11rb::protocol::xproto::{Keycode, Keysym};
use xkeysym::key;

use super::X11;
use super::keymap::Stroke;
use super::text;
use super::typist::{Locks, Typist};

/// `XF86Fn`, from the vendor keysyms in `XF86keysym.h`.
const XF86_FN: Keysym = 0x1008_11d0;

impl X11 {
    /// Presses one key while its modifiers are held.
    ///
    /// `CAPS_LOCK` presses it as if Caps Lock were on. `NUMERIC_PAD` presses the key of the same name on
    /// the keypad, if there is one. `FUNCTION` and `HELP` hold the keys of these names if the keyboard
    /// has them; otherwise they do nothing, as X has no such modifiers. A key that the layout lacks
    /// is bound to a spare key code meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the layout has no key for a modifier, or neither the key nor a spare
    /// code.
    pub fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.watching_root(|x11| {
            x11.check_keyboard(cancel, || "The key was not pressed".to_owned())?;
            let keypad = press.modifiers.contains(Modifiers::NUMERIC_PAD);
            let locks = Locks {
                caps_lock: press.modifiers.contains(Modifiers::CAPS_LOCK),
                // On the keypad, digits and arrows share keys.
                num_lock: keypad.then_some(matches!(press.key, Key::Char(_))),
            };
            let mut typist = Typist::begin(x11, locks)?;
            let stroke = find(&mut typist, press, cancel)?;
            let holding = holding(&typist, press.modifiers)?;
            typist.strike(stroke, &holding)?;
            typist.finish(cancel)
        })
    }

    /// The key codes that hold these modifiers, for a click or a drag.
    pub(super) fn modifier_codes(&mut self, modifiers: Modifiers) -> Result<Vec<Keycode>> {
        if modifiers.is_empty() {
            return Ok(vec![]);
        }
        holding(&Typist::begin(self, Locks::default())?, modifiers)
    }
}

fn find(typist: &mut Typist<'_>, press: KeyPress, cancel: &Cancel) -> Result<Stroke> {
    if press.modifiers.contains(Modifiers::NUMERIC_PAD)
        && let Some(stroke) = on_keypad(press.key).and_then(|symbol| typist.keymap.symbol(symbol))
    {
        return Ok(stroke);
    }
    let symbol = match press.key {
        Key::Char(char) => {
            if let Some(stroke) = typist.keymap.char(char) {
                return Ok(stroke);
            }
            // Ctrl+C on a layout without Latin letters: use the key that has C in another group.
            let shortcut = Modifiers::CONTROL | Modifiers::ALT | Modifiers::COMMAND;
            if press.modifiers.intersects(shortcut)
                && let Some(stroke) = typist.other_group(char)?
            {
                return Ok(stroke);
            }
            text::symbol(char)
        }
        named => symbol_of(named)?,
    };
    if let Some(stroke) = typist.keymap.symbol(symbol) {
        return Ok(stroke);
    }
    typist.bind(&[symbol], cancel)?;
    typist
        .bound(symbol)
        .ok_or_else(|| Error::Input("the key could not be bound to a key code".into()))
}

fn holding(typist: &Typist<'_>, modifiers: Modifiers) -> Result<Vec<Keycode>> {
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
        let found = symbols.iter().find_map(|s| typist.keymap.symbol(*s));
        match found {
            Some(stroke) => codes.push(stroke.code),
            None if required => {
                return Err(Error::Input(format!(
                    "the keyboard layout has no {name} key, so it cannot be held"
                )));
            }
            None => {}
        }
    }
    Ok(codes)
}

fn symbol_of(key: Key) -> Result<Keysym> {
    Ok(match key {
        Key::Char(char) => text::symbol(char),
        Key::Return => key::Return,
        Key::Tab => key::Tab,
        Key::Space => key::space,
        Key::Escape => key::Escape,
        Key::Backspace => key::BackSpace,
        Key::ForwardDelete => key::Delete,
        Key::Home => key::Home,
        Key::End => key::End,
        Key::PageUp => key::Page_Up,
        Key::PageDown => key::Page_Down,
        Key::Up => key::Up,
        Key::Down => key::Down,
        Key::Left => key::Left,
        Key::Right => key::Right,
        Key::Function(n @ 1..=24) => key::F1 + Keysym::from(n) - 1,
        Key::Function(n) => {
            return Err(Error::Input(format!(
                "there is no key F{n}; F1 to F24 exist"
            )));
        }
    })
}

/// The key of the same name on the keypad.
fn on_keypad(key: Key) -> Option<Keysym> {
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
