//! Apps are read and pressed through their trees, whatever the compositor.

use deskline_testbed::{Compositor, Session, Toolkit};
use serde_json::json;

fn apps_are_read_and_pressed(compositor: Compositor) {
    let session = Session::new(compositor);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let ok = json!({"pid": app.pid(), "element": "OK", "role": "AXButton"});
        server.call("press_ax_and_traverse", ok).ok();
        app.wait_for("clicked OK");
    }
}

#[test]
fn sway() {
    apps_are_read_and_pressed(Compositor::Sway);
}

#[test]
fn kwin() {
    apps_are_read_and_pressed(Compositor::Kwin);
}

#[test]
fn gnome() {
    apps_are_read_and_pressed(Compositor::Gnome);
}

#[test]
fn labwc() {
    apps_are_read_and_pressed(Compositor::Labwc);
}
