//! The rules of every guard: when the person's input is kept from apps, when Esc cancels the link,
//! and when the devices are released even if the link hangs. No I/O and no clock: the time is an
//! argument.
//!
//! Each system has a valve, which tells a [`Machine`] what happens, and does what the machine
//! decides.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::time::{Duration, Instant};

/// How long the link may take after Esc to release the devices. After that the guard releases them,
/// so that the person has them back within 250 ms.
pub(crate) const ESCAPED: Duration = Duration::from_millis(200);

/// A watchdog process waits this much longer than the guard, before it releases the devices in
/// place of a server that is stopped (SIGSTOP).
pub const BEHIND: Duration = Duration::from_millis(40);

/// How long Esc still counts after the devices were released, even if the link has ended.
pub const GRACE: Duration = Duration::from_millis(200);

/// An Esc pressed between links cancels the next link if that link begins within this time.
const VALID: Duration = Duration::from_secs(10);

/// How long after the limit the person's events may still be dropped. At the limit the valve first
/// releases what this program holds down, and then the devices.
const LATE: Duration = Duration::from_millis(500);

/// What a key means to the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Escape,
    /// A modifier, with its bit in the set of held modifiers.
    Modifier(u16),
    /// Any other key, or a button.
    Other,
}

/// An event of the person's devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A key or a button. `code` is any number that tells the key or button from the others.
    Key { code: u32, role: Role, down: bool },
    /// A motion, or the wheel.
    Other,
}

/// What to do about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Verdict {
    /// Whether to keep the event from apps.
    pub drop: bool,
    /// Whether to cancel the link, because the person has pressed Esc.
    pub cancel: bool,
    /// Whether this is the first press since [`Machine::watch`] that reaches an app.
    pub pressed: bool,
}

/// The state of a guard. `L` is the link that Esc and the limit cancel.
#[derive(Debug, Default)]
pub struct Machine<L> {
    link: Option<L>,
    /// When to release the devices even if the link hangs; `None` while they are not taken from the
    /// person.
    until: Option<Instant>,
    /// Whether the person has pressed Esc since the devices were taken.
    escaped: bool,
    released: Option<Instant>,
    /// When the person pressed Esc between links, if no link has begun since.
    unheard: Option<Instant>,
    /// Whether a press has reached an app; `None` if presses are not watched.
    pressed: Option<bool>,
    /// The modifiers that the person holds.
    modifiers: u16,
    /// Keys whose press was dropped. Their key-up is dropped too, even after the devices are
    /// released. The key-up of a key that was down before the grab passes, because apps have seen
    /// its press.
    dropped: Vec<u32>,
    /// Keys that this program holds down. The person's key-up of such a key is dropped, because it
    /// would end this program's press.
    ours: Vec<u32>,
}

impl<L> Machine<L> {
    /// Starts to record whether the person's presses reach an app. `can`: whether the valve sees
    /// the person's presses.
    pub fn watch(&mut self, can: bool) {
        self.pressed = can.then_some(false);
    }

    /// Records a press that reaches an app although the devices are taken.
    pub fn press_passed(&mut self) {
        self.pressed = self.pressed.map(|_| true);
    }

    /// Whether a press has reached an app since [`Self::watch`]; `None` if presses are not watched.
    pub fn pressed(&self) -> Option<bool> {
        self.pressed
    }

    /// From here on Esc cancels this link. Returns `false` if the person has pressed Esc just
    /// before: then the caller has to cancel the link now.
    pub fn begin(&mut self, link: L, now: Instant) -> bool {
        self.link = Some(link);
        let unheard = self.unheard.take();
        unheard.is_none_or(|at| now.saturating_duration_since(at) >= VALID)
    }

    /// Records that the devices are taken from the person. If they were taken already, the first
    /// limit stays.
    pub fn take(&mut self, limit: Duration, now: Instant) {
        if self.until.is_none() {
            // A limit beyond the clock's range ends at once.
            self.until = Some(now.checked_add(limit).unwrap_or(now));
            self.escaped = false;
            self.ours.clear();
        }
    }

    /// Records that the devices are released. Returns whether they were taken.
    pub fn release(&mut self, now: Instant) -> bool {
        let taken = self.until.take().is_some();
        self.released = Some(now).filter(|_| taken).or(self.released);
        taken
    }

    /// Records that the link has ended.
    pub fn end(&mut self) {
        (self.link, self.pressed) = (None, None);
    }

    pub fn link(&self) -> Option<&L> {
        self.link.as_ref()
    }

    pub fn is_held(&self) -> bool {
        self.until.is_some()
    }

    /// Whether Esc counts although the devices are not taken.
    pub fn listens(&self, now: Instant) -> bool {
        let grace = |at: Instant| now.saturating_duration_since(at) < GRACE;
        !self.is_held() && (self.link.is_some() || self.released.is_some_and(grace))
    }

    /// How much longer the person's devices may stay taken. `None` if they are not taken.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        Some(self.until?.saturating_duration_since(now))
    }

    /// Whether the limit of [`Self::take`] has passed.
    pub fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// Once the limit has passed, records that the devices are released. The caller releases them
    /// and cancels the link. `Some(true)`: the person had pressed Esc, so the link is slow, not
    /// hung.
    pub fn expire(&mut self, now: Instant) -> Option<bool> {
        (self.is_over(now) && self.release(now)).then_some(self.escaped)
    }

    /// Sets the modifiers that the person holds, for a valve that asks the system for them.
    pub fn hold_modifiers(&mut self, modifiers: u16) {
        self.modifiers = modifiers;
    }

    /// Records that this program presses or releases a key or a button.
    pub fn sent(&mut self, code: u32, down: bool) {
        self.ours.retain(|other| *other != code);
        if down {
            self.ours.push(code);
        }
    }

    /// Removes and returns the keys that this program holds down.
    pub fn take_ours(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.ours)
    }

    /// Judges an event of the person.
    pub fn event(&mut self, event: Event, now: Instant) -> Verdict {
        let passed = |until| now.saturating_duration_since(until);
        let held = self.until.is_some_and(|until| passed(until) < LATE);
        let Event::Key { code, role, down } = event else {
            return Verdict {
                drop: held,
                ..Verdict::default()
            };
        };
        if let Role::Modifier(bit) = role {
            self.modifiers = self.modifiers & !bit | if down { bit } else { 0 };
        }
        let escape = down && role == Role::Escape && self.modifiers == 0;
        let cancel = escape && self.escape(now);
        let drop = self.drops(code, down, held);
        let pressed = down && !drop && self.pressed == Some(false);
        self.pressed = self.pressed.map(|before| before || pressed);
        Verdict {
            drop,
            cancel,
            pressed,
        }
    }

    /// Records an Esc without modifiers. Returns whether it cancels the link.
    fn escape(&mut self, now: Instant) -> bool {
        if self.link.is_none() {
            self.unheard = Some(now).filter(|_| self.listens(now)).or(self.unheard);
            return false;
        }
        if let Some(until) = &mut self.until {
            *until = (*until).min(now + ESCAPED);
            self.escaped = true;
        }
        true
    }

    fn drops(&mut self, code: u32, down: bool, held: bool) -> bool {
        let before = self.dropped.len();
        self.dropped.retain(|other| *other != code);
        let was_dropped = self.dropped.len() < before;
        if down && held {
            self.dropped.push(code);
        }
        if down {
            held
        } else {
            was_dropped || held && self.ours.contains(&code)
        }
    }
}

#[cfg(test)]
mod tests;
