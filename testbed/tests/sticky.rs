//! Sticky Keys: modifiers that the person has latched or locked do not modify the agent's input,
//! and are restored afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::person::{CONTROL, Person, SHIFT};
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{Bed, Toolkit, until};
use serde_json::json;

#[test]
fn latched_and_locked_modifiers_are_restored_as_they_were() {
    let bed = Bed::with(&["--watch"]);
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    server.click(app.pid, "AXTextField", "Name").ok();
    let watcher = Watcher::on(&bed);
    watcher.turn_sticky_keys_on();
    let mut person = Person::at(&bed);
    let plain = watcher.standing();
    let mut typed = String::new();
    // Once latches, twice locks, three times clears.
    for (key, taps) in [(SHIFT, 1), (CONTROL, 1), (SHIFT, 2), (SHIFT, 0)] {
        let before = watcher.standing();
        for tap in 0..taps {
            person.tap(key);
            until("the modifier", || {
                let now = watcher.standing();
                let done = if tap == 0 {
                    now.0 != before.0
                } else {
                    now.1 != before.1
                };
                done.then_some(())
            });
        }
        let theirs = watcher.standing();
        app.clear_log();
        let text = json!({"pid": app.pid, "text": "aBc dEF"});
        server.call("type_and_traverse", text).ok();
        typed += "aBc dEF";
        app.wait_for(&format!("text Name {typed}"));
        assert_eq!(watcher.standing(), theirs, "typing, {key:x} × {taps}");
        server.press_key(app.pid, "F8", &["Shift"]).ok();
        app.wait_for("key Shift+F8");
        assert_eq!(watcher.standing(), theirs, "a key, {key:x} × {taps}");
        let click = json!({"pid": app.pid, "element": "OK", "role": "AXButton"});
        server.call("click_and_traverse", click).ok();
        app.wait_for("clicked OK");
        assert_eq!(watcher.standing(), theirs, "a click, {key:x} × {taps}");
        // Turn it off and on: that clears latches and locks.
        watcher.turn_sticky_keys_off();
        watcher.turn_sticky_keys_on();
        until("no latch and no lock", || watcher.standing() == plain);
        let name = json!({"pid": app.pid, "element": "Name", "role": "AXTextField",
                          "pressKey": "End"});
        server.call("click_and_traverse", name).ok();
    }
}

/// A person whose input arrives by XTEST, like the agent's own.
#[test]
fn the_answer_says_that_input_from_x11vnc_is_not_kept_out() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let clicked = bed.server(&[]).click(app.pid, "AXButton", "OK").ok();
    assert!(!clicked.text.contains("x11vnc"), "{clicked}");
    // Such programs are recognised by the name of their process.
    let program = bed.path("x11vnc");
    std::fs::copy("/bin/sleep", &program).unwrap();
    let mut vnc = bed.command(&program).arg("1000").spawn().unwrap();
    let clicked = bed.server(&[]).click(app.pid, "AXButton", "OK").ok();
    clicked.field_has("note", "someone at x11vnc");
    let doctor = bed
        .command(deskline_testbed::deskline())
        .args(["doctor", "--attended"])
        .output()
        .unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("Input from x11vnc is not"), "{doctor}");
    vnc.kill().unwrap();
    vnc.wait().unwrap();
}
