//! The guard: an event tap at the HID level that drops the person's input, passes the events that
//! this program posts, and watches for Esc.
//!
//! The tap runs on its own thread, so that it answers in time, and lets the person's input through
//! in time, whatever else hangs. It ends with the process, even if the process is killed by
//! SIGKILL: the `WindowServer` removes the taps of a process that has died. The `WindowServer` also
//! disables a tap that does not answer within about a second, which lets the person's input
//! through.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_contract::guard::{Grab, Task};
use deskline_contract::{Cancel, Reason};
use deskline_input::guard::{Event, Machine, Role};

use crate::keys::{ESCAPE, flags};
use crate::os::{Os, Seen, TAG, Tapped, Verdict, name_of};

/// The state that the tap and the link share.
#[derive(Debug, Default)]
struct State {
    machine: Machine<Cancel>,
    /// The last times at which the system has disabled the tap.
    turned_off: Vec<Instant>,
    /// Whether the tap has seen a key that this program has posted.
    sees_keys: bool,
}

/// If the system disables the tap more often than this within [`TURNS_IN`], the guard gives the tap
/// up: a tap that does not work must not block the person.
const MOST_TURNS: usize = 2;

const TURNS_IN: Duration = Duration::from_secs(2);

/// The code for any mouse button. No key has this code.
const BUTTON: u32 = 1 << 16;

impl State {
    fn grabbed(link: &Cancel, limit: Duration, now: Instant) -> Self {
        let mut state = Self::default();
        // The result is always `true`, because a new machine has heard no Esc.
        let _ = state.machine.begin(link.clone(), now);
        state.machine.take(limit, now);
        state.machine.watch(true);
        state
    }

    /// Decides about one event. `revoked` says whether the Accessibility permission was withdrawn:
    /// an enabled tap then blocks all input, Esc included, until the tap is removed (cjpais/Handy
    /// #1281, yabai #1773).
    fn judge(&mut self, tapped: Tapped, revoked: bool, now: Instant) -> Verdict {
        if self.machine.expire(now).is_some() {
            self.cancel(Reason::Watchdog);
        }
        match tapped.kind {
            Seen::Tick | Seen::Disabled if revoked => self.give_up(now),
            Seen::Tick => Verdict::Pass,
            Seen::Disabled => {
                let lately = |at: &Instant| now.duration_since(*at) < TURNS_IN;
                self.turned_off.retain(lately);
                self.turned_off.push(now);
                if self.turned_off.len() <= MOST_TURNS {
                    return Verdict::Enable;
                }
                self.give_up(now)
            }
            Seen::KeyDown { .. } | Seen::ButtonDown | Seen::Input if tapped.tag == TAG => {
                self.sees_keys |= matches!(tapped.kind, Seen::KeyDown { .. });
                Verdict::Pass
            }
            kind => {
                let event = self.event(kind);
                let verdict = self.machine.event(event, now);
                if verdict.cancel {
                    self.cancel(Reason::Person);
                }
                if verdict.drop {
                    return Verdict::Drop;
                }
                Verdict::Pass
            }
        }
    }

    /// Removes the tap for good. Cancels the link if the tap was dropping the person's input:
    /// without the guard, that input could mix with the agent's.
    fn give_up(&mut self, now: Instant) -> Verdict {
        if self.machine.release(now) {
            self.cancel(Reason::Unguarded);
        }
        Verdict::Close
    }

    fn cancel(&self, reason: Reason) {
        if let Some(link) = self.machine.link() {
            link.cancel(reason);
        }
    }

    /// The event in the terms of [`Machine`]. The tap distinguishes neither buttons from each
    /// other, nor releases from motions.
    fn event(&mut self, kind: Seen) -> Event {
        let (code, role) = match kind {
            Seen::KeyDown { code, flags } => {
                let modified = flags & flags::MODIFIERS != 0;
                self.machine.hold_modifiers(modified.into());
                let escape = code == ESCAPE;
                (code.into(), if escape { Role::Escape } else { Role::Other })
            }
            Seen::ButtonDown => (BUTTON, Role::Other),
            _ => return Event::Other,
        };
        let down = true;
        Event::Key { code, role, down }
    }
}

pub(crate) struct Guard<O: Os> {
    os: O,
    /// [`Os::presses`] when the link began.
    presses: Option<i64>,
    tap: Option<(O::Tap, Arc<Mutex<State>>)>,
    /// Whether secure input has begun since the grab: then no tap gets keys, not even Esc.
    blinded: bool,
    /// Whether this program has posted keys since the grab, and whether the tap saw none of them:
    /// to see keys, it needs Input Monitoring (acsandmann/rift #406).
    posted: bool,
    deaf: bool,
}

