//! After the act: errors say what was done, and late changes are reported.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use deskline_testbed::{Bed, Toolkit, until};
use serde_json::json;

#[test]
fn an_error_after_the_act_says_that_it_has_happened() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    let hang = json!({"pid": app.pid, "element": "Hang", "role": "AXButton"});
    let answer = server.call("click_and_traverse", hang);
    let said = answer.error();
    assert!(
        said.starts_with("Clicked 'Hang' [AXButton]; then: ") && said.contains("does not answer"),
        "{said}"
    );
    app.wait_for("clicked Hang");
    let line = bed.journal_lines().pop().unwrap();
    let outcome = line["outcome"].as_str().unwrap_or_default();
    assert!(outcome.starts_with("error: Clicked 'Hang'"), "{line}");
}

#[test]
fn late_changes_are_reported_by_the_next_answer() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let late = json!({"pid": app.pid, "element": "Late", "role": "AXButton"});
        let clicked = server.call("click_and_traverse", late).ok();
        // On a slow machine it may be there before the click has settled.
        if clicked.file().contains("Here I am") {
            continue;
        }
        assert!(clicked.get("late_changes").is_none(), "{clicked}");
        let look = json!({"pid": app.pid});
        let answer = until("the late change", || {
            let answer = server.call("refresh_traversal", look.clone()).ok();
            answer.get("late_changes").is_some().then_some(answer)
        });
        let said = answer.field("late_changes");
        assert!(
            said.contains(" added") && said.ends_with(" since the last answer"),
            "{answer}"
        );
        assert!(
            answer.text.contains("[AXStaticText] \"Here I am\""),
            "{answer}"
        );
        let file = answer.file();
        assert!(file.starts_with("# late: +"), "{file}");
        let mut lines = file.lines().filter(|l| l.starts_with("late + "));
        assert!(lines.any(|l| l.contains("\"Here I am\"")), "{file}");
        // A late change is reported only once.
        let again = server.call("refresh_traversal", look).ok();
        assert!(again.get("late_changes").is_none(), "{again}");
        // Late changes and the action's own changes are separate.
        let late = json!({"pid": app.pid, "element": "Wrap", "role": "AXCheckBox"});
        let answer = server.call("click_and_traverse", late).ok();
        assert!(answer.get("late_changes").is_none(), "{answer}");
    }
}

#[test]
fn a_clock_is_not_reported_each_time() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    let clock = json!({"pid": app.pid, "element": "Ticking", "role": "AXCheckBox"});
    server.call("click_and_traverse", clock).ok();
    let told = (0..8)
        .filter(|_| {
            let look = json!({"pid": app.pid});
            let answer = server.call("refresh_traversal", look).ok();
            answer.get("late_changes").is_some()
        })
        .count();
    assert!(told <= 3, "{told} of 8");
}
