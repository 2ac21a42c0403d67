//! sway: an app in Xwayland beside a native one.

use deskline_testbed::{Compositor, Setup, Toolkit};
use serde_json::json;

const TEXT: &str = "Grüße, 漢字 😀 € 1+1=2";

#[test]
fn an_app_in_xwayland_is_driven_beside_a_native_one() {
    let session = Setup::here(Compositor::Sway).xwayland().start();
    let server = session.server();
    let native = session.widgets(Toolkit::Gtk3, &server);
    let x11 = session.widgets_in_xwayland(Toolkit::Gtk3, &server);
    for (app, of) in [(&x11, "X11"), (&native, "native"), (&x11, "X11 again")] {
        let answer = server.clicks_are_exact(app, of);
        assert!(answer.get("screenshot").is_some(), "{of}: {answer}");
        server.click(app.pid(), "AXTextField", "Name").ok();
        server.press_key(app.pid(), "a", &["Control"]).ok();
        let text = json!({"text": TEXT});
        server.call_for(app, "type_and_traverse", text).ok();
        app.wait_for(&format!("text Name {TEXT}"));
    }
}
