//! Hundreds of calls in one server: nothing grows. `DESKLINE_SOAK_CALLS` sets how many.

use std::time::Instant;

use deskline_testbed::{Bed, Toolkit};
use serde_json::json;

use crate::held::Held;

/// The number of calls after which everything that is allocated once (buffers, connections,
/// allocator arenas) is allocated.
const WARM: usize = 300;

/// How many private sockets the server keeps open because an app may still carry out an action over
/// them: `MOST_ASIDE` of deskline-atspi. Each press sets one aside.
const SET_ASIDE: usize = 16;

macro_rules! calls {
    ($($tool:literal {$($arguments:tt)*})*) => { [$(($tool, json!({$($arguments)*}))),*] };
}

fn calls() -> usize {
    let asked = std::env::var("DESKLINE_SOAK_CALLS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(800)
}

#[test]
fn hundreds_of_calls_leave_nothing_behind() {
    let calls = calls();
    assert!(calls > WARM, "DESKLINE_SOAK_CALLS is not more than {WARM}");
    let bed = Bed::new();
    let server = bed.server(&["--keep", "200MiB,1d"]);
    let gtk3 = bed.widgets(Toolkit::Gtk3).at(20, 40);
    let qt5 = bed.widgets(Toolkit::Qt5).at(900, 400);
    let zenity = bed.zenity(&["--info", "--text", "Nothing to see"]);
    // Most calls of a session read; one in ten acts, by each way in turn.
    let of = |pid: u32| {
        calls! {
            "press_ax_and_traverse" {"pid": pid, "element": "OK", "role": "AXButton"}
            "click_and_traverse" {"pid": pid, "element": "Wrap"}
            "press_key_and_traverse" {"pid": pid, "keyName": "Tab"}
            "set_value_and_traverse" {"pid": pid, "element": "Volume", "value": 3}
            "click_and_traverse" {"pid": pid, "element": "Name", "text": "é漢"}
        }
    };
    let acts = [of(gtk3.pid), of(qt5.pid)].concat();
    let looks = calls! {
        "refresh_traversal" {"pid": zenity.pid}
        "click_and_traverse" {"pid": zenity.pid, "element": "no such thing"}
        "list_applications" {}
    };
    for _ in 0..SET_ASIDE {
        server.press_ax(gtk3.pid, "AXButton", "OK").ok();
    }
    let mut acts = acts.iter().cycle();
    let mut looks = looks.iter().cycle();
    let begun = Instant::now();
    let mut before = None;
    for n in 0..calls {
        let call = if n % 10 == 0 {
            acts.next()
        } else {
            looks.next()
        };
        let (tool, arguments) = call.unwrap();
        if n == WARM {
            before = Some(Held::by(&bed, &server));
        }
        server.call(tool, arguments.clone());
        if n % 500 == 0 {
            println!("{n} calls in {:?}", begun.elapsed());
        }
    }
    println!("{calls} calls in {:?}", begun.elapsed());
    before.unwrap().is_all(&bed, &server, calls - WARM);
}
