//! Dialogs: that close at Return, and that a page opens. Menus and lists that a click beside them
//! would only close.
//! Another app's window, the person's, is in front.
#![allow(clippy::unwrap_used)]

use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, Client, until};
use serde_json::json;

const KITS: [&str; 4] = ["gtk3", "gtk4", "qt5", "qt6"];

/// GTK answers a chooser 250 ms after Return, while the last events of the typed text come.
#[test]
fn the_answer_after_return_reports_no_file_chooser_that_has_closed() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let folder = bed.path("saves");
    std::fs::create_dir_all(&folder).unwrap();
    for kit in KITS {
        for name in ["other", "other.txt"] {
            let app = bed.saver(kit, &folder);
            if name == "other.txt" {
                let all = json!({"keyName": "a", "modifierFlags": ["Control"]});
                let all = persons.call_behind(&server, app.pid, "press_key_and_traverse", all);
                all.ok();
            }
            let text = json!({"text": name, "pressKey": "Return"});
            let answer = persons.call_behind(&server, app.pid, "type_and_traverse", text);
            let answer = answer.ok();
            assert!(!app.log().is_empty(), "{kit}, {name}: {answer}");
            assert!(
                !answer.text.contains("\ndialog:"),
                "{kit}, {name}: {answer}"
            );
            answer.has("focus: \"Base\"");
        }
    }
}

#[test]
fn the_error_about_an_element_behind_a_dialog_names_the_buttons() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let folder = bed.path("saves");
    std::fs::create_dir_all(&folder).unwrap();
    for kit in KITS {
        let app = bed.saver(kit, &folder);
        for tool in ["click_and_traverse", "press_ax_and_traverse"] {
            let archive = json!({"element": "Archive", "role": "AXButton"});
            let answer = persons.call_behind(&server, app.pid, tool, archive);
            let error = answer.error();
            let names = ["\"Base\"", "\"Cancel\"", "\"Save\""];
            assert!(
                names.iter().all(|name| error.contains(name)),
                "{kit}: {error}"
            );
        }
        assert_eq!(app.log(), [""; 0], "{kit}");
    }
}

/// Toolkits close a menu, a list or completions at a click beside it, and do nothing else.
#[test]
fn a_click_beside_an_open_menu_or_list_reaches_its_button() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let save = json!({"element": "Save", "role": "AXButton"});
    for kit in KITS {
        for opens in [
            json!({"element": "More"}),
            json!({"element": "Bubble"}),
            json!({"element": "Fruit", "role": "AXTextField", "text": "ap"}),
        ] {
            if kit != "gtk3" && opens["element"] == "Bubble" {
                continue;
            }
            let app = bed.completes(kit);
            let call = |args| persons.call_behind(&server, app.pid, "click_and_traverse", args);
            // Its menu or list stays open in front of the person's window.
            let opened = call(opens).ok();
            let mut click = save.clone();
            click["pid"] = app.pid.into();
            let clicked = server.call("click_and_traverse", click).ok();
            let completes = opened.text.contains("typed");
            let typed = if completes { "saved ap" } else { "saved " };
            // GTK 4.8 describes the list without its texts.
            let lists = opened.text.contains("apricot") || kit == "gtk4";
            assert_eq!(completes, completes && lists, "{kit}: {opened}");
            assert_eq!(app.log(), [typed], "{kit}: {opened}\n{clicked}");
        }
    }
}

/// Answers a page's questions by a click and by a press, right after they have appeared. Chromium
/// ignores both in its dialogs for half a second.
fn questions_are_answered(bed: &Bed, server: &Client, app: &App<'_>, page: &Page) {
    let (persons, _) = bed.mousepad("");
    until("the page in the tree", || {
        let button = server.refresh(app.pid).ok().find("AXButton", "Send");
        button.map(drop)
    });
    for (tool, button, logged) in [
        ("click", "OK", "true"),
        ("press_ax", "OK", "true"),
        ("click", "Cancel", "false"),
        ("press_ax", "Cancel", "false"),
    ] {
        page.clear_log();
        let steps = json!([
            {"do": "click", "element": "Send", "role": "AXButton"},
            {"do": tool, "element": button, "role": "AXButton"},
        ]);
        let answer = persons.call_behind(
            server,
            app.pid,
            "chain_and_traverse",
            json!({ "steps": steps }),
        );
        let done = answer.ok();
        until(&format!("{logged} after {done}"), || page.log() == [logged]);
        assert_eq!(bed.screen().front(), persons.window.id, "{done}");
    }
}

const ASKS: &str = "<button onclick=\"log(confirm('Really send?'))\">Send</button>";

#[test]
fn a_question_of_a_page_is_answered_at_once_in_chromium() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(ASKS);
    questions_are_answered(&bed, &server, &app, &page);
}

#[test]
fn a_question_of_a_page_is_answered_at_once_in_firefox() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.firefox_page(ASKS);
    questions_are_answered(&bed, &server, &app, &page);
}

/// Chromium draws some of its questions over its page, in a window that covers a part of the page.
#[test]
fn an_element_that_a_browsers_question_covers_is_not_clicked() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(
        "<button onclick=\"Notification.requestPermission()\">Notify</button>\
         <button style=\"position:fixed;left:140px;top:40px\" onclick=\"log('under')\">Under</button>",
    );
    let (persons, _) = bed.mousepad("");
    let click = |element: &str| {
        let button = json!({"element": element, "role": "AXButton"});
        persons.call_behind(&server, app.pid, "click_and_traverse", button)
    };
    click("Under").ok();
    page.wait_for("under");
    click("Notify").ok();
    until("the question", || {
        let allow = server.refresh(app.pid).ok().find("AXButton", "Allow");
        allow.map(drop)
    });
    let answer = click("Under");
    assert!(answer.error().contains("is covered by"), "{answer}");
    assert_eq!(page.log(), ["under"], "{answer}");
}

/// Firefox ignores the buttons of its questions while its window is behind, and for half a second
/// after it has come to the front.
#[test]
fn a_question_of_firefox_is_answered_in_front() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.firefox_page(
        "<button onclick=\"Notification.requestPermission().then(log)\">Notify</button>",
    );
    let (persons, _) = bed.mousepad("");
    until("the page in the tree", || {
        let button = server.refresh(app.pid).ok().find("AXButton", "Notify");
        button.map(drop)
    });
    page.clear_log();
    let call = |tool: &str, element: &str| {
        let button = json!({"element": element, "role": "AXButton"});
        persons.call_behind(&server, app.pid, tool, button)
    };
    call("click_and_traverse", "Notify").ok();
    until("the question", || {
        let allow = server.refresh(app.pid).ok().find("AXButton", "Allow");
        allow.map(drop)
    });
    let pressed = call("press_ax_and_traverse", "Allow");
    assert!(
        pressed
            .error()
            .contains("only while its window is in front"),
        "{pressed}"
    );
    assert_eq!(page.log(), [""; 0], "{pressed}");
    let clicked = call("click_and_traverse", "Allow").ok();
    until(&format!("the answer after {clicked}"), || {
        page.log() == ["granted"]
    });
    assert_eq!(bed.screen().front(), persons.window.id, "{clicked}");
}
