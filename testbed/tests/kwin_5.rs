//! KWin of Plasma 5.27, which takes input only of programs that it knows by a `.desktop` file.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs::{self, File};

use deskline_testbed::table::{self, Column, GTK_3, GTK_4, OTHER_TEXT, serves_all_but};
use deskline_testbed::{
    Client, Compositor, Lack, NativeApp, Session, Setup, Toolkit, Where, until,
};
use serde_json::json;

/// A program of so many bytes keeps KWin for some 3 s at each connection.
const LARGE: u64 = 200_000_000;

/// A session, in which `deskline doctor --fix` has been called.
fn known() -> Session {
    let kde = Setup::here(Compositor::Kwin5).start();
    let said = doctor(&kde, &["--fix"]);
    assert!(said.contains("org.deskline.Deskline.desktop"), "{said}");
    kde
}

fn doctor(kde: &Session, more: &[&str]) -> String {
    let args = [&["doctor", "--dir", "j"], more].concat();
    let output = kde.deskline(&args).output().unwrap();
    [output.stdout, output.stderr]
        .map(|said| String::from_utf8_lossy(&said).into_owned())
        .concat()
}

#[test]
fn the_doctor_makes_deskline_known_to_kwin() {
    let kde = Setup::here(Compositor::Kwin5).start();
    let server = kde.server();
    let app = kde.widgets(Toolkit::Gtk3, &server);
    let refused = server.click(app.pid(), "AXButton", "OK");
    for part in [".desktop file", "deskline doctor --fix"] {
        assert!(refused.is_error && refused.text.contains(part), "{refused}");
    }
    server.press_ax(app.pid(), "AXButton", "OK").ok();
    app.wait_for("clicked OK");
    let said = doctor(&kde, &[]);
    for row in [
        "✓ display",
        "✓ windows",
        "✓ raise",
        "! pointer",
        "! keys",
        "! picture",
    ] {
        assert!(said.contains(row), "{row}\n{said}");
    }
    let said = doctor(&kde, &["--fix"]);
    assert_eq!(said.matches("fixed: ").count(), 1, "{said}");
    for row in ["✓ pointer", "✓ keys", "✓ picture", "! guard"] {
        assert!(said.contains(row), "{row}\n{said}");
    }
    app.clear_log();
    // KWin reads the whole program twice at each connection, here for longer than answers may take.
    drop(server);
    let program = File::options()
        .append(true)
        .open(kde.folder().join("deskline"));
    program.unwrap().set_len(LARGE).unwrap();
    let server = kde.server();
    server.click(app.pid(), "AXButton", "OK").ok();
    app.wait_for("clicked OK");
}

#[test]
fn what_any_desktop_keeps() {
    let kde = known();
    let pointer = kde.kwin_pointer();
    kde.keeps_all_but(&[Lack::OtherText, Lack::Guard], Toolkit::ALL);
    // Where an open menu has kept it, it was in the middle of a pixel, which KWin reports as the
    // next one.
    let now = kde.kwin_pointer();
    let is_back = now.0.abs_diff(pointer.0) <= 1 && now.1.abs_diff(pointer.1) <= 1;
    assert!(is_back, "{pointer:?} {now:?}");
}

#[test]
fn the_window_in_front_comes_back_and_has_its_picture() {
    known().a_click_behind_has_its_picture(Toolkit::Qt5);
}

