//! Each kind of link restores the person's pointer and front window.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::time::Duration;

use deskline_testbed::{App, Bed, PATIENCE, Toolkit, calls, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

const POINTER: (i32, i32) = (1700, 900);

/// Each kind of link, on an app in the background.
fn links() -> Vec<(&'static str, Value)> {
    calls! {
        "click_and_traverse" {"element": "OK", "role": "AXButton"}
        "click_and_traverse" {"element": "Name", "role": "AXTextField", "text": "a"}
        "type_and_traverse" {"text": "b"}
        "press_key_and_traverse" {"keyName": "Tab"}
        "scroll_and_traverse" {"x": 700, "y": 300, "deltaY": 3}
        "set_value_and_traverse" {"element": "Volume", "value": 9}
        "press_ax_and_traverse" {"element": "OK", "role": "AXButton"}
        "set_selected_and_traverse" {"element": "Item 3"}
        "wait_for_and_traverse" {"element": "OK"}
        "refresh_traversal" {}
        // Links that fail.
        // Links that fail.
        "click_and_traverse" {"element": "no such thing"}
        "click_and_traverse" {"x": 1900, "y": 1070}
        "press_ax_and_traverse" {"ref": "e999999"}
    }
    .to_vec()
}

/// The app that links act on, and the person's, which is in front. The pointer is at [`POINTER`].
fn apps(bed: &Bed, toolkit: Toolkit) -> [App<'_>; 2] {
    let app = bed.widgets(toolkit).at(400, 150);
    let persons = bed.widgets(Toolkit::Qt5).at(900, 450);
    persons.bring_to_front();
    bed.screen()
        .move_pointer(POINTER.0 as i16, POINTER.1 as i16);
    [app, persons]
}

#[test]
fn every_kind_of_link_restores_pointer_and_front_window() {
    let (bed, server) = Bed::with_server();
    let screen = bed.screen();
    let [app, persons] = apps(&bed, Toolkit::Gtk3);
    for (tool, mut arguments) in links() {
        screen.move_pointer(POINTER.0 as i16, POINTER.1 as i16);
        arguments["pid"] = app.pid.into();
        let answer = server.call(tool, arguments.clone());
        let what = format!("{tool} {arguments}: {answer}");
        assert_eq!(screen.pointer(), POINTER, "{what}");
        assert_eq!(screen.front(), persons.window.id, "{what}");
        assert_eq!(screen.pressed(), (vec![], 0), "{what}");
    }
    assert_eq!(
        persons.full_log(),
        [""; 0],
        "the person's app got some of it"
    );
}

#[test]
fn a_cancelled_request_restores_pointer_and_front_window() {
    let (bed, server) = Bed::with_server();
    let screen = bed.screen();
    let [app, persons] = apps(&bed, Toolkit::Gtk3);
    let long: String = "to be or not to be ".repeat(200);
    let pending = server.send(
        "click_and_traverse",
        json!({"pid": app.pid, "element": "Name", "role": "AXTextField", "text": long}),
    );
    until("typing", || app.log().first().cloned());
    pending.cancel();
    until("the link's end", || bed.journal_lines().pop());
    assert_eq!(bed.journal_lines()[0]["outcome"], "cancelled");
    assert_eq!(screen.pointer(), POINTER);
    assert_eq!(screen.front(), persons.window.id);
    assert_eq!(screen.pressed(), (vec![], 0));
    // The last key may still be in the app's queue.
    std::thread::sleep(Duration::from_millis(300));
    let typed = app.log().len();
    assert!(typed < long.len(), "it was all typed");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(app.log().len(), typed, "it went on typing");
}

#[test]
fn an_open_menu_stays_until_the_link_that_closes_it() {
    for toolkit in Toolkit::ALL {
        let (bed, server) = Bed::with_server();
        let screen = bed.screen();
        let [app, persons] = apps(&bed, toolkit);
        let menu = json!({"pid": app.pid, "element": "File", "role": "AXMenuBarItem"});
        let open = server.call("click_and_traverse", menu).ok();
        assert!(
            open.line_of("AXMenuItem", "New").visible,
            "{toolkit:?}: {open}"
        );
        assert_ne!(screen.pointer(), POINTER, "{toolkit:?}");
        let done = server.click(app.pid, "AXMenuItem", "New").ok();
        assert_eq!(app.log(), ["menu New"], "{toolkit:?}: {done}");
        assert_eq!(screen.pointer(), POINTER, "{toolkit:?}");
        assert_eq!(screen.front(), persons.window.id, "{toolkit:?}");
    }
}

/// A dialog of the app itself is no handoff.
#[test]
fn pointer_and_front_window_are_restored_after_a_dialog_of_the_app() {
    let (bed, server) = Bed::with_server();
    let screen = bed.screen();
    let [app, persons] = apps(&bed, Toolkit::Gtk3);
    let asked = server.click(app.pid, "AXButton", "Ask").ok();
    assert!(asked.get("dialog").is_some(), "{asked}");
    let answered = server.click(app.pid, "AXButton", "Yes").ok();
    assert_eq!(app.log(), ["clicked Ask", "answered Yes"], "{answered}");
    assert!(answered.get("dialog").is_none(), "{answered}");
    assert_eq!(screen.pointer(), POINTER);
    assert_eq!(screen.front(), persons.window.id);
}

/// A window manager that is busy for longer than a link waits still raises the target later.
#[test]
fn the_front_window_is_restored_after_the_target_is_raised_late() {
    let bed = Bed::with_other_managers(&[]);
    let server = bed.server(&[]);
    let [app, persons] = apps(&bed, Toolkit::Gtk3);
    let manager = fs::read_to_string(bed.path("manager")).unwrap();
    let manager = manager.trim().parse().unwrap();
    signal(manager, Signal::STOP);
    let click = json!({"pid": app.pid, "element": "OK"});
    let pending = server.send("click_and_traverse", click);
    // The link waits for one second, and then two for a late window.
    std::thread::sleep(Duration::from_secs(2));
    signal(manager, Signal::CONT);
    let answer = pending.answer(PATIENCE).unwrap();
    // It handles requests in their order, so it has handled the link's when it moves this window.
    let persons = persons.at(950, 500);
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
    let clicked = app.log();
    assert_eq!(clicked.is_empty(), answer.is_error, "{clicked:?}: {answer}");
}
