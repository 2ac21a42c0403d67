//! Runs a private desktop in a separate process. This program is its own supervisor. It has no test
//! harness, so that only the supervisor writes to standard output.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::processes;
use deskline_linux::private::{Announce, Options, Supervised, Until, run_supervised};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let until = match args.get(1).map(String::as_str) {
        Some("desktop") => match args.iter().position(|a| a == "--") {
            Some(at) => Until::Command(args[at + 1..].iter().map(Into::into).collect()),
            None => Until::Eof,
        },
        // This is a server with a desktop. The test kills it.
        Some("server") => {
            let desktop = Supervised::spawn(&exe(), &Options::default()).unwrap();
            println!("{}", desktop.session().environment["DESKLINE_DESKTOP"]);
            println!("{}", desktop.session().display.as_deref().unwrap());
            sleep(Duration::from_secs(1000));
            return ExitCode::FAILURE;
        }
        _ => return run_tests(),
    };
    let announce = if until == Until::Eof {
        Announce::Json
    } else {
        Announce::Nothing
    };
    match run_supervised(&Options::default(), announce, &until) {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run_tests() -> ExitCode {
    let tests: [(&str, fn()); 6] = [
        ("dropped", a_dropped_desktop_is_gone),
        ("server killed", a_killed_server_takes_its_desktop_along),
        ("supervisor killed", a_killed_supervisor_leaves_no_process),
        ("signal", a_signal_ends_it),
        ("exit code", a_commands_exit_code_is_the_desktops),
        ("failure", a_failure_is_announced),
    ];
    for (name, test) in tests {
        println!("test {name} ...");
        test();
    }
    println!("test result: ok");
    ExitCode::SUCCESS
}

fn exe() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

/// Waits until `done` returns true, at most 2 s.
fn within_2_s(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(
            begun.elapsed() < Duration::from_secs(2),
            "{what}: not within 2 s"
        );
        sleep(Duration::from_millis(10));
    }
    println!("  {what} after {:?}", begun.elapsed());
}

fn is_gone(directory: &str, display: &str) -> bool {
    let number = display.trim_start_matches(':');
    processes(directory).is_empty()
        && !Path::new(directory).exists()
        && !Path::new(&format!("/tmp/.X11-unix/X{number}")).exists()
        && !Path::new(&format!("/tmp/.X{number}-lock")).exists()
}

/// Starts a detached process on the desktop that ignores SIGTERM.
fn stubborn(environment: &deskline_linux::session::Environment) {
    let status = Command::new("setsid")
        .args([
            "-f",
            "sh",
            "-c",
            "trap '' TERM; while :; do sleep 100; done",
        ])
        .envs(environment)
        .status();
    assert!(status.unwrap().success());
}

fn a_dropped_desktop_is_gone() {
    let begun = Instant::now();
    let desktop = Supervised::spawn(&exe(), &Options::default()).unwrap();
    println!("  up after {:?}", begun.elapsed());
    let session = desktop.session().clone();
    assert_eq!(session.missing(), Vec::<String>::new());
    session.connect_x11().unwrap();
    stubborn(&session.environment);
    let begun = Instant::now();
    drop(desktop);
    println!("  down after {:?}", begun.elapsed());
    assert!(is_gone(
        &session.environment["DESKLINE_DESKTOP"],
        &session.display.unwrap()
    ));
}

fn server() -> (Child, String, String) {
    let mut server = Command::new(exe())
        .arg("server")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let directory = lines.next().unwrap().unwrap();
    let display = lines.next().unwrap().unwrap();
    assert!(!processes(&directory).is_empty());
    (server, directory, display)
}

fn a_killed_server_takes_its_desktop_along() {
    let (mut server, directory, display) = server();
    server.kill().unwrap();
    server.wait().unwrap();
    within_2_s("gone", || is_gone(&directory, &display));
}

fn a_killed_supervisor_leaves_no_process() {
    let mut supervisor = supervisor();
    let environment = announced(&mut supervisor);
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    let directory = &environment["DESKLINE_DESKTOP"];
    within_2_s("no process", || processes(directory).is_empty());
    fs::remove_dir_all(directory).unwrap();
}

fn supervisor() -> Child {
    Command::new(exe())
        .arg("desktop")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn announced(supervisor: &mut Child) -> deskline_linux::session::Environment {
    let mut line = String::new();
    BufReader::new(supervisor.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    serde_json::from_str(&line).unwrap()
}

fn a_signal_ends_it() {
    let mut supervisor = supervisor();
    let environment = announced(&mut supervisor);
    let pid = supervisor.id().to_string();
    // Keep the pipe open: `wait` closes it, and that would end the desktop too.
    let _stdin = supervisor.stdin.take();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(supervisor.wait().unwrap().code(), Some(128 + 15));
    assert!(is_gone(
        &environment["DESKLINE_DESKTOP"],
        &environment["DISPLAY"]
    ));
}

fn a_commands_exit_code_is_the_desktops() {
    let script = "xdpyinfo >/dev/null && echo $DESKLINE_DESKTOP $DISPLAY && exit 7";
    let out = Command::new(exe())
        .args(["desktop", "--", "sh", "-c", script])
        .output()
        .unwrap();
    assert_eq!(
        out.status.code(),
        Some(7),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let said = String::from_utf8(out.stdout).unwrap();
    let (directory, display) = said.trim().split_once(' ').unwrap();
    assert!(is_gone(directory, display));
}

fn a_failure_is_announced() {
    let mut supervisor = Command::new(exe())
        .arg("desktop")
        .env("PATH", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    supervisor
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(
        said.contains(r#"{"error":"a private desktop needs Xvfb"#),
        "{said}"
    );
    assert_eq!(supervisor.wait().unwrap().code(), Some(1));
}
