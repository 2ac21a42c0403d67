//! sway: clicks to the pixel in Chromium, `LibreOffice` and GTK 3 windows with a shadow, beside
//! other apps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Compositor, Setup, Toolkit};
use serde_json::json;

/// A button at whole pixels, which reports the place of a click relative to its corner.
const TARGET: &str = "<style>button { position: absolute; left: 60px; top: 40px; width: 120px; \
    height: 50px; }</style>\
    <button>Target</button><input aria-label=Name><script>\
    addEventListener('click', e => { const box = \
    document.querySelector('button').getBoundingClientRect(); log('clicked', e.target.localName, \
    e.clientX - box.left, e.clientY - box.top); }); addEventListener('input', e => log('text', \
    e.target.value));</script>";

#[test]
fn chromium_is_clicked_to_the_pixel_and_typed_into() {
    let session = Setup::here(Compositor::Sway).start();
    let server = session.server();
    let native = session.widgets(Toolkit::Qt5, &server);
    let (app, page) = session.chromium(TARGET, &server, "Target");
    for text in ["Grüße, 漢字 € 1+1=2", "again"] {
        let read = server.refresh(app.pid()).ok();
        let target = read.line_of("AXButton", "Target").extents.unwrap();
        assert_eq!((target.w, target.h), (120, 50));
        for (x, y) in [(0, 0), (119, 0), (0, 49), (119, 49), (60, 25)] {
            let place = json!({"x": target.x + x, "y": target.y + y});
            server.call_for(&app, "click_and_traverse", place).ok();
            page.wait_for(&format!("clicked button {x} {y}"));
        }
        server.click(app.pid(), "AXTextField", "Name").ok();
        server.press_key(app.pid(), "a", &["Control"]).ok();
        let typed = server.type_text(app.pid(), text);
        assert!(typed.ok().get("screenshot").is_some());
        page.wait_for(&format!("text {text}"));
        page.clear_log();
        server.clicks_are_exact(&native, "the app beside it");
        assert!(page.log().is_empty(), "{:?}", page.log());
    }
    // Chromium would take this character for another one.
    let typed = server.type_text(app.pid(), "ab 😀");
    assert!(typed.error().contains("U+FFFF"), "{typed}");
    assert!(page.log().is_empty(), "{:?}", page.log());
}

#[test]
fn gtk_3_with_a_shadow_is_clicked_to_the_pixel() {
    let session = Setup::here(Compositor::Sway).start();
    let server = session.server();
    let native = session.widgets(Toolkit::Gtk3, &server);
    let app = session.widgets_with_a_shadow(Toolkit::Gtk3, &server);
    for (app, of) in [(&app, "its own decorations"), (&native, "sway's")] {
        server.clicks_are_exact(app, of);
    }
}

#[test]
fn a_cell_of_libreoffice_is_clicked_to_the_pixel_filled_in_and_saved() {
    let session = Setup::here(Compositor::Sway).start();
    let server = session.server();
    let native = session.widgets(Toolkit::Qt5, &server);
    let (app, file) = session.calc(&[&["apples", "pears", "plums"]], &server);
    server.fills_a_cell_from_its_corners(&app, &file, ["apples", "plums"]);
    server.clicks_are_exact(&native, "the app beside it");
}
