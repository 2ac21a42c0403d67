//! Starts programs in their own session and, optionally, ties their life to ours.
//!
//! This is the only place in this crate that needs `unsafe`: the standard library has no safe way
//! to call `setsid` in a child.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use crate::wait;

/// Runs a small program to its end and returns its standard output. The program's standard input
/// and standard error are `/dev/null`. Kills the program after `limit`.
///
/// # Errors
///
/// If it cannot be started, fails, or is killed.
pub fn output(command: &mut Command, limit: Duration) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut printed = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        match wait::Until(pipe, deadline).read_to_end(&mut printed) {
            Err(e) if e.kind() != io::ErrorKind::TimedOut => return Err(e),
            _ => {}
        }
    }
    // A program that has closed its output ends soon.
    let left = deadline.saturating_duration_since(Instant::now());
    let ended = wait::until(left, Duration::from_millis(1), || {
        child.try_wait().transpose()
    });
    match ended.transpose()? {
        Some(status) if status.success() => Ok(printed),
        Some(status) => Err(io::Error::other(status.to_string())),
        None => {
            child.kill()?;
            // Reap the child on another thread: the kernel may take a while to end it.
            thread::spawn(move || child.wait());
            Err(io::ErrorKind::TimedOut.into())
        }
    }
}

/// Runs the program in its own session, so that Ctrl+C and the hang-up of our terminal do not reach
/// it.
pub fn own_session(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only `setsid` is called. It is a bare system call:
    // async-signal-safe, without allocation or locks.
    unsafe { command.pre_exec(|| Ok(setsid().map(|_| ())?)) }
}

/// This program's hidden subcommand, for small processes that survive a signal to the server.
pub(crate) const HELPER: &str = "helper";

/// The command for a small process of this program, which takes orders on its standard input.
///
/// # Errors
///
/// If this program's path is unknown.
pub fn helper<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(HELPER).args(arguments).stdin(Stdio::piped());
    apart(&mut command);
    Ok(command)
}

/// Makes the process run in its own session, without our environment, working folder and output.
pub fn apart(command: &mut Command) -> &mut Command {
    command.env_clear().current_dir("/");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    own_session(command)
}

/// This process's standard input, on which a [`helper`] gets its orders. Unbuffered, because
/// polling does not see data in a buffer.
pub fn orders() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Like [`own_session`]. The program also gets SIGTERM when the *thread* that starts it ends.
pub fn tied_to_us(command: &mut Command) -> &mut Command {
    // SAFETY: as in `own_session`. `prctl` is a bare system call too.
    unsafe {
        own_session(command).pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_killed() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let start = Instant::now();
            (
                output(&mut command, Duration::from_millis(300)),
                start.elapsed(),
            )
        };
        assert_eq!(shell("printf words").0.unwrap(), b"words");
        assert!(shell("exit 1").0.is_err());
        for hangs in ["exec sleep 60", "exec >&-; exec sleep 60", "yes"] {
            let (result, took) = shell(hangs);
            assert!(result.is_err(), "{hangs}");
            assert!(took < Duration::from_secs(5), "{hangs}: {took:?}");
        }
    }
}
