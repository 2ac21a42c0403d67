//! A private desktop, at which nobody sits: links guard nothing and restore nothing.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{App, Bed, Client, until};
use serde_json::json;

fn guards(bed: &Bed) -> bool {
    bed.journal_lines()
        .iter()
        .any(|line| line.get("guard_held_ms").is_some())
}

fn in_front(app: &App<'_>, bed: &Bed) -> bool {
    let front = bed.screen().front();
    bed.screen()
        .windows_of(app.pid)
        .iter()
        .any(|w| w.id == front)
}

#[test]
fn the_target_stays_in_front_and_the_pointer_stays_at_the_click() {
    let bed = Bed::new();
    let calculator = bed.gnome_calculator();
    let (notes, _) = bed.mousepad("");
    notes.bring_to_front();
    let server = Client::start(bed.serve_alone(&[]));
    let answer = server.click(calculator.pid, "AXButton", "7").ok();
    assert!(!answer.text.contains("note:"), "{}", answer.text);
    assert!(in_front(&calculator, &bed));
    assert!(!guards(&bed));

    // A person watches this desktop.
    notes.bring_to_front();
    let server = bed.server(&[]);
    server.click(calculator.pid, "AXButton", "7").ok();
    assert!(in_front(&notes, &bed));
    assert!(guards(&bed));
}

#[test]
fn a_desktop_that_can_be_watched_is_guarded() {
    let bed = Bed::with(&["--watch"]);
    let (notes, _) = bed.mousepad("");
    let server = Client::start(bed.serve_alone(&[]));
    server.type_text(notes.pid, "Hello").ok();
    assert!(guards(&bed));
}

#[test]
fn the_doctor_reports_that_there_is_no_guard() {
    let bed = Bed::new();
    let printed = |args: &[&str]| {
        let mut doctor = bed.command(deskline_testbed::deskline());
        let output = doctor.arg("doctor").args(args).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let guard = printed.lines().find(|line| line.contains("input lock"));
        guard.unwrap_or_else(|| panic!("{printed}")).to_owned()
    };
    assert!(printed(&[]).contains("nobody sits at this private desktop"));
    assert!(!printed(&["--attended"]).contains("nobody sits"));
}

/// `call --warm` in a shell: the calls share a server and its private desktop, which end after the
/// time without a call.
#[test]
fn calls_with_warm_share_one_server_that_ends_when_idle() {
    let bed = Bed::new();
    let call = |tool: &str, arguments: serde_json::Value| {
        let mut command = bed.command(deskline_testbed::deskline());
        command.arg("--dir").arg(bed.journal());
        command.args(["--desktop=private", "call", "--warm=0.1", tool]);
        let output = command.arg(arguments.to_string()).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8(output.stdout).unwrap() + &error;
        (output.status.code().unwrap(), text)
    };
    let server = || {
        let is_it = |line: &&str| line.contains("--desktop=private=") && line.contains("warm ");
        let processes = bed.run("ps", &["-eo", "pid=,args="]);
        let journal = bed.journal().display().to_string();
        let mut lines = processes.lines().filter(is_it);
        let line = lines.find(|line| line.contains(&journal))?;
        line.trim().split(' ').next().map(str::to_owned)
    };
    // Two first calls at once start one server.
    std::thread::scope(|scope| {
        let calls = [(); 2].map(|()| scope.spawn(|| call("list_applications", json!({}))));
        for call in calls {
            let (exit, text) = call.join().unwrap();
            assert_eq!(exit, 0, "{text}");
        }
    });
    let notes = bed.path("notes.txt");
    std::fs::write(&notes, "").unwrap();
    let open = json!({"identifier": format!("mousepad {}", notes.display())});
    let (exit, opened) = call("open_application_and_traverse", open);
    assert_eq!(exit, 0, "{opened}");
    let pid = opened
        .lines()
        .find_map(|line| line.strip_prefix("pid: "))
        .unwrap();
    let pid: i64 = pid.parse().unwrap();
    let text = json!({"pid": pid, "text": "Hello"});
    assert_eq!(call("type_and_traverse", text).0, 0);
    let save = json!({"pid": pid, "keyName": "s", "modifierFlags": ["Control"]});
    let (exit, saved) = call("press_key_and_traverse", save);
    assert_eq!(exit, 0, "{saved}");
    let written = || std::fs::read_to_string(&notes).unwrap() == "Hello";
    until("the note is saved", written);

    // Errors and unknown tools are reported as without a server.
    let (exit, text) = call("refresh_traversal", json!({}));
    assert!(exit == 1 && text.starts_with("status: error\n"), "{text}");
    let (exit, text) = call("list_application", json!({}));
    assert!(exit == 2 && text.contains("Did you mean"), "{text}");

    // With a release build, a call takes about 10 ms more than the tool, and 500 ms more if it
    // starts a server.
    let quickest = (0..10).map(|_| {
        let start = Instant::now();
        assert_eq!(call("list_applications", json!({})).0, 0);
        start.elapsed()
    });
    let quickest = quickest.min().unwrap();
    assert!(quickest < Duration::from_millis(50), "{quickest:?}");

    // A killed server is replaced.
    let first = server().unwrap();
    bed.run("kill", &["-KILL", &first]);
    let (exit, text) = call("list_applications", json!({}));
    assert!(exit == 0 && text.contains("0 running apps"), "{text}");
    assert_ne!(server().unwrap(), first);
    until("the server ends", || server().is_none());
    let left = std::fs::read_dir(bed.journal()).unwrap();
    let left = left.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".sock")
    });
    assert_eq!(left.count(), 0);
}

/// Prints the cost of a click.
#[test]
#[ignore = "a measurement"]
fn the_cost_of_a_click_on_a_calculator_is_printed() {
    let bed = Bed::new();
    let calculator = bed.gnome_calculator();
    let (notes, _) = bed.mousepad("");
    for (name, server) in [
        ("attended", bed.server(&[])),
        ("alone", Client::start(bed.serve_alone(&[]))),
    ] {
        notes.bring_to_front();
        let mut times: Vec<f64> = (0..21)
            .map(|run| {
                // Of two clicks in a row on one button, the second waits until it cannot be a part
                // of a double click.
                let digit = ["7", "5"][run % 2];
                let click = json!({"pid": calculator.pid, "element": digit, "role": "AXButton"});
                let start = Instant::now();
                server.call("click_and_traverse", click).ok();
                start.elapsed().as_secs_f64() * 1e3
            })
            .skip(1)
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{name}: median {:.0} ms of {times:.0?}", times[10]);
    }
}
