//! Measures how busy an app is: the time that its processes ran on a processor or waited for one.

use std::fs;
use std::time::Duration;

/// The maximum number of processes to count for one app.
const MOST: usize = 64;

/// How long the main threads of a process and of its descendants have run or waited for a
/// processor.
pub(crate) fn ran(pid: u32) -> Duration {
    let mut family = vec![pid];
    let mut at = 0;
    let mut sum = 0;
    while let Some(&pid) = family.get(at).filter(|_| at < MOST) {
        at += 1;
        // Kernel documentation, "Scheduler Statistics": first ns on the processor, then ns waiting.
        let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        sum += stat
            .split_whitespace()
            .take(2)
            .filter_map(|n| n.parse::<u64>().ok())
            .sum::<u64>();
        // The kernel lists a child under the thread that started it.
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
    fn a_child_that_computes_counts_and_sleep_does_not() {
        let pid = std::process::id();
        let took = |time: Duration| {
            let before = ran(pid);
            std::thread::sleep(time);
            ran(pid).saturating_sub(before)
        };
        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("a shell");
        let computing = took(Duration::from_millis(300));
        // Kill the child before the assertions: it would outlive a failure.
        child.kill().expect("a child");
        child.wait().expect("a child");
        assert!(computing > Duration::from_millis(75), "{computing:?}");
        let asleep = took(Duration::from_millis(100));
        assert!(asleep < Duration::from_millis(25), "{asleep:?}");
    }
}
