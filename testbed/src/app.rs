//! A running app, ended by `Drop`.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Answer, Bed, Client, PATIENCE, Screen, Window, until};

/// A running app on a bed. Dropping it ends it.
#[derive(Debug)]
pub struct App<'b> {
    bed: &'b Bed,
    child: Child,
    /// The process that owns its window.
    pub pid: u32,
    pub window: Window,
    log: PathBuf,
}

impl<'b> App<'b> {
    /// Starts an app and waits until its window is on the screen and its tree on the
    /// accessibility bus.
    pub(crate) fn start(bed: &'b Bed, command: Command) -> Self {
        Self::start_when(bed, command, |_| true)
    }

    /// [`App::start`], for an app that opens other windows first.
    pub fn start_when(bed: &'b Bed, command: Command, is_it: impl Fn(&Window) -> bool) -> Self {
        let app = Self::start_unread(bed, command, is_it);
        crate::oracle::wait_for_app(bed, app.pid);
        app
    }

    /// [`App::start_when`], for an app whose tree libatspi must not read.
    pub fn start_unread(
        bed: &'b Bed,
        mut command: Command,
        is_it: impl Fn(&Window) -> bool,
    ) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let known: Vec<u32> = bed.screen().windows().iter().map(|w| w.id).collect();
        let name = program.rsplit('/').next().unwrap_or_default();
        let log = tempfile::Builder::new()
            .prefix(&format!("{name}-"))
            .suffix(".log")
            .tempfile_in(bed.folder())
            .unwrap()
            .keep()
            .unwrap();
        let complaints = log.1.with_extension("err");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(log.0)
            .stderr(fs::File::create(&complaints).unwrap())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        let window = until(&format!("a window of {program}"), || {
            if let Some(status) = child.try_wait().unwrap() {
                let message = fs::read_to_string(&complaints).unwrap();
                // A launcher may exit once it has started the app.
                assert!(status.success(), "{program}: {status}: {message}");
            }
            let mut windows = bed.screen().windows();
            windows.retain(|w| !known.contains(&w.id) && w.pid != 0 && is_it(w));
            windows.pop()
        });
        Self {
            bed,
            child,
            pid: window.pid,
            window,
            log: log.1,
        }
    }

    /// Its log so far, without the lines about keys and the pad, which most tests ignore.
    pub fn log(&self) -> Vec<String> {
        let quiet = |line: &String| {
            !["key ", "pad ", "scrolled ", "ready"]
                .iter()
                .any(|noise| line.starts_with(noise))
        };
        self.full_log().into_iter().filter(quiet).collect()
    }

    /// Its log so far.
    pub fn full_log(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits until it has logged this line.
    pub fn wait_for(&self, line: &str) {
        until(&format!("\"{line}\" in the app's log"), || {
            self.full_log().iter().any(|l| l == line)
        });
    }

    pub fn clear_log(&self) {
        fs::File::options()
            .write(true)
            .open(&self.log)
            .unwrap()
            .set_len(0)
            .unwrap();
    }

    /// The current state of its first window.
    pub fn window_now(&self) -> Window {
        let windows = self.screen().windows();
        let found = windows.into_iter().find(|w| w.id == self.window.id);
        found.expect("the app's window is gone")
    }

    /// Moves its first window.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32) -> Self {
        self.screen().move_window(self.window.id, x, y);
        self.window = self.window_now();
        self
    }

    /// Brings its first window to the front.
    pub fn bring_to_front(&self) {
        self.screen().bring_to_front(self.window.id);
    }

    /// Brings its window to the front, and calls a tool about an app behind it.
    pub fn call_behind(&self, server: &Client, pid: u32, tool: &str, mut more: Value) -> Answer {
        self.bring_to_front();
        more["pid"] = pid.into();
        server.call(tool, more)
    }

    /// Whether its process runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// How it has ended, and its last complaints.
    pub fn ending(&mut self) -> String {
        let status = self.child.try_wait().unwrap();
        let complaints = fs::read_to_string(self.log.with_extension("err")).unwrap_or_default();
        let lines: Vec<&str> = complaints.lines().collect();
        let last = lines.len().saturating_sub(10);
        format!("{status:?}: {}", lines[last..].join("\n"))
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    fn screen(&self) -> &Screen {
        self.bed.screen()
    }
}

impl Drop for App<'_> {
    fn drop(&mut self) {
        // An app that was started by a launcher is another process.
        let app = rustix::process::Pid::from_raw(self.pid.cast_signed());
        if let Some(app) = app.filter(|_| self.pid != self.child.id()) {
            let _ = rustix::process::kill_process(app, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Wait for the windows to go: the X server reuses their ids for the next app.
        let deadline = Instant::now() + PATIENCE;
        let there = || {
            self.bed
                .screen()
                .windows()
                .iter()
                .any(|w| w.pid == self.pid)
        };
        while !std::thread::panicking() && there() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
