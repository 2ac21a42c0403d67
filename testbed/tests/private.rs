//! A private desktop, at which nobody sits: links guard nothing there and put nothing back.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use deskline_testbed::{App, Bed, Client};
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
fn the_target_stays_in_front_and_the_pointer_where_it_clicked() {
    let bed = Bed::new();
    let calculator = bed.gnome_calculator();
    let (notes, _) = bed.mousepad("");
    notes.bring_to_front();
    let server = Client::start(bed.serve_alone(&[]));
    let click = json!({"pid": calculator.pid, "element": "7", "role": "AXButton"});
    let answer = server.call("click_and_traverse", click.clone()).ok();
    assert!(!answer.text.contains("note:"), "{}", answer.text);
    assert!(in_front(&calculator, &bed));
    assert!(!guards(&bed));

    // Somebody watches.
    notes.bring_to_front();
    let server = bed.server(&[]);
    server.call("click_and_traverse", click).ok();
    assert!(in_front(&notes, &bed));
    assert!(guards(&bed));
}

#[test]
fn a_desktop_that_can_be_watched_is_guarded() {
    let bed = Bed::with(&["--watch"]);
    let (notes, _) = bed.mousepad("");
    let server = Client::start(bed.serve_alone(&[]));
    let typed = json!({"pid": notes.pid, "text": "Hello"});
    server.call("type_and_traverse", typed).ok();
    assert!(guards(&bed));
}

#[test]
fn the_doctor_says_that_there_is_no_guard() {
    let bed = Bed::new();
    let printed = |args: &[&str]| {
        let mut doctor = bed.command(deskline_testbed::deskline());
        let output = doctor.arg("doctor").args(args).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let guard = printed.lines().find(|line| line.contains("guard"));
        guard.unwrap_or_else(|| panic!("{printed}")).to_owned()
    };
    assert!(printed(&[]).contains("nobody sits at this private desktop"));
    assert!(!printed(&["--attended"]).contains("nobody sits"));
}

/// Prints the cost of a click.
#[test]
#[ignore = "a measurement"]
fn a_click_on_a_calculator() {
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
                // Two clicks in a row on one button wait until they are no double-click.
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
