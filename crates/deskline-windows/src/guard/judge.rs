//! Translates the hooks' events into events of the guard's rules, and judges them.

use std::time::Instant;

use deskline_input::guard::{Event, Machine, Role, Verdict};

use crate::input::keys::{self, ESCAPE};

/// Added to the number of a button, so that it differs from the code of every key.
pub(super) const BUTTON: u32 = 1 << 16;

pub(super) fn key(code: u16, down: bool) -> Event {
    let role = match keys::modifier(code) {
        _ if code == ESCAPE => Role::Escape,
        Some(modifier) => Role::Modifier(modifier.bits()),
        None => Role::Other,
    };
    let code = code.into();
    Event::Key { code, role, down }
}

/// An event of a button. `which` only has to differ between buttons.
pub(super) fn button(which: u16, down: bool) -> Event {
    let (code, role) = (BUTTON | u32::from(which), Role::Other);
    Event::Key { code, role, down }
}

/// Judges an event. `ours` says whether this program has sent it.
pub(super) fn judge(machine: &mut Machine<()>, event: Event, ours: bool, now: Instant) -> Verdict {
    match event {
        Event::Key { code, down, .. } if ours => machine.sent(code, down),
        Event::Other if ours => {}
        event => return machine.event(event, now),
    }
    Verdict::default()
}

#[cfg(test)]
#[path = "../../../deskline-guard/table.rs"]
mod table;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::table::{Key, LIMIT, Valve, Why, run};
    use super::*;

    /// The hooks and their timer, with a clock of their own.
    struct Hooks {
        machine: Machine<()>,
        now: Instant,
        cancelled: Option<Why>,
    }

    fn of(which: Key, down: bool) -> Event {
        let code = match which {
            Key::Escape => ESCAPE,
            Key::Shift => 0xa0,
            Key::A => 0x41,
        };
        key(code, down)
    }

    impl Valve for Hooks {
        fn pass(&mut self, time: Duration) {
            self.now += time;
            if self.machine.expire(self.now).is_some() {
                self.cancelled.get_or_insert(Why::Limit);
            }
        }

        fn stroke(&mut self, which: Key, down: bool) {
            if judge(&mut self.machine, of(which, down), false, self.now).cancel {
                self.cancelled.get_or_insert(Why::Escape);
            }
        }

        fn agent(&mut self, which: Key) {
            for down in [true, false] {
                let verdict = judge(&mut self.machine, of(which, down), true, self.now);
                assert_eq!(verdict, Verdict::default(), "our own passes");
            }
        }

        fn release(&mut self) {
            self.machine.release(self.now);
        }

        fn is_free(&mut self) -> bool {
            let [press, motion] = [button(1, true), Event::Other]
                .map(|event| judge(&mut self.machine, event, false, self.now).drop);
            assert_eq!(press, motion);
            !press
        }

        fn cancelled(&mut self) -> Option<Why> {
            self.cancelled
        }
    }

    #[test]
    fn the_hooks_pass_the_cases_for_every_guard() {
        run(|| {
            let (mut machine, now) = (Machine::default(), Instant::now());
            assert!(machine.begin((), now));
            machine.take(LIMIT, now);
            let cancelled = None;
            Hooks {
                machine,
                now,
                cancelled,
            }
        });
    }

    #[test]
    fn mouse_buttons_and_keys_differ_and_a_modifier_counts_on_either_side() {
        let code = |event| match event {
            Event::Key { code, role, .. } => (code, role),
            Event::Other => panic!("no key"),
        };
        assert_ne!(code(button(0x41, true)), code(key(0x41, true)));
        assert_eq!(code(key(0xa0, true)).1, code(key(0xa1, true)).1);
        assert!(matches!(code(key(0xa2, true)).1, Role::Modifier(_)));
    }
}
