//! Processes, read from `/proc`.

use crate::wait;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};

/// The maximum length of an environment block. The rest is cut. `execve` allows more, but nobody
/// needs it.
const LONGEST_ENVIRONMENT: usize = 1 << 20;

/// How many bytes [`read_file`] reads at most.
const LONGEST: u64 = 64 << 10;

#[derive(Debug, Clone)]
pub struct Process {
    pub pid: i32,
    /// The parent's process id.
    pub parent: i32,
    /// The process session (`setsid`).
    pub session: i32,
    /// The first 15 bytes of the process's name.
    pub comm: String,
    /// When the process was started, in clock ticks since boot.
    pub started: u64,
    /// Whether the process is a zombie or dead.
    pub ended: bool,
}

/// The processes of user `uid`. `proc` is `/proc` except in tests.
pub fn of_user(proc: &Path, uid: u32) -> Vec<Process> {
    let Ok(entries) = fs::read_dir(proc) else {
        return vec![];
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pid = entry.file_name().to_str()?.parse().ok()?;
            (entry.metadata().ok()?.uid() == uid).then_some(pid)
        })
        .filter_map(|pid| read(proc, pid))
        .collect()
}

/// The ids of all processes.
pub fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The process `pid`, from `/proc/pid/stat` (proc(5)). `None` if there is no such process.
pub fn read(proc: &Path, pid: i32) -> Option<Process> {
    let stat = fs::read(proc.join(format!("{pid}/stat"))).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name is in parentheses, and may contain any character, even parentheses.
    let (head, tail) = stat.rsplit_once(") ")?;
    let comm = head.split_once('(')?.1.to_owned();
    let mut fields = tail.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let started = fields.nth(15)?.trim_end().parse().ok()?;
    Some(Process {
        pid,
        parent,
        session,
        comm,
        started,
        ended: matches!(state, "Z" | "X"),
    })
}

/// Reads a file below a process's root without following a link and without waiting: the process
/// chooses its root, where the file may be a FIFO, or a link to a file outside.
pub fn read_file(path: &str) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    Some(text)
}

/// How long ago the process was started. `None` if there is no such process.
pub fn age(pid: u32) -> Option<Duration> {
    /// Clock ticks per second: `sysconf(_SC_CLK_TCK)`, the same on every Linux (proc(5)).
    const TICKS: u64 = 100;
    let started = read(Path::new("/proc"), pid.cast_signed())?.started;
    let now = clock_gettime(ClockId::Boottime);
    let nanos = u32::try_from(now.tv_nsec).ok()?;
    let now = Duration::new(u64::try_from(now.tv_sec).ok()?, nanos);
    Some(now.saturating_sub(Duration::from_millis(started.saturating_mul(1_000 / TICKS))))
}

/// The environment that a process was started with. Empty if it cannot be read.
pub fn environment(proc: &Path, pid: i32) -> BTreeMap<String, String> {
    let mut block = fs::read(proc.join(format!("{pid}/environ"))).unwrap_or_default();
    block.truncate(LONGEST_ENVIRONMENT);
    block
        .split(|&b| b == 0)
        .filter_map(|pair| {
            let (name, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// The name of a process, at most 15 bytes. Empty if there is no such process.
pub fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Whether a process with this id runs. `false` for a zombie, and for a process that has crashed
/// and is writing its core.
pub fn runs(pid: u32) -> bool {
    let dumps = || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line == "CoreDumping:\t1")
    };
    read(Path::new("/proc"), pid.cast_signed()).is_some_and(|process| !process.ended) && !dumps()
}

/// The process and its ancestors, nearest first, without process 1.
pub fn line(pid: u32) -> impl Iterator<Item = Process> {
    /// A bound: a client, a plug-in and their launchers are fewer generations.
    const MOST: usize = 32;
    let known = |pid: i32| (pid > 1).then(|| read(Path::new("/proc"), pid)).flatten();
    std::iter::successors(known(pid.cast_signed()), move |its| known(its.parent)).take(MOST)
}

/// Whether `pid` is a descendant of `from`.
pub fn descends(pid: u32, from: u32) -> bool {
    from > 1 && line(pid).any(|process| process.parent == from.cast_signed())
}

/// Whether `pid` is an ancestor of this process, or was started by an ancestor, directly or through
/// other processes, at most `within` ago.
pub fn is_of_parents(pid: u32, within: Duration) -> bool {
    /// A margin, because the kernel records the start of a process in ticks of 10 ms.
    const TICKS: Duration = Duration::from_millis(50);
    // The user's systemd does not count, because it starts clients and unrelated apps alike.
    let own: Vec<i32> = line(std::process::id())
        .take_while(|process| process.comm != "systemd")
        .map(|process| process.pid)
        .collect();
    let is_theirs = own
        .iter()
        .skip(1)
        .any(|parent| *parent == pid.cast_signed());
    let common = line(pid).find_map(|process| own.iter().position(|own| *own == process.pid));
    is_theirs
        || common.is_some_and(|at| at > 0) && age(pid).is_some_and(|age| age <= within + TICKS)
}

/// Whether the desktop's pids belong to another process namespace: a container's, or the host's
/// while this process is in a container. They still identify apps, but mean nothing in `/proc`.
static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// Sets whether the desktop's pids are those of another process namespace. A process serves one
/// desktop.
pub fn set_elsewhere(elsewhere: bool) {
    ELSEWHERE.store(elsewhere, Ordering::Relaxed);
}

/// Whether the desktop's pids are those of another process namespace.
pub fn are_elsewhere() -> bool {
    ELSEWHERE.load(Ordering::Relaxed)
}

/// Whether a process of the desktop has ended, as far as that can be known.
pub fn is_gone(pid: u32) -> bool {
    !are_elsewhere() && !runs(pid)
}

/// The name of a process of the desktop; empty if it is unknown.
pub fn app_name(pid: u32) -> String {
    if are_elsewhere() {
        return String::new();
    }
    name(pid)
}

/// Waits until a process has ended, for at most `time`. Returns whether it has ended.
pub fn ends_within(pid: u32, time: Duration) -> bool {
    const LOOK: Duration = Duration::from_millis(5);
    wait::until(time, LOOK, || is_gone(pid).then_some(())).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_and_environment_of_this_process_are_read() {
        let me = read(Path::new("/proc"), std::process::id().cast_signed()).unwrap();
        assert_eq!(me.parent, std::os::unix::process::parent_id().cast_signed());
        assert!(!me.ended && me.started > 0);
        let path = environment(Path::new("/proc"), me.pid).remove("PATH");
        assert_eq!(path, std::env::var("PATH").ok());
    }

    #[test]
    fn a_process_name_with_parentheses_and_spaces_is_one_field() {
        let proc = tempfile::tempdir().unwrap();
        fs::create_dir(proc.path().join("7")).unwrap();
        let zeros = "0 ".repeat(15);
        let stat = format!("7 (a) S 1 (b) Z 3 0 5 {zeros}99 0\n");
        fs::write(proc.path().join("7/stat"), stat).unwrap();
        let process = read(proc.path(), 7).unwrap();
        assert_eq!(
            (
                process.comm.as_str(),
                process.parent,
                process.session,
                process.started,
                process.ended
            ),
            ("a) S 1 (b", 3, 5, 99, true)
        );
    }
}
