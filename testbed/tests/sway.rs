//! sway: windows, exact coordinates, clicks, typing and pictures, with native apps over each other.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use deskline_testbed::{Client, Compositor, Setup, Toolkit};
use serde_json::json;

fn kill(server: &Client) {
    let pid = rustix::process::Pid::from_raw(server.pid.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn clicks_land_to_the_pixel_in_windows_over_each_other() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server();
    let apps = Toolkit::ALL.map(|toolkit| (toolkit, sway.widgets(toolkit, &server)));
    for (toolkit, app) in &apps {
        let read = server.call_for(app, "refresh_traversal", json!({})).ok();
        assert!(!read.file().contains("# coordinates"), "{toolkit:?}");
        let click = json!({"element": "OK", "role": "AXButton"});
        let click = server.call_for(app, "click_and_traverse", click).ok();
        app.wait_for("clicked OK");
        let ok = click.line_of("AXButton", "OK").extents.unwrap();
        // The corners belong to the button, and the places beside them do not. GTK 4 reports the
        // label's place.
        if *toolkit == Toolkit::Gtk4 {
            continue;
        }
        let (right, bottom) = (ok.x + ok.w - 2, ok.y + ok.h - 2);
        for (n, (x, y)) in [(ok.x + 1, ok.y + 1), (right, bottom)]
            .into_iter()
            .enumerate()
        {
            server
                .call_for(app, "click_and_traverse", json!({"x": x, "y": y}))
                .ok();
            deskline_testbed::until("the click", || app.logged("clicked OK") == n + 2);
        }
        let outside = json!({"x": ok.x + ok.w / 2, "y": ok.y - 3});
        server.call_for(app, "click_and_traverse", outside).ok();
        assert_eq!(app.logged("clicked OK"), 3, "{toolkit:?}");
    }
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
fn the_window_in_front_comes_back_and_has_its_picture() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server();
    let behind = sway.widgets(Toolkit::Gtk3, &server);
    let front = sway.widgets(Toolkit::Qt5, &server);
    let clicked = server.click(behind.pid(), "AXButton", "OK").ok();
    behind.wait_for("clicked OK");
    let picture = clicked.field("screenshot");
    let decoder = png::Decoder::new(std::io::BufReader::new(
        std::fs::File::open(picture).unwrap(),
    ));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let window = clicked
        .line_of("AXWindow", "Window of gtk3.py")
        .extents
        .unwrap();
    assert_eq!(
        (info.width, info.height),
        (window.w.cast_unsigned(), window.h.cast_unsigned())
    );
    let colours: std::collections::HashSet<&[u8]> = pixels.chunks_exact(3).collect();
    assert!(colours.len() > 20, "{} colours", colours.len());
    assert!(server.has_in_front(&front));
    assert!(front.log().iter().all(|l| !l.starts_with("clicked")));
}

#[test]
fn a_sway_that_is_started_anew_costs_no_client_its_server() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server();
    let ok = || json!({"element": "OK", "role": "AXButton"});
    let first = sway.widgets(Toolkit::Gtk3, &server);
    server.call_for(&first, "click_and_traverse", ok()).ok();
    let _anew = sway.sway_anew();
    let start = std::time::Instant::now();
    let dark = server.call_for(&first, "click_and_traverse", ok());
    assert!(start.elapsed() < Duration::from_secs(12), "{dark}");
    assert!(!dark.text.contains("internal error"), "{dark}");
    // Its setup reads until the app is there: the first call reconnects.
    let second = sway.widgets(Toolkit::Gtk4, &server);
    server.call_for(&second, "click_and_traverse", ok()).ok();
    second.wait_for("clicked OK");
    assert_eq!(second.logged("clicked OK"), 1);
    let name = json!({"element": "Name", "role": "AXTextField", "text": "anew"});
    server.call_for(&second, "click_and_traverse", name).ok();
    second.wait_for("text Name anew");
}

#[test]
fn the_wheel_turns() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server();
    let app = sway.widgets(Toolkit::Qt5, &server);
    let read = server.call_for(&app, "refresh_traversal", json!({})).ok();
    let list = read.line_of("AXList", "Rows").extents.unwrap();
    let place = json!({"x": list.x + 20, "y": list.y + 40, "deltaY": 5});
    server.call_for(&app, "scroll_and_traverse", place).ok();
    deskline_testbed::until("the list's motion", || {
        let log = app.log();
        log.iter()
            .any(|l| l.starts_with("scrolled Rows"))
            .then_some(())
    });
}

#[test]
fn the_doctor_says_what_sway_can_do() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server();
    let _app = sway.widgets(Toolkit::Gtk3, &server);
    let can = ["display", "windows", "raise", "pointer", "keys", "picture"];
    sway.doctor_says(&[], &can, &["guard"]);
}

#[test]
fn an_own_seat_is_refused_by_a_sway_without_seats() {
    let sway = Setup::here(Compositor::Sway).start();
    let server = sway.server_with(&["--seat", "own"]);
    server
        .call("list_applications", json!({}))
        .fails_with("--seat shared");
}

#[test]
fn the_end_of_a_server_takes_no_pointer_from_a_seat_that_has_no_other() {
    for killed in [false, true] {
        let sway = Setup::here(Compositor::Sway).start();
        let server = sway.server();
        let app = sway.widgets(Toolkit::Gtk3, &server);
        server.click(app.pid(), "AXButton", "OK").ok();
        app.wait_for("clicked OK");
        if killed {
            kill(&server);
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
    Setup::here(Compositor::Sway).start().uses_a_panel();
}
