//! Several actions in one call: one diff, one restore, each step in the state that the one before
//! it left.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Bed, Toolkit, has, until};
use serde_json::json;

#[test]
fn a_form_is_filled_in_one_call_with_one_diff() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let lines = bed.journal_lines().len();
        let steps = json!([
            {"do": "click", "element": "Name", "role": "AXTextField", "text": "Ann"},
            {"do": "press_key", "keyName": "Return"},
            {"do": "press_ax", "element": "OK", "role": "AXButton"},
            {"do": "wait_for", "element": "Name", "role": "AXTextField"},
        ]);
        let chain = json!({"pid": app.pid, "steps": steps});
        let answer = server.call("chain_and_traverse", chain).ok();
        until("the button's log", || {
            app.log().iter().any(|l| l == "clicked OK")
        });
        let log = app.log();
        assert!(
            log.iter().any(|l| l == "text Name Ann"),
            "{toolkit:?}: {log:?}"
        );
        assert!(
            log.iter().any(|l| l == "activated Name"),
            "{toolkit:?}: {log:?}"
        );
        let done = answer.list("steps");
        assert_eq!(done.len(), 4, "{answer}");
        assert!(done[0].starts_with("1 done: Clicked"), "{answer}");
        assert!(
            done[0].ends_with("typed 'Ann'; effect: changed"),
            "{answer}"
        );
        assert_eq!(bed.journal_lines().len(), lines + 1, "{toolkit:?}");
        assert_eq!(answer.file().matches("# diff:").count(), 1, "{toolkit:?}");
        assert!(answer.diff_lines().iter().any(|l| l.contains("-> \"Ann\"")));
    }
}

