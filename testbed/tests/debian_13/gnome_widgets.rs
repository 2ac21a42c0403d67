//! GNOME Shell 48 with one app at a time: pictures.

use deskline_core::{Point, Rect};
use deskline_testbed::{Answer, Client, Compositor, NativeApp, Pixels, Session, Setup, Toolkit};
use serde_json::json;

/// How far around a widget pictures are compared.
const AROUND: i32 = 20;

#[test]
fn pictures_show_what_changes_and_where() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        println!("{toolkit:?}");
        a_picture_shows_what_changes_and_where(&server, &app, 1);
    }
}

#[test]
fn pictures_of_a_scaled_screen_show_what_changes_and_where() {
    let session = Setup::debian_13(Compositor::Gnome).scale(2.0).start();
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        println!("{toolkit:?}");
        a_picture_shows_what_changes_and_where(&server, &app, 2);
    }
}

/// Around the slider, two pictures differ only in the slider, which has its new value in the second
/// one. `scale` is their number of pixels per unit.
fn a_picture_shows_what_changes_and_where(server: &Client, app: &NativeApp, scale: i32) {
    let before = server.refresh(app.pid()).ok();
    let value = json!({"element": "Volume", "role": "AXSlider", "value": "90"});
    let after = server.call_for(app, "set_value_and_traverse", value).ok();
    app.wait_for("value Volume 90");
    let slider = after.line_of("AXSlider", "Volume").extents.unwrap();
    // Further away a button lights up if the pointer happens to be on it.
    let around = Rect::at(
        slider.x - AROUND,
        slider.y - AROUND,
        slider.w + 2 * AROUND,
        slider.h + 2 * AROUND,
    );
    let [slider, around] = [slider, around].map(|r| Rect {
        x: r.x * scale,
        y: r.y * scale,
        w: r.w * scale,
        h: r.h * scale,
    });
    let changed = difference(&picture(&before, scale), &picture(&after, scale), around);
    // The slider's knob has moved, and its left part is filled.
    assert!(
        slider.intersect(&changed) == changed && changed.w > slider.w / 2,
        "{changed:?} of {slider:?}\n{after}"
    );
}

/// The picture, which must have the window's size at this number of pixels per unit.
fn picture(answer: &Answer, scale: i32) -> Pixels {
    let (picture, window) = (answer.picture(), answer.window());
    let size = (picture.width, picture.height);
    assert_eq!(size, (window.w * scale, window.h * scale));
    picture
}

/// The bounds of the pixels that differ in a part of the pictures.
fn difference(one: &Pixels, other: &Pixels, part: Rect) -> Rect {
    let pixels = one.rgb.chunks_exact(3).zip(other.rgb.chunks_exact(3));
    let differing = pixels.enumerate().filter(|(_, (one, other))| one != other);
    let place = |n: usize| {
        let n = i32::try_from(n).unwrap();
        Point::at(n % one.width, n / one.width)
    };
    let places = differing.map(|(n, _)| place(n));
    let places: Vec<Point> = places.filter(|place| part.contains(*place)).collect();
    assert!(!places.is_empty(), "nothing has changed");
    let [across, down] = [|p: &Point| p.x, |p: &Point| p.y];
    let least = |of: fn(&Point) -> i32| places.iter().map(of).min().unwrap();
    let most = |of: fn(&Point) -> i32| places.iter().map(of).max().unwrap();
    let (x, y) = (least(across), least(down));
    Rect::at(x, y, most(across) + 1 - x, most(down) + 1 - y)
}