impl<O: Os> Guard<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            presses: None,
            tap: None,
            blinded: false,
            posted: false,
            deaf: false,
        }
    }

    /// Whether the guard drops the person's input now.
    pub(crate) fn holds(&self) -> bool {
        self.tap.as_ref().is_some_and(|(_, state)| {
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.machine.is_held()
        })
    }

    /// Starts to drop the person's input. Does nothing if the guard already does.
    pub(crate) fn grab(&mut self, task: &Task, cancel: &Cancel) -> Grab {
        if self.holds() {
            return Grab::Held;
        }
        if self.os.secure_input() {
            // With secure input, the system gives no keys to taps, not even Esc. Terminals with
            // Secure Keyboard Entry turn secure input off when another app comes to the front.
            let holder = self.os.secure_holder();
            let holder = holder.and_then(|pid| name_of(&self.os, pid));
            let of = holder.map_or_else(String::new, |name| format!(" of {name}"));
            return Grab::NotYet(format!(
                "a password field or Secure Keyboard Entry{of} has the keyboard, and macOS hides \
                 the keys that are typed there"
            ));
        }
        let state = Arc::new(Mutex::new(State::grabbed(
            cancel,
            task.limit,
            Instant::now(),
        )));
        (self.blinded, self.posted, self.deaf) = (false, false, false);
        // Remove the tap of an earlier link, if there is one.
        self.tap = None;
        let shared = Arc::clone(&state);
        let os = self.os.clone();
        let judge = Box::new(move |tapped: Tapped| {
            let revoked = match tapped.kind {
                Seen::Tick => !os.trusted(),
                // After a revocation, `AXIsProcessTrusted` may still return true.
                Seen::Disabled => !os.trusted() || !os.may_tap(),
                _ => false,
            };
            let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
            state.judge(tapped, revoked, Instant::now())
        });
        match self.os.tap(judge) {
            Ok(tap) => {
                self.tap = Some((tap, state));
                Grab::Held
            }
            Err(why) => Grab::Unable(format!("macOS gave no event tap: {why}")),
        }
    }

    /// Lets the person's input pass. The tap still watches for Esc.
    pub(crate) fn ungrab(&mut self) {
        if let Some((_, state)) = &self.tap {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            self.deaf |= self.posted && !state.sees_keys;
            state.machine.release(Instant::now());
        }
    }

    /// Records whether keys were posted, and whether a password field has taken the keyboard.
    /// Called after each input.
    pub(crate) fn check(&mut self, posted: bool) {
        let holds = self.holds();
        self.posted |= holds && posted;
        self.blinded |= holds && self.os.secure_input();
    }

    /// Why the person's input may have passed the guard since the grab; `None` if nothing suggests
    /// that it has. Returns each reason only once.
    pub(crate) fn lapse(&mut self) -> Option<String> {
        let deaf = std::mem::take(&mut self.deaf);
        if std::mem::take(&mut self.blinded) {
            return Some("a password field took the keyboard: macOS hides what is typed".into());
        }
        deaf.then(|| {
            "without Input Monitoring (Privacy & Security) macOS shows Deskline no keys, not even Esc"
                .into()
        })
    }

    /// Whether a press of the person has reached an app since the grab, or if there is no tap,
    /// since [`Self::watch`]; `None` if that is unknown.
    pub(crate) fn pressed(&self) -> Option<bool> {
        if self.os.secure_input() {
            return None;
        }
        let Some((_, state)) = &self.tap else {
            return Some(self.os.presses() != self.presses?);
        };
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.machine.pressed()
    }

    /// Records how often keys and buttons were pressed so far, for [`Self::pressed`].
    pub(crate) fn watch(&mut self) {
        self.presses = Some(self.os.presses());
    }

    /// Removes the tap.
    pub(crate) fn end(&mut self) {
        (self.tap, self.presses) = (None, None);
    }
}

#[cfg(test)]
#[path = "../../deskline-guard/table.rs"]
mod table;

#[cfg(test)]
mod tests {
    use super::table::{Key, LIMIT, Valve, Why, run};
    use super::*;

    /// The tap and its ticks, with a clock of their own.
    struct Tap {
        state: State,
        cancel: Cancel,
        now: Instant,
        shift: bool,
    }

    impl Tap {
        fn key(&mut self, key: Key, tag: i64) -> Verdict {
            let code = match key {
                Key::Escape => ESCAPE,
                Key::Shift => return self.state.judge(persons(Seen::Input), false, self.now),
                Key::A => 0,
            };
            let flags = if self.shift { flags::SHIFT } else { 0x100 };
            let kind = Seen::KeyDown { code, flags };
            self.state.judge(Tapped { kind, tag }, false, self.now)
        }
    }

    impl Valve for Tap {
        fn pass(&mut self, time: Duration) {
            self.now += time;
        }

        fn stroke(&mut self, key: Key, down: bool) {
            if key == Key::Shift {
                self.shift = down;
            }
            if down {
                self.key(key, 0);
            } else {
                self.state.judge(persons(Seen::Input), false, self.now);
            }
        }

