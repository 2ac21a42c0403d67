//! sway: the person's devices are disabled while the agent's input goes in, and enabled again
//! however the link ends. A headless session has no physical devices: a socket in front of sway's
//! adds them to its answers, and records the commands for them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{Client, FakeDevices, NativeApp, Session, Toolkit, signal, until};
use rustix::process::{Pid, Signal, getsid};
use serde_json::{Value, json};

const DEVICES: [&str; 2] = ["Keyboard", "Mouse"];

/// A text that takes more than a second to type.
fn long() -> Value {
    let text = "all work and no play ".repeat(30);
    json!({"element": "Name", "role": "AXTextField", "text": text})
}

fn arguments(app: &NativeApp, mut arguments: Value) -> Value {
    arguments["pid"] = app.pid().into();
    arguments
}

fn held(devices: &FakeDevices) {
    until("the guard", || devices.are_held());
}

fn free(devices: &FakeDevices) {
    until("the end of the guard", || devices.are_free());
}

/// The keeper that a server has started.
fn keeper(server: &Client) -> u32 {
    let is_its = |pid: &u32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
        let status = read("status").unwrap_or_default();
        let parent = format!("PPid:\t{}\n", server.pid);
        status.contains(&parent) && read("cmdline").is_ok_and(|c| c.contains("keep-devices"))
    };
    let entries = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let mut pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.find(is_its).expect("no keeper")
}

#[test]
fn the_persons_devices_are_disabled_while_an_agent_types_and_not_after() {
    let (sway, devices) = Session::with_devices(&DEVICES);
    let server = sway.server();
    let app = sway.widgets(Toolkit::Gtk3, &server);
    assert!(devices.are_free());
    let typing = server.send("click_and_traverse", arguments(&app, long()));
    held(&devices);
    let answer = typing.answer(Duration::from_secs(30)).unwrap().ok();
    assert!(devices.are_free());
    assert!(!answer.text.contains("no guard"), "{answer}");
    let text = long()["text"].as_str().unwrap().to_owned();
    app.wait_for(&format!("text Name {text}"));
    let pressed = json!({"element": "OK", "role": "AXButton"});
    server
        .call("press_ax_and_traverse", arguments(&app, pressed))
        .ok();
    assert!(devices.are_free());
}

#[test]
fn the_death_of_the_server_enables_the_devices() {
    let (sway, devices) = Session::with_devices(&DEVICES);
    let server = sway.server();
    let app = sway.widgets(Toolkit::Gtk3, &server);
    let _typing = server.send("click_and_traverse", arguments(&app, long()));
    held(&devices);
    let keeper = keeper(&server);
    let id = Pid::from_raw(keeper.cast_signed());
    assert_eq!(
        getsid(id).unwrap(),
        id.unwrap(),
        "it shares the server's session"
    );
    signal(server.pid, Signal::KILL);
    let start = Instant::now();
    free(&devices);
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "{:?}",
        start.elapsed()
    );
    until("the keeper's end", || {
        !std::path::Path::new(&format!("/proc/{keeper}/exe")).exists()
    });
}

#[test]
fn the_death_of_the_keeper_enables_the_devices_and_stops_the_typing() {
    let (sway, devices) = Session::with_devices(&DEVICES);
    let server = sway.server();
    let app = sway.widgets(Toolkit::Gtk3, &server);
    let typing = server.send("click_and_traverse", arguments(&app, long()));
    held(&devices);
    signal(keeper(&server), Signal::KILL);
    let answer = typing.answer(Duration::from_secs(30)).unwrap();
    assert!(answer.is_error, "{answer}");
    free(&devices);
    // The next link has another keeper.
    let click = json!({"element": "OK", "role": "AXButton"});
    let click = server
        .call("click_and_traverse", arguments(&app, click))
        .ok();
    app.wait_for("clicked OK");
    assert!(!click.text.contains("no guard"), "{click}");
    assert!(devices.are_free());
}

#[test]
fn the_limit_enables_the_devices_and_stops_the_typing() {
    let (sway, devices) = Session::with_devices(&DEVICES);
    let server = sway.server_with(&["--guard-timeout", "1"]);
    let app = sway.widgets(Toolkit::Gtk3, &server);
    let text = "x".repeat(3_000);
    let typing = json!({"element": "Name", "role": "AXTextField", "text": text});
    let typing = server.call("click_and_traverse", arguments(&app, typing));
    assert!(typing.is_error, "{typing}");
    assert!(devices.are_free());
}

#[test]
fn the_doctor_names_the_devices_and_warns_that_esc_is_not_seen() {
    let (sway, _devices) = Session::with_devices(&DEVICES);
    let output = sway.deskline(&["doctor", "--dir", "j"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = printed.lines().find(|line| line.contains("guard")).unwrap();
    assert!(
        row.contains("Keyboard, Mouse") && row.contains("Esc"),
        "{printed}"
    );
}
