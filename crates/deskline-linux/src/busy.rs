//! Whether an app is computing: the time that its processes ran, or waited to run.
//!
//! A renderer that is about to show the effect of a click has not told its browser yet, and the
//! browser answers as if nothing were going on. What it cannot hide is that it runs.

use std::fs;
use std::time::{Duration, Instant};

/// An app that ran for this part of the time is computing.
const SHARE: u32 = 4;

/// The most processes of one app that are looked at.
const MOST: usize = 64;

/// The time that one app's main threads have run.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    last: Option<(u32, Instant, Duration)>,
}

impl Busy {
    /// Whether the app ran for a good part of the time since it was last asked about.
    pub(crate) fn since_last(&mut self, pid: u32) -> bool {
        let (now, ran) = (Instant::now(), ran(pid));
        let before = self.last.replace((pid, now, ran));
        let Some((_, at, before)) = before.filter(|(was, ..)| *was == pid) else {
            return false;
        };
        ran.saturating_sub(before) > (now - at) / SHARE
    }
}

/// How long the main threads of a process and of all that it started have run or waited for a
/// processor.
fn ran(pid: u32) -> Duration {
    let mut family = vec![pid];
    let mut at = 0;
    let mut sum = 0;
    while let Some(&pid) = family.get(at).filter(|_| at < MOST) {
        at += 1;
        // Kernel documentation, "Scheduler Statistics": ns on the processor, ns waiting for it.
        let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        sum += stat
            .split_whitespace()
            .take(2)
            .filter_map(|n| n.parse::<u64>().ok())
            .sum::<u64>();
        // A child is listed with the thread that started it.
        let threads = fs::read_dir(format!("/proc/{pid}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace();
            family.extend(children.filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    Duration::from_nanos(sum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;

    #[test]
    fn a_process_that_computes_is_busy_and_one_that_sleeps_is_not() {
        let pid = std::process::id();
        // The child is counted with the process that started it.
        let mut busy = Busy::default();
        assert!(!busy.since_last(pid));
        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("a shell");
        let until = Instant::now() + Duration::from_millis(300);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        let computing = busy.since_last(pid);
        // Ended before anything is judged: it would outlive a failure.
        child.kill().expect("a child");
        child.wait().expect("a child");
        assert!(computing);
        busy.since_last(pid);
        std::thread::sleep(Duration::from_millis(100));
        assert!(!busy.since_last(pid));
    }
}
