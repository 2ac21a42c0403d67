//! The guard: an event tap at the HID level that drops the person's input, passes the events that
//! this program posts, and watches for Esc.
//!
//! The tap runs on its own thread, so that it answers and opens in time, whatever else hangs. It
//! ends with the process, even by SIGKILL: the `WindowServer` removes the taps of a process that
//! has died. The `WindowServer` also disables a tap that does not answer within about a second,
//! which lets the person's input through.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_link::Cancel;
use deskline_link::Reason;
use deskline_link::guard::{Grab, Task};

use crate::keys::{ESCAPE, flags};
use crate::os::{Os, Seen, TAG, Tapped, Verdict, name_of};

/// The state that the tap and the link share.
#[derive(Debug)]
struct State {
    /// When to stop dropping the person's input; `None` while it is not dropped.
    until: Option<Instant>,
    /// The link to cancel when the person presses Esc; `None` if none listens.
    cancel: Option<Cancel>,
    /// Whether the person has pressed a key or a button that reached an app.
    pressed: bool,
    /// The last times at which the system has disabled the tap.
    turned_off: Vec<Instant>,
}

/// If the system disables the tap more often than this in [`TURNS_IN`], it stays disabled: the tap
/// does not work, and the person must not be blocked because of that.
const MOST_TURNS: usize = 2;

const TURNS_IN: Duration = Duration::from_secs(2);

impl State {
    /// The state machine of the guard: decides about one event. `revoked`: Accessibility is not
    /// allowed any more. An enabled tap then blocks all input, Esc included, until it is removed
    /// (cjpais/Handy #1281, yabai #1773).
    fn judge(&mut self, tapped: Tapped, revoked: bool, now: Instant) -> Verdict {
        if self.until.is_some_and(|until| now >= until) {
            self.until = None;
            if let Some(cancel) = &self.cancel {
                cancel.cancel(Reason::Watchdog);
            }
        }
        match tapped.kind {
            Seen::Tick if self.until.is_none() && self.cancel.is_none() => Verdict::Close,
            Seen::Tick | Seen::Disabled if revoked => self.give_up(),
            Seen::Tick => Verdict::Pass,
            Seen::Disabled => {
                let lately = |at: &Instant| now.duration_since(*at) < TURNS_IN;
                self.turned_off.retain(lately);
                self.turned_off.push(now);
                if self.turned_off.len() <= MOST_TURNS {
                    return Verdict::Enable;
                }
                self.give_up()
            }
            Seen::KeyDown { .. } | Seen::ButtonDown | Seen::Input if tapped.tag == TAG => {
                Verdict::Pass
            }
            kind => {
                if let Some(cancel) = self.cancel.as_ref().filter(|_| is_escape(kind)) {
                    cancel.cancel(Reason::Person);
                }
                if self.until.is_some() {
                    return Verdict::Drop;
                }
                self.pressed |= matches!(kind, Seen::KeyDown { .. } | Seen::ButtonDown);
                Verdict::Pass
            }
        }
    }

    /// Removes the tap for good. Without the guard, the person's input could mix with the agent's:
    /// cancels the link.
    fn give_up(&mut self) -> Verdict {
        if let (Some(_), Some(cancel)) = (self.until.take(), &self.cancel) {
            cancel.cancel(Reason::Unguarded);
        }
        Verdict::Close
    }
}

fn is_escape(kind: Seen) -> bool {
    matches!(kind, Seen::KeyDown { code: ESCAPE, flags } if flags & flags::MODIFIERS == 0)
}

pub(crate) struct Guard<O: Os> {
    os: O,
    tap: Option<(O::Tap, Arc<Mutex<State>>)>,
    /// Whether secure input has begun since the grab: then no tap gets keys, not even Esc.
    blinded: bool,
}

