//! Debian 13's compositors: sway 1.10, labwc 0.8, KWin 6.3 and GNOME Shell 48, with GTK 3, GTK 4.18 and
//! Qt 6.8.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod gnome;
mod kde;
mod names;
mod own_seat;
mod screens;
mod sway;

use deskline_testbed::{Compositor, Session, Toolkit};
use serde_json::json;

/// Apps are read and pressed through their trees, whatever the compositor.
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
fn labwc() {
    apps_are_read_and_pressed(Compositor::Labwc);
}

#[test]
fn kwin() {
    apps_are_read_and_pressed(Compositor::Kwin);
}

#[test]
fn gnome() {
    apps_are_read_and_pressed(Compositor::Gnome);
}
