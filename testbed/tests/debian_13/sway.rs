//! sway 1.10: drags.

use deskline_testbed::{Answer, Client, Compositor, NativeApp, Session, Toolkit};
use serde_json::{Value, json};

fn call(server: &Client, app: &NativeApp, tool: &str, mut arguments: Value) -> Answer {
    arguments["pid"] = app.pid().into();
    server.call(tool, arguments).ok()
}

#[test]
fn a_drag_begins_and_ends_where_it_should() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let read = call(&server, &app, "refresh_traversal", json!({}));
        let role = ["AXStaticText", "AXButton", "AX"];
        let pad = role.iter().find_map(|role| read.find(role, "Pad"));
        let pad = pad.and_then(|pad| pad.extents);
        let pad = pad.unwrap_or_else(|| panic!("{toolkit:?}\n{}", read.file()));
        let drag = json!({"x": pad.x + 5, "y": pad.y + 5, "toX": pad.x + 90, "toY": pad.y + 30});
        call(&server, &app, "drag_and_traverse", drag);
        app.wait_for("pad press 1");
        app.wait_for("pad release 1");
        // One that begins above it presses nothing there.
        app.clear_log();
        let outside = json!({"x": pad.x + 5, "y": pad.y - 4, "toX": pad.x + 90, "toY": pad.y + 30});
        call(&server, &app, "drag_and_traverse", outside);
        let log = app.log();
        assert!(
            log.iter().all(|l| l != "pad press 1"),
            "{toolkit:?} {log:?}"
        );
    }
}
