//! Pasting on Debian 13's compositors, by data control or GNOME's own interface: the text arrives
//! in a native app of each toolkit, and the person's clipboard is as it was, with all its types.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use deskline_testbed::{Compositor, Session, Setup, Toolkit, tests};
use serde_json::json;

/// What no layout has.
const TEXT: &str = "Grüße 漢字 😀  two  blanks";

/// The person's clipboard by data control, and on GNOME.
const WAYLAND: &str = "wl_clipboard.py";
const GNOME: &str = "gnome_clipboard.py";

fn clipboard(session: &Session, script: &str, what: &str) -> Command {
    let mut command = session.command("/usr/bin/python3");
    command.arg("-B").arg(session.folder().join(script));
    command.arg(what);
    command
}

fn pastes(session: Session, script: &str, toolkits: &[Toolkit]) {
    let session = session.ends_with_the_test();
    let server = session.server();
    // A line for each type.
    let on_clipboard = |session| {
        let output = clipboard(session, script, "show").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mut copy = clipboard(&session, script, "copy");
    let mut copied = copy.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(copied.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    let before = on_clipboard(&session);
    assert!(before.contains("image/png 1048576"), "{before}");
    let apps: Vec<_> = { toolkits.iter() }
        .map(|toolkit| session.widgets(*toolkit, &server))
        .collect();
    for (app, persons) in apps.iter().zip(apps.iter().cycle().skip(1)) {
        server.click(app.pid(), "AXTextField", "Name").ok();
        server.click(persons.pid(), "AXButton", "OK").ok();
        let paste = json!({"text": TEXT, "paste": true});
        server.call_for(app, "type_and_traverse", paste).ok();
        app.wait_for(&format!("text Name {TEXT}"));
        assert_eq!(on_clipboard(&session), before);
    }
    copied.kill().unwrap();
    copied.wait().unwrap();
    assert_eq!(on_clipboard(&session), before);
}

tests! {
    a_text_is_pasted_on_sway => pastes(Session::new(Compositor::Sway), WAYLAND, &Toolkit::DEBIAN_13),
    a_text_is_pasted_on_kwin => pastes(Session::new(Compositor::Kwin), WAYLAND, &Toolkit::DEBIAN_13),
    a_text_is_pasted_on_labwc => pastes(Session::new(Compositor::Labwc), WAYLAND, &Toolkit::DEBIAN_13),
    a_text_is_pasted_on_gnome => pastes(Session::new(Compositor::Gnome), GNOME, &Toolkit::DEBIAN_13),
}

#[test]
fn a_text_is_pasted_on_gnome_with_the_extension() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    pastes(session, GNOME, &[Toolkit::Gtk4, Toolkit::Qt6]);
}
