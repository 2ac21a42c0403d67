//! All of a session ends with the test that has started it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use deskline_testbed::{Compositor, Session, until};

/// Set in the process that is killed.
const HOLD: &str = "DESKLINE_HOLD_SESSION";

#[test]
fn a_session_ends_with_a_test_that_is_killed() {
    if std::env::var_os(HOLD).is_some() {
        let session = Session::new(Compositor::Labwc);
        let mut app = session.command("sleep");
        let mut app = app.arg("60").spawn().unwrap();
        println!("holds {}", session.pid_of(app.id()).0);
        app.wait().unwrap();
        unreachable!("the test has not killed its other half");
    }
    let mut half = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ends::a_session_ends_with_a_test_that_is_killed"])
        .arg("--nocapture")
        .env(HOLD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(half.stdout.take().unwrap()).lines();
    let pid: u32 = lines
        .find_map(|line| line.unwrap().split_once("holds ")?.1.parse().ok())
        .unwrap();
    let runs = || {
        std::path::Path::new(&format!("/proc/{pid}/exe"))
            .read_link()
            .is_ok()
    };
    assert!(runs());
    half.kill().unwrap();
    half.wait().unwrap();
    until("the end of the session", || (!runs()).then_some(()));
}