/// As on X11, by the name: there is no icon above it without KDE's theme.
#[test]
fn a_file_is_dragged_from_dolphin_into_kate() {
    const PLACES: &str = "
        const places = {dolphin: [0, 200, 500], kate: [640, 200, 500], gtk3: [0, 0, 190]};
        for (const window of workspace.clientList()) for (const app in places) {
            const [x, y, height] = places[app];
            if (`${window.resourceClass} ${window.caption}`.includes(app))
                window.frameGeometry = {x, y, width: 600, height};
        }
        say(String(workspace.clientList().length));";
    let kde = known();
    let server = kde.server();
    let folder = kde.folder().join("letters");
    fs::create_dir(&folder).unwrap();
    for file in ["letters/cc.txt", "new.txt"] {
        File::create(kde.folder().join(file)).unwrap();
    }
    let from = kde.open("dolphin", "letters", &server, ["AXCell", "cc.txt"]);
    let to = kde.open("kate", "new.txt", &server, ["AXTextArea", "new.txt"]);
    let persons = kde.widgets(Toolkit::Gtk3, &server);
    until("three windows", || kde.kwin(PLACES) == "3");
    let file = until("the file in the moved window", || {
        let read = server.refresh(from.pid());
        let file = read.find("AXCell", "cc.txt")?.extents?;
        (file.y > 200).then_some(file)
    });
    until("the person's window", || server.has_in_front(&persons));
    let drag = json!({"x": file.x + file.w / 2, "y": file.y + file.h - 10,
                      "toPid": to.pid(), "toX": 940, "toY": 450});
    let answer = server.call_for(&from, "drag_and_traverse", drag).ok();
    until(&format!("the file in the editor: {answer}"), || {
        let titles = kde.kwin("say(workspace.clientList().map(c => c.caption).join('; '));");
        titles.contains("cc.txt").then_some(())
    });
    assert!(server.has_in_front(&persons), "{answer}");
}

#[test]
fn a_panel_is_read_pressed_and_clicked() {
    known().clicks_a_panel();
}

#[test]
fn an_item_of_the_tray_is_pressed_over_the_bus() {
    let kde = known();
    let _watcher = kde.watcher();
    kde.uses_the_tray();
}

/// Keys and buttons that a killed server has pressed are released.
#[test]
fn a_killed_server_leaves_nothing_pressed() {
    let kde = known();
    let person = kde.server();
    let app = kde.widgets(Toolkit::Qt5, &person);
    person.click(app.pid(), "AXTextField", "Name").ok();
    for _ in 0..5 {
        let server = kde.server();
        let long = "ALL WORK AND NO PLAY. ".repeat(200);
        let _typing = server.send("type_and_traverse", json!({"pid": app.pid(), "text": long}));
        let length = app.text().len();
        until("the agent's text", || app.text().len() > length + 100);
        kde.kill(&server);
        types_one(&person, &app);
    }
}

/// Types a small letter, which arrives as such.
fn types_one(person: &Client, app: &NativeApp) {
    person.press_key(app.pid(), "a", &["Control"]).ok();
    let letter = json!({"text": "q"});
    person.call_for(app, "type_and_traverse", letter).ok();
    until("the letter", || app.text() == "q");
}

const QT_5: &[table::Lack] = &[
    (
        "set value, combo box",
        "none of the choices that accessibility lists",
    ),
    ("select, tab", "no selection that accessibility can change"),
];

#[test]
fn every_tool_on_every_toolkit() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3, OTHER_TEXT]),
        (Toolkit::Gtk4, &[GTK_4, OTHER_TEXT]),
        (Toolkit::Qt5, &[QT_5, OTHER_TEXT]),
    ];
    serves_all_but(&known(), "KWin 5.27", &columns);
}

#[test]
fn an_app_without_a_tree_is_driven_behind_the_persons_window() {
    // foot 1.13 divides by zero there.
    known().drives_sdl("KWin 5.27", "hello Zy {x}", Some("漢"));
}

#[test]
fn windows_elsewhere_are_used_and_put_back() {
    let kde = known();
    kde.uses_windows_elsewhere(Toolkit::Qt5, &Where::ALL, &|_, _, place| {
        let does = match place {
            Where::Workspace2 => "it.desktop = 2",
            Where::Minimised => "it.minimized = true",
            Where::Workspace1 => "it.desktop = 1",
        };
        kde.kwin(&format!(
            "const it = workspace.clientList().find(w => w.caption == 'Window of gtk4.py');\
             {does}; say('done');"
        ));
    });
}

#[test]
fn a_text_is_pasted_and_the_clipboard_is_as_it_was() {
    known().pastes(&Toolkit::ALL);
}

/// KWin gives Fcitx all keys of a text field first: modifiers would overtake them.
#[test]
fn text_and_shortcuts_go_past_kwins_input_method() {
    known().types_past_kwins_input_method(&[Toolkit::Gtk3, Toolkit::Qt5]);
}
