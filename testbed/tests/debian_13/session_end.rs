//! A session and all its processes end with the test program that has started it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deskline_testbed::{Compositor, Session, until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Set in the process that is killed.
const HOLD: &str = "DESKLINE_HOLD_SESSION";

/// Whether a process has a path in this folder among its arguments.
fn is_used(folder: &Path) -> bool {
    let folder = folder.as_os_str().as_encoded_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut commands = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    commands.any(|command| command.windows(folder.len()).any(|part| part == folder))
}

/// Ctrl-C in a terminal, and `timeout`, send a signal to the program's whole process group.
#[test]
fn a_session_ends_with_a_test_that_is_killed() {
    if std::env::var_os(HOLD).is_some() {
        let session = Session::new(Compositor::Labwc);
        // It leaves the group, as a daemon of the session does.
        let mut daemon = session.command("/usr/bin/setsid");
        daemon.args(["--fork", "sleep", "60"]).status().unwrap();
        println!("\nholds {}", session.folder().display());
        std::io::stdin().read_line(&mut String::new()).unwrap();
        unreachable!("the test has not killed its other half");
    }
    for group in [false, true] {
        let mut half = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "session_end::a_session_ends_with_a_test_that_is_killed",
            ])
            .arg("--nocapture")
            .env(HOLD, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let lines = BufReader::new(half.stdout.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let folder = lines.find_map(|line| line.strip_prefix("holds ").map(PathBuf::from));
        let folder = folder.expect("the session's folder");
        assert!(is_used(&folder));
        let pid = Pid::from_raw(half.id().cast_signed()).unwrap();
        if group {
            kill_process_group(pid, Signal::INT).unwrap();
        } else {
            kill_process(pid, Signal::KILL).unwrap();
        }
        half.wait().unwrap();
        until("the end of the session", || !is_used(&folder));
    }
}
