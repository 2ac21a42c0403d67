//! How long a guard holds the person's devices: until it is released, until its limit, or until
//! shortly after Esc. No I/O and no clock: the time is an argument.

use std::time::{Duration, Instant};

/// A grab of the person's devices for `link`, if there is one.
#[derive(Debug)]
pub struct Holding<L>(Option<Hold<L>>);

#[derive(Debug)]
struct Hold<L> {
    link: L,
    /// When the devices are released whatever hangs.
    until: Instant,
    escaped: bool,
}

/// A grab whose time is over.
#[derive(Debug, PartialEq, Eq)]
pub struct Expired<L> {
    pub link: L,
    /// Whether the person had pressed Esc: then the link is slow and not hung.
    pub escaped: bool,
}

impl<L> Default for Holding<L> {
    fn default() -> Self {
        Self(None)
    }
}

impl<L> Holding<L> {
    /// Records that the devices have just been grabbed. Does nothing if they were grabbed already:
    /// the limit counts from the first grab.
    pub fn grab(&mut self, link: L, limit: Duration, now: Instant) {
        self.0.get_or_insert(Hold {
            link,
            // A limit beyond the clock's range ends the hold at once.
            until: now.checked_add(limit).unwrap_or(now),
            escaped: false,
        });
    }

    /// The link that the devices are grabbed for.
    pub fn link(&self) -> Option<&L> {
        self.0.as_ref().map(|hold| &hold.link)
    }

    pub fn link_mut(&mut self) -> Option<&mut L> {
        self.0.as_mut().map(|hold| &mut hold.link)
    }

    pub fn is_held(&self) -> bool {
        self.0.is_some()
    }

    /// Records that the person has pressed Esc: from now on the link has this long to release the
    /// devices. Returns the link.
    pub fn escape(&mut self, within: Duration, now: Instant) -> Option<&L> {
        let hold = self.0.as_mut()?;
        hold.escaped = true;
        hold.until = hold.until.min(now + within);
        Some(&hold.link)
    }

    /// Records that the devices are released.
    pub fn release(&mut self) -> Option<L> {
        Some(self.0.take()?.link)
    }

    /// How long they may still be grabbed.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let hold = self.0.as_ref()?;
        Some(hold.until.saturating_duration_since(now))
    }

    /// The grab, if its time is over. The caller has to release the devices now.
    pub fn expire(&mut self, now: Instant) -> Option<Expired<L>> {
        let hold = self.0.take_if(|hold| now >= hold.until)?;
        Some(Expired {
            link: hold.link,
            escaped: hold.escaped,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);
    const SOON: Duration = Duration::from_millis(500);
    const SECOND: Duration = Duration::from_secs(1);

    fn held(now: Instant) -> Holding<u32> {
        let mut holding = Holding::default();
        holding.grab(7, LIMIT, now);
        holding
    }

    #[test]
    fn the_limit_counts_from_the_grab_and_asking_again_does_not_lengthen_it() {
        let start = Instant::now();
        let mut holding = held(start);
        holding.grab(8, LIMIT, start + 20 * SECOND);
        assert_eq!(holding.left(start + 20 * SECOND), Some(10 * SECOND));
        assert_eq!(holding.expire(start + 29 * SECOND), None);
        let (link, escaped) = (7, false);
        let expired = Expired { link, escaped };
        assert_eq!(holding.expire(start + LIMIT), Some(expired));
        assert!(!holding.is_held() && holding.left(start).is_none());
    }

    #[test]
    fn a_grab_after_a_release_has_its_own_limit() {
        let start = Instant::now();
        let mut holding = held(start);
        assert_eq!(holding.release(), Some(7));
        assert_eq!(holding.expire(start + LIMIT), None);
        holding.grab(8, LIMIT, start + 20 * SECOND);
        assert_eq!(holding.expire(start + 49 * SECOND), None);
        assert!(holding.expire(start + 50 * SECOND).is_some());
    }

    #[test]
    fn after_esc_a_link_that_hangs_holds_the_devices_for_a_moment() {
        let start = Instant::now();
        let mut holding = held(start);
        assert_eq!(holding.escape(SOON, start + SECOND), Some(&7));
        assert_eq!(holding.left(start + SECOND), Some(SOON));
        // A second Esc does not give the link more time.
        holding.escape(SOON, start + SECOND + SOON / 2);
        let (link, escaped) = (7, true);
        let expired = Expired { link, escaped };
        assert_eq!(holding.expire(start + SECOND + SOON), Some(expired));
    }

    #[test]
    fn esc_shortly_before_the_limit_does_not_lengthen_it() {
        let start = Instant::now();
        let mut holding = held(start);
        let late = start + 29 * SECOND + SOON + SOON / 2;
        holding.escape(SOON, late);
        assert!(holding.expire(start + LIMIT).is_some());
        assert_eq!(holding.escape(SOON, late), None);
    }
}
