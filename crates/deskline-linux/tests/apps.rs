//! Launching real apps on a private desktop.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Command;
use std::time::{Duration, Instant};

use deskline_linux::apps;
use deskline_linux::private::{Options, PrivateDesktop};
use deskline_linux::session::Session;

/// Runs a tool in the session with a time limit and returns its output.
fn tool(session: &Session, args: &[&str]) -> String {
    let out = Command::new("timeout")
        .arg("20")
        .args(args)
        .envs(&session.environment)
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap()
}

/// Launches an app and waits for a window of the launched process.
fn opens_a_window(session: &Session, identifier: &str) -> u32 {
    let begun = Instant::now();
    let launch = apps::find(identifier, session).unwrap();
    let launched = apps::launch(&launch, session).unwrap();
    let pid = launched.pid.expect("a pid");
    let search = [
        "xdotool",
        "search",
        "--sync",
        "--onlyvisible",
        "--pid",
        &pid.to_string(),
    ];
    let windows = tool(session, &search);
    assert!(
        !windows.trim().is_empty(),
        "{identifier}: pid {pid} has no window ({:?})",
        launched.exited()
    );
    println!(
        "{identifier}: window of pid {pid} after {:?}",
        begun.elapsed()
    );
    pid
}

fn end(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let begun = Instant::now();
    // The launcher's thread reaps the process. After that, its pid is free.
    while rustix::process::test_kill_process(pid).is_ok() {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{pid:?} is not reaped"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_editor_opens_by_name_id_command_and_document() {
    let desktop = PrivateDesktop::start(&Options::default()).unwrap();
    let session = desktop.session();
    for identifier in ["Mousepad", "org.xfce.mousepad", "mousepad --disable-server"] {
        let pid = opens_a_window(session, identifier);
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        assert!(
            !String::from_utf8_lossy(&environment).contains("CARGO_"),
            "our own variables"
        );
        end(pid);
    }
    let file = tempfile::Builder::new()
        .suffix(" words.txt")
        .tempfile()
        .unwrap();
    let pid = opens_a_window(session, &format!("mousepad '{}'", file.path().display()));
    let title = file
        .path()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let windows = tool(
        session,
        &[
            "xdotool",
            "search",
            "--sync",
            "--onlyvisible",
            "--name",
            &title,
        ],
    );
    assert!(!windows.trim().is_empty());
    end(pid);
}

#[test]
fn an_app_that_the_bus_starts_has_a_pid() {
    let desktop = PrivateDesktop::start(&Options::default()).unwrap();
    let session = desktop.session();
    let launch = apps::find("org.gnome.TextEditor", session).unwrap();
    let pid = opens_a_window(session, "org.gnome.TextEditor");
    let comm = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    assert!(
        launch.is_running_as(apps::Running {
            program: comm.trim(),
            ..apps::Running::default()
        }),
        "{comm}"
    );
}

#[test]
fn a_command_that_fails_says_so() {
    let desktop = PrivateDesktop::start(&Options::default()).unwrap();
    let launch = apps::find("false", desktop.session()).unwrap();
    let launched = apps::launch(&launch, desktop.session()).unwrap();
    let begun = Instant::now();
    while launched.exited().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(launched.exited().unwrap().code(), Some(1));
}
