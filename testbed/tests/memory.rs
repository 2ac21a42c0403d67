//! Refs that outlive the server, searching and viewing the journal, and waiting.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Bed, Toolkit};
use serde_json::json;

#[test]
fn a_ref_is_good_in_the_next_server() {
    let bed = Bed::new();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let first = bed.server(&[]);
        let tree = first.refresh(app.pid).ok();
        let reference = tree
            .line_of("AXButton", "OK")
            .reference
            .unwrap()
            .to_string();
        assert!(first.hang_up().success());

        let second = bed.server(&[]);
        let tree = second.refresh(app.pid).ok();
        let again = tree
            .line_of("AXButton", "OK")
            .reference
            .unwrap()
            .to_string();
        assert_eq!(again, reference, "{toolkit:?}");
        let click = json!({"pid": app.pid, "ref": format!("#{reference}")});
        second.call("click_and_traverse", click).ok();
        app.wait_for("clicked OK");
    }
}

#[test]
fn the_journal_is_searched_and_its_pictures_are_viewed() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let server = bed.server(&[]);
    let tree = server.refresh(app.pid).ok();
    let found = server
        .call("search_tree", json!({"pattern": "axbutton.*\"ok\""}))
        .ok();
    let line = tree
        .file()
        .lines()
        .position(|l| l.contains("AXButton") && l.contains("\"OK\""));
    let number = line.unwrap() + 1;
    assert!(found.text.contains(&format!("{number}:")), "{found}");
    assert!(found.text.contains("\"OK\""), "{found}");

    let window = app.window_now();
    let shown = server.call("view_screenshot", json!({})).ok();
    let (x, y, ..) = window.bounds;
    assert!(
        shown.text.contains(&format!("origin {x},{y}")),
        "{window:?}: {shown}"
    );
}

#[test]
fn a_wait_ends_when_the_awaited_element_appears() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let late = json!({"pid": app.pid, "element": "Late", "role": "AXButton"});
        server.call("click_and_traverse", late).ok();
        let wait = json!({"pid": app.pid, "element": "Here I am"});
        let answer = server.call("wait_for_and_traverse", wait).ok();
        assert!(
            app.log().contains(&"late".to_owned()),
            "{toolkit:?}: {answer}"
        );
        assert!(
            answer.field("summary").contains("is present"),
            "{toolkit:?}: {answer}"
        );

        let never = json!({"pid": app.pid, "element": "Here I was", "timeout": 0.3});
        let answer = server.call("wait_for_and_traverse", never);
        assert!(
            answer.error().contains("Here I am"),
            "{toolkit:?}: {answer}"
        );
        let gone = json!({"pid": app.pid, "element": "Nothing like it", "state": "absent"});
        server.call("wait_for_and_traverse", gone).ok();
    }
}
