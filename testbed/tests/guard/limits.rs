//! The guard opens by itself, whatever hangs, and is closed only while input is sent.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use deskline_testbed::grabber::Grabber;
use deskline_testbed::lock::Lock;
use deskline_testbed::person::{ESCAPE, Person};
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{App, Client, Pending, Toolkit, has, signal, until};
use nix::sys::ptrace;
use nix::unistd::Pid;
use rustix::process::Signal;
use serde_json::json;

use crate::{Dice, bed};

/// The time limit to test, in seconds, and the tolerance.
const LIMIT: &str = "2";
const HOLDS: std::ops::Range<Duration> = Duration::from_millis(1_900)..Duration::from_millis(2_400);

/// Starts to type, and waits until the first letters have arrived.
fn typing<'c>(server: &'c Client, app: &App<'_>) -> Pending<'c> {
    let text = Dice::new().text(3_000).replace(' ', "_");
    let call = json!({"pid": app.pid, "text": text, "traverseBefore": false});
    let call = server.send("type_and_traverse", call);
    until("the first key", || !app.full_log().is_empty());
    call
}

#[test]
fn a_hung_app_keeps_the_devices_locked_no_longer_than_the_limit() {
    let bed = bed();
    let server = bed.server(&["--guard-timeout", LIMIT]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(&bed);
    let start = Instant::now();
    let call = typing(&server, &app);
    app.signal(Signal::STOP);
    watcher.await_no_overlay();
    let held = start.elapsed();
    let answer = call.answer(Duration::from_secs(30)).expect("an answer");
    app.signal(Signal::CONT);
    println!("held {held:?}: {answer}");
    assert!(answer.error().contains("for too long"), "{answer}");
    assert!(held < HOLDS.end, "{held:?}");
    assert_eq!(bed.screen().pressed(), (vec![], 0));
}

/// The server's worker thread.
fn link_thread(server: &Client) -> Pid {
    let threads = PathBuf::from(format!("/proc/{}/task", server.pid));
    let thread = threads.read_dir().unwrap().find_map(|thread| {
        let thread = thread.unwrap();
        let name = std::fs::read_to_string(thread.path().join("comm")).ok()?;
        (name.trim() == "links").then(|| thread.file_name().into_string().unwrap())
    });
    Pid::from_raw(thread.expect("the links' thread").parse().unwrap())
}

#[test]
fn a_hung_link_keeps_the_devices_locked_no_longer_than_the_limit() {
    let bed = bed();
    let server = bed.server(&["--guard-timeout", LIMIT]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(&bed);
    let mut person = Person::at(&bed);
    let start = Instant::now();
    let call = typing(&server, &app);
    // Stop this thread alone, as a debugger does.
    let thread = link_thread(&server);
    ptrace::seize(thread, ptrace::Options::empty()).unwrap();
    ptrace::interrupt(thread).unwrap();
    watcher.await_no_overlay();
    let held = start.elapsed();
    // The link still hangs.
    assert!(HOLDS.contains(&held), "{held:?}");
    assert_eq!(bed.screen().pressed(), (vec![], 0), "what it had pressed");
    app.clear_log();
    person.tap('x'.into());
    app.wait_for("key x");
    ptrace::detach(thread, None).unwrap();
    let answer = call.answer(Duration::from_secs(30)).expect("an answer");
    println!("held {held:?}: {answer}");
    assert!(answer.error().contains("for too long"), "{answer}");
    assert_eq!(bed.screen().pressed(), (vec![], 0));
}

/// A stopped process keeps its grabs, and the watchdog in the same process is stopped too.
#[test]
fn a_stopped_server_gives_the_devices_back_at_its_limit_and_at_esc() {
    let bed = bed();
    let server = bed.server(&["--guard-timeout", LIMIT]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let mut person = Person::at(&bed);
    for (escapes, within) in [(false, 3_000), (true, 1_500)] {
        let start = Instant::now();
        let call = typing(&server, &app);
        signal(server.pid, Signal::STOP);
        if escapes {
            person.tap(ESCAPE);
        }
        until("the person's key", || {
            person.tap('x'.into());
            app.full_log().iter().any(|l| l == "key x").then_some(())
        });
        let held = start.elapsed();
        until("nothing pressed", || bed.screen().pressed() == (vec![], 0));
        let before = app.full_log().len();
        signal(server.pid, Signal::CONT);
        let answer = call.answer(Duration::from_secs(30)).expect("an answer");
        println!("held {held:?}: {answer}");
        assert!(held < Duration::from_millis(within), "{held:?}");
        assert!(answer.is_error, "{answer}");
        let strayed = app.full_log().len() - before;
        assert!(strayed <= 32, "{strayed} lines of what it typed afterwards");
        assert_eq!(bed.screen().pressed(), (vec![], 0));
        // The client need not start the server again.
        let ok = json!({"pid": app.pid, "element": "OK", "role": "AXButton"});
        let next = server.call("click_and_traverse", ok).ok();
        assert!(!next.text.contains("may have mixed"), "{next}");
        app.clear_log();
    }
}

/// A server whose person has stopped it with Ctrl+Z stays stopped: nothing is held.
#[test]
fn a_stopped_server_that_got_no_devices_stays_stopped() {
    let bed = bed();
    let server = bed.server(&["--guard-timeout", "5"]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let grabber = Grabber::on(&bed);
    grabber.grab_devices();
    let start = Instant::now();
    let refused = server.press_key(app.pid, "x", &[]);
    assert!(refused.error().contains("another program"), "{refused}");
    signal(server.pid, Signal::STOP);
    let state = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid)).unwrap();
        status
            .lines()
            .find(|l| l.starts_with("State"))
            .unwrap()
            .to_owned()
    };
    until("the server has stopped", || state().contains("stopped"));
    while start.elapsed() < Duration::from_secs(7) {
        assert!(
            state().contains("stopped"),
            "{} after {:?}",
            state(),
            start.elapsed()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    signal(server.pid, Signal::CONT);
}

/// The longest time that the guard is closed in a link that waits for an app for two seconds.
#[test]
fn no_device_is_locked_while_an_app_is_waited_for() {
    let bed = bed();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(&bed);
    let press = json!({"pid": app.pid, "keyName": "F9", "traverseBefore": false});
    let call = server.send("press_key_and_traverse", press);
    watcher.await_overlay();
    app.signal(Signal::STOP);
    let start = Instant::now();
    watcher.await_no_overlay();
    let held = start.elapsed();
    let answer = call.answer(Duration::from_secs(30)).expect("an answer");
    app.signal(Signal::CONT);
    println!(
        "held {held:?}, answered after {:?}: {answer}",
        start.elapsed()
    );
    assert!(held < Duration::from_millis(500), "{held:?}");
}

#[test]
fn quiet_tools_lock_no_device() {
    let bed = bed();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    let of = |more: serde_json::Value| {
        let mut call = json!({"pid": app.pid});
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call
    };
    let calls = [
        (
            "press_ax_and_traverse",
            of(json!({"element": "OK", "role": "AXButton"})),
        ),
        (
            "set_value_and_traverse",
            of(json!({"element": "Name", "role": "AXTextField", "value": "n"})),
        ),
        ("set_selected_and_traverse", of(json!({"element": "Row 1"}))),
        ("refresh_traversal", of(json!({}))),
    ];
    for (tool, call) in calls {
        server.call(tool, call).ok();
    }
    let log = bed.journal_lines();
    assert_eq!(log.len(), 4);
    assert!(
        log.iter().all(|line| line.get("guard_held_ms").is_none()),
        "{log:?}"
    );
}

#[test]
fn typing_stops_when_the_screen_is_locked() {
    let bed = bed();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let call = typing(&server, &app);
    let lock = Lock::on(&bed);
    let answer = call.answer(Duration::from_secs(60)).expect("an answer");
    let error = answer.error();
    assert!(error.contains("of 3000 characters"), "{error}");
    let strayed = lock.keys();
    println!("{strayed} keys went to the lock: {error}");
    assert!(strayed <= 16, "{strayed} keys reached the lock");
}

#[test]
fn typing_stops_when_another_window_comes_to_the_front() {
    let bed = bed();
    let server = bed.server(&["--guard", "off"]);
    let app = bed.widgets(Toolkit::Gtk3);
    let other = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let call = typing(&server, &app);
    other.bring_to_front();
    let answer = call.answer(Duration::from_secs(60)).expect("an answer");
    let error = answer.error();
    has(error, "is in front now");
    has(error, "of 3000 characters");
    let strayed = other
        .full_log()
        .iter()
        .filter(|l| l.starts_with("key "))
        .count();
    assert!(strayed <= 16, "{strayed} keys reached the wrong app");
    assert_eq!(
        bed.screen().front(),
        other.window.id,
        "the person's choice stays"
    );
}
