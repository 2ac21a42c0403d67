//! Remembers the processes that calls were about, to tell how they have ended. The kernel reports
//! an exit status to the parent alone. So the status is known only for processes that this process
//! has started, under whatever program they run now.

use deskline_unix::{process, wait};
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use deskline_contract::{End, Exit};

use crate::apps::Launched;

/// The maximum number of processes to remember.
const MOST: usize = 64;

/// How long to wait for the launched process's status after a process has ended: the launched
/// process may be a parent, which ends later.
const TELLS: Duration = Duration::from_millis(300);

/// Shells, and LibreOffice's launcher, exit with this number plus the number of the signal that
/// ended their child.
const BY_SIGNAL: i32 = 128;

/// The highest number of a signal that is not a real-time signal.
const LAST_SIGNAL: i32 = 31;

/// The processes that calls were about.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    known: HashMap<u32, Known>,
    /// The number of the next entry, so that the oldest entry is dropped first.
    next: u64,
}

#[derive(Debug)]
struct Known {
    name: String,
    /// The start time, which shows whether another process has the pid now.
    started: u64,
    number: u64,
    /// The launch that started the process or an ancestor of it. Only known if the launched process
    /// still ran when this was recorded.
    launched: Option<Launched>,
}

impl Ends {
    /// Remembers a process that a call is about.
    pub(crate) fn remember(&mut self, pid: u32, name: &str, launched: Option<&Launched>) {
        let Some(started) = started(pid).filter(|_| !process::are_elsewhere()) else {
            return;
        };
        let launched = launched.filter(|launched| launched.exited().is_none());
        let launched = launched.cloned();
        if let Some(known) = self.known.get_mut(&pid).filter(|k| k.started == started) {
            known.launched = launched.or(known.launched.take());
            return;
        }
        self.next += 1;
        let known = Known {
            name: name.to_owned(),
            started,
            number: self.next,
            launched,
        };
        self.known.insert(pid, known);
        let oldest = self.known.iter().min_by_key(|(_, known)| known.number);
        if let Some((&oldest, _)) = oldest.filter(|_| self.known.len() > MOST) {
            self.known.remove(&oldest);
        }
    }

    /// How a remembered process ended. `None` while it runs.
    pub(crate) fn end_of(&self, pid: u32) -> Option<End> {
        let known = self.known.get(&pid)?;
        if process::runs(pid) && started(pid) == Some(known.started) {
            return None;
        }
        let launched = known.launched.as_ref();
        let exit = launched.and_then(status).map_or(Exit::Unknown, exit);
        let failed = !matches!(exit, Exit::Status(0) | Exit::Unknown);
        Some(End {
            app: known.name.clone(),
            exit,
            wrote: launched.filter(|_| failed).and_then(Launched::complaint),
        })
    }
}

fn started(pid: u32) -> Option<u64> {
    let process = process::read(Path::new("/proc"), pid.cast_signed());
    process.map(|process| process.started)
}

/// The exit status of the launched process. Waits briefly for it; `None` if the process still runs.
fn status(launched: &Launched) -> Option<ExitStatus> {
    wait::until(TELLS, Duration::from_millis(5), || launched.exited())
}

fn exit(status: ExitStatus) -> Exit {
    match (status.signal(), status.code()) {
        (Some(signal), _) => Exit::Signal(signal),
        (None, Some(code)) if (1..=LAST_SIGNAL).contains(&(code - BY_SIGNAL)) => {
            Exit::Signal(code - BY_SIGNAL)
        }
        (None, Some(code)) => Exit::Status(code),
        (None, None) => Exit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_above_128_is_a_shells_report_of_a_signal() {
        let of = |code: i32| exit(ExitStatus::from_raw(code << 8));
        assert_eq!(exit(ExitStatus::from_raw(11)), Exit::Signal(11));
        assert_eq!(of(134), Exit::Signal(6));
        assert_eq!(of(0), Exit::Status(0));
        assert_eq!(of(128), Exit::Status(128));
        assert_eq!(of(255), Exit::Status(255));
    }

    #[test]
    fn no_end_is_reported_for_a_running_or_unknown_process() {
        let mut ends = Ends::default();
        let pid = std::process::id();
        assert_eq!(ends.end_of(pid), None);
        ends.remember(pid, "us", None);
        assert_eq!(ends.end_of(pid), None);
        assert_eq!(ends.end_of(u32::MAX), None);
    }
}
