//! Decides whether to swallow each event of the hooks. No I/O and no clock: the time is an
//! argument.

use std::time::{Duration, Instant};

use deskline_core::Modifiers;
use deskline_unix::hold::Holding;

use super::Report;
use crate::input::keys::{self, ESCAPE};

/// How long the link may take to release the grab after Esc.
const ESCAPED: Duration = Duration::from_millis(250);

/// How long after the grab's limit the person's input passes at the latest. At the limit the timer
/// first releases what this program holds down, and then the grab.
const LATE: Duration = Duration::from_millis(500);

/// An event of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Key {
        code: u16,
        down: bool,
    },
    /// A mouse button. `which` only has to distinguish it from the others.
    Button {
        which: u16,
        down: bool,
    },
    /// A motion, or the wheel.
    Other,
}

/// A key or a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    Key(u16),
    Button(u16),
}

/// Whether an event is swallowed, and the report to the server.
pub(super) type Verdict = (bool, Option<Report>);

#[derive(Debug, Default)]
pub(super) struct Judge {
    hold: Holding<()>,
    /// Keys and buttons whose press was swallowed: their release is swallowed too, even after the
    /// grab. The release of a key that was down before the grab passes, because the key would
    /// otherwise stay down.
    swallowed: Vec<Switch>,
    /// Keys and buttons that this program holds down during the grab: if the person also held one
    /// of them before the grab, their release of it is swallowed, because it would release this
    /// program's press.
    ours: Vec<Switch>,
    /// The modifiers that the person holds.
    modifiers: Modifiers,
    /// Whether a press that reached an app was reported.
    reported: bool,
}

impl Judge {
    /// Starts watching. `modifiers` are those that the person holds now.
    pub(super) fn watch(&mut self, modifiers: Modifiers) {
        self.modifiers = modifiers;
        self.reported = false;
    }

    pub(super) fn grab(&mut self, limit: Duration, now: Instant) {
        self.ours.clear();
        self.hold.grab((), limit, now);
    }

    pub(super) fn release(&mut self) {
        self.hold.release();
    }

