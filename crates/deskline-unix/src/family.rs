//! An app's processes: whether they run, and how much they have run.

use crate::wait;
use std::fs;
use std::time::Duration;

/// The maximum number of processes to count for one app.
const MOST: usize = 64;

/// An app has handled its input once the main threads of all its processes have slept for this
/// long.
const ASLEEP: Duration = Duration::from_millis(10);

/// A process and its descendants. Only their main threads count: they run the event loops.
#[derive(Debug, Clone)]
pub struct Family(Vec<u32>);

/// The run time of the main threads so far. If two snapshots are equal, no main thread has run in
/// between.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(Vec<String>);

impl Family {
    /// The process and its present descendants.
    pub fn new(pid: u32) -> Self {
        let mut family = vec![pid];
        let mut at = 0;
        while let Some(&pid) = family.get(at).filter(|_| at < MOST) {
            at += 1;
            // The kernel lists a child under the thread that started it.
            let threads = fs::read_dir(format!("/proc/{pid}/task"));
            for thread in threads.into_iter().flatten().flatten() {
                let children =
                    fs::read_to_string(thread.path().join("children")).unwrap_or_default();
                let children = children.split_whitespace();
                family.extend(children.filter_map(|pid| pid.parse::<u32>().ok()));
            }
        }
        family.truncate(MOST);
        Self(family)
    }

    /// The ids of the processes, that of the app itself first.
    pub fn pids(&self) -> &[u32] {
        &self.0
    }

    /// How long the main threads have run or waited for a processor.
    pub fn ran(&self) -> Duration {
        let ran = self.0.iter().map(|pid| times(&schedstat(*pid)));
        Duration::from_nanos(ran.sum())
    }

    /// A snapshot, if all main threads sleep. `None` while one runs or waits for a processor.
    pub fn asleep(&self) -> Option<Snapshot> {
        let awake = |pid: &u32| {
            let stat = fs::read(format!("/proc/{pid}/task/{pid}/stat")).unwrap_or_default();
            // proc(5): the state follows the name, which is in parentheses and may hold any
            // character.
            let end = stat.iter().rposition(|byte| *byte == b')');
            // The thread runs, or waits for a disk.
            matches!(end.and_then(|end| stat.get(end + 2)), Some(b'R' | b'D'))
        };
        // Read the counters first: a thread that runs between the two reads is then found awake, or
        // counted next time.
        let counters = self.0.iter().map(|pid| schedstat(*pid)).collect();
        (!self.0.iter().any(awake)).then_some(Snapshot(counters))
    }
}

/// Waits until these processes have handled their input, at most for `limit`.
pub fn await_sleep(families: &[Family], limit: Duration) {
    let asleep = || -> Option<Vec<Snapshot>> { families.iter().map(Family::asleep).collect() };
    let mut last = None;
    let _ = wait::until(limit, ASLEEP, || {
        let now = asleep();
        let same = now.is_some() && now == last;
        last = now;
        same.then_some(())
    });
}

/// A thread: its id; how long it has run or waited for a processor, without the current wait; how
/// often it has slept (`None` if it is not running now).
pub type Thread = (u64, Duration, Option<u64>);

/// The threads of a process, but not its main thread.
pub fn threads(pid: u32) -> Vec<Thread> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let others = threads.filter(|thread| thread.file_name() != *pid.to_string());
    let read = others.filter_map(|thread| {
        let file = |name| fs::read_to_string(thread.path().join(name)).ok();
        let status = file("status")?;
        let field = |name| status.split_once(name)?.1.split_whitespace().next();
        let sleeps = || field("\nvoluntary_ctxt_switches:")?.parse().ok();
        let awake = field("\nState:") == Some("R");
        Some((
            thread.file_name().to_str()?.parse().ok()?,
            Duration::from_nanos(times(&file("schedstat")?)),
            awake.then(sleeps).flatten(),
        ))
    });
    read.collect()
}

fn schedstat(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default()
}

/// The sum of the first two fields of `schedstat`: ns on a processor, and ns waiting for one
/// (kernel documentation, "Scheduler Statistics").
fn times(schedstat: &str) -> u64 {
    let times = schedstat.split_whitespace().take(2);
    times.filter_map(|n| n.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;
    use std::process::{Child, Command};
    use std::thread::sleep;
    use std::time::Instant;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).spawn().expect("a shell")
    }

    /// The child is killed before the assertions, so that it does not outlive a failure.
    fn end(mut child: Child) {
        child.kill().expect("a child");
        child.wait().expect("a child");
    }

    #[test]
    fn the_computing_time_of_a_child_is_counted_and_its_sleep_is_not() {
        // Not this process: the children of the other tests would count.
        let (busy, idle) = (
            shell("(while :; do :; done) & wait"),
            shell("sleep 60 & wait"),
        );
        let took = |child: &Child, time: Duration| {
            let before = Family::new(child.id()).ran();
            sleep(time);
            Family::new(child.id()).ran().saturating_sub(before)
        };
        let computing = took(&busy, Duration::from_millis(300));
        let asleep = took(&idle, Duration::from_millis(100));
        for child in [busy, idle] {
            for pid in Family::new(child.id()).0.into_iter().skip(1) {
                let _ = Command::new("kill").arg(pid.to_string()).status();
            }
            end(child);
        }
        assert!(computing > Duration::from_millis(75), "{computing:?}");
        assert!(asleep < Duration::from_millis(25), "{asleep:?}");
    }

    #[test]
    fn the_computing_time_of_a_thread_is_counted() {
        let pid = std::process::id();
        let end = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !end.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let main = || Family(vec![pid]).ran();
            let (before, first) = (main(), threads(pid));
            sleep(Duration::from_millis(200));
            let main = main().saturating_sub(before);
            let second = threads(pid);
            end.store(true, std::sync::atomic::Ordering::Relaxed);
            let computes = second.iter().any(|(id, ran, sleeps)| {
                let before = first.iter().find(|(before, ..)| before == id);
                before.is_some_and(|before| sleeps.is_some() && before.2 == *sleeps && *ran > main)
            });
            assert!(computes, "{main:?} {first:?} {second:?}");
        });
    }

    #[test]
    fn a_waiting_process_stays_asleep_and_a_looping_one_is_seen_to_run() {
        let child = shell("exec sleep 60");
        let family = Family::new(child.id());
        let until = Instant::now() + Duration::from_secs(10);
        let mut same = false;
        while !same && Instant::now() < until {
            let first = family.asleep();
            sleep(Duration::from_millis(20));
            same = first.is_some() && first == family.asleep();
        }
        end(child);
        assert!(same, "a process that sleeps is not asleep");

        let child = shell("while :; do sleep 0.001; done");
        let family = Family::new(child.id());
        sleep(Duration::from_millis(50));
        let first = family.asleep();
        sleep(Duration::from_millis(100));
        let second = family.asleep();
        end(child);
        assert!(first.is_none() || first != second, "it ran in between");
    }
}
