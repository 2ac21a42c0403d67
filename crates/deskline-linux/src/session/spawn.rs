//! Starting programs away from our terminal and, where they are ours, tied to our life.
//!
//! The one place of this crate that needs `unsafe`: the standard library has no safe way to call
//! `setsid` in a child.
#![allow(unsafe_code)]

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal, setsid};

/// Gives the program a session of its own, so that Ctrl+C and the hang-up of our terminal do not
/// reach it.
pub(crate) fn own_session(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only `setsid` is called, a bare system call, which is
    // async-signal-safe, allocates nothing and takes no lock.
    unsafe { command.pre_exec(|| Ok(setsid().map(|_| ())?)) }
}

/// As [`own_session`], and the program gets SIGTERM when the *thread* that starts it ends.
pub(crate) fn tied_to_us(command: &mut Command) -> &mut Command {
    // SAFETY: as above; `prctl` too is a bare system call.
    unsafe {
        own_session(command).pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?))
    }
}
