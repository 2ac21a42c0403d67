//! Kernel timers that signal this process even while it is stopped (SIGSTOP, Ctrl+Z).
#![allow(unsafe_code)]

use std::io;
use std::time::Duration;

use nix::sys::signal::{SigEvent, SigevNotify, Signal};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;

#[derive(Debug)]
pub struct Alarm(Timer);

// SAFETY: the kernel assigns the timer's identifier, which is valid in the whole process.
unsafe impl Send for Alarm {}

impl Alarm {
    /// A timer that continues this process if it is stopped, and does nothing if it runs. Like the
    /// process's own clock, it does not count the time while the machine is suspended.
    ///
    /// # Errors
    ///
    /// If the system has no timer left.
    pub fn wakes() -> io::Result<Self> {
        Self::new(ClockId::CLOCK_MONOTONIC, Signal::SIGCONT)
    }

    /// A timer that kills this process.
    ///
    /// # Errors
    ///
    /// If the system has no timer left.
    pub fn kills() -> io::Result<Self> {
        Self::new(ClockId::CLOCK_BOOTTIME, Signal::SIGKILL)
    }

    fn new(clock: ClockId, signal: Signal) -> io::Result<Self> {
        let si_value = 0;
        let event = SigEvent::new(SigevNotify::SigevSignal { signal, si_value });
        Ok(Self(Timer::new(clock, event)?))
    }

    /// Sets the time until the signal; `None` disarms the timer.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn set(&mut self, after: Option<Duration>) -> io::Result<()> {
        // A time of zero disarms the timer.
        let once = Expiration::OneShot(after.unwrap_or_default().into());
        Ok(self.0.set(once, TimerSetTimeFlags::empty())?)
    }
}
