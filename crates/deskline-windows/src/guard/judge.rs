//! Decides about each event of the hooks. No I/O and no clock: the time is an argument.

use std::time::{Duration, Instant};

use deskline_core::Modifiers;
use deskline_unix::hold::Holding;

use super::Report;
use crate::input::keys::{self, ESCAPE};

/// After Esc the link has this long to let the person's input pass.
const ESCAPED: Duration = Duration::from_millis(250);

/// An event that a hook sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Key {
        code: u16,
        down: bool,
    },
    /// A button, by a number of its own.
    Button {
        which: u16,
        down: bool,
    },
    /// A motion, or the wheel.
    Other,
}

/// Something that can be down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Key(u16),
    Button(u16),
}

/// The verdict on an event: whether it is swallowed, and the report to the server.
pub(super) type Verdict = (bool, Option<Report>);

#[derive(Debug, Default)]
pub(super) struct Judge {
    hold: Holding<()>,
    /// What the person has pressed while that was swallowed: its release is swallowed too, also
    /// after the grab. Of what was down before, the release passes, or the key would stay down.
    swallowed: Vec<Switch>,
    /// The modifiers that the person holds.
    modifiers: Modifiers,
    /// Whether a press that reached an app was reported.
    reported: bool,
}

impl Judge {
    /// The link begins to watch. `modifiers`: those that the person holds.
    pub(super) fn watch(&mut self, modifiers: Modifiers) {
        self.modifiers = modifiers;
        self.reported = false;
    }

    pub(super) fn grab(&mut self, limit: Duration, now: Instant) {
        self.hold.grab((), limit, now);
    }

    pub(super) fn release(&mut self) {
        self.hold.release();
    }

    /// Releases the grab if its time is over.
    pub(super) fn tick(&mut self, now: Instant) -> Option<Report> {
        self.hold.expire(now).map(|_| Report::Limit)
    }

    /// How long the input may still be swallowed.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        self.hold.left(now)
    }

    /// An event. `ours`: this program has sent it.
    pub(super) fn event(&mut self, event: Event, ours: bool, now: Instant) -> Verdict {
        let limit = self.tick(now);
        if ours {
            return (false, limit);
        }
        let held = self.hold.is_held();
        let (swallow, report) = match event {
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
        };
        // The limit comes once, and the link ends by it; a press comes again.
        (swallow, limit.or(report))
    }

    fn switch(&mut self, switch: Switch, down: bool, held: bool) -> Verdict {
        let was = self.swallowed.iter().position(|other| *other == switch);
        match (down, held, was) {
            (true, true, None) => self.swallowed.push(switch),
            // A key that repeats.
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
    fn esc_is_reported_but_not_our_own_nor_with_a_modifier() {
        let (mut judge, now) = held();
        assert_eq!(judge.event(key(ESCAPE, true), true, now), (false, None));
        judge.event(key(CONTROL, true), false, now);
        assert_eq!(judge.event(key(ESCAPE, true), false, now), (true, None));
        judge.event(key(ESCAPE, false), false, now);
        judge.event(key(CONTROL, false), false, now);
        let escape = (true, Some(Report::Escape));
        assert_eq!(judge.event(key(ESCAPE, true), false, now), escape);
        // A link that hangs holds for a moment longer.
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
    fn it_opens_by_itself_at_its_limit_on_a_tick_or_an_event() {
        let (mut judge, now) = held();
        assert_eq!(judge.tick(now + LIMIT / 2), None);
        assert_eq!(judge.left(now + LIMIT / 2), Some(LIMIT / 2));
        assert_eq!(judge.tick(now + LIMIT), Some(Report::Limit));
        assert_eq!(judge.tick(now + LIMIT), None);
        let (mut judge, now) = held();
        let late = judge.event(Event::Other, false, now + LIMIT);
        assert_eq!(late, (false, Some(Report::Limit)));
    }

    #[test]
    fn what_was_down_before_is_released_and_what_was_swallowed_is_not() {
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
    fn what_the_person_presses_counts_once_where_it_reaches_an_app() {
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
