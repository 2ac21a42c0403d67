//! sway 1.10 with screens of scale 1, 2 and 1.5: exact coordinates on each of them.

use std::fs::File;
use std::io::BufReader;

use deskline_testbed::{Answer, Client, NativeApp, Session, Toolkit, until};
use serde_json::json;

/// Each has room for a window of the test apps. The second begins above the first.
const SCREENS: [(&str, f64); 3] = [
    ("resolution 1600x900 position 0 0", 1.0),
    ("resolution 3200x1800 scale 2 position 1600 -130", 2.0),
    ("resolution 2400x1350 scale 1.5 position 3200 70", 1.5),
];

fn size_of_picture(answer: &Answer) -> (u32, u32) {
    let file = File::open(answer.field("screenshot")).unwrap();
    let reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    (reader.info().width, reader.info().height)
}

/// Clicks OK by its name, inside each of its edges, and above it.
fn clicks_are_exact(server: &Client, app: &NativeApp, on: &str) -> Answer {
    app.clear_log();
    let click = json!({"element": "OK", "role": "AXButton"});
    let answer = server.call_for(app, "click_and_traverse", click).ok();
    app.wait_for("clicked OK");
    let ok = answer.line_of("AXButton", "OK").extents.unwrap();
    let (middle, centre) = (ok.x + ok.w / 2, ok.y + ok.h / 2);
    let inside = [
        (ok.x + 1, centre),
        (ok.x + ok.w - 2, centre),
        (middle, ok.y + 1),
        (middle, ok.y + ok.h - 2),
    ];
    for (n, (x, y)) in inside.into_iter().enumerate() {
        server
            .call_for(app, "click_and_traverse", json!({"x": x, "y": y}))
            .ok();
        until(&format!("the click at ({x}, {y}) on {on}"), || {
            (app.said("clicked OK") == n + 2).then_some(())
        });
    }
    let above = json!({"x": middle, "y": ok.y - 3});
    server.call_for(app, "click_and_traverse", above).ok();
    assert_eq!(app.said("clicked OK"), 5, "{on}");
    answer
}

#[test]
fn clicks_land_to_the_pixel_on_screens_of_different_scale() {
    let session = Session::with_screens(&SCREENS.map(|(screen, _)| screen));
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
            let answer = clicks_are_exact(&server, &app, &on);
            let window = answer.line_of("AXWindow", "Window of").extents.unwrap();
            let lies = (1600 * i32::try_from(n).unwrap()..1600 * i32::try_from(number).unwrap())
                .contains(&window.x);
            assert!(lies, "{on}: {window:?}");
            let size = |units: i32| (f64::from(units) * scale).round();
            let (w, h) = size_of_picture(&answer);
            let near = |pixels: u32, units: i32| (f64::from(pixels) - size(units)).abs() <= 1.0;
            assert!(
                near(w, window.w) && near(h, window.h),
                "{on}: {w}x{h} {window:?}"
            );
        }
    }
}
