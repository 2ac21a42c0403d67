//! The rules of every guard: when the person's input is kept from apps, when Esc cancels the link,
//! and when the devices are released whatever hangs. No I/O and no clock: the time is an argument.
//!
//! Each system has a valve that tells a [`Machine`] what happens and does what it decides.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::time::{Duration, Instant};

/// How long the link may take after Esc to release the devices. Then the guard releases them, so
/// that the person has them back within 250 ms.
pub(crate) const ESCAPED: Duration = Duration::from_millis(200);

/// How much longer a process waits that releases the devices in place of a server that is stopped.
pub const BEHIND: Duration = Duration::from_millis(40);

/// How long after the release of the devices Esc still counts, even if the link has ended.
pub const GRACE: Duration = Duration::from_millis(200);

/// Such an Esc cancels the next link if that link begins within this time.
const VALID: Duration = Duration::from_secs(10);

/// How long after the limit the person's events pass at the latest. At the limit the valve first
/// releases what this program holds down, and then the devices.
const LATE: Duration = Duration::from_millis(500);

/// What a key does in the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Escape,
    /// A modifier, as a bit.
    Modifier(u16),
    /// Any other key, or a button.
    Other,
}

/// An event of the person's devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A key or a button. `code` only has to distinguish it from the others.
    Key { code: u32, role: Role, down: bool },
    /// A motion, or the wheel.
    Other,
}

/// What to do about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Verdict {
    /// Keep the event from apps.
    pub drop: bool,
    /// Cancel the link: the person has pressed Esc.
    pub cancel: bool,
    /// The first press since [`Machine::watch`] that reaches an app.
    pub pressed: bool,
}

/// The state of a guard. `L` is the link that Esc and the limit cancel.
#[derive(Debug, Default)]
pub struct Machine<L> {
    link: Option<L>,
    /// When the devices are released whatever hangs; `None` while they are not taken.
    until: Option<Instant>,
    /// Whether the person has pressed Esc since they were taken.
    escaped: bool,
    released: Option<Instant>,
    /// An Esc that no link has heard.
    unheard: Option<Instant>,
    /// Whether a press has reached an app; `None` if that is not watched.
    pressed: Option<bool>,
    /// The modifiers that the person holds.
    modifiers: u16,
    /// Keys whose press was dropped. Their release is dropped too, even after the release of the
    /// devices. The release of a key that was down before passes, as the key would stay down.
    dropped: Vec<u32>,
    /// Keys that this program holds down: the person's release of one of them is dropped, because
    /// it would release this program's press.
    ours: Vec<u32>,
}

impl<L> Machine<L> {
    /// Starts to record whether the person's presses reach an app.
    /// `can`: whether the valve sees them.
    pub fn watch(&mut self, can: bool) {
        self.pressed = can.then_some(false);
    }

    /// Records a press that reaches an app although the devices are taken.
    pub fn press_passed(&mut self) {
        self.pressed = self.pressed.map(|_| true);
    }

    /// Whether one has; `None` if that is not watched.
    pub fn pressed(&self) -> Option<bool> {
        self.pressed
    }

    /// From here on Esc cancels this link. `false`: the person has pressed Esc just before, so the
    /// link is to be cancelled now.
    pub fn begin(&mut self, link: L, now: Instant) -> bool {
        self.link = Some(link);
        let unheard = self.unheard.take();
        unheard.is_none_or(|at| now.saturating_duration_since(at) >= VALID)
    }

    /// Records that the devices are taken. If they were already, the limit counts from then.
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

    /// How long the devices may still be taken.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        Some(self.until?.saturating_duration_since(now))
    }

    /// Whether that time is over.
    pub fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// At the end of that time: records that the devices are released. The caller releases them and
    /// cancels the link. `Some(true)`: the person had pressed Esc, so the link is slow, not hung.
    pub fn expire(&mut self, now: Instant) -> Option<bool> {
        (self.is_over(now) && self.release(now)).then_some(self.escaped)
    }

    /// Records the modifiers that the person holds, where events report them.
    pub fn hold_modifiers(&mut self, modifiers: u16) {
        self.modifiers = modifiers;
    }

    /// Records what this program presses or releases.
    pub fn sent(&mut self, code: u32, down: bool) {
        self.ours.retain(|other| *other != code);
        if down {
            self.ours.push(code);
        }
    }

    /// Takes what this program holds down.
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

    /// Esc without modifiers: whether it cancels the link.
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
