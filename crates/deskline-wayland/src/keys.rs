//! The symbols and characters that the person's keys produce in the compositor's keymap.

use std::path::Path;

use deskline_contract::Result;
use deskline_contract::presses::Pressed;
use kbvm::lookup::LookupTable;
use kbvm::state_machine::{Direction, Event, State, StateMachine};
use kbvm::{Components, Keycode};
use wayland_client::protocol::wl_keyboard::{self, WlKeyboard};
use wayland_client::protocol::wl_seat::Capability;

use crate::layout::{self, parse, unreadable};
use crate::wlroots::client::Client;
use crate::wlroots::heard::{Heard, on_event};

/// The keymap, and the modifiers that are held or locked after the key events handled so far.
pub struct Keys {
    machine: StateMachine,
    table: LookupTable,
    state: State,
    parts: Components,
}

impl Keys {
    /// Asks the compositor that listens on this socket for its keymap.
    ///
    /// # Errors
    /// If the compositor does not answer, or its seat has no keymap.
    pub fn of(socket: &Path) -> Result<Self> {
        let mut client = Client::connect(socket)?;
        if !client.has(Capability::Keyboard) {
            return Err(unreadable());
        }
        let handle = client.handle();
        let _keyboard = client.seat.get_keyboard(&handle, ());
        client.wait(|heard| heard.keymap.is_some())?;
        let text = client.heard.keymap.take().unwrap_or_default();
        Self::read(&text).ok_or_else(unreadable)
    }

    /// Reads a keymap in XKB's text form.
    fn read(keymap: &[u8]) -> Option<Self> {
        let builder = parse(keymap)?.to_builder();
        let machine = builder.build_state_machine();
        Some(Self {
            state: machine.create_state(),
            machine,
            table: builder.build_lookup_table(),
            parts: Components::default(),
        })
    }

    /// What pressing this key produces. `None` if the key is released (`down` is `false`), or if it
    /// changes modifiers or locks.
    pub fn stroke(&mut self, code: u32, down: bool) -> Option<Pressed> {
        let code = Keycode::from_evdev(code);
        let way = [Direction::Up, Direction::Down][usize::from(down)];
        let mut events = Vec::new();
        self.machine
            .handle_key(&mut self.state, &mut events, code, way);
        let is_modifier = |event: &Event| {
            matches!(
                event,
                Event::ModsPressed(_) | Event::ModsLocked(_) | Event::GroupLocked(_)
            )
        };
        let changes = events.iter().any(is_modifier);
        for event in events {
            self.parts.apply_event(event);
        }
        let looked = self.table.lookup(self.parts.group, self.parts.mods, code);
        let symbol = looked.into_iter().next()?.keysym();
        let press = || Pressed::key(symbol.name(), symbol.char(), self.parts.mods.0);
        (down && !changes).then(press)
    }
}

on_event!(WlKeyboard, |heard, _, event| {
    if let wl_keyboard::Event::Keymap { fd, size, .. } = event {
        heard.keymap = layout::text(fd, size);
    }
});

#[cfg(test)]
mod tests {
    use deskline_core::Modifiers;

    use super::*;
    use crate::layout::tests::KEYMAP;

    #[test]
    fn a_key_gives_the_character_that_the_held_modifiers_make_of_it() {
        let mut keys = Keys::read(KEYMAP.as_bytes()).unwrap();
        let mut press = |code| keys.stroke(code, true);
        let key = |name: &str, char, held| Some(Pressed::Key(name.to_owned(), char, held));
        let (none, shift) = (Modifiers::empty(), Modifiers::SHIFT);
        assert_eq!(press(21), key("z", Some('z'), none));
        // Shift, which is no press of its own.
        assert_eq!(press(42), None);
        assert_eq!(press(39), key("Odiaeresis", Some('Ö'), shift));
        assert_eq!(keys.stroke(42, false), None);
        // The third level.
        assert_eq!(keys.stroke(100, true), None);
        assert_eq!(keys.stroke(16, true), key("at", Some('@'), none));
        assert_eq!(keys.stroke(100, false), None);
        // Escape is on the key of Caps Lock.
        assert_eq!(keys.stroke(58, true), key("Escape", None, none));
        assert_eq!(keys.stroke(58, false), None);
    }
}