        fn agent(&mut self, key: Key) {
            assert_eq!(self.key(key, TAG), Verdict::Pass);
        }

        fn release(&mut self) {
            self.state.machine.release(self.now);
        }

        fn is_free(&mut self) -> bool {
            self.state.judge(persons(Seen::Input), false, self.now) == Verdict::Pass
        }

        fn cancelled(&mut self) -> Option<Why> {
            self.state.judge(persons(Seen::Tick), false, self.now);
            self.cancel.reason().map(|reason| match reason {
                Reason::Person => Why::Escape,
                Reason::Watchdog => Why::Limit,
                other => panic!("{other:?}"),
            })
        }
    }

    #[test]
    fn the_tap_passes_the_cases_for_every_guard() {
        run(|| {
            let (cancel, now) = (Cancel::new(), Instant::now());
            let state = State::grabbed(&cancel, LIMIT, now);
            let shift = false;
            Tap {
                state,
                cancel,
                now,
                shift,
            }
        });
    }

    fn held() -> (State, Cancel, Instant) {
        let (cancel, now) = (Cancel::new(), Instant::now());
        let state = State::grabbed(&cancel, Duration::from_secs(30), now);
        (state, cancel, now)
    }

    fn persons(kind: Seen) -> Tapped {
        Tapped { kind, tag: 0 }
    }

    const ESC: Seen = Seen::KeyDown {
        code: ESCAPE,
        flags: 0x100,
    };

    #[test]
    fn the_persons_input_is_dropped_and_our_own_passes() {
        let (mut state, cancel, now) = held();
        let key = Seen::KeyDown { code: 0, flags: 0 };
        for kind in [key, Seen::Input] {
            assert_eq!(state.judge(persons(kind), false, now), Verdict::Drop);
            assert_eq!(
                state.judge(Tapped { kind, tag: TAG }, false, now),
                Verdict::Pass
            );
        }
        assert_eq!(cancel.reason(), None);
    }

    #[test]
    fn the_guard_opens_by_itself_at_its_limit_on_a_tick_or_an_event() {
        for kind in [Seen::Tick, Seen::Input] {
            let (mut state, cancel, now) = held();
            let late = now + Duration::from_secs(30);
            assert_eq!(state.judge(persons(kind), false, late), Verdict::Pass);
            assert_eq!(cancel.reason(), Some(Reason::Watchdog));
            assert_eq!(
                state.judge(persons(Seen::Input), false, late),
                Verdict::Pass
            );
        }
    }

    #[test]
    fn a_tap_that_the_system_turns_off_is_turned_on_again_but_not_for_ever() {
        let (mut state, cancel, now) = held();
        let mut disabled = |now| state.judge(persons(Seen::Disabled), false, now);
        for _ in 0..MOST_TURNS {
            assert_eq!(disabled(now), Verdict::Enable);
        }
        // An occasional timeout is no fault.
        let now = now + TURNS_IN;
        for _ in 0..MOST_TURNS {
            assert_eq!(disabled(now), Verdict::Enable);
        }
        assert_eq!(cancel.reason(), None);
        assert_eq!(disabled(now), Verdict::Close);
        assert_eq!(cancel.reason(), Some(Reason::Unguarded));
        assert_eq!(state.judge(persons(Seen::Input), false, now), Verdict::Pass);
    }

    #[test]
    fn a_tap_whose_permission_is_revoked_is_removed_at_once() {
        for kind in [Seen::Tick, Seen::Disabled] {
            let (mut state, cancel, now) = held();
            assert_eq!(state.judge(persons(kind), true, now), Verdict::Close);
            assert_eq!(cancel.reason(), Some(Reason::Unguarded));
        }
    }

    #[test]
    fn a_press_of_the_person_is_noted_only_if_it_reaches_an_app() {
        let (mut state, _, now) = held();
        state.judge(persons(Seen::ButtonDown), false, now);
        let pressed = |state: &State| state.machine.pressed() == Some(true);
        assert!(!pressed(&state), "dropped");
        state.machine.release(now);
        state.judge(persons(Seen::Input), false, now);
        let tag = TAG;
        let kind = Seen::ButtonDown;
        state.judge(Tapped { kind, tag }, false, now);
        assert!(!pressed(&state), "a motion, and our own click");
        state.judge(persons(kind), false, now);
        assert!(pressed(&state));
    }

    #[test]
    fn after_the_guard_opens_esc_still_cancels_and_reaches_the_app() {
        let (mut state, cancel, now) = held();
        state.machine.release(now);
        assert_eq!(state.judge(persons(Seen::Input), false, now), Verdict::Pass);
        assert_eq!(state.judge(persons(ESC), false, now), Verdict::Pass);
        assert_eq!(cancel.reason(), Some(Reason::Person));
        assert_eq!(state.judge(persons(Seen::Tick), false, now), Verdict::Pass);
    }
}
