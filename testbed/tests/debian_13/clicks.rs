//! Clicks of one call do not become a double click with those of another, on any compositor.

use deskline_testbed::{Compositor, Session, Toolkit, until};
use serde_json::json;

#[test]
fn x11() {
    two_clicks_are_two_and_a_double_click_after_them_is_one(Compositor::X11, &[Toolkit::Gtk3]);
}

#[test]
fn sway() {
    two_clicks_are_two_and_a_double_click_after_them_is_one(Compositor::Sway, &Toolkit::DEBIAN_13);
}

#[test]
fn labwc() {
    two_clicks_are_two_and_a_double_click_after_them_is_one(Compositor::Labwc, &[Toolkit::Gtk3]);
}

#[test]
fn kwin() {
    two_clicks_are_two_and_a_double_click_after_them_is_one(Compositor::Kwin, &[Toolkit::Gtk3]);
}

#[test]
fn gnome() {
    two_clicks_are_two_and_a_double_click_after_them_is_one(Compositor::Gnome, &[Toolkit::Gtk3]);
}

fn two_clicks_are_two_and_a_double_click_after_them_is_one(
    compositor: Compositor,
    toolkits: &[Toolkit],
) {
    let session = Session::new(compositor);
    let server = session.server();
    for toolkit in toolkits {
        let app = session.widgets(*toolkit, &server);
        app.clear_log();
        let click = json!({"do": "click", "element": "Pad", "role": "AX"});
        let mut double = click.clone();
        double["doubleClick"] = true.into();
        let steps = json!({"pid": app.pid(), "steps": [click, click, double]});
        let answer = server.call("chain_and_traverse", steps).ok();
        let count = |start: &str| {
            let log = app.log();
            log.iter().filter(|line| line.starts_with(start)).count()
        };
        until(&format!("{toolkit:?}: four clicks\n{answer}"), || {
            (count("pad release") == 4).then_some(())
        });
        // The second click of a double click is the only one that follows another closely.
        assert_eq!(count("pad double"), 1, "{toolkit:?}: {:?}", app.log());
    }
}
