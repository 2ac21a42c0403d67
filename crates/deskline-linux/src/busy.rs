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
        sum += scheduled(&format!("/proc/{pid}"));
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

/// How long all threads of a process have run or waited for a processor. Threads that have ended do
/// not count.
pub(crate) fn threads_ran(pid: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let sum = threads
        .map(|thread| scheduled(&thread.path().to_string_lossy()))
        .sum();
    Duration::from_nanos(sum)
}

/// Kernel documentation, "Scheduler Statistics": first ns on the processor, then ns waiting.
fn scheduled(task: &str) -> u64 {
    let stat = fs::read_to_string(format!("{task}/schedstat")).unwrap_or_default();
    let times = stat.split_whitespace().take(2);
    times.filter_map(|n| n.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;

    #[test]
    fn a_thread_that_computes_counts() {
        let pid = std::process::id();
        let end = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !end.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let (main, threads) = (ran(pid), threads_ran(pid));
            std::thread::sleep(Duration::from_millis(200));
            let computed = threads_ran(pid).saturating_sub(threads);
            end.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(computed > Duration::from_millis(150), "{computed:?}");
            assert!(ran(pid).saturating_sub(main) < computed);
        });
    }

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
