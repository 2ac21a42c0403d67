//! Coordinates are the screen's own pixels at every scale of the toolkit: clicks at them hit,
//! according to the app's log.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_core::Rect;
use deskline_testbed::{Answer, App, Bed, Client, oracle, until};
use serde_json::json;

fn see(server: &Client, app: &App<'_>) -> Answer {
    server.refresh(app.pid).ok()
}

#[track_caller]
fn click_at(server: &Client, app: &App<'_>, x: i32, y: i32) -> Answer {
    let arguments = json!({"pid": app.pid, "x": x, "y": y});
    server.call("click_and_traverse", arguments).ok()
}

#[track_caller]
fn click_centre(server: &Client, app: &App<'_>, seen: &Answer, role: &str, text: &str) -> Answer {
    let at = seen.line_of(role, text).extents.unwrap().center();
    click_at(server, app, at.x, at.y)
}

/// One unit of the toolkit in pixels, by which it may round.
const ROUNDING: i32 = 4;

/// The maximum thickness of a window manager's frame.
const BORDER: i32 = 32;

/// Compares a toplevel's line with the X server: the window, with or without its frame.
#[track_caller]
fn is_where_x_has_it(line: Rect, app: &App<'_>) {
    let (x, y, w, h) = app.window_now().bounds;
    let (w, h) = (w.cast_signed(), h.cast_signed());
    let near = |small: i32, large: i32| (-ROUNDING..=BORDER + ROUNDING).contains(&(large - small));
    assert!(
        near(line.x, x)
            && near(line.y, y)
            && near(x + w, line.x + line.w)
            && near(y + h, line.y + line.h),
        "{line:?} and {:?}",
        (x, y, w, h)
    );
}

fn every_part(toolkit: &str, environment: (&str, &str)) {
    let (bed, server) = Bed::with_server();
    let app = bed.windows(toolkit, &[environment], &["Alpha|Alpha|320x260"]);
    for (x, y) in [(60, 90), (801, 203)] {
        let what = format!("{toolkit} {environment:?} at {x},{y}");
        bed.screen().move_window(app.window.id, x, y);
        // Toolkits need a moment to learn where the window manager has put their windows.
        let mut seen = see(&server, &app);
        for _ in 0..50 {
            let place = seen.line_of("AXWindow", "Alpha").extents.unwrap();
            if (place.x - app.window_now().bounds.0).abs() <= 8 {
                break;
            }
            seen = see(&server, &app);
        }
        is_where_x_has_it(seen.line_of("AXWindow", "Alpha").extents.unwrap(), &app);
        let Rect { x, y, w, h } = seen.line_of("AXButton", "Push Alpha").extents.unwrap();
        // The extents of a GTK 4 button do not include its border.
        let edge = if toolkit == "gtk4" { 6.0 } else { 0.0 };
        let factor: f32 = environment.1.parse().unwrap();
        let (inset, outset) = (ROUNDING + 2, ((edge + 3.0) * factor) as i32);
        click_at(&server, &app, x + w / 2, y + h + outset);
        for (x, y) in [
            (x + w / 2, y + h / 2),
            (x + w - inset, y + h - inset),
            (x + inset, y + inset),
        ] {
            let answer = click_at(&server, &app, x, y);
            app.wait_for("pushed Alpha");
            assert_eq!(app.log(), ["pushed Alpha"], "{what}: ({x}, {y})\n{answer}");
            app.clear_log();
        }
        app.clear_log();
        if toolkit != "gtk4" {
            let open = click_centre(&server, &app, &seen, "AXMenuBarItem", "File");
            click_centre(&server, &app, &open, "AXMenuItem", "Close Alpha");
            app.wait_for("menu Alpha");
            app.clear_log();
        }
    }
    // A drop-down is a window of its own.
    app.clear_log();
    let seen = see(&server, &app);
    let lines = seen.lines();
    let combo = lines.iter().find(|l| l.role.ax() == "AXComboBox").unwrap();
    let at = combo.extents.unwrap().center();
    let open = click_at(&server, &app, at.x, at.y);
    click_centre(&server, &app, &open, "AX", "Large Alpha");
    app.wait_for("combo Large Alpha");
}

#[test]
fn every_part_of_a_gtk_3_window_is_hit_at_each_scale() {
    every_part("gtk3", ("GDK_SCALE", "1"));
    every_part("gtk3", ("GDK_SCALE", "2"));
}

#[test]
fn every_part_of_a_gtk_4_window_is_hit_at_each_scale() {
    every_part("gtk4", ("GDK_SCALE", "1"));
    every_part("gtk4", ("GDK_SCALE", "2"));
}

/// A window with client-side decorations. GTK 3's frame includes their shadow.
#[test]
fn the_header_of_a_gtk_3_window_larger_than_the_screen_is_hit() {
    let bed = Bed::new();
    bed.screen().claim_compositing();
    let server = bed.server(&[]);
    let app = bed.gtk3_widget_factory_at("2");
    let (width, height) = (app.window.bounds.2, app.window.bounds.3);
    assert!(width > 1920 && height > 1080, "{width}x{height}");
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let page = json!({"pid": app.pid, "element": "Page 2"});
    server.call("click_and_traverse", page).ok();
    oracle::wait_for(&bed, app.pid, "radio button", "Page 2", |e| e.is("checked"));
}