impl<O: Os> Guard<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            tap: None,
            blinded: false,
        }
    }

    /// Whether the guard drops the person's input now.
    pub(crate) fn holds(&self) -> bool {
        self.tap.as_ref().is_some_and(|(_, state)| {
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.until.is_some()
        })
    }

    /// Starts to drop the person's input. Does nothing if the guard already does.
    pub(crate) fn grab(&mut self, task: &Task, cancel: &Cancel) -> Grab {
        if self.holds() {
            return Grab::Held;
        }
        if self.os.secure_input() {
            // With secure input the system gives no keys to taps, not even Esc. Terminals with
            // Secure Keyboard Entry turn it off when another app comes to the front.
            let holder = self.os.secure_holder();
            let holder = holder.and_then(|pid| name_of(&self.os, pid));
            let of = holder.map_or_else(String::new, |name| format!(" of {name}"));
            return Grab::NotYet(format!(
                "a password field or Secure Keyboard Entry{of} has the keyboard, and macOS shows \
                 its keys to no guard"
            ));
        }
        let state = Arc::new(Mutex::new(State {
            until: Some(Instant::now() + task.limit),
            cancel: Some(cancel.clone()),
            pressed: false,
            turned_off: Vec::new(),
        }));
        self.blinded = false;
        // Remove an earlier link's tap first.
        self.tap = None;
        let shared = Arc::clone(&state);
        let os = self.os.clone();
        let judge = Box::new(move |tapped: Tapped| {
            let revoked = match tapped.kind {
                Seen::Tick => !os.trusted(),
                // `AXIsProcessTrusted` may still return true.
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
            state.until = None;
        }
    }

    /// Records whether a password field has taken the keyboard. Called after each input.
    pub(crate) fn check(&mut self) {
        self.blinded |= self.holds() && self.os.secure_input();
    }

    /// Why the guard has let input pass since the grab; returned once.
    pub(crate) fn lapse(&mut self) -> Option<String> {
        std::mem::take(&mut self.blinded).then(|| {
            "a password field took the keyboard, and macOS shows its keys to no guard".into()
        })
    }

    /// Whether the person has pressed anything since the guard let their input pass; `None` if no
    /// tap has watched them, or none could.
    pub(crate) fn pressed(&self) -> Option<bool> {
        let (_, state) = self.tap.as_ref().filter(|_| !self.os.secure_input())?;
        Some(state.lock().unwrap_or_else(PoisonError::into_inner).pressed)
    }

    /// Removes the tap.
    pub(crate) fn end(&mut self) {
        self.tap = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> (State, Cancel, Instant) {
        let (cancel, now) = (Cancel::new(), Instant::now());
        let state = State {
            until: Some(now + Duration::from_secs(30)),
            cancel: Some(cancel.clone()),
            pressed: false,
            turned_off: Vec::new(),
        };
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
    fn only_the_persons_esc_without_modifiers_cancels() {
        let (mut state, cancel, now) = held();
        let ours = Tapped {
            kind: ESC,
            tag: TAG,
        };
        assert_eq!(state.judge(ours, false, now), Verdict::Pass);
        for flag in [flags::SHIFT, flags::CONTROL, flags::OPTION, flags::COMMAND] {
            let kind = Seen::KeyDown {
                code: ESCAPE,
                flags: flag,
            };
            assert_eq!(state.judge(persons(kind), false, now), Verdict::Drop);
        }
        assert_eq!(cancel.reason(), None);
        assert_eq!(state.judge(persons(ESC), false, now), Verdict::Drop);
        assert_eq!(cancel.reason(), Some(Reason::Person));
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
    fn a_press_of_the_person_counts_if_it_reaches_an_app() {
        let (mut state, _, now) = held();
        state.judge(persons(Seen::ButtonDown), false, now);
        assert!(!state.pressed, "dropped");
        state.until = None;
        state.judge(persons(Seen::Input), false, now);
        let tag = TAG;
        let kind = Seen::ButtonDown;
        state.judge(Tapped { kind, tag }, false, now);
        assert!(!state.pressed, "a motion, and our own click");
        state.judge(persons(kind), false, now);
        assert!(state.pressed);
    }

    #[test]
    fn after_the_guard_opens_esc_still_cancels_and_reaches_the_app() {
        let (mut state, cancel, now) = held();
        state.until = None;
        assert_eq!(state.judge(persons(Seen::Input), false, now), Verdict::Pass);
        assert_eq!(state.judge(persons(ESC), false, now), Verdict::Pass);
        assert_eq!(cancel.reason(), Some(Reason::Person));
        assert_eq!(state.judge(persons(Seen::Tick), false, now), Verdict::Pass);
        state.cancel = None;
        assert_eq!(state.judge(persons(Seen::Tick), false, now), Verdict::Close);
    }
}