    /// Whether the grab's limit is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.left(now).is_some_and(|left| left.is_zero())
    }

    /// Takes what this program holds down.
    pub(super) fn take_ours(&mut self) -> Vec<Switch> {
        std::mem::take(&mut self.ours)
    }

    /// Releases the grab at its limit.
    pub(super) fn tick(&mut self, now: Instant) -> Option<Report> {
        self.hold.expire(now).map(|_| Report::Limit)
    }

    /// The time until the grab's limit.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        self.hold.left(now)
    }

    /// Judges an event. `ours`: this program has sent it.
    pub(super) fn event(&mut self, event: Event, ours: bool, now: Instant) -> Verdict {
        if ours {
            self.sent(event);
            return (false, None);
        }
        let is_late = now
            .checked_sub(LATE)
            .is_some_and(|before| self.is_over(before));
        let held = self.hold.is_held() && !is_late;
        match event {
            Event::Key { code, down } => {
                if let Some(modifier) = keys::modifier(code) {
                    self.modifiers.set(modifier, down);
                }
                let escapes = code == ESCAPE && down && self.modifiers.is_empty();
                if escapes {
                    self.hold.escape(ESCAPED, now);
                }
                let (swallow, pressed) = self.switch(Switch::Key(code), down, held);
                (
                    swallow,
                    if escapes {
                        Some(Report::Escape)
                    } else {
                        pressed
                    },
                )
            }
            Event::Button { which, down } => self.switch(Switch::Button(which), down, held),
            Event::Other => (held, None),
        }
    }

    fn sent(&mut self, event: Event) {
        let (switch, down) = match event {
            Event::Key { code, down } => (Switch::Key(code), down),
            Event::Button { which, down } => (Switch::Button(which), down),
            Event::Other => return,
        };
        self.ours.retain(|other| *other != switch);
        if down {
            self.ours.push(switch);
        }
    }

    fn switch(&mut self, switch: Switch, down: bool, held: bool) -> Verdict {
        let was = self.swallowed.iter().position(|other| *other == switch);
        match (down, held, was) {
            (true, true, None) => self.swallowed.push(switch),
            // A repeat of a key that is down.
            (true, true, Some(_)) => {}
            (true, false, was) => {
                if let Some(at) = was {
                    self.swallowed.swap_remove(at);
                }
                let new = !std::mem::replace(&mut self.reported, true);
                return (false, new.then_some(Report::Pressed));
            }
            (false, _, Some(at)) => {
                self.swallowed.swap_remove(at);
            }
            (false, true, None) if self.ours.contains(&switch) => {}
            (false, _, None) => return (false, None),
        }
        (true, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);
    const A: u16 = 0x41;
    const CONTROL: u16 = 0xa2;

    fn held() -> (Judge, Instant) {
        let (mut judge, now) = (Judge::default(), Instant::now());
        judge.watch(Modifiers::empty());
        judge.grab(LIMIT, now);
        (judge, now)
    }

    fn key(code: u16, down: bool) -> Event {
        Event::Key { code, down }
    }

    #[test]
    fn the_persons_input_is_swallowed_and_our_own_passes() {
        let (mut judge, now) = held();
        let button = Event::Button {
            which: 1,
            down: true,
        };
        for event in [key(A, true), button, Event::Other] {
            assert_eq!(judge.event(event, true, now), (false, None));
            assert_eq!(judge.event(event, false, now), (true, None));
        }
    }

    #[test]
    fn only_the_persons_esc_without_modifiers_is_reported() {
        let (mut judge, now) = held();
        assert_eq!(judge.event(key(ESCAPE, true), true, now), (false, None));
        judge.event(key(CONTROL, true), false, now);
        assert_eq!(judge.event(key(ESCAPE, true), false, now), (true, None));
        judge.event(key(ESCAPE, false), false, now);
        judge.event(key(CONTROL, false), false, now);
        let escape = (true, Some(Report::Escape));
        assert_eq!(judge.event(key(ESCAPE, true), false, now), escape);
        // A hung link loses the grab shortly after Esc.
        assert_eq!(judge.tick(now + ESCAPED), Some(Report::Limit));
    }

    #[test]
    fn a_modifier_that_was_down_before_counts() {
        let (mut judge, now) = held();
        judge.watch(Modifiers::ALT);
        assert_eq!(judge.event(key(ESCAPE, true), false, now), (true, None));
    }

    #[test]
    fn esc_cancels_after_the_grab_too_and_reaches_the_app() {
        let (mut judge, now) = held();
        judge.release();
        let escape = (false, Some(Report::Escape));
        assert_eq!(judge.event(key(ESCAPE, true), false, now), escape);
    }

    #[test]
    fn the_timer_releases_the_grab_at_its_limit() {
        let (mut judge, now) = held();
        assert_eq!(judge.tick(now + LIMIT / 2), None);
        assert_eq!(judge.left(now + LIMIT / 2), Some(LIMIT / 2));
        assert_eq!(judge.tick(now + LIMIT), Some(Report::Limit));
        assert_eq!(judge.tick(now + LIMIT), None);
        let (mut judge, now) = held();
        assert!(!judge.is_over(now + LIMIT / 2) && judge.is_over(now + LIMIT));
        // The timer is first to release what this program holds down.
        judge.event(key(A, true), true, now);
        let at_limit = judge.event(Event::Other, false, now + LIMIT);
        assert_eq!(at_limit, (true, None));
        assert_eq!(judge.take_ours(), [Switch::Key(A)]);
        let late = judge.event(Event::Other, false, now + LIMIT + LATE);
        assert_eq!(late, (false, None));
    }

    #[test]
    fn releases_pass_unless_their_press_was_swallowed() {
        let (mut judge, now) = held();
        // Shift was down before the grab.
        assert_eq!(judge.event(key(0xa0, false), false, now), (false, None));
        assert!(judge.event(key(A, true), false, now).0);
        judge.release();
        assert!(
            judge.event(key(A, false), false, now).0,
            "its press was swallowed"
        );
        assert!(!judge.event(key(A, true), false, now).0);
        assert!(!judge.event(key(A, false), false, now).0);
    }

    #[test]
    fn a_late_release_does_not_release_what_this_program_holds() {
        let (mut judge, now) = held();
        let button = |down| Event::Button { which: 1, down };
        for [press, release] in [
            [key(CONTROL, true), key(CONTROL, false)],
            [button(true), button(false)],
        ] {
            judge.event(press, true, now);
            assert_eq!(judge.event(release, false, now), (true, None));
            judge.event(release, true, now);
            assert_eq!(judge.event(release, false, now), (false, None));
        }
        // After the grab, the person's releases pass, even if events were lost.
        judge.event(key(A, true), true, now);
        judge.release();
        assert_eq!(judge.event(key(A, false), false, now), (false, None));
    }

    #[test]
    fn presses_that_reach_an_app_are_reported_once() {
        let (mut judge, now) = held();
        assert_eq!(judge.event(key(A, true), false, now).1, None, "swallowed");
        judge.release();
        assert_eq!(
            judge.event(Event::Other, false, now),
            (false, None),
            "a motion"
        );
        let click = |down| Event::Button { which: 1, down };
        assert_eq!(
            judge.event(click(true), true, now),
            (false, None),
            "our own"
        );
        let pressed = (false, Some(Report::Pressed));
        assert_eq!(judge.event(click(true), false, now), pressed);
        assert_eq!(judge.event(click(true), false, now), (false, None));
        judge.watch(Modifiers::empty());
        assert_eq!(judge.event(click(true), false, now), pressed);
    }
}
