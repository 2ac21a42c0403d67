//! Ends everything that runs on a private desktop: every process with the desktop's mark in its
//! environment, and all descendants of these. If the process that runs the desktop is a subreaper,
//! all its descendants count too.
//!
//! A process that does not end by itself is killed. Each process is held by a pidfd before it is
//! looked at, so that no other one with a reused pid is ever signalled.

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

/// How long apps have to end after SIGTERM. After that they are killed.
const GRACE: Duration = Duration::from_secs(1);

/// How long to wait for killed processes to end. They take longer only in uninterruptible sleep.
const KILLED: Duration = Duration::from_millis(500);

/// Whose descendants belong to the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The descendants of the desktop's programs and of marked processes.
    Desktop,
    /// All descendants of this process, which is the subreaper and runs nothing else.
    Process,
}

/// Ends apps first, so that they can still disconnect from the display and the bus. Then ends
/// `children`, the desktop's own programs.
pub(super) fn end(mark: &str, reach: Reach, children: &mut [(&'static str, Child)]) {
    let own = children.iter().map(|(_, child)| child.id().cast_signed());
    let own: HashSet<i32> = own.collect();
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
    // The bus or the accessibility launcher may have started more meanwhile.
    sweep(&apps, Signal::KILL, KILLED, reach);
}

/// Signals all of `targets` and waits until they have ended or `time` is up. Looks again for
/// processes that were started meanwhile.
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
    let fds = processes.iter().map(|(_, p)| PollFd::new(p, PollFlags::IN));
    let left = deadline.saturating_duration_since(Instant::now());
    let _ = wait::any(&mut fds.collect::<Vec<_>>(), Some(left));
}

/// Reaps orphans that were re-parented to this process.
fn reap() {
    while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
}

/// The running processes of the desktop, each with a pidfd, except `own`, the desktop's own
/// programs.
fn of_desktop(mark: &str, reach: Reach, own: &HashSet<i32>) -> Vec<(i32, OwnedFd)> {
    let proc = Path::new("/proc");
    let us = std::process::id().cast_signed();
    let all = process::of_user(proc, rustix::process::getuid().as_raw());
    let parents: HashMap<i32, i32> = all.iter().map(|p| (p.pid, p.parent)).collect();
    let is_marked = |p: &&Process| {
        let environment = process::environment(proc, p.pid);
        environment
            .get(environment::MARK)
            .is_some_and(|m| m == mark)
    };
    let marked = all.iter().filter(|p| !p.ended).filter(is_marked);
    let marked: HashSet<i32> = marked.map(|p| p.pid).collect();
    let root = |pid: i32| {
        marked.contains(&pid) || own.contains(&pid) || (reach == Reach::Process && pid == us)
    };
    let belongs = |p: &Process| {
        // The table was not read at one moment, and may have a cycle. So at most as many parents
        // are followed as there are entries.
        let around = std::iter::successors(Some(p.pid), |pid| parents.get(pid).copied());
        around.take(parents.len()).any(root)
    };
    let is_app = |p: &&Process| !p.ended && p.pid != us && !own.contains(&p.pid) && belongs(p);
    let apps = all.iter().filter(is_app);
    apps.filter_map(|p| hold(proc, p)).collect()
}

/// A pidfd of that very process, if it still runs.
fn hold(proc: &Path, process: &Process) -> Option<(i32, OwnedFd)> {
    let fd = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
    let now = process::read(proc, process.pid);
    let same = now.is_some_and(|now| now.started == process.started && !now.ended);
    same.then_some((process.pid, fd))
}
