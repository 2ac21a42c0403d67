//! Which user the keeper works for, how long it may hold the devices, and what kills it while it is
//! stopped (SIGSTOP).

use std::io;
use std::time::Duration;

use deskline_unix::alarm::Alarm;

use crate::seat::Seats;

/// The program holds the devices for this long at most, whatever its caller orders.
pub const MOST: Duration = Duration::from_secs(30);

/// The kernel kills a process that still holds the devices this long after the limit.
const KILL_DELAY: Duration = Duration::from_secs(1);

/// The limits within which this process may hold the devices.
#[derive(Debug)]
pub(crate) struct Place {
    /// `None` if the caller may read the devices without this process: then no seat is checked.
    seats: Option<Seats>,
    /// The caller's user.
    uid: u32,
    /// The longest time that the devices may be grabbed without a break.
    pub(crate) most: Duration,
    alarm: Alarm,
}

impl Place {
    /// # Errors
    ///
    /// If the system has no timer left.
    pub(crate) fn new(seats: Option<Seats>, uid: u32, most: Duration) -> io::Result<Self> {
        Ok(Self {
            seats,
            uid,
            most,
            alarm: Alarm::kills()?,
        })
    }

    /// Whether the devices may be grabbed and read for the caller now.
    pub(crate) fn allowed(&self) -> bool {
        let seats = self.seats.as_ref();
        seats.is_none_or(|seats| seats.has(self.uid))
    }

    /// Sets the timer that kills this process. Called before the devices are grabbed for `time`,
    /// and with `None` after they are released.
    ///
    /// # Errors
    ///
    /// If the timer cannot be set. The caller must not grab then, because nothing would release the
    /// devices while this process is stopped (SIGSTOP).
    pub(crate) fn holds(&mut self, time: Option<Duration>) -> io::Result<()> {
        self.alarm.set(time.map(|time| time + KILL_DELAY))
    }
}
