//! sway: windows, exact coordinates, clicks, typing and pictures, with native apps over each other.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Stdio;

use deskline_testbed::{Compositor, Lack, Setup, Toolkit, until};
use serde_json::json;

#[test]
fn sway_keeps_the_promises_of_every_desktop() {
    let sway = Setup::here(Compositor::Sway).start();
    sway.keeps_all_but(&[Lack::Guard], Toolkit::ALL);
}

#[test]
fn any_text_is_typed_and_shortcuts_work() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server();
    for toolkit in Toolkit::ALL {
        let app = sway.widgets(toolkit, &server);
        let text = "Grüße, ABC abc 123 !?@ 漢字 😀 €";
        server.fill(app.pid(), "AXTextField", "Name", text).ok();
        app.wait_for(&format!("text Name {text}"));
        server.press_key(app.pid(), "a", &["Control"]).ok();
        let rest = json!({"text": "x", "pressKey": "Return"});
        server.call_for(&app, "type_and_traverse", rest).ok();
        app.wait_for("text Name x");
        app.wait_for("activated Name");
        for key in ["a", "1"] {
            server.press_key(app.pid(), key, &["Shift"]).ok();
        }
        app.wait_for("text Name xA!");
    }
}

#[test]
fn a_click_behind_has_its_picture_and_the_front_window_comes_back() {
    let sway = Setup::here(Compositor::Sway).start();
    sway.a_click_behind_has_its_picture(Toolkit::Qt5);
}

#[test]
fn a_seat_keeps_its_only_pointer_after_the_server_ends() {
    for killed in [false, true] {
        let sway = Setup::here(Compositor::Sway).start();
        let server = sway.server();
        let app = sway.widgets(Toolkit::Gtk3, &server);
        server.click(app.pid(), "AXButton", "OK").ok();
        app.wait_for("clicked OK");
        if killed {
            sway.kill(&server);
        }
        drop(server);
        assert!(sway.survives_a_late_client(), "killed: {killed}");
    }
}

#[test]
fn apps_without_a_tree_are_driven_behind_the_persons_window() {
    let session = Setup::here(Compositor::Sway).start();
    session.drives_sdl("sway", "hello Zy {x} äß 漢", None);
    session.drives_a_terminal("sway", "hello Zy {x} äß 漢");
}

#[test]
fn a_panel_is_read_and_pressed() {
    Setup::here(Compositor::Sway)
        .start()
        .uses_an_unlisted_panel();
}

/// xfce4-notifyd, whose pop-ups are plain windows on Wayland.
#[test]
fn a_notification_is_read_and_its_action_pressed() {
    let session = Setup::here(Compositor::Sway).start();
    let server = session.server();
    let persons = session.widgets(Toolkit::Gtk3, &server);
    let daemon = session.command("/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd");
    let daemon = session.app(daemon, session.folder().join("notifyd.log"));
    let mut wait = session.command("gdbus");
    wait.args([
        "wait",
        "--session",
        "--timeout=20",
        "org.freedesktop.Notifications",
    ]);
    assert!(wait.status().unwrap().success());
    let mut notify = session.command("notify-send");
    notify.args([
        "--expire-time=0",
        "--action=open=Open it",
        "Mail",
        "Ada has written",
    ]);
    let sender = notify.stdout(Stdio::piped()).spawn().unwrap();
    let pid = json!({"pid": daemon.pid()});
    until("the notification", || {
        let read = server.call("refresh_traversal", pid.clone());
        read.find("AXStaticText", "Ada has written")
    });
    let answer = server.press_ax(daemon.pid(), "AXButton", "Open it").ok();
    // notify-send prints the action and ends.
    let output = sender.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.trim(), "open", "{answer}");
    until("the person's window", || server.has_in_front(&persons));
}
