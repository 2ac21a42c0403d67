//! labwc 0.8: a compositor that lists windows and takes input by wlroots' protocols, and reports
//! neither the owner nor the position of a window.

use std::time::Duration;

use deskline_testbed::{Client, Compositor, Lack, NativeApp, Session, Toolkit, tests, until};
use serde_json::json;

use crate::menus;

const OK: &str = "clicked OK";

/// Three windows over each other: a click finds the position of each. From then on, the window is
/// pictured and text reaches it. A window that has moved since is found again by its picture alone.
#[test]
fn overlapping_windows_are_found_and_found_again_after_they_move() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let apps = Toolkit::DEBIAN_13.map(|toolkit| (toolkit, session.widgets(toolkit, &server)));
    let front = &apps[2].1;
    until("the last app's window", || server.has_in_front(front));
    let read = server.refresh(front.pid());
    let unknown = "the window's position on the screen is unknown";
    assert!(read.text.contains(unknown), "{read}");
    for (toolkit, app) in &apps {
        let clicked = server.clicks_are_exact(app, &format!("{toolkit:?}"));
        assert!(
            clicked.file().contains("# coordinates: window"),
            "{clicked}"
        );
        clicked.shows_the_window();
        server.types_and_types_over(app, "Grüße, 漢字 😀 £5: 1+1=2!");
    }
    let read = server.refresh(front.pid());
    read.ok().shows_the_window();
    for (toolkit, app) in &apps {
        // These are labwc's own shortcuts: to the left half of the screen, then to the lower half.
        for key in ["Left", "Down"] {
            server.press_key(app.pid(), key, &["Command"]).ok();
        }
        let read = server.refresh(app.pid()).ok();
        server.corners_are_exact(app, &read, &format!("{toolkit:?}, moved"));
    }
}

#[test]
fn windows_are_listed_and_raised_and_the_persons_window_comes_back() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let [gtk3, gtk4, qt6] = Toolkit::DEBIAN_13.map(|t| session.widgets(t, &server));
    until("the last app's window", || server.has_in_front(&qt6));
    let listed = server.applications().ok();
    for app in [&gtk3, &gtk4, &qt6] {
        let pid = format!("(PID: {})", app.pid());
        let line = listed.text.lines().find(|line| line.contains(&pid));
        let titled = line.is_some_and(|line| line.contains("Window of"));
        assert!(titled, "{listed}");
    }
    window_comes_back(&server, [&gtk3, &gtk4], &qt6);
    drop(gtk3);
    // For each toolkit, a window is restored to the front, and one goes behind again.
    let gtk3 = session.widgets(Toolkit::Gtk3, &server);
    window_comes_back(&server, [&qt6], &gtk3);
}

/// The person's window is restored after input to other windows.
fn window_comes_back<const N: usize>(server: &Client, others: [&NativeApp; N], person: &NativeApp) {
    let persons_window = || server.has_in_front(person).then_some(());
    until("the person's window", persons_window);
    // An earlier app may have written to the log.
    person.clear_log();
    for app in others {
        let ok = json!({"element": "OK", "role": "AXButton"});
        server.call_for(app, "click_and_traverse", ok).ok();
        app.wait_for(OK);
        until("the person's window", persons_window);
        server.fill(app.pid(), "AXTextField", "Name", "Ann").ok();
        app.wait_for("text Name Ann");
        until("the person's window after a text", persons_window);
        // Restoring the person's window would close the menu, so the restore waits until the menu
        // is closed.
        server.menu_item_is_clicked(app);
        until("the person's window after the menu", persons_window);
    }
    assert_eq!(person.logged(OK), 0);
}

/// An app that no assistive technology sees, such as the terminal in which an agent runs.
#[test]
fn a_window_that_no_app_describes_comes_back_to_the_front() {
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
    until("the person's window", || !server.has_in_front(&app));
    server.fill(app.pid(), "AXTextField", "Name", "Ann").ok();
    app.wait_for("text Name Ann");
    assert!(!server.has_in_front(&app));
}

tests! {
    a_panel_is_read_and_pressed => Session::new(Compositor::Labwc).uses_an_unlisted_panel(),
    an_item_of_a_menu_behind_is_clicked => menus::a_menu_behind_is_clicked(Compositor::Labwc),
}

#[test]
fn labwc_keeps_the_promises_of_every_desktop() {
    let session = Session::new(Compositor::Labwc);
    let (said, ..) = session.keeps_all_but(&[Lack::Guard, Lack::Places], Toolkit::DEBIAN_13);
    assert!(said.contains("in full screen for a moment"), "{said}");
}

/// The link is cancelled before, during and after the moment in which the window is in full screen.
#[test]
fn a_cancelled_call_leaves_no_window_in_full_screen() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    let size = || {
        let read = server.refresh(app.pid()).ok();
        let window = read.window();
        (window.w, window.h)
    };
    let before = size();
    for time in [100, 300, 500, 800] {
        let ok = json!({"pid": app.pid(), "element": "OK", "role": "AXButton"});
        let time = Duration::from_millis(time);
        let answer = server.call_timeout("click_and_traverse", ok, time);
        until(&format!("its size after {time:?}: {answer:?}"), || {
            size() == before
        });
    }
    server.clicks_are_exact(&app, "the app");
}

/// A dialog of a fixed size is not shown in full screen, so its position is unknown. No click goes
/// astray: the error names the tools to use, and keys and presses reach it.
#[test]
fn a_dialog_of_a_fixed_size_is_pressed_and_not_clicked() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4] {
        let app = session.widgets(toolkit, &server);
        server.click(app.pid(), "AXButton", "Ask").ok();
        let refused = server.click(app.pid(), "AXButton", "Yes");
        assert!(
            refused.error().contains("press_ax"),
            "{toolkit:?}: {refused}"
        );
        server.press_ax(app.pid(), "AXButton", "Yes").ok();
        app.wait_for("answered Yes");
        // The window behind the dialog has not moved.
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
        server.click(app.pid(), "AXButton", element).ok();
        app.wait_for(logged);
    }
}
