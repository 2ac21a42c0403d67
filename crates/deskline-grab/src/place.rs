//! The differences between a keeper in the server and one in a process of its own.

use std::io;
use std::time::Duration;

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

use crate::seat::Seats;

/// The program holds the devices for this long at most, whatever its caller orders.
pub const MOST: Duration = Duration::from_secs(30);

/// The kernel kills a program that still holds the devices this long after the limit.
const KILL_DELAY: Duration = Duration::from_secs(1);

/// Where the keeper runs.
pub trait Place {
    /// Whether the devices may be grabbed and read for the caller now.
    fn allowed(&self) -> bool;

    /// The longest time that the devices may be grabbed without a break.
    fn most(&self) -> Duration;

    /// Called before the devices are grabbed for this long, and after they are released (`None`).
    ///
    /// # Errors
    ///
    /// If nothing would release them while this process is stopped. They are not grabbed then.
    fn holds(&mut self, time: Option<Duration>) -> io::Result<()>;
}

/// A thread of the server, whose user may read the devices anyway.
#[derive(Debug)]
pub struct InServer;

impl Place for InServer {
    fn allowed(&self) -> bool {
        true
    }

    fn most(&self) -> Duration {
        Duration::MAX
    }

    fn holds(&mut self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }
}

/// A process of its own, which may read the devices of the person at the machine.
#[derive(Debug)]
pub struct Apart {
    seats: Seats,
    /// The caller.
    uid: u32,
    most: Duration,
    timer: Timer,
}

impl Apart {
    /// This process, for a caller of this uid. The limit is [`MOST`] except in tests.
    ///
    /// # Errors
    ///
    /// If the system has no timer left.
    pub fn new(seats: Seats, uid: u32, most: Duration) -> io::Result<Self> {
        // A kernel timer: SIGKILL ends a stopped process too.
        let kill = SigevNotify::SigevSignal {
            signal: Signal::SIGKILL,
            si_value: 0,
        };
        Ok(Self {
            seats,
            uid,
            most,
            timer: Timer::new(ClockId::CLOCK_BOOTTIME, SigEvent::new(kill))?,
        })
    }
}

impl Place for Apart {
    fn allowed(&self) -> bool {
        self.seats.has(self.uid)
    }

    fn most(&self) -> Duration {
        self.most
    }

    fn holds(&mut self, time: Option<Duration>) -> io::Result<()> {
        // A time of zero disarms it.
        let after = time.map_or(Duration::ZERO, |time| time + KILL_DELAY);
        let once = Expiration::OneShot(after.into());
        Ok(self.timer.set(once, TimerSetTimeFlags::empty())?)
    }
}
