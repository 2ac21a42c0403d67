//! Finds the `deskline` to test, and ends processes with their tests.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;

use rustix::process::{Pid, Signal, kill_process};

/// The path of the binary: `DESKLINE_BIN`, else the one in the same target directory and profile as
/// the running test. Under cargo it is built first, as cargo holds no lock while tests run.
pub fn deskline() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = env::var_os("DESKLINE_BIN") {
            return PathBuf::from(path);
        }
        // target/<profile>/deps/<test>
        let test = env::current_exe().unwrap();
        let profile = test
            .ancestors()
            .nth(2)
            .expect("a test in a target directory");
        if let Some(cargo) = env::var_os("CARGO") {
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "--package", "deskline", "--target-dir"]);
            build.arg(profile.parent().expect("a target directory"));
            if profile.ends_with("release") {
                build.arg("--release");
            }
            build.current_dir(env!("CARGO_MANIFEST_DIR"));
            assert!(build.status().unwrap().success(), "deskline does not build");
        }
        profile.join("deskline")
    })
}

/// A process that ends with this value.
#[derive(Debug)]
pub struct Running(pub Child);

impl Running {
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The memory of a process in kB, as the kernel counts it: `VmRSS` is the present size, `VmHWM` the
/// maximum so far.
pub fn kilobytes(pid: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut lines = status.lines();
    let number = lines.find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let number = number.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

/// Sends a signal to a process.
pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// The processes that have come from this one: their pids and command lines.
pub fn processes_below(pid: u32) -> Vec<(u32, String)> {
    let read = |path: PathBuf| std::fs::read(path).unwrap_or_default();
    // Each thread has children of its own.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().filter_map(Result::ok);
    let lists = threads.map(|thread| read(thread.path().join("children")));
    let lists: Vec<String> = lists
        .filter_map(|list| String::from_utf8(list).ok())
        .collect();
    let children = lists.iter().flat_map(|list| list.split_whitespace());
    let with_its = |child: u32| {
        let line = read(format!("/proc/{child}/cmdline").into());
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        [vec![(child, line)], processes_below(child)].concat()
    };
    children
        .filter_map(|n| n.parse().ok())
        .flat_map(with_its)
        .collect()
}
