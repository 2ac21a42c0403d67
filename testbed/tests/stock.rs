//! Apps as Debian ships them: the widget factories, judged by libatspi, and two editors, judged by
//! their files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

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
    let pressed = server.call("press_ax_and_traverse", toggle).ok();
    assert_eq!(toggled(&bed, &app), before);
    // A table's headers are not cells of the table.
    for header in ["Cool", "Icon", "Name", "Nick"] {
        let lines = pressed.lines();
        let ours = lines.iter().filter(|line| {
            line.visible && line.native_role.as_deref() == Some("table column header")
        });
        let texts: Vec<&str> = ours
            .filter_map(|l| Some(l.text.as_ref()?.shown.as_str()))
            .collect();
        assert!(texts.contains(&header), "{texts:?}");
    }
}

/// Every tool but scroll, which GTK 4 does not report, on GTK 4's showcase.
#[test]
fn gtk4_widget_factory() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.gtk4_widget_factory();
    let ask = |tool: &str, more: serde_json::Value| {
        let mut call = json!({"pid": app.pid});
        let call_has = call.as_object_mut().unwrap();
        call_has.extend(more.as_object().unwrap().clone());
        server.call(tool, call).ok()
    };
    // GTK 4 creates some of its objects when it is read: that is no effect of the key.
    let idle = ask("press_key_and_traverse", json!({"keyName": "F13"}));
    assert!(
        idle.field("summary")
            .contains("0 added, 0 removed, 0 modified"),
        "{idle}"
    );

    let opened = ask("refresh_traversal", json!({}));
    let name = opened.field("app").to_owned();
    let same = server.call("open_application_and_traverse", json!({"identifier": name}));
    assert_eq!(same.pid(), app.pid, "{same}");

    // The first of its check boxes; the third looks the same on and off.
    let checked = |is: &str| oracle::find(&bed, app.pid, "check box", is)[0].is("checked");
    let before = checked("checkbutton");
    let toggle = json!({"element": "checkbutton", "role": "AXCheckBox"});
    let answer = ask("click_and_traverse", toggle);
    assert_eq!(checked("checkbutton"), !before, "{answer}");
    assert!(answer.file().contains("AXChecked"), "{answer}");

    let toggle = json!({"element": "togglebutton", "role": "AXButton"});
    let before = pressed(&bed, &app);
    let answer = ask("press_ax_and_traverse", toggle);
    assert_ne!(pressed(&bed, &app), before, "{answer}");
    // GTK 4 runs a button's action 250 ms after a press by a call.
    assert!(!answer.field("summary").contains(" 0 modified"), "{answer}");

    let entry = |wanted: &str| {
        let all = oracle::find(&bed, app.pid, "text", "");
        all.iter().any(|e| e.text == wanted)
    };
    let name = json!({"element": "comboboxentry", "role": "AXTextField", "text": "Hé漢"});
    ask("click_and_traverse", name);
    ask(
        "press_key_and_traverse",
        json!({"keyName": "a", "modifierFlags": ["Control"]}),
    );
    ask("type_and_traverse", json!({"text": "Ω£ zB!"}));
    assert!(entry("Ω£ zB!"));
    let name = json!({"element": "comboboxentry", "role": "AXTextField", "value": "set"});
    ask("set_value_and_traverse", name);
    assert!(entry("set"));

    let selected = || -> Vec<bool> {
        let tabs = oracle::find(&bed, app.pid, "page tab", "");
        tabs.iter().map(|tab| tab.is("selected")).collect()
    };
    let before = selected();
    let tab = json!({"element": "NYC", "role": "AXTab"});
    ask("set_selected_and_traverse", tab);
    let after = selected();
    // The new one, and the one that was selected before.
    let changed = before.iter().zip(&after).filter(|(b, a)| b != a).count();
    assert_eq!((changed, after.len()), (2, before.len()));
}

/// How many of the factory's buttons are pressed.
fn pressed(bed: &Bed, app: &App<'_>) -> usize {
    let all = oracle::find(bed, app.pid, "push button", "togglebutton");
    assert!(!all.is_empty());
    all.iter().filter(|e| e.is("pressed")).count()
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

/// Types into the editor, saves, and reads the file.
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
