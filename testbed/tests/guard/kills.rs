//! A server that is killed leaves nothing pressed, also if all its helpers are killed with it.

use std::time::{Duration, Instant};

use deskline_testbed::{Toolkit, processes_below, signal, until};
use rustix::process::Signal;
use serde_json::json;

use crate::bed;

#[test]
fn a_killed_server_leaves_no_key_and_no_button_down() {
    let bed = bed();
    for (guard, with_helpers) in [("full", false), ("full", true), ("off", true)] {
        let app = bed.widgets(Toolkit::Gtk3);
        app.bring_to_front();
        let (x, y, w, h) = app.window.bounds;
        let [from, to] = [(x + 60, y + 60), (x + w as i32 - 60, y + h as i32 - 60)];
        let calls = [
            (
                "press_key_and_traverse",
                json!({"pid": app.pid, "keyName": "x", "hold": 10}),
            ),
            (
                "press_key_and_traverse",
                json!({"pid": app.pid, "keyName": "F9", "hold": 10,
                "modifierFlags": ["Shift", "Control"]}),
            ),
            (
                "drag_and_traverse",
                json!({"pid": app.pid, "x": from.0, "y": from.1,
                "toX": to.0, "toY": to.1, "traverseBefore": false}),
            ),
        ];
        for (tool, call) in calls {
            let server = bed.server(&["--guard", guard]);
            let is_drag = tool.starts_with("drag");
            let pending = server.send(tool, call);
            until("something pressed", || {
                let (keys, buttons) = bed.screen().pressed();
                if buttons != 0 && is_drag {
                    // The drag waits for the app now.
                    app.signal(Signal::STOP);
                }
                !keys.is_empty() || buttons != 0
            });
            let helpers = processes_below(server.pid).into_iter().map(|(pid, _)| pid);
            for pid in helpers.filter(|_| with_helpers) {
                signal(pid, Signal::KILL);
            }
            signal(server.pid, Signal::KILL);
            let start = Instant::now();
            until("nothing pressed", || bed.screen().pressed() == (vec![], 0));
            let took = start.elapsed();
            println!("{tool} with --guard {guard}, helpers too: {with_helpers}: {took:?}");
            app.signal(Signal::CONT);
            assert!(took < Duration::from_secs(1), "{took:?}");
            drop(pending);
        }
    }
}
