//! Screens of scale 1, 2 and 1.5: exact coordinates on each of them.

use std::fs;

use deskline_testbed::{Client, Compositor, NativeApp, Session, Setup, Toolkit, tests, until};
use serde_json::json;

/// Each screen has room for a window of the test apps. The second begins above the first.
const SCREENS: [(&str, f64); 3] = [
    ("resolution 1600x900 position 0 0", 1.0),
    ("resolution 3200x1800 scale 2 position 1600 -130", 2.0),
    ("resolution 2400x1350 scale 1.5 position 3200 70", 1.5),
];

/// The scale of a second screen. Its left border is at 1600 times the scale.
const SECOND: f64 = 1.5;
const BORDER: i32 = 2400;

#[test]
fn clicks_land_to_the_pixel_on_screens_of_different_scale() {
    let session = Setup::debian_13(Compositor::Sway)
        .screens(&SCREENS.map(|(screen, _)| screen))
        .start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        for (n, (screen, scale)) in SCREENS.into_iter().enumerate() {
            let number = n + 1;
            session.sway(&format!(
                "[pid={}] move container to output HEADLESS-{number}, move position center",
                app.pid()
            ));
            let on = format!("{toolkit:?} on {screen}");
            let answer = server.clicks_are_exact(&app, &on);
            let window = answer.window();
            let lies = (1600 * i32::try_from(n).unwrap()..1600 * i32::try_from(number).unwrap())
                .contains(&window.x);
            assert!(lies, "{on}: {window:?}");
            let size = |units: i32| (f64::from(units) * scale).round();
            let picture = answer.picture();
            let (w, h) = (picture.width, picture.height);
            let near = |pixels: i32, units: i32| (f64::from(pixels) - size(units)).abs() <= 1.0;
            assert!(
                near(w, window.w) && near(h, window.h),
                "{on}: {w}x{h} {window:?}"
            );
        }
    }
}

tests! {
    clicks_are_exact_on_kwin_with_a_scaled_screen => on_a_scaled_screen(Compositor::Kwin, 2.0),
    clicks_are_exact_on_gnome_with_a_scaled_screen => on_a_scaled_screen(Compositor::Gnome, 1.5),
}

fn on_a_scaled_screen(compositor: Compositor, scale: f64) {
    let session = Setup::debian_13(compositor).scale(scale).start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        server.clicks_are_exact(&app, &format!("{compositor:?}, {toolkit:?}, scale {scale}"));
    }
}

/// KWin 6.1 to 6.3 stops a pointer that crosses from one screen to the other short of its place.
#[test]
fn clicks_are_exact_on_kwin_screens_of_different_scale() {
    let session = Setup::debian_13(Compositor::Kwin)
        .second_screen(SECOND)
        .start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        for side in ["Left", "Right"] {
            let on = format!("{toolkit:?}, {side}");
            put(&server, &app, side, BORDER);
            server.clicks_are_exact(&app, &on);
        }
    }
    // The person's pointer is restored across the border.
    let apps =
        ["-left", "-right"].map(|suffix| session.widgets_with(Toolkit::Gtk4, &server, suffix, &[]));
    put(&server, &apps[0], "Left", BORDER);
    put(&server, &apps[1], "Right", BORDER);
    for (theirs, other) in [(0, 1), (1, 0)] {
        let at = leave_the_pointer(&session, &apps[theirs]);
        server.click(apps[other].pid(), "AXCheckBox", "Wrap").ok();
        assert_eq!(session.kwin_pointer(), at, "from {theirs} to {other}");
    }
}

/// Moves the app's window to the screen on that side of the border.
fn put(server: &Client, app: &NativeApp, side: &str, border: i32) {
    let is_there = || {
        let answer = server.refresh(app.pid()).ok();
        let window = answer.window();
        (window.x >= border) == (side == "Right")
    };
    // KWin's shortcuts lead from the first screen to the last.
    if !is_there() {
        to_the_screen(server, app, side);
        until("the window on the other screen", is_there);
    }
}

/// Leaves the pointer over a button, by a server that ends before it restores the pointer.
fn leave_the_pointer(session: &Session, app: &NativeApp) -> (i32, i32) {
    let client = session.server_with(&["--guard", "off"]);
    app.clear_log();
    let steps = json!([
        {"do": "click", "element": "OK", "role": "AXButton"},
        {"do": "wait_for", "element": "nowhere to be found", "timeout": 20},
    ]);
    let _link = client.send(
        "chain_and_traverse",
        json!({"pid": app.pid(), "steps": steps}),
    );
    app.wait_for("clicked OK");
    session.kill(&client);
    session.kwin_pointer()
}

#[test]
fn clicks_are_exact_on_gnome_screens_of_different_scale() {
    let session = Setup::debian_13(Compositor::Gnome)
        .second_screen(SECOND)
        .start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let sizes = ["Left", "Right"].map(|side| {
            to_the_screen(&server, &app, side);
            let answer = server.clicks_are_exact(&app, &format!("{toolkit:?}, {side}"));
            answer.picture().width
        });
        // The picture was drawn for the other screen's scale.
        assert!(sizes[1] > sizes[0], "{toolkit:?}: {sizes:?}");
    }
}

#[test]
fn clicks_are_exact_with_gnomes_extension_on_screens_of_different_scale() {
    let session = Setup::debian_13(Compositor::Gnome)
        .extension()
        .second_screen(SECOND)
        .start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        for side in ["Left", "Right"] {
            put(&server, &app, side, BORDER);
            server.clicks_are_exact(&app, &format!("{toolkit:?}, {side}"));
        }
    }
}

#[test]
fn clicks_are_exact_on_labwc_with_two_screens() {
    let session = Setup::debian_13(Compositor::Labwc).two_screens().start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        // The app logs which screens its windows are on.
        let debug = [("WAYLAND_DEBUG", "1")];
        let app = session.widgets_with(toolkit, &server, "", &debug);
        let said = session.folder().join(format!("{toolkit:?}.err"));
        let left = || {
            let said = fs::read_to_string(&said).unwrap();
            said.matches(".leave(wl_output").count()
        };
        server.clicks_are_exact(&app, &format!("{toolkit:?}, where it opens"));
        let before = left();
        server.press_key(app.pid(), "F12", &["Control"]).ok();
        until("the other screen", || left() > before);
        server.clicks_are_exact(&app, &format!("{toolkit:?}, on the other screen"));
    }
}

/// Moves the app's window to the screen on that side, by the compositor's own shortcuts.
fn to_the_screen(server: &Client, app: &NativeApp, side: &str) {
    server
        .press_key(app.pid(), side, &["Command", "Shift"])
        .ok();
}
