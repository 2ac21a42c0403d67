//! The app has the requested text, or the answer names the difference. Another app's window, the
//! person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

use deskline_testbed::web::Page;
use deskline_testbed::{Answer, App, Bed, CODE, Client, until};
use serde_json::{Value, json};

#[test]
fn indentation_that_an_editor_adds_is_an_error_and_a_plain_text_is_not() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for program in ["geany", "featherpad", "gnome-text-editor"] {
        let (app, file) = bed.code_editor(program);
        let type_in = |text: &str| {
            let more = json!({ "text": text });
            persons.call_behind(&server, app.pid, "type_and_traverse", more)
        };
        let plain = "One line.\nAnother, of words.\n";
        type_in(plain).ok();
        assert_eq!(server.saved(app.pid, &file).trim_end(), plain.trim_end());
        let answer = type_in(CODE);
        let all = server.saved(app.pid, &file);
        if all.trim_end() == format!("{plain}{CODE}").trim_end() {
            assert!(!answer.is_error, "{program}: {answer}");
            continue;
        }
        assert!(answer.is_error, "{program}: {answer}");
        let error = answer.field("error");
        assert!(
            error.contains("differs from that text after"),
            "{program}: {answer}"
        );
        assert!(
            error.contains("type it with paste true"),
            "{program}: {answer}"
        );
    }
}

/// Types a path and presses Return in an app behind the person's window.
fn typed_path(server: &Client, persons: &App<'_>, app: &App<'_>, path: &Path) -> Answer {
    let path = path.to_str().unwrap();
    let text = json!({"text": path, "pressKey": "Return"});
    persons.call_behind(server, app.pid, "type_and_traverse", text)
}

#[test]
fn a_path_goes_into_the_field_that_its_first_character_opens() {
    let (bed, server) = Bed::with_server();
    let (mousepad, _) = bed.mousepad("");
    let (featherpad, _) = bed.featherpad("");
    let file = bed.path("other.txt");
    fs::write(&file, "what is there").unwrap();
    // The dialogs are GTK 3's, and Qt's, whose field has the focus from the start.
    for (app, persons) in [(&mousepad, &featherpad), (&featherpad, &mousepad)] {
        let open = json!({"keyName": "o", "modifierFlags": ["Control"]});
        persons
            .call_behind(&server, app.pid, "press_key_and_traverse", open)
            .ok();
        typed_path(&server, persons, app, &file).ok();
        until("the file in a window's title", || {
            let mut windows = bed.screen().windows_of(app.pid).into_iter();
            windows
                .any(|window| window.title.contains("other.txt"))
                .then_some(())
        });
    }
    let gtk_4 = bed.chooser();
    typed_path(&server, &mousepad, &gtk_4, &file).ok();
    gtk_4.wait_for(&format!("chose {}", file.display()));
    let zenity = bed.zenity(&["--file-selection"]);
    typed_path(&server, &mousepad, &zenity, &file).ok();
    zenity.wait_for(file.to_str().unwrap());
}

/// The name field of "Save As" has the old name, selected without its suffix.
#[test]
fn a_path_typed_beside_older_text_is_an_error_before_the_return() {
    let (bed, server) = Bed::with_server();
    let (app, _) = bed.mousepad("notes");
    let (persons, _) = bed.featherpad("");
    let press = |key: &str, modifiers: &[&str]| {
        let key = json!({"keyName": key, "modifierFlags": modifiers});
        persons
            .call_behind(&server, app.pid, "press_key_and_traverse", key)
            .ok()
    };
    press("s", &["Control", "Shift"]);
    let file = bed.path("named.txt");
    let answer = typed_path(&server, &persons, &app, &file);
    let why = "named.txt.txt' now: its old text is still beside the typed one";
    assert!(answer.error().contains(why), "{answer}");
    answer.fails_with("Return was not pressed");
    press("a", &["Control"]);
    typed_path(&server, &persons, &app, &file).ok();
    until("the saved file", || fs::read_to_string(&file).ok());
    assert!(!bed.path("named.txt.txt").exists());
}

/// Chromium takes two clicks within 500 ms for a double click, which selects a word: the next key
/// would replace it.
#[test]
fn a_field_that_each_link_clicks_keeps_its_text() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium_widgets();
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let mut all = 0;
    for link in 0..4 {
        let more =
            json!({"pid": app.pid, "element": "Name", "role": "AXTextField", "text": "word"});
        let answer = server.call("click_and_traverse", more).ok();
        all += "word".len();
        let log = until("the text", || {
            let log = page.full_log();
            log.iter().any(|line| line.contains("word")).then_some(log)
        });
        let last = log
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("text Name "));
        assert_eq!(last.unwrap_or_default().len(), all, "link {link}: {answer}");
    }
}

/// The address typed into a new tab opens, or the answer is an error. Chromium's own new tab may
/// give the keys to its page, which takes none.
fn address_after_a_new_tab(bed: &Bed, server: &Client, app: &App<'_>, page: &Page) {
    let (persons, _) = bed.mousepad("");
    let call = |tool: &str, more: Value| persons.call_behind(server, app.pid, tool, more);
    until("the page in the tree", || {
        let field = server.refresh(app.pid).ok().find("AXTextField", "Name");
        field.map(drop)
    });
    let field = json!({"element": "Name", "role": "AXTextField", "text": "x"});
    call("click_and_traverse", field).ok();
    let key = json!({"keyName": "t", "modifierFlags": ["Control"]});
    call("press_key_and_traverse", key).ok();
    page.clear_log();
    let address = json!({"text": page.address(), "pressKey": "Return"});
    let answer = call("type_and_traverse", address);
    if answer.is_error {
        assert!(answer.error().contains("the keys went to"), "{answer}");
        assert_eq!(page.log(), [""; 0], "{answer}");
    } else {
        until(&format!("the page after {answer}"), || {
            page.log() == ["loaded"]
        });
    }
}

const FIELD: &str = "<input aria-label=Name><script>log('loaded')</script>";

#[test]
fn an_address_typed_after_a_new_tab_opens_or_is_an_error_in_chromium() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(FIELD);
    address_after_a_new_tab(&bed, &server, &app, &page);
}

#[test]
fn an_address_typed_after_a_new_tab_opens_or_is_an_error_in_firefox() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.firefox_page(FIELD);
    address_after_a_new_tab(&bed, &server, &app, &page);
}
