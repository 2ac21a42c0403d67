//! labwc 0.8: a compositor that lists windows and takes input by wlroots' protocols, and reports
//! neither the owner nor the position of a window.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use deskline_testbed::{Answer, Client, Compositor, NativeApp, Session, Toolkit, until};
use serde_json::json;

use crate::menus;

const OK: &str = "clicked OK";

/// Clicks the corners of the test app's OK, and beside it, which clicks nothing: judged by the
/// app's log.
fn corners_are_exact(server: &Client, app: &NativeApp, of: &str) {
    app.clear_log();
    let read = server.call_for(app, "refresh_traversal", json!({})).ok();
    assert!(read.file().contains("# coordinates: window"), "{of}");
    let ok = read.line_of("AXButton", "OK").extents.unwrap();
    let (right, bottom) = (ok.x + ok.w, ok.y + ok.h);
    // Round corners take no clicks.
    let corners = [
        (ok.x + 2, ok.y + 2),
        (right - 3, ok.y + 2),
        (ok.x + 2, bottom - 3),
        (right - 3, bottom - 3),
    ];
    for (n, (x, y)) in corners.into_iter().enumerate() {
        let click = json!({"x": x, "y": y});
        let clicked = server.call_for(app, "click_and_traverse", click).ok();
        until(&format!("corner {n} of {of}\n{clicked}"), || {
            (app.logged(OK) == n + 1).then_some(())
        });
    }
    server.clicks_are_exact(app, of);
}

#[test]
fn clicks_land_to_the_pixel_in_windows_over_each_other() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let apps = Toolkit::DEBIAN_13.map(|toolkit| (toolkit, session.widgets(toolkit, &server)));
    for (toolkit, app) in &apps {
        corners_are_exact(&server, app, &format!("{toolkit:?}"));
    }
}

/// By then only the window's picture shows where it is.
#[test]
fn a_window_that_has_moved_is_found_again() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        corners_are_exact(&server, &app, &format!("{toolkit:?}"));
        // labwc's own keys: to the left half of the screen, then to the lower.
        for (key, side) in [("Left", "left"), ("Down", "bottom")] {
            let snap = json!({"keyName": key, "modifierFlags": ["Command"]});
            server.call_for(&app, "press_key_and_traverse", snap).ok();
            corners_are_exact(&server, &app, &format!("{toolkit:?} at the {side}"));
        }
    }
}

#[test]
fn windows_are_listed_and_raised_and_the_persons_comes_back() {
    window_comes_back([Toolkit::Gtk3, Toolkit::Gtk4, Toolkit::Qt6]);
}

#[test]
fn the_persons_window_comes_back_in_gtk_3_too() {
    window_comes_back([Toolkit::Qt6, Toolkit::Gtk4, Toolkit::Gtk3]);
}

/// The last app is the person's.
fn window_comes_back(toolkits: [Toolkit; 3]) {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let apps = toolkits.map(|t| session.widgets(t, &server));
    let person = &apps[2];
    let persons_window = || server.has_in_front(person).then_some(());
    until("the last app's window", persons_window);
    let listed = server.call("list_applications", json!({})).ok();
    for app in &apps {
        let pid = format!("(PID: {})", app.pid());
        let line = listed.text.lines().find(|line| line.contains(&pid));
        let titled = line.is_some_and(|line| line.contains("Window of"));
        assert!(titled, "{listed}");
    }
    for app in &apps[..2] {
        let ok = json!({"element": "OK", "role": "AXButton"});
        server.call_for(app, "click_and_traverse", ok).ok();
        app.wait_for(OK);
        until("the person's window", persons_window);
        let name = json!({"element": "Name", "role": "AXTextField", "text": "Ann"});
        server.call_for(app, "click_and_traverse", name).ok();
        app.wait_for("text Name Ann");
        until("the person's window after a text", persons_window);
        // It would close the menu, so it waits until the menu is done with.
        for (element, role) in [("File", "AXMenuBarItem"), ("File option", "AXMenuItem")] {
            assert_eq!(app.logged("menu File option true"), 0);
            let click = json!({"element": element, "role": role});
            server.call_for(app, "click_and_traverse", click).ok();
        }
        app.wait_for("menu File option true");
        until("the person's window after the menu", persons_window);
    }
    assert_eq!(person.logged(OK), 0);
}

/// An app that no assistive technology sees, such as the terminal in which an agent runs.
#[test]
fn the_persons_window_comes_back_where_no_app_describes_it() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    let log = session.folder().join("hidden.log");
    let mut command = session.command("/usr/bin/python3");
    command.env("GTK_A11Y", "none").env("NO_AT_BRIDGE", "1");
    command
        .arg("-B")
        .arg(session.folder().join("gtk4.py"))
        .arg(&log);
    let person = session.app(command, log);
    person.wait_for("ready");
    until("the person's window", || {
        (!server.has_in_front(&app)).then_some(())
    });
    let name = json!({"element": "Name", "role": "AXTextField", "text": "Ann"});
    server.call_for(&app, "click_and_traverse", name).ok();
    app.wait_for("text Name Ann");
    assert!(!server.has_in_front(&app));
}

