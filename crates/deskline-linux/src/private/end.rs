//! Ending all that runs on a private desktop.
//!
//! What runs there is what carries its mark in the environment, with all descendants, and the
//! descendants of the process that runs the desktop where that is the subreaper. A process that
//! does not go by itself is killed; a process is held by a pidfd before it is judged, so that a
//! reused pid can never be hit.

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid,
};

use deskline_unix::process::{self, Process};
use deskline_unix::wait;

use crate::session::environment;

/// For apps to end by themselves after SIGTERM. What then still runs is killed.
const GRACE: Duration = Duration::from_secs(1);

/// For killed processes to be gone; longer only in the kernel's uninterruptible sleep.
const KILLED: Duration = Duration::from_millis(500);

/// Whose descendants belong to the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of its programs and of marked processes.
    Desktop,
    /// All of this process's, which is the subreaper and runs nothing else.
    Process,
}

/// Ends everything: apps first, so that they can still say goodbye to display and bus, then
/// `children`, the desktop's own programs.
pub(super) fn end(mark: &str, reach: Reach, children: &mut [(&'static str, Child)]) {
    let own: HashSet<i32> = children
        .iter()
        .map(|(_, child)| child.id().cast_signed())
        .collect();
    let apps = || of_desktop(mark, reach, &own);
    sweep(&apps, Signal::TERM, GRACE, reach);
    sweep(&apps, Signal::KILL, KILLED, reach);
    let proc = Path::new("/proc");
    let programs = || {
        let running = own.iter().filter_map(|&pid| process::read(proc, pid));
        running.filter_map(|p| hold(proc, &p)).collect::<Vec<_>>()
    };
    sweep(&programs, Signal::TERM, GRACE, reach);
    sweep(&programs, Signal::KILL, KILLED, reach);
    for (_, child) in children.iter_mut() {
        drop(child.try_wait());
    }
    // What the bus or the accessibility launcher had started last.
    sweep(&apps, Signal::KILL, KILLED, reach);
}

/// Signals all of `targets`, waits until they have ended or `time` is up, and looks again for
/// those that were started meanwhile.
fn sweep(targets: &dyn Fn() -> Vec<(i32, OwnedFd)>, signal: Signal, time: Duration, reach: Reach) {
    let deadline = Instant::now() + time;
    let mut signalled = HashSet::new();
    loop {
        if reach == Reach::Process {
            reap();
        }
        let targets = targets();
        if targets.is_empty() || Instant::now() >= deadline {
            return;
        }
        for (pid, process) in &targets {
            if signalled.insert(*pid) {
                let _ = pidfd_send_signal(process, signal);
            }
        }
        wait_for_one(&targets, deadline);
    }
}

/// Waits until one of the processes has ended.
fn wait_for_one(processes: &[(i32, OwnedFd)], deadline: Instant) {
    let mut fds: Vec<_> = processes
        .iter()
        .map(|(_, p)| PollFd::new(p, PollFlags::IN))
        .collect();
    let left = deadline.saturating_duration_since(Instant::now());
    let _ = wait::any(&mut fds, Some(left));
}

/// Takes over what the orphans that came to us left behind.
fn reap() {
    while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
}

/// The running processes of the desktop without `own`, its programs, each held.
fn of_desktop(mark: &str, reach: Reach, own: &HashSet<i32>) -> Vec<(i32, OwnedFd)> {
    let proc = Path::new("/proc");
    let us = std::process::id().cast_signed();
    let all = process::of_user(proc, rustix::process::getuid().as_raw());
    let parents: HashMap<i32, i32> = all.iter().map(|p| (p.pid, p.parent)).collect();
    let marked: HashSet<i32> = all
        .iter()
        .filter(|p| !p.ended)
        .filter(|p| {
            process::environment(proc, p.pid)
                .get(environment::MARK)
                .is_some_and(|m| m == mark)
        })
        .map(|p| p.pid)
        .collect();
    let root = |pid: i32| {
        marked.contains(&pid) || own.contains(&pid) || (reach == Reach::Process && pid == us)
    };
    let belongs = |p: &Process| {
        // The table is a snapshot of moving things: never follow it for longer than it is.
        std::iter::successors(Some(p.pid), |pid| parents.get(pid).copied())
            .take(parents.len())
            .any(root)
    };
    all.iter()
        .filter(|p| !p.ended && p.pid != us && !own.contains(&p.pid) && belongs(p))
        .filter_map(|p| hold(proc, p))
        .collect()
}

/// A pidfd of that very process, if it still runs.
fn hold(proc: &Path, process: &Process) -> Option<(i32, OwnedFd)> {
    let fd = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
    let same = process::read(proc, process.pid)
        .is_some_and(|now| now.started == process.started && !now.ended);
    same.then_some((process.pid, fd))
}
