//! A long text into an app that stops reading for a second while it is typed: none of it is lost,
//! and the compositor does not end the app. Compositors of the wlroots family end an app after some
//! 200 unread events, unless typing waits for the app.

use std::time::Duration;

use deskline_testbed::{Compositor, Session, Toolkit, tests};
use serde_json::json;

tests! {
    long_texts_reach_a_slow_app_on_sway => arrive_in_an_app_that_reads_slowly(Compositor::Sway),
    long_texts_reach_a_slow_app_on_labwc => arrive_in_an_app_that_reads_slowly(Compositor::Labwc),
    long_texts_reach_a_slow_app_on_kwin => arrive_in_an_app_that_reads_slowly(Compositor::Kwin),
    long_texts_reach_a_slow_app_on_gnome => arrive_in_an_app_that_reads_slowly(Compositor::Gnome),
}

fn arrive_in_an_app_that_reads_slowly(compositor: Compositor) {
    let session = Session::new(compositor);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    server.click(app.pid(), "AXTextField", "Name").ok();
    let text = "all work and no play makes jack a dull boy. ".repeat(16);
    let typing = json!({"pid": app.pid(), "text": text});
    let typing = server.send("type_and_traverse", typing);
    app.logs("text Name all work");
    app.stop_for(Duration::from_secs(1));
    typing.answer(Duration::from_secs(30)).unwrap().ok();
    app.wait_for(&format!("text Name {text}"));
}