#[test]
fn any_text_and_shortcuts_reach_the_field() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let text = "Grüße, 漢字 😀 £5: 1+1=2!";
        let field = json!({"element": "Name", "role": "AXTextField", "text": text});
        server.call_for(&app, "click_and_traverse", field).ok();
        app.wait_for(&format!("text Name {text}"));
        let all = json!({"keyName": "a", "modifierFlags": ["Control"]});
        server.call_for(&app, "press_key_and_traverse", all).ok();
        let rest = json!({"text": "x", "pressKey": "Return"});
        server.call_for(&app, "type_and_traverse", rest).ok();
        app.wait_for("text Name x");
    }
}

#[test]
fn forms_drags_and_the_wheel() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk4, &server);
    server.fills_the_form(&app);
    server.turns_the_wheel(&app);
    server.drags_over_the_pad(&app);
}

#[test]
fn a_menu_opens_behind_by_a_click_and_its_item_is_clicked() {
    menus::a_menu_behind_is_clicked(Compositor::Labwc);
}

fn size_of_picture(answer: &Answer) -> (u32, u32) {
    let file = File::open(answer.field("screenshot")).unwrap();
    let reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    (reader.info().width, reader.info().height)
}

/// The window's size shows that the picture is of the window alone.
#[test]
fn a_window_is_pictured_once_its_place_is_known() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let read = server.call_for(&app, "refresh_traversal", json!({})).ok();
        assert!(
            read.text.contains("it is not known where on the screen"),
            "{read}"
        );
        let ok = json!({"element": "OK", "role": "AXButton"});
        let clicked = server.call_for(&app, "click_and_traverse", ok).ok();
        let read = server.call_for(&app, "refresh_traversal", json!({})).ok();
        for answer in [clicked, read] {
            let window = answer.line_of("AXWindow", "Window of").extents.unwrap();
            let (w, h) = size_of_picture(&answer);
            assert_eq!(
                (w.cast_signed(), h.cast_signed()),
                (window.w, window.h),
                "{toolkit:?}"
            );
        }
    }
}

#[test]
fn the_doctor_says_what_labwc_can_do() {
    let session = Session::new(Compositor::Labwc);
    let output = session
        .deskline(&["doctor", "--dir", "j"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for row in [
        "✓ windows",
        "✓ raise",
        "✓ pointer",
        "✓ keys",
        "✓ picture",
        "! guard",
    ] {
        assert!(said.contains(row), "{row}\n{said}");
    }
    assert!(said.contains("in full screen for a moment"), "{said}");
}

/// Cancelled before, in and after the moment in which it is in full screen.
#[test]
fn a_cancelled_call_leaves_no_window_in_full_screen() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    let size = || {
        let read = server.call_for(&app, "refresh_traversal", json!({})).ok();
        let window = read.line_of("AXWindow", "Window of").extents.unwrap();
        (window.w, window.h)
    };
    let before = size();
    for time in [100, 200, 300, 400, 500, 600, 800] {
        let ok = json!({"pid": app.pid(), "element": "OK", "role": "AXButton"});
        let time = Duration::from_millis(time);
        let answer = server.call_timeout("click_and_traverse", ok, time);
        until(&format!("its size after {time:?}: {answer:?}"), || {
            (size() == before).then_some(())
        });
    }
    corners_are_exact(&server, &app, "the app");
}

/// A dialog of a fixed size is not shown in full screen, so its position is unknown. No click goes
/// astray: the error names the tools to use, and keys and presses reach it.
#[test]
fn a_dialog_of_a_fixed_size_is_pressed_and_not_clicked() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4] {
        let app = session.widgets(toolkit, &server);
        let ask = json!({"element": "Ask", "role": "AXButton"});
        server.call_for(&app, "click_and_traverse", ask).ok();
        let yes = json!({"element": "Yes", "role": "AXButton"});
        let refused = server.call_for(&app, "click_and_traverse", yes.clone());
        assert!(
            refused.error().contains("press_ax"),
            "{toolkit:?}: {refused}"
        );
        server.call_for(&app, "press_ax_and_traverse", yes).ok();
        app.wait_for("answered Yes");
        // The window behind it is where it was.
        let ok = json!({"element": "OK", "role": "AXButton"});
        server.call_for(&app, "click_and_traverse", ok).ok();
        app.wait_for(OK);
    }
}

#[test]
fn a_dialog_that_can_be_resized_is_clicked() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let app = session.widgets(Toolkit::Qt6, &server);
    for (element, logged) in [("Ask", "clicked Ask"), ("Yes", "answered Yes")] {
        let click = json!({"element": element, "role": "AXButton"});
        server.call_for(&app, "click_and_traverse", click).ok();
        app.wait_for(logged);
    }
}
