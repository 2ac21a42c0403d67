use super::*;

#[path = "../table.rs"]
mod table;

use table::{Key, Valve, Why};

const LIMIT: Duration = Duration::from_secs(30);
const SHIFT: u16 = 1;

fn held(now: Instant) -> Machine<u32> {
    let mut machine = Machine::default();
    assert!(machine.begin(7, now));
    machine.take(LIMIT, now);
    machine
}

fn key(code: u32, down: bool) -> Event {
    let role = match code {
        1 => Role::Escape,
        2 => Role::Modifier(SHIFT),
        _ => Role::Other,
    };
    Event::Key { code, role, down }
}

/// The machine alone, with a clock of its own.
struct Bare {
    machine: Machine<u32>,
    now: Instant,
    cancelled: Option<Why>,
}

impl Valve for Bare {
    fn pass(&mut self, time: Duration) {
        self.now += time;
        if self.machine.expire(self.now).is_some() {
            self.cancelled.get_or_insert(Why::Limit);
        }
    }

    fn stroke(&mut self, which: Key, down: bool) {
        let code = [Key::Escape, Key::Shift, Key::A]
            .iter()
            .position(|k| *k == which);
        let code = u32::try_from(code.unwrap()).unwrap() + 1;
        if self.machine.event(key(code, down), self.now).cancel {
            self.cancelled.get_or_insert(Why::Escape);
        }
    }

    fn agent(&mut self, _key: Key) {
        self.machine.sent(1, true);
        self.machine.sent(1, false);
    }

    fn release(&mut self) {
        self.machine.release(self.now);
    }

    fn is_free(&mut self) -> bool {
        !self.machine.event(Event::Other, self.now).drop
    }

    fn cancelled(&mut self) -> Option<Why> {
        self.cancelled
    }
}

#[test]
fn the_rules_alone_pass_the_cases_for_every_guard() {
    table::run(|| {
        let now = Instant::now();
        let mut machine = Machine::default();
        assert!(machine.begin(7, now));
        machine.take(table::LIMIT, now);
        let cancelled = None;
        Bare {
            machine,
            now,
            cancelled,
        }
    });
}

#[test]
fn after_esc_the_devices_stay_locked_for_a_moment() {
    let start = Instant::now();
    let mut machine = held(start);
    assert!(machine.event(key(1, true), start).cancel);
    assert_eq!(machine.left(start), Some(ESCAPED));
    assert!(machine.event(Event::Other, start + ESCAPED / 2).drop);
    assert_eq!(machine.expire(start + ESCAPED), Some(true));
}

#[test]
fn the_limit_counts_from_the_first_grab_and_ends_with_the_release() {
    let start = Instant::now();
    let mut machine = held(start);
    machine.take(LIMIT, start + LIMIT / 2);
    assert_eq!(machine.left(start + LIMIT / 2), Some(LIMIT / 2));
    assert!(!machine.is_over(start + LIMIT / 2) && machine.is_over(start + LIMIT));
    assert_eq!(machine.expire(start + LIMIT / 2), None);
    assert_eq!(machine.expire(start + LIMIT), Some(false));
    assert_eq!(machine.expire(start + LIMIT), None);
    machine.take(LIMIT, start + LIMIT);
    assert!(machine.release(start + LIMIT) && !machine.release(start + LIMIT));
    assert_eq!(machine.left(start), None);
    // A limit beyond the clock's range ends at once.
    machine.take(Duration::MAX, start);
    assert!(machine.is_over(start));
}

#[test]
fn input_passes_after_the_limit_even_if_the_guard_opens_late() {
    let start = Instant::now();
    let mut machine = held(start);
    machine.sent(30, true);
    assert!(machine.event(Event::Other, start + LIMIT).drop);
    assert_eq!(machine.take_ours(), [30]);
    assert!(!machine.event(Event::Other, start + LIMIT + LATE).drop);
}

#[test]
fn esc_right_after_a_link_cancels_the_next_link_if_it_begins_soon() {
    let start = Instant::now();
    let escape = |machine: &mut Machine<u32>, at| {
        machine.release(start);
        machine.end();
        let _ = machine.event(key(1, true), at);
    };
    for (pressed, next, is_cancelled) in [
        (GRACE / 2, VALID / 2, true),
        (GRACE / 2, GRACE + VALID, false),
        (GRACE, VALID / 2, false),
    ] {
        let mut machine = held(start);
        escape(&mut machine, start + pressed);
        assert_eq!(machine.begin(8, start + next), !is_cancelled, "{pressed:?}");
        assert!(machine.begin(9, start + next), "it cancels one link");
    }
}

#[test]
fn esc_counts_after_the_guards_release_until_the_link_is_over() {
    let start = Instant::now();
    let mut machine = held(start);
    assert!(!machine.listens(start), "the devices are taken");
    machine.release(start);
    assert!(machine.listens(start + LIMIT));
    machine.end();
    assert!(machine.listens(start + GRACE / 2) && !machine.listens(start + GRACE));
}

#[test]
fn esc_with_a_modifier_held_before_the_grab_does_not_cancel() {
    let start = Instant::now();
    let mut machine = held(start);
    machine.hold_modifiers(SHIFT);
    assert!(!machine.event(key(1, true), start).cancel);
    let _ = machine.event(key(2, false), start);
    assert!(machine.event(key(1, true), start).cancel);
}

#[test]
fn a_key_release_passes_unless_its_press_was_dropped() {
    let start = Instant::now();
    let mut machine = held(start);
    let drops = |machine: &mut Machine<u32>, code, down| machine.event(key(code, down), start).drop;
    // Shift was down before.
    assert!(!drops(&mut machine, 2, false));
    assert!(drops(&mut machine, 30, true));
    machine.release(start);
    assert!(drops(&mut machine, 30, false), "its press was dropped");
    assert!(!drops(&mut machine, 30, true) && !drops(&mut machine, 30, false));
}

#[test]
fn the_agents_key_stays_down_when_the_person_releases_that_key() {
    let start = Instant::now();
    let mut machine = held(start);
    machine.sent(30, true);
    assert!(machine.event(key(30, false), start).drop);
    machine.sent(30, false);
    assert!(!machine.event(key(30, false), start).drop);
    // After the hold the person's releases pass, even if events were lost.
    machine.sent(30, true);
    machine.release(start);
    assert!(!machine.event(key(30, false), start).drop);
}

#[test]
fn the_first_press_that_reaches_an_app_is_reported() {
    let start = Instant::now();
    let mut machine = held(start);
    machine.watch(true);
    let press = |machine: &mut Machine<u32>| machine.event(key(30, true), start).pressed;
    assert!(!press(&mut machine), "dropped");
    machine.release(start);
    assert!(!machine.event(Event::Other, start).pressed, "a motion");
    assert_eq!(machine.pressed(), Some(false));
    assert!(press(&mut machine) && !press(&mut machine));
    assert_eq!(machine.pressed(), Some(true));
    machine.watch(true);
    assert!(press(&mut machine));
    machine.watch(false);
    assert!(!press(&mut machine));
    assert_eq!(machine.pressed(), None);
}