/// The dialog that a step opens is the target of the next step: a note is written and saved under a
/// new name.
#[test]
fn a_note_is_saved_through_the_dialog_that_a_step_opens() {
    let (bed, server) = Bed::with_server();
    let person = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    let (app, _file) = bed.mousepad("");
    let path = bed.path("named.txt");
    person.bring_to_front();
    let steps = json!([
        {"do": "type", "text": "three lines\nof text\nin a note"},
        {"do": "press_key", "keyName": "s", "modifierFlags": ["Control", "Shift"]},
        {"do": "wait_for", "element": "Save As", "role": "AXWindow"},
        {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
        {"do": "type", "text": "named.txt"},
        {"do": "click", "element": "Save", "role": "AXButton"},
        {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
    ]);
    let chain = json!({"pid": app.pid, "steps": steps});
    let answer = server.call("chain_and_traverse", chain).ok();
    let saved = until("the saved note", || std::fs::read_to_string(&path).ok());
    assert_eq!(
        saved.trim_end(),
        "three lines\nof text\nin a note",
        "{answer}"
    );
    let focus = answer.field("focus");
    assert!(focus.contains("named.txt"), "{answer}");
    // There is one restore: the person has their window back.
    let mine = person.window_now().id;
    until("the person's window", || bed.screen().front() == mine);
}

/// First another document of the process is in front, then the dialog that a step opens.
#[test]
fn a_chain_that_begins_in_a_document_follows_the_dialog_that_it_opens() {
    let (bed, server) = Bed::with_server();
    let (app, file) = bed.writer_with_text("first");
    server.press_key(app.pid, "n", &["Control"]).ok();
    until("another document", || {
        bed.screen().windows_of(app.pid).len() > 1
    });
    let person = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    person.bring_to_front();
    let steps = json!([
        {"do": "type", "text": "second "},
        {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
        {"do": "click", "element": "Use Text", "role": "AXButton"},
        {"do": "type", "text": "third "},
        {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
        {"do": "press_key", "keyName": "Return"},
    ]);
    let chain = json!({"pid": app.pid, "window": "notes", "steps": steps});
    let answer = server.call("chain_and_traverse", chain).ok();
    until("the text to be saved", || {
        let saved = std::fs::read_to_string(&file).unwrap().to_lowercase();
        saved.contains("second third first").then_some(())
    });
    assert!(answer.list("steps")[1].contains("opened"), "{answer}");
}

#[test]
fn a_chain_stops_at_the_step_that_fails_and_lists_the_steps_done() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let steps = json!([
        {"do": "click", "element": "Name", "role": "AXTextField", "text": "Ann"},
        {"do": "click", "element": "There is no such button"},
        {"do": "press_ax", "element": "OK", "role": "AXButton"},
    ]);
    let answer = server.call(
        "chain_and_traverse",
        json!({"pid": app.pid, "steps": steps}),
    );
    assert!(answer.is_error, "{answer}");
    let error = answer.error();
    assert!(
        error.starts_with("Did 1 of 3 steps. Step 2: no element"),
        "{error}"
    );
    let done = answer.list("steps");
    assert_eq!(
        &done[1..],
        ["2 failed: see error", "3 not done"],
        "{answer}"
    );
    assert!(
        answer.get("text_changes").is_some() || answer.text.contains("'' -> 'Ann'"),
        "{answer}"
    );
    let log = app.log();
    assert!(log.iter().any(|l| l == "text Name Ann"), "{log:?}");
    assert!(!log.iter().any(|l| l == "clicked OK"), "{log:?}");

    // An invalid step is detected before any step is carried out.
    app.clear_log();
    for (wrong, says) in [
        (json!([{"do": "fly"}]), "\"do\" must be one of click"),
        (
            json!([{"do": "click", "element": "OK"}, {"do": "type"}]),
            "step 2: text is missing",
        ),
        (
            json!([{"do": "click", "element": "OK", "pid": 1}]),
            "argument of the chain",
        ),
        (json!([]), "1 to 25"),
        (
            json!([{"do": "click", "element": "OK", "repeat": 101}]),
            "repeat must be from 1 to 100",
        ),
        (
            json!([{"do": "wait_for", "element": "OK", "repeat": 2}]),
            "wait_for has no repeat",
        ),
    ] {
        let answer = server.call(
            "chain_and_traverse",
            json!({"pid": app.pid, "steps": wrong}),
        );
        assert!(answer.is_error && answer.error().contains(says), "{answer}");
    }
    assert!(app.log().is_empty(), "{:?}", app.log());
}

/// With several windows of one process the keys go to the named window, or nowhere.
#[test]
fn keys_go_to_the_window_that_is_named() {
    let (bed, server) = Bed::with_server();
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let app = bed.windows(
            toolkit,
            &[],
            &["Alpha|Alpha|300x240+40+40", "Beta|Beta|300x240+500+40"],
        );
        for (name, role) in [("Alpha", "AXTextField"), ("Beta", "AXTextField")] {
            let note = format!("Note {name}");
            server.click(app.pid, role, &note).ok();
        }
        for name in ["Alpha", "Beta", "Alpha"] {
            app.clear_log();
            let typed = json!({"pid": app.pid, "window": name, "text": "x"});
            let answer = server.call("type_and_traverse", typed).ok();
            until("the text", || !app.log().is_empty());
            let log = app.log();
            assert!(
                log.iter().all(|l| l.starts_with(&format!("text {name} "))),
                "{toolkit}: {log:?}\n{answer}"
            );
            let focus = answer.field("focus");
            assert!(
                focus.starts_with(&format!("\"{name}\" › [AXTextField]")),
                "{toolkit}: {answer}"
            );
            let windows = answer.field("windows");
            assert!(
                windows.starts_with(&format!("\"{name}\"")),
                "{toolkit}: {answer}"
            );
            assert!(windows.contains("(front)"), "{toolkit}: {answer}");
        }
        app.clear_log();
        let nowhere = json!({"pid": app.pid, "window": "Gamma", "text": "x"});
        let answer = server.call("type_and_traverse", nowhere);
        assert!(answer.is_error, "{answer}");
        let error = answer.error();
        has(error, "no window 'Gamma'");
        has(error, "\"Beta\"");
        assert!(app.log().is_empty(), "{toolkit}");
        // A window is also named by its ref, and refresh_traversal lists that window alone.
        let all = server
            .call(
                "refresh_traversal",
                json!({"pid": app.pid, "window": "Beta"}),
            )
            .ok();
        let listed = all.list("visible_elements").join("\n");
        assert!(
            listed.contains("Beta") && !listed.contains("Alpha"),
            "{toolkit}: {listed}"
        );
    }
}
