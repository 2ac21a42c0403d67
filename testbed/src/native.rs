//! A native app of a Wayland session, ended by `Drop`.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, kill};
use crate::until;

/// A native app of a session. Dropping it ends it.
#[derive(Debug)]
pub struct NativeApp {
    child: Child,
    /// Its pid in the test's process namespace.
    outside: u32,
    pid: u32,
    log: PathBuf,
}

impl NativeApp {
    /// Starts an app that writes to this log.
    pub(crate) fn start(place: &Place, mut command: Command, log: PathBuf) -> Self {
        let complaints = File::create(log.with_extension("err")).unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(complaints)
            .spawn()
            .unwrap();
        let (outside, pid) = place.pid_of(child.id());
        Self {
            child,
            outside,
            pid,
            log,
        }
    }

    /// Its pid in the session's process namespace.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Its pid for the test, and that of what has started it, which stops with it.
    pub fn pids(&self) -> [u32; 2] {
        [self.outside, self.child.id()]
    }

    pub fn stop_for(&self, time: Duration) {
        let signal = |pid: u32, signal| {
            kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
        };
        signal(self.outside, Signal::STOP);
        std::thread::sleep(time);
        signal(self.outside, Signal::CONT);
        // `nsenter` has stopped itself together with the app.
        signal(self.child.id(), Signal::CONT);
    }

    /// How many times the log has this line.
    pub fn logged(&self, line: &str) -> usize {
        self.log().iter().filter(|logged| *logged == line).count()
    }

    /// Its log so far.
    pub fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The text in the test app's field `Name`, as the app has logged it.
    pub fn text(&self) -> String {
        let log = self.log();
        let last = log.iter().rev().find_map(|l| l.strip_prefix("text Name "));
        last.unwrap_or_default().to_owned()
    }

    /// Waits until a line of its log begins with this text.
    pub fn logs(&self, start: &str) {
        until(&format!("\"{start}…\" in the app's log"), || {
            self.log().iter().any(|l| l.starts_with(start))
        });
    }

    pub fn clear_log(&self) {
        let log = File::options().write(true).open(&self.log);
        log.unwrap().set_len(0).unwrap();
    }

    /// Waits until it has logged this line.
    pub fn wait_for(&self, line: &str) {
        until(&format!("\"{line}\" in the app's log"), || {
            self.log().iter().any(|l| l == line)
        });
    }
}

impl Drop for NativeApp {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let message = fs::read_to_string(self.log.with_extension("err"));
            let ended = self.child.try_wait();
            println!(
                "{}: {ended:?}\n{:?}\n{}",
                self.log.display(),
                self.log(),
                message.unwrap_or_default()
            );
        }
        kill(self.outside);
        // Reap the process only now, so that its pid is not reused before.
        let _ = self.child.wait();
    }
}
