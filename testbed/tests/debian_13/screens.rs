//! sway 1.10 with screens of scale 1, 2 and 1.5: exact coordinates on each of them.

use std::fs::File;
use std::io::BufReader;

use deskline_testbed::{Answer, Compositor, Session, Toolkit};

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
            let answer = server.clicks_are_exact(&app, &on);
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

#[test]
fn kwin_with_a_scaled_screen() {
    on_a_scaled_screen(Compositor::Kwin, &[1.5, 2.0]);
}

#[test]
fn gnome_with_a_scaled_screen() {
    on_a_scaled_screen(Compositor::Gnome, &[1.5, 2.0]);
}

fn on_a_scaled_screen(compositor: Compositor, scales: &[f64]) {
    for scale in scales {
        let session = Session::scaled(compositor, *scale);
        let server = session.server();
        for toolkit in Toolkit::DEBIAN_13 {
            let app = session.widgets(toolkit, &server);
            server.clicks_are_exact(&app, &format!("{compositor:?}, {toolkit:?}, scale {scale}"));
        }
    }
}
