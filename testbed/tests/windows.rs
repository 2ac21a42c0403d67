//! An app with several windows: what is clicked, typed into, scrolled and pictured is in the window
//! of the element that was meant, not in another that lies at the same place.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use deskline_testbed::{App, Bed, Client};
use serde_json::json;

const TOOLKITS: [&str; 4] = ["gtk3", "gtk4", "qt5", "qt6"];

#[track_caller]
fn push(server: &Client, app: &App<'_>, name: &str) {
    app.clear_log();
    let element = format!("Push {name}");
    let answer = server
        .call(
            "click_and_traverse",
            json!({"pid": app.pid, "element": element, "role": "AXButton"}),
        )
        .ok();
    assert_eq!(app.log(), [format!("pushed {name}")], "{answer}");
    let summary = answer.field("summary");
    assert!(summary.contains(&element), "{summary}");
}

#[track_caller]
fn type_into(server: &Client, app: &App<'_>, name: &str) {
    app.clear_log();
    let element = format!("Note {name}");
    let arguments = json!({"pid": app.pid, "element": element, "role": "AXTextField", "text": "x"});
    let answer = server.call("click_and_traverse", arguments).ok();
    assert_eq!(app.log(), [format!("text {name} x")], "{answer}");
}

/// Two maximised windows of one process: each element is at the place of its double.
#[test]
fn two_maximised_windows() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    for toolkit in TOOLKITS {
        let app = bed.windows(toolkit, &[], &["Alpha|Alpha|max", "Beta|Beta|max"]);
        for name in ["Alpha", "Beta", "Alpha"] {
            push(&server, &app, name);
        }
        for name in ["Beta", "Alpha"] {
            type_into(&server, &app, name);
        }
    }
}

/// Windows of one title, size and place, with another app in front of them.
#[test]
fn windows_that_nothing_tells_apart() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let other = bed.windows("gtk3", &[], &["Other|Other|300x200+900+600"]);
    for toolkit in TOOLKITS {
        let twins = [
            "Alpha|Twin|300x240",
            "Beta|Twin|300x240",
            "Gamma|Twin|300x240",
        ];
        let app = bed.windows(toolkit, &[], &twins);
        // Placed in one spot, which window managers do not do with windows of one app.
        for window in bed.screen().windows_of(app.pid) {
            bed.screen().place(window.id, 300, 200);
        }
        other.bring_to_front();
        for name in ["Alpha", "Gamma", "Beta"] {
            push(&server, &app, name);
            assert_eq!(bed.screen().front(), other.window.id, "{toolkit}: {name}");
        }
        type_into(&server, &app, "Beta");
    }
}
