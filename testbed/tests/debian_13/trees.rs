//! Apps are read and pressed through their trees, which do not depend on the compositor.

use deskline_testbed::{Compositor, Session, Toolkit, until};
use serde_json::json;

#[test]
fn a_button_of_each_toolkit_is_pressed_through_its_tree() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let ok = json!({"pid": app.pid(), "element": "OK", "role": "AXButton"});
        server.call("press_ax_and_traverse", ok).ok();
        app.wait_for("clicked OK");
    }
}

/// GTK 4.18; `reading.rs` has the test with Debian 12's version.
#[test]
fn only_the_front_page_of_a_gtk_4_stack_is_visible() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    let app = session.pages(&server);
    for (front, behind) in [("Front", "Back"), ("Back", "Front"), ("Front", "Back")] {
        let read = || server.refresh(app.pid()).ok();
        until("the page", || read().shows_page(front, behind));
        server.press_ax(app.pid(), "AXButton", "Turn").ok();
        app.wait_for(&format!("page {behind}"));
    }
}
