//! If another program has grabbed the keyboard or the pointer, no input is sent, as that program
//! would get it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use deskline_testbed::grabber::Grabber;
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{Bed, Toolkit};
use serde_json::json;

const TYPE: &str = "type_and_traverse";
const CLICK: &str = "click_and_traverse";

#[test]
fn nothing_is_typed_while_another_program_has_grabbed_the_keyboard() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let name = json!({"pid": app.pid, "element": "Name", "role": "AXTextField"});
    server.call(CLICK, name.clone()).ok();
    app.clear_log();
    let mut grabber = Grabber::on(&bed);
    grabber.grab_keyboard();
    let typed = server.type_text(app.pid, "secret words");
    assert!(typed.error().contains("grabbed the keyboard"), "{typed}");
    assert!(typed.error().contains("Nothing was typed"), "{typed}");
    server
        .press_key(app.pid, "F8", &[])
        .fails_with("grabbed the keyboard");
    // The quiet tools need no keyboard.
    let mut set = name;
    set["value"] = "quiet".into();
    server.call("set_value_and_traverse", set).ok();
    assert_eq!(grabber.keys(), 0, "keys went to the other program");
    assert_eq!(app.full_log(), ["text Name quiet"]);
    grabber.let_go();
    server.press_key(app.pid, "F8", &[]).ok();
    app.wait_for("key F8");
}

#[test]
fn typing_ends_when_another_program_grabs_the_keyboard() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(&bed);
    let mut grabber = Grabber::on(&bed);
    let text = "abcdefghij".repeat(300);
    let call = server.send(TYPE, json!({"pid": app.pid, "text": text}));
    let mut before = 0;
    while before < 100 {
        before += watcher.strokes().iter().filter(|s| s.synthetic).count();
    }
    grabber.grab_keyboard();
    let answer = call.answer(Duration::from_secs(30)).expect("an answer");
    assert!(answer.error().contains("grabbed the keyboard"), "{answer}");
    let sent = answer.error().split_once("The first ").expect("how far").1;
    let sent: usize = sent.split(' ').next().unwrap().parse().unwrap();
    let lost = grabber.keys();
    let arrived = app
        .full_log()
        .iter()
        .filter(|l| l.starts_with("key "))
        .count();
    assert!(lost <= 8, "{lost} keys went to the other program");
    assert_eq!(arrived + lost, sent, "{answer}");
    assert!(sent < text.len(), "it came too late to tell");
}

#[test]
fn nothing_is_clicked_while_another_program_has_grabbed_the_pointer() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let mut grabber = Grabber::on(&bed);
    grabber.grab_pointer();
    let clicked = server.click(app.pid, "AXButton", "OK");
    assert!(clicked.error().contains("grabbed the pointer"), "{clicked}");
    let (x, y, ..) = app.window.bounds;
    let scroll = json!({"pid": app.pid, "x": x + 50, "y": y + 50, "deltaY": 3});
    server
        .call("scroll_and_traverse", scroll)
        .fails_with("grabbed the pointer");
    assert_eq!(grabber.clicks(), 0, "clicks went to the other program");
    assert_eq!(app.full_log(), [""; 0]);
    grabber.let_go();
    server.click(app.pid, "AXButton", "OK").ok();
    assert_eq!(app.log(), ["clicked OK"]);
}

/// An open menu of the target has grabbed both devices, but the agent's input is meant for that
/// menu.
#[test]
fn the_targets_own_menu_takes_keys_and_clicks() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        server.click(app.pid, "AX", "File").ok();
        for key in ["Down", "Return"] {
            let pressed = server.press_key(app.pid, key, &[]);
            assert!(!pressed.is_error, "{toolkit:?}: {pressed}");
        }
        let log = app.log();
        assert!(
            log.iter().any(|line| line.starts_with("menu ")),
            "{toolkit:?}: {log:?}"
        );
    }
}
