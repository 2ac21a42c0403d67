//! The journal, and the tools beyond the nine: refs that outlive the server, searching and viewing
//! the journal, waiting, dragging, and apps out of bounds.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Bed, Toolkit, until};
use serde_json::json;

#[test]
fn a_ref_is_good_in_the_next_server() {
    let bed = Bed::new();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let first = bed.server(&[]);
        let tree = first
            .call("refresh_traversal", json!({"pid": app.pid}))
            .ok();
        let reference = tree
            .line_of("AXButton", "OK")
            .reference
            .unwrap()
            .to_string();
        assert!(first.hang_up().success());

        let second = bed.server(&[]);
        let tree = second
            .call("refresh_traversal", json!({"pid": app.pid}))
            .ok();
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
fn the_journal_is_searched_and_looked_at() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let server = bed.server(&[]);
    let tree = server
        .call("refresh_traversal", json!({"pid": app.pid}))
        .ok();
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
fn waiting_ends_when_the_app_has_done_it() {
    let bed = Bed::new();
    let server = bed.server(&[]);
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

#[test]
fn a_drag_moves_a_slider() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Qt5);
    let tree = server
        .call("refresh_traversal", json!({"pid": app.pid}))
        .ok();
    let slider = tree.line_of("AXSlider", "Volume").extents.unwrap();
    let (y, right) = (slider.y + slider.h / 2, slider.x + slider.w - 4);
    let drag = json!({"pid": app.pid, "x": slider.x + 5, "y": y, "toX": right, "toY": y});
    server.call("drag_and_traverse", drag).ok();
    until("the slider moved", || {
        app.log()
            .iter()
            .any(|line| line.starts_with("value Volume "))
            .then_some(())
    });
}

#[test]
fn a_blocked_app_is_neither_read_nor_touched() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Qt5);
    let server = bed.server(&["--deny-app", "qt5"]);
    for (tool, arguments) in [
        ("refresh_traversal", json!({"pid": app.pid})),
        (
            "click_and_traverse",
            json!({"pid": app.pid, "element": "OK"}),
        ),
        (
            "press_ax_and_traverse",
            json!({"pid": app.pid, "element": "OK"}),
        ),
        ("type_and_traverse", json!({"pid": app.pid, "text": "x"})),
    ] {
        let answer = server.call(tool, arguments);
        assert!(answer.error().contains("out of bounds"), "{tool}: {answer}");
        assert_eq!(answer.get("file"), None, "{tool}: {answer}");
    }
    assert!(app.log().is_empty(), "{:?}", app.log());
    let listed = server.call("list_applications", json!({})).ok();
    assert!(!listed.text.contains("qt5"), "{listed}");
}
