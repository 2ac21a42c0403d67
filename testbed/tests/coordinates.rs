//! A click at the coordinates of a tree line hits that element, wherever the window is.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Answer, Bed, Client, Toolkit, tests};
use serde_json::json;

/// Clicks with the four numbers of the element's line.
#[track_caller]
fn click_line(server: &Client, pid: u32, seen: &Answer, role: &str, text: &str) -> Answer {
    let line = seen.line_of(role, text);
    let place = line
        .extents
        .unwrap_or_else(|| panic!("{text} has no place"));
    let arguments = json!({
        "pid": pid, "x": place.x, "y": place.y, "width": place.w, "height": place.h,
    });
    server.call("click_and_traverse", arguments).ok()
}

const WIDGETS: [(&str, &str, &str); 5] = [
    ("AXButton", "OK", "clicked OK"),
    ("AXCheckBox", "Wrap", "checked Wrap true"),
    ("AX", "Green", "chose Green"),
    ("AXCell", "Item 2", "picked Item 2"),
    ("AXTab", "Second", "tab Second"),
];

fn every_widget(toolkit: Toolkit) {
    let (bed, server) = Bed::with_server();
    for place in [(40, 60), (1010, 250)] {
        let app = bed.widgets(toolkit).at(place.0, place.1);
        let seen = server.refresh(app.pid).ok();
        for (role, text, logs) in WIDGETS {
            // In GTK 4, cells are labels in rows.
            let role = if toolkit == Toolkit::Gtk4 && role == "AXCell" {
                "AX"
            } else {
                role
            };
            app.clear_log();
            click_line(&server, app.pid, &seen, role, text);
            assert_eq!(app.log(), [logs], "{toolkit:?} at {place:?}: {text}");
        }
        // A menu is a window of its own.
        app.clear_log();
        let open = click_line(&server, app.pid, &seen, "AXMenuBarItem", "File");
        click_line(&server, app.pid, &open, "AXMenuItem", "Close");
        assert_eq!(app.log(), ["menu Close"], "{toolkit:?} at {place:?}");
    }
}

tests! {
    every_widget_of_gtk_3_is_hit => every_widget(Toolkit::Gtk3),
    every_widget_of_gtk_4_is_hit => every_widget(Toolkit::Gtk4),
    every_widget_of_qt_5_is_hit => every_widget(Toolkit::Qt5),
}

#[test]
fn every_widget_of_a_chromium_page_is_hit() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium_widgets();
    let app = app.at(810, 150);
    let seen = server.refresh(app.pid).ok();
    for (role, text, logs) in WIDGETS {
        page.clear_log();
        click_line(&server, app.pid, &seen, role, text);
        page.wait_for(logs);
    }
}

/// Checks real apps with client-side frames, shadows and header bars.
#[test]
fn the_keys_of_gnome_calculator_are_hit() {
    let (bed, server) = Bed::with_server();
    let app = bed.gnome_calculator().at(1010, 250);
    let seen = server.refresh(app.pid).ok();
    let mut last = None;
    for key in ["4", "2"] {
        last = Some(click_line(&server, app.pid, &seen, "AXButton", key));
    }
    let last = last.unwrap();
    let shown = deskline_testbed::oracle::find(&bed, app.pid, "text", "");
    assert!(shown.iter().any(|e| e.text == "42"), "{shown:?}\n{last}");
}

#[test]
fn the_keys_of_kcalc_are_hit() {
    let (bed, server) = Bed::with_server();
    let app = bed.kcalc().at(1010, 250);
    let seen = server.refresh(app.pid).ok();
    for key in ["4", "2"] {
        click_line(&server, app.pid, &seen, "AXButton", key);
    }
    let seen = server.refresh(app.pid).ok();
    assert!(seen.file().contains("\"42\""), "{}", seen.file());
}