/// Windows that are larger than the screen, with the person's window in front.
#[test]
fn gtk_4_and_qt_windows_larger_than_the_screen_are_hit_at_scale_2() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let push = |app: &App<'_>, what: &str| {
        until(&format!("a large window of {what}"), || {
            let (_, _, width, height) = app.window_now().bounds;
            (width > 1920 && height > 1080).then_some(())
        });
        for (element, logged) in [
            ("Push Alpha", "pushed Alpha"),
            ("Pad Alpha", "pad press Alpha"),
        ] {
            persons.bring_to_front();
            let more = json!({"pid": app.pid, "element": element});
            let answer = server.call("click_and_traverse", more).ok();
            app.wait_for(logged);
            assert_eq!(
                app.full_log().iter().filter(|l| *l == logged).count(),
                1,
                "{what}: {answer}"
            );
        }
    };
    for composited in [false, true] {
        if composited {
            bed.screen().claim_compositing();
        }
        for (toolkit, factor, size) in [
            ("gtk4", "GDK_SCALE", "least 1300x800"),
            ("gtk4", "GDK_SCALE", "bar least 1300x800"),
            ("qt5", "QT_SCALE_FACTOR", "least 1300x800"),
            ("qt6", "QT_SCALE_FACTOR", "least 1300x800"),
        ] {
            let window = format!("Alpha|Alpha|{size}");
            let app = bed.windows(toolkit, &[(factor, "2")], &[&window]);
            push(
                &app,
                &format!("{toolkit}, {size}, composited: {composited}"),
            );
        }
    }
    let app = bed.kcalc_at("4");
    assert!(app.window.bounds.3 > 1080, "{:?}", app.window.bounds);
    persons.bring_to_front();
    for key in ["7", "8"] {
        server.click(app.pid, "AXButton", key).ok();
    }
    let seen = see(&server, &app);
    assert!(seen.file().contains("\"78\""), "{}", seen.file());
}

#[test]
fn every_part_of_a_qt_5_window_is_hit_at_each_scale() {
    for scale in ["1", "1.5", "2"] {
        every_part("qt5", ("QT_SCALE_FACTOR", scale));
    }
}

#[test]
fn every_part_of_a_qt_6_window_is_hit_at_each_scale() {
    for scale in ["1", "1.5", "2"] {
        every_part("qt6", ("QT_SCALE_FACTOR", scale));
    }
}

/// Qt 6 gives each monitor a factor of its own; the bus does not report monitors, and Qt's
/// coordinates have a gap after a monitor with factor 2.
#[test]
fn a_qt_6_app_is_hit_on_two_monitors_of_different_scale() {
    let bed = Bed::new();
    bed.screen().split(800);
    let server = bed.server(&[]);
    let factors = ("QT_SCREEN_SCALE_FACTORS", "left=1;right=2");
    // In Qt's own units, the coordinates of the right monitor begin at its edge.
    let windows = ["Alpha|Alpha|320x260+60+90", "Beta|Beta|320x260+900+100"];
    let app = bed.windows("qt6", &[factors], &windows);
    let find = |title: &str| {
        let mut windows = bed.screen().windows_of(app.pid).into_iter();
        windows.find(|w| w.title == title).unwrap()
    };
    for (name, width) in [("Alpha", 320), ("Beta", 640)] {
        until("the monitor's scale", || find(name).bounds.2 == width);
    }
    let seen = see(&server, &app);
    for (name, size) in [("Beta", "Large"), ("Alpha", "Large"), ("Beta", "Small")] {
        let line = seen.line_of("AXWindow", name).extents.unwrap();
        let place = find(name).bounds;
        let (x, y) = (line.x - place.0, line.y - place.1);
        assert!(
            (-BORDER..=ROUNDING).contains(&x),
            "{name}: {line:?}, {place:?}"
        );
        assert!(
            (-BORDER..=ROUNDING).contains(&y),
            "{name}: {line:?}, {place:?}"
        );
        for (role, text, message) in [
            ("AXButton", format!("Push {name}"), format!("pushed {name}")),
            (
                "AXStaticText",
                format!("Pad {name}"),
                format!("pad press {name}"),
            ),
        ] {
            app.clear_log();
            click_centre(&server, &app, &seen, role, &text);
            app.wait_for(&message);
        }
        app.clear_log();
        let lines = seen.lines();
        let combo = lines.iter().find(|l| {
            let within = l.extents.is_some_and(|e| line.contains(e.center()));
            within && l.role.ax() == "AXComboBox"
        });
        let combo = combo.unwrap();
        let at = combo.extents.unwrap().center();
        let open = click_at(&server, &app, at.x, at.y);
        click_centre(&server, &app, &open, "AXRow", &format!("{size} {name}"));
        app.wait_for(&format!("combo {size} {name}"));
    }
}
