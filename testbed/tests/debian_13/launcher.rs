//! A launcher or a lock screen that has the keyboard gets no typed text.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use deskline_testbed::{Compositor, Session, Toolkit, tests, until};
use serde_json::json;

/// Types while a launcher, or a lock screen, has the keyboard.
fn nothing_is_typed_into(compositor: Compositor, what: &str) {
    // sway stays locked after its locker has ended.
    let session = Session::new(compositor).ends_with_the_test();
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    server.fill(app.pid(), "AXTextField", "Name", "before").ok();
    app.wait_for("text Name before");
    let mut command = session.command("/usr/bin/python3");
    command.arg(session.folder().join("launcher.py")).arg(what);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut launcher = command.spawn().unwrap();
    let mut printed = BufReader::new(launcher.stdout.take().unwrap());
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{compositor:?} {what}");
    let typing = server.type_text(app.pid(), "secret");
    let key = server.press_key(app.pid(), "Return", &[]);
    if compositor == Compositor::Kwin {
        // KWin reports that the window has the keyboard although the launcher gets the keys.
        app.wait_for("text Name beforesecret");
    } else {
        for answer in [typing, key] {
            println!("{answer}");
            assert!(answer.is_error, "{compositor:?} {what}: {answer}");
        }
    }
    drop(launcher.stdin.take());
    let mut keys = String::new();
    printed.read_to_string(&mut keys).unwrap();
    launcher.wait().unwrap();
    assert!(!keys.contains("key"), "{compositor:?} {what}: {keys}");
}

tests! {
    nothing_is_typed_into_a_launcher_of_sway => nothing_is_typed_into(Compositor::Sway, "launcher"),
    nothing_is_typed_into_a_lock_screen_of_sway => nothing_is_typed_into(Compositor::Sway, "lock"),
    nothing_is_typed_into_a_launcher_of_kde => nothing_is_typed_into(Compositor::Kwin, "launcher"),
}

#[test]
fn nothing_reaches_an_app_behind_the_lock_screen_of_kde() {
    let session = Session::new(Compositor::Kwin).ends_with_the_test();
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    server.fill(app.pid(), "AXTextField", "Name", "before").ok();
    app.wait_for("text Name before");
    let ask = |method: &str| {
        let mut command = session.command("/usr/bin/gdbus");
        command.args(["call", "--session", "-d", "org.freedesktop.ScreenSaver"]);
        command.args(["-o", "/ScreenSaver", "-m"]).arg(method);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    ask("org.freedesktop.ScreenSaver.Lock");
    until("the lock", || {
        ask("org.freedesktop.ScreenSaver.GetActive").trim() == "(true,)"
    });
    app.clear_log();
    for (tool, what) in [
        ("type_and_traverse", json!({"text": "secret"})),
        ("press_key_and_traverse", json!({"keyName": "Return"})),
        (
            "click_and_traverse",
            json!({"element": "OK", "role": "AXButton"}),
        ),
    ] {
        let answer = server.call_for(&app, tool, what);
        assert!(answer.is_error, "{answer}");
    }
    assert!(app.log().is_empty(), "{:?}", app.log());
}
