//! A server that is killed or stopped leaves nothing pressed and nothing grabbed.

use std::time::{Duration, Instant};

use deskline_testbed::watcher::Watcher;
use deskline_testbed::{Toolkit, signal, until};
use rustix::process::Signal;
use serde_json::json;

use crate::bed;

#[test]
fn a_killed_server_leaves_no_key_and_no_button_down() {
    let bed = bed();
    for guard in ["full", "off"] {
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
            signal(server.pid, Signal::KILL);
            let start = Instant::now();
            until("nothing pressed", || bed.screen().pressed() == (vec![], 0));
            let took = start.elapsed();
            println!("{tool} with --guard {guard}: {took:?}");
            app.signal(Signal::CONT);
            assert!(took < Duration::from_secs(1), "{took:?}");
            drop(pending);
        }
    }
}

/// When the signal comes: while the link reads the app before it grabs anything, while it holds a
/// key, and while the app settles after the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Before,
    In,
    After,
}

/// What happens to the server and its watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Killed,
    Stopped,
    BothKilled,
}

/// The watchdog that a server has started.
fn watchdog(server: u32) -> u32 {
    let is_its = |pid: &u32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
        let parent = format!("PPid:\t{server}\n");
        read("status").is_ok_and(|status| status.contains(&parent))
            && read("cmdline").is_ok_and(|line| line.contains("x11-watchdog"))
    };
    until("the watchdog", || {
        let entries = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
        let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.find(is_its)
    })
}

#[test]
fn whatever_ends_the_server_and_whenever_the_person_has_their_devices() {
    let bed = bed();
    let watcher = Watcher::on(&bed);
    for moment in [Moment::Before, Moment::In, Moment::After] {
        for fate in [Fate::Killed, Fate::Stopped, Fate::BothKilled] {
            let app = bed.widgets(Toolkit::Gtk3);
            app.bring_to_front();
            let server = bed.server(&["--guard-timeout", "2"]);
            server.press_key(app.pid, "F8", &[]).ok();
            let helper = watchdog(server.pid);
            // Long enough for the overlay to be seen on a busy machine.
            let hold = match moment {
                Moment::Before => 0.0,
                Moment::In => 10.0,
                Moment::After => 0.5,
            };
            let press = json!({"pid": app.pid, "keyName": "F9", "hold": hold,
                "traverseBefore": moment == Moment::Before});
            if moment == Moment::Before {
                app.signal(Signal::STOP);
            }
            let pending = server.send("press_key_and_traverse", press);
            match moment {
                Moment::Before => {}
                Moment::In => until("the key", || bed.screen().pressed() != (vec![], 0)),
                Moment::After => {
                    watcher.await_overlay();
                    app.signal(Signal::STOP);
                    until("the release", || !watcher.holds_a_device());
                }
            }
            match fate {
                Fate::Killed => signal(server.pid, Signal::KILL),
                Fate::Stopped => signal(server.pid, Signal::STOP),
                Fate::BothKilled => {
                    signal(helper, Signal::KILL);
                    signal(server.pid, Signal::KILL);
                }
            }
            let start = Instant::now();
            until("no device held", || !watcher.holds_a_device());
            let took = start.elapsed();
            println!("{moment:?}, {fate:?}: {took:?}");
            let most = if fate == Fate::Stopped { 2_500 } else { 100 };
            assert!(took < Duration::from_millis(most), "{took:?}");
            if fate == Fate::BothKilled {
                // The next server releases what the two have left pressed.
                bed.server(&[]).applications().ok();
            }
            until("nothing pressed", || bed.screen().pressed() == (vec![], 0));
            app.signal(Signal::CONT);
            signal(server.pid, Signal::KILL);
            drop(pending);
        }
    }
}
