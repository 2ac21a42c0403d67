//! The state of an action: the changes on the server that must be reverted, and the keyboard.

use deskline_core::{KeyPress, Point};
use deskline_input::{Button, Stroke};
use x11rb::protocol::xkb::BoolCtrl;
use x11rb::protocol::xproto::{Keycode, Keysym, Window};
use xkeysym::key;

use super::idle::Taking;
use super::keymap::{self, Keyboard, Keymap};
use super::will::Will;

/// Keysyms from here on are Unicode characters (X Window System Protocol, appendix A).
const UNICODE: Keysym = 0x0100_0000;

#[derive(Default)]
pub(super) struct Acting {
    /// The locks and latches before the action. `None` while there is no action.
    pub(super) was: Option<ModifierState>,
    /// Whether the action has changed locks or latches.
    pub(super) relocked: bool,
    /// Whether the action has turned Slow and Bounce Keys off.
    pub(super) slow_keys_paused: bool,
    /// The person's mapping of the pointer's buttons: mice may be left-handed.
    pub(super) buttons: Vec<u8>,
    pub(super) keys: Option<Keys>,
    pub(super) will: Option<Will>,
    /// The window that receives the pointer's events, and where its origin was.
    pub(super) reader: Option<(Window, Point)>,
    /// The keys and wheel notches sent since the app last confirmed that it has read everything.
    pub(super) unread: u32,
    pub(super) app: Taking,
}

impl Acting {
    /// The physical button for a logical one.
    pub(super) fn physical(&self, button: Button) -> u8 {
        let logical = match button {
            Button::Left => 1,
            Button::Middle => 2,
            Button::Right => 3,
        };
        let at = self.buttons.iter().position(|mapped| *mapped == logical);
        let physical = at.and_then(|at| u8::try_from(at + 1).ok());
        physical.unwrap_or(logical)
    }
}

/// Latched and locked modifiers, and the keyboard's accessibility features that are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ModifierState {
    pub(super) locked: u8,
    pub(super) latched: u8,
    pub(super) sticky: bool,
    /// Which of Slow Keys and Bounce Keys are on. Both drop key presses.
    pub(super) dropping: BoolCtrl,
}

pub(super) struct Keys {
    pub(super) keyboard: Keyboard,
    pub(super) keymap: Keymap,
    /// The modifier of Num Lock if it is locked while typing, else 0.
    pub(super) num_lock: u8,
    /// Spare codes with the symbols that they are bound to, least recently used first.
    pub(super) spare: Vec<(Keycode, Keysym)>,
    /// Whether the root window's property lists the spare codes as ours.
    pub(super) claimed: bool,
    pub(super) group_locked: bool,
}

impl Keys {
    /// The modifiers to lock while typing: Num Lock as chosen for the action, and Caps Lock if
    /// `caps_lock`.
    pub(super) fn locks(&self, caps_lock: bool) -> u8 {
        self.num_lock | if caps_lock { keymap::LOCK } else { 0 }
    }

    pub(super) fn has_bound(&self) -> bool {
        self.spare.iter().any(|(_, bound)| *bound != 0)
    }

    fn stroke(&self, stroke: keymap::Stroke) -> Stroke<Keycode> {
        Stroke {
            key: stroke.code,
            held: self.keymap.choosers(stroke.modifiers).collect(),
        }
    }

    /// The key for `symbol` on the layout.
    pub(super) fn symbol(&self, symbol: Keysym) -> Option<Stroke<Keycode>> {
        self.keymap.symbol(symbol).map(|stroke| self.stroke(stroke))
    }

    /// The key for `symbol` if it is bound to a spare code.
    pub(super) fn bound(&self, symbol: Keysym) -> Option<Stroke<Keycode>> {
        let slot = self.spare.iter().find(|(_, bound)| *bound == symbol);
        slot.map(|(code, _)| Stroke {
            key: *code,
            held: vec![],
        })
    }

    /// The key for a character on the layout.
    pub(super) fn on_layout(&self, char: char) -> Option<Stroke<Keycode>> {
        let stroke = match char {
            '\n' | '\t' => self.keymap.symbol(symbol(char)),
            _ => self.keymap.char(char),
        };
        stroke.map(|stroke| self.stroke(stroke))
    }

    /// The key for a character, on the layout or bound to a spare code.
    pub(super) fn char(&self, char: char) -> Option<Stroke<Keycode>> {
        self.on_layout(char).or_else(|| self.bound(symbol(char)))
    }

    /// The key of the same name on the keypad, if the press has `NUMERIC_PAD`.
    pub(super) fn on_keypad(&self, press: KeyPress) -> Option<Stroke<Keycode>> {
        self.symbol(press.keypad_symbol()?)
    }

    /// The symbols to bind for the start of `text`, at most one for each spare code.
    pub(super) fn to_bind(&self, text: &[char]) -> Vec<Keysym> {
        let mut missing = vec![];
        for char in text {
            let symbol = symbol(*char);
            if self.on_layout(*char).is_some() || missing.contains(&symbol) {
                continue;
            }
            if missing.len() == self.spare.len() {
                break;
            }
            missing.push(symbol);
        }
        missing
    }
}

/// The symbol for a character that is bound to a spare code.
pub(super) fn symbol(char: char) -> Keysym {
    match char {
        '\n' => key::Return,
        '\t' => key::Tab,
        ' '..='~' | '\u{a0}'..='\u{ff}' => u32::from(char),
        _ => UNICODE | u32::from(char),
    }
}
