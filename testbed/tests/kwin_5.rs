//! KWin of Plasma 5.27, which takes no input of other programs, and gives pictures only to those
//! that it knows by a `.desktop` file.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Compositor, Session, Setup, Toolkit};

fn doctor(kde: &Session, more: &[&str]) -> String {
    let args = [&["doctor", "--dir", "j"], more].concat();
    let output = kde.deskline(&args).output().unwrap();
    [output.stdout, output.stderr]
        .map(|said| String::from_utf8_lossy(&said).into_owned())
        .concat()
}

#[test]
fn behind_the_persons_window_an_app_is_pressed_and_a_click_is_refused() {
    let kde = Setup::here(Compositor::Kwin5).start();
    let said = doctor(&kde, &[]);
    for row in "✓ windows,✓ raise,! pointer,! keys,! screenshot".split(',') {
        assert!(said.contains(row), "{row}\n{said}");
    }
    let said = doctor(&kde, &["--fix"]);
    assert!(said.contains("org.deskline.Deskline.desktop"), "{said}");
    assert_eq!(said.matches("fixed: ").count(), 1, "{said}");
    for row in ["✓ screenshot", "! pointer", "! keys"] {
        assert!(said.contains(row), "{row}\n{said}");
    }
    let server = kde.server();
    for toolkit in Toolkit::ALL {
        let app = kde.widgets(toolkit, &server);
        let person = kde.widgets_with(Toolkit::Gtk3, &server, "-persons", &[]);
        let refused = server.click(app.pid(), "AXButton", "OK");
        assert!(
            refused.is_error && refused.text.contains("Plasma (X11)"),
            "{refused}"
        );
        let pressed = server.press_ax(app.pid(), "AXButton", "OK").ok();
        app.wait_for("clicked OK");
        pressed.shows_the_window();
        assert!(server.has_in_front(&person), "{pressed}");
        let clicks = app.log().iter().filter(|l| l.contains("clicked")).count();
        assert_eq!(clicks, 1, "{pressed}");
    }
}
