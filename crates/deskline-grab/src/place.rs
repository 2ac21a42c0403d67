//! Which user the keeper works for, for how long at most, and what ends it if it is stopped.

use std::io;
use std::time::Duration;

use deskline_unix::alarm::Alarm;

use crate::seat::Seats;

/// The program holds the devices for this long at most, whatever its caller orders.
pub const MOST: Duration = Duration::from_secs(30);

/// The kernel kills a process that still holds the devices this long after the limit.
const KILL_DELAY: Duration = Duration::from_secs(1);

/// The bounds of this process.
#[derive(Debug)]
pub(crate) struct Place {
    /// `None`: the caller may read the devices anyway.
    seats: Option<Seats>,
    /// The caller.
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

    /// Called before the devices are grabbed for this long, and after they are released (`None`).
    ///
    /// # Errors
    ///
    /// If nothing would release them while this process is stopped. They are not grabbed then.
    pub(crate) fn holds(&mut self, time: Option<Duration>) -> io::Result<()> {
        self.alarm.set(time.map(|time| time + KILL_DELAY))
    }
}
