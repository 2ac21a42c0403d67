//! Windows and dialogs that an action or an app has opened are named, and listed first.
#![allow(clippy::unwrap_used)]

use deskline_testbed::Bed;
use serde_json::json;

/// LibreOffice's first start shows a dialog that is not modal. LibreOffice's own menu bar is hidden
/// behind GTK's.
#[test]
fn a_dialog_that_is_not_modal_is_named_and_read_first() {
    let (_bed, server) = Bed::with_server();
    // The dialog opens half a second after the window.
    let answer = server.open("libreoffice --calc");
    let answer = answer.ok();
    answer.field_has("dialog", "Tip of the Day");
    let listed = answer.list("visible_elements");
    let first: Vec<&str> = listed.iter().take(4).copied().collect();
    assert!(
        first.iter().any(|line| line.contains("\"OK\"")),
        "{listed:?}"
    );
    let file = answer.file();
    let menus = file
        .lines()
        .filter(|line| line.contains("AXMenuBarItem") && line.contains("\"File\""));
    assert_eq!(menus.count(), 1, "{file}");
    // The sheet can be used while the dialog is open.
    assert!(
        answer
            .find("AXTab", "Sheet1")
            .is_some_and(|tab| tab.visible)
    );
}

#[test]
fn a_window_that_an_action_opened_is_named_and_read_first() {
    let bed = Bed::new();
    let app = bed.gnome_text_editor();
    let server = bed.server(&[]);
    let answer = server.press_key(app.pid, ",", &["Control"]).ok();
    assert!(answer.field("dialog").contains("Preferences"), "{answer}");

    let (notes, _) = bed.mousepad("");
    let mut key = json!({"pid": notes.pid, "keyName": "n"});
    key["modifierFlags"] = json!(["Control", "Shift"]);
    let answer = server.call("press_key_and_traverse", key).ok();
    assert!(answer.field("dialog").contains("Untitled"), "{answer}");
}
