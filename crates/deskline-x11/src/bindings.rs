//! Key codes that are bound to symbols temporarily.
//!
//! A binding outlives its client. So a property of the root window lists the codes and a window of
//! the client. If that window has gone, the next client that types frees the codes.

use deskline_contract::Result;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Keycode, Keysym, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use super::{Answer as _, During as _, X11};

const WHAT: &str = "binding a key code";

impl X11 {
    /// Binds a key code to this symbol, with and without Shift; 0 frees it.
    pub(super) fn bind_keycode(&self, code: Keycode, symbol: Keysym) -> Result<()> {
        self.connection
            .change_keyboard_mapping(1, code, 2, &[symbol, symbol])
            .sent(WHAT)
    }

    /// Records that this client has bound these codes, and that it may hold something pressed
    /// across requests.
    pub(super) fn claim_keycodes(&self, codes: &[Keycode]) -> Result<()> {
        let mut note = vec![self.own];
        note.extend(codes.iter().map(|code| u32::from(*code)));
        let property = self.atoms._DESKLINE_BOUND_KEYCODES;
        let (mode, kind) = (PropMode::REPLACE, AtomEnum::CARDINAL);
        self.connection
            .change_property32(mode, self.root, property, kind, &note)
            .sent(WHAT)
    }

    pub(super) fn give_keycodes_back(&self) -> Result<()> {
        self.connection
            .delete_property(self.root, self.atoms._DESKLINE_BOUND_KEYCODES)
            .sent(WHAT)
    }

    /// Frees the codes that a client has left bound, and releases the keys that it has left
    /// pressed. Returns whether no other client claims any.
    pub(super) fn reclaim_keycodes(&self) -> Result<bool> {
        let property = self.atoms._DESKLINE_BOUND_KEYCODES;
        let note = self.numbers(self.root, property, AtomEnum::CARDINAL)?;
        let [owner, codes @ ..] = note.as_slice() else {
            return Ok(true);
        };
        // The server reuses ids: our own id in the property may have been an earlier client's.
        let attributes = self.connection.get_window_attributes(*owner);
        if attributes.answer_if_present(WHAT)?.is_some() && *owner != self.own {
            return Ok(false);
        }
        crate::guard::held_keys::release_synthetic(&self.connection)?;
        for code in codes
            .iter()
            .filter_map(|code| Keycode::try_from(*code).ok())
        {
            self.bind_keycode(code, 0)?;
        }
        self.give_keycodes_back()?;
        self.round_trip()?;
        Ok(true)
    }
}
