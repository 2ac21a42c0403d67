//! Typed text is recorded only if it is known that none of it went to a secure field.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Answer, Bed, Toolkit, until};
use serde_json::json;

/// Asserts that neither the answer nor any file of the journal has the secret.
#[track_caller]
fn is_nowhere(bed: &Bed, answer: &Answer, secret: &str) {
    assert!(!answer.text.contains(secret), "{answer}");
    for entry in std::fs::read_dir(bed.journal()).unwrap() {
        let path = entry.unwrap().path();
        let content = std::fs::read(&path).unwrap_or_default();
        let mut windows = content.windows(secret.len());
        let leaked = windows.any(|w| w == secret.as_bytes());
        assert!(!leaked, "{secret} is in {}", path.display());
    }
}

#[test]
fn a_password_after_a_tab_in_a_form_that_closes_is_recorded_nowhere() {
    let (bed, server) = Bed::with_server();
    for traverse_before in [true, false] {
        let app = bed.login(&[]);
        app.bring_to_front();
        let answer = server.call(
            "type_and_traverse",
            json!({"pid": app.pid, "text": "alice\thunter2", "pressKey": "Return",
                   "traverseBefore": traverse_before}),
        );
        app.wait_for("login alice hunter2");
        is_nowhere(&bed, &answer.ok(), "hunter2");
    }
}

#[test]
fn a_password_for_a_prompt_of_another_process_is_recorded_nowhere() {
    let (bed, server) = Bed::with_server();
    let app = bed.login(&["--welcome"]);
    let answer = server.call(
        "click_and_traverse",
        json!({"pid": app.pid, "element": "Unlock"}),
    );
    answer.ok();
    let prompt = until("the prompt", || {
        let windows = bed.screen().windows();
        windows
            .iter()
            .map(|w| w.pid)
            .find(|pid| ![0, app.pid].contains(pid))
    });
    let answer = server.call(
        "type_and_traverse",
        json!({"pid": prompt, "text": "hunter2", "pressKey": "Return"}),
    );
    app.wait_for("unlocked hunter2");
    is_nowhere(&bed, &answer, "hunter2");
    // The prompt may appear before or after the link's text: the text is hidden in both cases.
    let answer = server.call(
        "click_and_traverse",
        json!({"pid": app.pid, "element": "Unlock", "text": "hunter3", "pressKey": "Return"}),
    );
    is_nowhere(&bed, &answer, "hunter3");
}

#[test]
fn a_password_pressed_key_by_key_is_hidden() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let secret = json!({"pid": app.pid, "element": "Secret", "role": "AXTextField"});
    server.call("click_and_traverse", secret).ok();
    for key in ["q", "z"] {
        let answer = server.press_key(app.pid, key, &[]).ok();
        let message = answer.field("summary");
        assert!(message.starts_with("Pressed •••"), "{message}");
        let line = bed.journal_lines().pop().unwrap();
        assert_eq!(line["arguments"]["keyName"], "•••");
    }
    assert!(
        app.log().contains(&"text Secret qz".to_owned()),
        "{:?}",
        app.log()
    );
    // Keys without a character are not secret, and neither is text in another field.
    let answer = server.press_key(app.pid, "Tab", &[]).ok();
    assert!(
        answer.field("summary").starts_with("Pressed Tab"),
        "{answer}"
    );
    let answer = server
        .fill(app.pid, "AXTextField", "Name", "in the open")
        .ok();
    answer.field_has("summary", "typed 'in the open'");
    let answer = server.press_key(app.pid, "q", &[]).ok();
    assert!(answer.field("summary").starts_with("Pressed Q"), "{answer}");
    until("the line", || {
        let line = bed.journal_lines().pop()?;
        (line["arguments"]["keyName"] == "q").then_some(())
    });
}

#[test]
fn text_in_an_editor_is_shown_with_its_line_ends() {
    let (bed, server) = Bed::with_server();
    let (app, _) = bed.mousepad("");
    let text = json!({"pid": app.pid, "text": "one\ntwo"});
    let answer = server.call("type_and_traverse", text).ok();
    assert!(
        answer.field("summary").starts_with("Typed 'one"),
        "{answer}"
    );
    let line = bed.journal_lines().pop().unwrap();
    assert_eq!(line["arguments"]["text"], "one\ntwo");
}
