//! The keyboard: the effect of keys and text in the front app.

use super::{World, text};
use crate::os::Event;

/// Letters and digits of the US layout by key code (`HIToolbox/Events.h`).
pub(super) const US: [(u16, char); 23] = [
    (0, 'a'),
    (1, 's'),
    (2, 'd'),
    (3, 'f'),
    (5, 'g'),
    (6, 'z'),
    (7, 'x'),
    (8, 'c'),
    (9, 'v'),
    (12, 'q'),
    (13, 'w'),
    (18, '1'),
    (22, '6'),
    (24, '='),
    (26, '7'),
    (35, 'p'),
    (38, 'j'),
    (45, 'n'),
    (46, 'm'),
    (49, ' '),
    (83, '1'),
    (31, 'o'),
    (37, 'l'),
];

fn us(code: u16) -> Option<char> {
    US.iter().find(|(c, _)| *c == code).map(|(_, c)| *c)
}

impl World {
    pub(super) fn key_in(&mut self, event: &Event) {
        if self.not_key == Some(self.front) {
            return;
        }
        match event {
            Event::Text {
                code,
                units,
                down: true,
                ..
            } => {
                let focused = self.apps.get(&self.front).map_or(0, |a| a.focused);
                if self.by_code.contains(&focused) {
                    // A control that reads codes takes the event for one key, whatever its text.
                    // Code 0 is the key A.
                    let key = us(*code).map(String::from);
                    return self.type_in(&key.unwrap_or_default());
                }
                let typed = String::from_utf16(units).expect("whole characters");
                self.type_in(&typed);
            }
            Event::Key {
                code,
                down: true,
                flags,
            } => {
                let shortcut = flags & crate::keys::flags::COMMAND & 0x10_0000 != 0 || *code == 53;
                let front = self.apps.get(&self.front);
                let behaviour = front.and_then(|a| a.shortcuts.get(code).cloned());
                match (shortcut, behaviour, *code) {
                    (true, Some(behaviour), _) => behaviour(self),
                    (true, None, _) => {}
                    (false, _, 36) => self.type_in("\n"),
                    (false, _, code) => {
                        let key = us(code).map(String::from);
                        if let Some(key) = key {
                            self.type_in(&key);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn type_in(&mut self, typed: &str) {
        // For example, "http" becomes "htp" (midscene #2015).
        let changed = typed.replace(|c: char| c.is_ascii_lowercase(), "字");
        let typed = if self.method_on { &changed } else { typed };
        let focused = self.apps.get(&self.front).map_or(0, |a| a.focused);
        let curled = typed.replace('"', "\u{201c}");
        let typed = if self.curls.contains(&focused) {
            &curled
        } else {
            typed
        };
        if self.nodes.contains_key(&focused) {
            let mut new = self.value(focused) + typed;
            if let Some(output) = self.shells.get(&focused).filter(|_| typed == "\n") {
                new += output;
            }
            self.set(focused, "AXValue", text(&new));
        }
    }
}
