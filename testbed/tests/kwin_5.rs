//! KWin of Plasma 5.27, which takes input only of programs that it knows by a `.desktop` file.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;

use deskline_testbed::table::{Column, GTK_3, GTK_4, Lack, OTHER_TEXT, serves_all_but};
use deskline_testbed::{Client, Compositor, NativeApp, Session, Setup, Toolkit, until};
use rustix::process::{Pid, Signal, kill_process};
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
    let click = json!({"element": "OK", "role": "AXButton"});
    let refused = server.call_for(&app, "click_and_traverse", click.clone());
    for part in [".desktop file", "deskline doctor --fix"] {
        assert!(refused.is_error && refused.text.contains(part), "{refused}");
    }
    server
        .call_for(&app, "press_ax_and_traverse", click.clone())
        .ok();
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
    server.call_for(&app, "click_and_traverse", click).ok();
    app.wait_for("clicked OK");
}

#[test]
fn clicks_land_to_the_pixel_in_windows_over_each_other() {
    let kde = known();
    let server = kde.server();
    for toolkit in Toolkit::ALL {
        let app = kde.widgets(toolkit, &server);
        let read = server.call_for(&app, "refresh_traversal", json!({})).ok();
        assert!(!read.file().contains("# coordinates"), "{toolkit:?}");
        let ok = read.line_of("AXButton", "OK").extents.unwrap();
        // GTK 4.8 tells the label's place.
        let beside = if toolkit == Toolkit::Gtk4 { 8 } else { 3 };
        let (right, bottom) = (ok.x + ok.w - 2, ok.y + ok.h - 2);
        let pointer = kde.kwin_pointer();
        for (n, (x, y)) in [(ok.x + 1, ok.y + 1), (right, bottom)]
            .into_iter()
            .enumerate()
        {
            let place = json!({"x": x, "y": y});
            server.call_for(&app, "click_and_traverse", place).ok();
            until("the click", || app.logged("clicked OK") == n + 1);
        }
        // Where an open menu has kept it, it was in the middle of a pixel, which KWin tells as the
        // next one.
        let now = kde.kwin_pointer();
        let is_back = now.0.abs_diff(pointer.0) <= 1 && now.1.abs_diff(pointer.1) <= 1;
        assert!(is_back, "{toolkit:?}: {pointer:?} {now:?}");
        let outside = json!({"x": ok.x + ok.w / 2, "y": ok.y - beside});
        server.call_for(&app, "click_and_traverse", outside).ok();
        assert_eq!(app.logged("clicked OK"), 2, "{toolkit:?}");
    }
}

#[test]
fn forms_the_wheel_and_drags() {
    let kde = known();
    let server = kde.server();
    for toolkit in Toolkit::ALL {
        let app = kde.widgets(toolkit, &server);
        server.fills_the_form(&app);
        server.turns_the_wheel(&app);
        // GTK 4.8 tells the place of the pad's label.
        if toolkit != Toolkit::Gtk4 {
            server.drags_over_the_pad(&app);
        }
    }
}

#[test]
fn the_window_in_front_comes_back_and_has_its_picture() {
    let kde = known();
    let server = kde.server();
    let behind = kde.widgets(Toolkit::Gtk3, &server);
    let front = kde.widgets(Toolkit::Qt5, &server);
    let clicked = server.click(behind.pid(), "AXButton", "OK").ok();
    behind.wait_for("clicked OK");
    let file = BufReader::new(File::open(clicked.field("screenshot")).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let window = clicked.line_of("AXWindow", "Window of gtk3.py");
    let window = window.extents.unwrap();
    assert_eq!(
        (info.width, info.height),
        (window.w.cast_unsigned(), window.h.cast_unsigned())
    );
    let colours: HashSet<&[u8]> = pixels.chunks_exact(3).collect();
    assert!(colours.len() > 20, "{} colours", colours.len());
    assert!(server.has_in_front(&front));
    assert!(front.log().iter().all(|l| !l.starts_with("clicked")));
}

/// What a killed server has pressed does not stay so.
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
        let length = text(&app).len();
        until("the agent's text", || text(&app).len() > length + 100);
        kill(&server);
        types_one(&person, &app);
    }
}

/// Types a small letter, which arrives as such.
fn types_one(person: &Client, app: &NativeApp) {
    person.press_key(app.pid(), "a", &["Control"]).ok();
    let letter = json!({"text": "q"});
    person.call_for(app, "type_and_traverse", letter).ok();
    until("the letter", || text(app) == "q");
}

fn kill(server: &Client) {
    let pid = Pid::from_raw(server.pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// What the field holds, by the app's own log.
fn text(app: &NativeApp) -> String {
    let log = app.log();
    let last = log.iter().rev().find_map(|l| l.strip_prefix("text Name "));
    last.unwrap_or_default().to_owned()
}

const QT_5: &[Lack] = &[
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
