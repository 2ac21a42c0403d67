//! sway: an app in Xwayland beside a native one.
#![allow(clippy::unwrap_used, missing_docs)]

use deskline_testbed::{Client, NativeApp, Session, Toolkit, until};
use serde_json::json;

const TEXT: &str = "Grüße, 漢字 😀 € 1+1=2";

/// Clicks OK by its name, inside each of its edges, and below it.
fn clicks_are_exact(server: &Client, app: &NativeApp, of: &str) {
    app.clear_log();
    let click = |place| server.call_for(app, "click_and_traverse", place).ok();
    let arrives = |n: usize| {
        until(&format!("click {n} on {of}"), || {
            (app.said("clicked OK") == n).then_some(())
        });
    };
    let answer = click(json!({"element": "OK", "role": "AXButton"}));
    assert!(answer.get("screenshot").is_some(), "{of}: {answer}");
    arrives(1);
    let ok = answer.line_of("AXButton", "OK").extents.unwrap();
    let (middle, centre) = (ok.x + ok.w / 2, ok.y + ok.h / 2);
    let inside = [
        (ok.x + 1, centre),
        (ok.x + ok.w - 2, centre),
        (middle, ok.y + 1),
        (middle, ok.y + ok.h - 2),
    ];
    for (n, (x, y)) in inside.into_iter().enumerate() {
        click(json!({"x": x, "y": y}));
        arrives(n + 2);
    }
    click(json!({"x": middle, "y": ok.y + ok.h + 2}));
    assert_eq!(app.said("clicked OK"), 5, "{of}");
}

#[test]
fn an_app_in_xwayland_is_driven_beside_a_native_one() {
    let session = Session::sway_here_with_xwayland();
    let server = session.server();
    let native = session.widgets(Toolkit::Gtk3, &server);
    let x11 = session.widgets_in_xwayland(Toolkit::Gtk3, &server);
    for (app, of) in [(&x11, "X11"), (&native, "native"), (&x11, "X11 again")] {
        clicks_are_exact(&server, app, of);
        let all = json!({"keyName": "a", "modifierFlags": ["Control"]});
        let field = json!({"element": "Name", "role": "AXTextField"});
        server.call_for(app, "click_and_traverse", field).ok();
        server.call_for(app, "press_key_and_traverse", all).ok();
        let text = json!({"text": TEXT});
        server.call_for(app, "type_and_traverse", text).ok();
        app.wait_for(&format!("text Name {TEXT}"));
    }
}
