//! Apps as Debian ships them: the widget factories, judged by libatspi, and two editors, judged by
//! their files.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::path::Path;

use deskline_testbed::{App, Bed, Client, oracle, until};
use serde_json::json;

#[test]
fn gtk3_widget_factory() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.gtk3_widget_factory();
    let toggle = json!({"pid": app.pid, "element": "togglebutton", "role": "AXCheckBox"});
    let before = toggled(&bed, &app);
    let answer = server.call("click_and_traverse", toggle.clone()).ok();
    assert_ne!(toggled(&bed, &app), before, "{answer}");
    assert!(answer.file().contains("AXChecked"), "{answer}");
    server.call("press_ax_and_traverse", toggle).ok();
    assert_eq!(toggled(&bed, &app), before);
}

/// How many of the factory's toggle buttons are on.
fn toggled(bed: &Bed, app: &App<'_>) -> usize {
    let all = oracle::find(bed, app.pid, "toggle button", "togglebutton");
    assert!(!all.is_empty());
    all.iter().filter(|e| e.is("checked")).count()
}

#[test]
fn mousepad_and_featherpad() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let (app, file) = bed.mousepad("");
    writes(&server, &app, &file);
    drop(app);
    let (app, file) = bed.featherpad("");
    writes(&server, &app, &file);
}

/// Types into the editor, undoes nothing, saves, and reads the file.
fn writes(server: &Client, app: &App<'_>, file: &Path) {
    let text = "Hé漢字😀Ω£ zB!";
    let answer = server
        .call("type_and_traverse", json!({"pid": app.pid, "text": text}))
        .ok();
    assert!(answer.field("summary").contains("Typed"), "{answer}");
    let save = json!({"pid": app.pid, "keyName": "s", "modifierFlags": ["Control"]});
    server.call("press_key_and_traverse", save).ok();
    until("the file to be saved", || {
        let saved = std::fs::read_to_string(file).ok()?;
        (saved.trim_end() == text).then_some(())
    });
}
