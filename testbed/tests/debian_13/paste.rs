//! Pasting on Debian 13's compositors, by data control: the text arrives in a native app of each toolkit, and
//! the person's clipboard is as it was, with all its types.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use deskline_testbed::{Compositor, Session, Toolkit};
use serde_json::json;

/// What no layout has.
const TEXT: &str = "Grüße 漢字 😀  two  blanks";

/// A line for each type.
fn on_clipboard(session: &Session) -> String {
    let mut command = session.command("/usr/bin/python3");
    command
        .args(["-B"])
        .arg(session.folder().join("wl_clipboard.py"));
    let output = command.arg("show").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn pastes(compositor: Compositor) {
    let session = Session::new(compositor).ends_with_the_test();
    let server = session.server();
    let mut copy = session.command("/usr/bin/python3");
    copy.arg("-B").arg(session.folder().join("wl_clipboard.py"));
    let mut copied = copy.arg("copy").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(copied.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    let before = on_clipboard(&session);
    assert!(before.contains("image/png 1048576"), "{before}");
    let apps = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, &server));
    for (app, persons) in apps.iter().zip(apps.iter().cycle().skip(1)) {
        let field = json!({"element": "Name", "role": "AXTextField"});
        server.call_for(app, "click_and_traverse", field).ok();
        let front = json!({"element": "OK", "role": "AXButton"});
        server.call_for(persons, "click_and_traverse", front).ok();
        let paste = json!({"text": TEXT, "paste": true});
        server.call_for(app, "type_and_traverse", paste).ok();
        app.wait_for(&format!("text Name {TEXT}"));
        assert_eq!(on_clipboard(&session), before);
    }
    copied.kill().unwrap();
    copied.wait().unwrap();
    assert_eq!(on_clipboard(&session), before);
}

#[test]
fn a_text_is_pasted_on_sway() {
    pastes(Compositor::Sway);
}

#[test]
fn a_text_is_pasted_on_kwin() {
    pastes(Compositor::Kwin);
}

#[test]
fn a_text_is_pasted_on_labwc() {
    pastes(Compositor::Labwc);
}
