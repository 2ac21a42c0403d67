//! Clicks of one call do not become a double click with those of another, on any compositor. The
//! first click does not wait for a device.

use std::time::Duration;

use deskline_testbed::{Compositor, Session, Toolkit, tests, until};
use serde_json::{Value, json};

tests! {
    clicks_do_not_merge_into_a_double_click_on_x11 =>
        only_a_double_click_is_one(Compositor::X11, &[Toolkit::Gtk3]),
    clicks_do_not_merge_into_a_double_click_on_sway =>
        only_a_double_click_is_one(Compositor::Sway, &Toolkit::DEBIAN_13),
    clicks_do_not_merge_into_a_double_click_on_labwc =>
        only_a_double_click_is_one(Compositor::Labwc, &[Toolkit::Gtk3]),
    clicks_do_not_merge_into_a_double_click_on_kwin =>
        only_a_double_click_is_one(Compositor::Kwin, &[Toolkit::Gtk3]),
    clicks_do_not_merge_into_a_double_click_on_gnome =>
        only_a_double_click_is_one(Compositor::Gnome, &[Toolkit::Gtk3]),
}

fn only_a_double_click_is_one(compositor: Compositor, toolkits: &[Toolkit]) {
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
            count("pad release") == 4
        });
        // The second click of a double click is the only one that follows another closely.
        assert_eq!(count("pad double"), 1, "{toolkit:?}: {:?}", app.log());
    }
}

/// How long apps have to bind devices that are new to the seat.
const ASK: Duration = Duration::from_millis(300);

/// The server creates the devices that a seat lacks when it starts, not at the first click.
#[test]
fn the_first_click_of_a_server_waits_for_no_device() {
    for compositor in [Compositor::Sway, Compositor::Kwin] {
        let session = Session::new(compositor);
        let app = session.widgets(Toolkit::Gtk3, &session.server());
        let mut acts = Vec::new();
        // Take the fastest of a few clicks: on a busy machine, an act alone may take as long as the
        // wait.
        until("a first click without a wait", || {
            let server = session.server();
            server.applications().ok();
            // No agent clicks sooner, and no event reports that apps have bound the devices.
            std::thread::sleep(ASK);
            let ok = json!({"element": "OK", "role": "AXButton"});
            server.call_for(&app, "click_and_traverse", ok).ok();
            let log = session.folder().join("journal/journal.jsonl");
            let log = std::fs::read_to_string(log).unwrap();
            let last: Value = serde_json::from_str(log.lines().next_back().unwrap()).unwrap();
            acts.push(last["steps_ms"]["act"].as_f64().unwrap());
            println!("{compositor:?}: {acts:?} ms");
            acts.iter()
                .any(|ms| *ms < ASK.as_secs_f64() * 1e3)
                .then_some(())
        });
    }
}
