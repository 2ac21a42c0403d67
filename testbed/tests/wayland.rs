//! A Wayland session without X11: the tools that work through the apps' trees alone, and the
//! answers of those that need more.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Compositor, Setup, Toolkit, until};
use serde_json::json;

#[test]
fn apps_are_read_and_driven_through_their_trees_alone() {
    let sway = Setup::here(Compositor::Sway).unknown().start();
    let server = sway.server();
    for toolkit in Toolkit::ALL {
        let app = sway.widgets(toolkit, &server);
        let pid = app.pid();
        let read = server.refresh(pid).ok();
        assert!(
            read.file().lines().nth(1) == Some("# coordinates: window"),
            "{toolkit:?}: {}",
            read.file()
        );
        let ok = read.line_of("AXButton", "OK");
        assert!(ok.visible, "{toolkit:?}: {ok:?}");

        server.press_ax(pid, "AXButton", "OK").ok();
        app.wait_for("clicked OK");
        let set = server.set_value(pid, "AXTextField", "Name", "Ann").ok();
        app.wait_for("text Name Ann");
        assert!(
            set.diff_lines().iter().any(|l| l.contains("-> \"Ann\"")),
            "{set}"
        );

        // Input could go anywhere, so none is sent.
        let before = app.log();
        for (tool, more) in [
            ("click_and_traverse", json!({"element": "OK"})),
            ("type_and_traverse", json!({"text": "Bob"})),
            ("press_key_and_traverse", json!({"keyName": "Return"})),
            ("scroll_and_traverse", json!({"x": 1, "y": 1, "deltaY": 1})),
        ] {
            let mut arguments = more;
            arguments["pid"] = pid.into();
            let answer = server.call(tool, arguments);
            assert!(answer.is_error, "{tool}: {answer}");
            assert!(
                answer.error().contains("Wayland session (sway)")
                    && answer.error().contains("Use press_ax_and_traverse"),
                "{tool}: {answer}"
            );
        }
        assert_eq!(app.log(), before, "{toolkit:?}");
    }
}

/// The four numbers of a tree line identify the same element when they are passed back.
#[test]
fn window_coordinates_of_an_element_find_it_when_passed_back() {
    let sway = Setup::here(Compositor::Sway).unknown().start();
    let server = sway.server();
    for toolkit in Toolkit::ALL {
        let app = sway.widgets(toolkit, &server);
        let pid = app.pid();
        let read = server.refresh(pid).ok();
        let place = read.line_of("AXButton", "OK").extents.unwrap();
        let place =
            json!({"pid": pid, "x": place.x, "y": place.y, "width": place.w, "height": place.h});
        server.call("press_ax_and_traverse", place).ok();
        app.wait_for("clicked OK");
    }
}

#[test]
fn a_chain_waits_sets_a_value_and_selects_through_the_tree() {
    let sway = Setup::here(Compositor::Sway).unknown().start();
    let server = sway.server();
    let app = sway.widgets(Toolkit::Gtk3, &server);
    let pid = app.pid();
    let steps = json!([
        {"do": "press_ax", "element": "Late", "role": "AXButton"},
        {"do": "wait_for", "element": "Here I am"},
        {"do": "set_value", "element": "Name", "role": "AXTextField", "value": "Ann"},
        {"do": "set_selected", "element": "Row 2", "role": "AXRow"},
    ]);
    let chain = json!({"pid": pid, "steps": steps});
    let done = server.call("chain_and_traverse", chain).ok();
    assert_eq!(done.list("steps").len(), 4, "{done}");
    app.wait_for("late");
    app.wait_for("text Name Ann");
    app.wait_for("selected Row 2");
    let found = server
        .call("search_tree", json!({"pattern": "here i am"}))
        .ok();
    assert!(found.text.contains("Here I am"), "{found}");
    // A chain that needs input reports the step at which it stopped.
    let steps = json!([
        {"do": "press_ax", "element": "OK", "role": "AXButton"},
        {"do": "type", "text": "Bob"},
    ]);
    let stopped = server.call("chain_and_traverse", json!({"pid": pid, "steps": steps}));
    assert!(stopped.is_error, "{stopped}");
    assert!(stopped.text.contains("Wayland session (sway)"), "{stopped}");
}

#[test]
fn apps_are_listed_and_opened_without_a_list_of_windows() {
    let sway = Setup::here(Compositor::Sway).unknown().start();
    let server = sway.server();
    let app = sway.widgets(Toolkit::Qt5, &server);
    let opened = server.open("gnome-calculator");
    let pid = opened.ok().pid();
    for key in ["7", "×", "6", "="] {
        server.press_ax(pid, "AXButton", key).ok();
    }
    // The calculator computes in a thread, so wait for the result.
    until("the result", || {
        let read = server.refresh(pid).ok();
        read.file().contains("\"42\"").then_some(())
    });
    let listed = server.applications().ok();
    for (name, pid) in [("qt5.py", app.pid()), ("gnome-calculator", pid)] {
        let line = format!("{name} (PID: {pid})");
        assert!(listed.text.contains(&line), "{line} in {listed}");
    }
    // A running app is found, not started again.
    let again = json!({"identifier": "gnome-calculator"});
    let again = server.call("open_application_and_traverse", again).ok();
    assert_eq!(again.pid(), pid);
}

#[test]
fn the_doctor_has_a_row_for_each_capability() {
    let sway = Setup::here(Compositor::Sway).unknown().start();
    let server = sway.server();
    let _app = sway.widgets(Toolkit::Gtk4, &server);
    let journal = sway
        .deskline(&["doctor", "--dir"])
        .arg("j")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&journal.stdout).into_owned();
    assert!(journal.status.success(), "{printed}");
    let rows = printed.split(' ').filter(|word| !word.is_empty());
    let rows = rows.collect::<Vec<_>>().join(" ");
    for row in [
        "! display wayland-1, sway: Wayland, without X11",
        "! windows no:",
        "! raise no:",
        "! pointer no:",
        "! keys no:",
        "! screenshot no:",
        "✓ input lock not needed",
        "✓ apps 1 of 1",
        "✓ tree",
        "Agents can work here.",
    ] {
        assert!(rows.contains(row), "{row}\n{printed}");
    }
}

/// With Xwayland beside a compositor that Deskline does not know, X11 windows are driven, and
/// native ones are reported as present and not visible to Deskline.
#[test]
fn beside_xwayland_native_windows_are_reported_as_out_of_reach() {
    let sway = Setup::here(Compositor::Sway).unknown().xwayland().start();
    let server = sway.server();
    let native = sway.widgets(Toolkit::Gtk3, &server);
    let x11 = sway.widgets_in_xwayland(Toolkit::Gtk3, &server);
    let pressed = server.press_ax(native.pid(), "AXButton", "OK").ok();
    native.wait_for("clicked OK");
    let note = pressed.field("note");
    assert!(note.contains("a native Wayland window"), "{pressed}");
    server
        .click(native.pid(), "AXButton", "OK")
        .fails_with("a native Wayland window");
    let ok = json!({"pid": x11.pid(), "element": "OK", "role": "AXButton"});
    let clicked = server.call("click_and_traverse", ok).ok();
    x11.wait_for("clicked OK");
    assert!(clicked.get("screenshot").is_some(), "{clicked}");
}
