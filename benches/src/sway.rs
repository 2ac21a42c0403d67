//! The times of the same calls on sway and on X11, on the same machine, in turns.

use std::fmt::Write as _;
use std::thread::sleep;
use std::time::{Duration, Instant};

use deskline_testbed::{Bed, Client, Compositor, Setup, Toolkit};
use serde_json::{Value, json};

use crate::measure::Times;

/// Two clicks on one place would wait until they are no double click.
const APART: Duration = Duration::from_millis(700);

/// An app on both, and the button to click.
struct Subject {
    name: &'static str,
    button: &'static str,
    toolkit: Option<Toolkit>,
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "GTK 3, the test app",
        button: "OK",
        toolkit: Some(Toolkit::Gtk3),
    },
    Subject {
        name: "GTK 4, the test app",
        button: "OK",
        toolkit: Some(Toolkit::Gtk4),
    },
    Subject {
        name: "Qt 5, the test app",
        button: "OK",
        toolkit: Some(Toolkit::Qt5),
    },
    Subject {
        name: "gnome-calculator",
        button: "5",
        toolkit: None,
    },
];

/// The times of one call on X11 and on sway.
#[derive(Default)]
struct Pair([Times; 2]);

/// The results as a Markdown table: the median of this many calls.
pub fn markdown(bed: &Bed, only: &str, calls: usize) -> String {
    let mut out = String::from(
        "| ms, median (least–most) | elements | tree: X11 | sway | click: X11 | sway |\n|---|---|---|---|---|---|\n",
    );
    for subject in SUBJECTS.iter().filter(|s| s.name.contains(only)) {
        let (elements, trees, clicks) = measure(bed, subject, calls);
        let _ = write!(out, "| {} | {} ", subject.name, elements);
        for times in trees.0.iter().chain(&clicks.0) {
            let of = |ms: Option<f64>| ms.map_or("–".into(), |ms| format!("{ms:.0}"));
            let [median, least, most] = [0.5, 0.0, 1.0].map(|part| of(times.at(part)));
            let _ = write!(out, "| {median} ({least}–{most}) ");
        }
        out += "|\n";
    }
    out
}

fn measure(bed: &Bed, subject: &Subject, calls: usize) -> (String, Pair, Pair) {
    let session = Setup::here(Compositor::Sway).start();
    let args = ["--guard", "off"];
    let servers = [bed.server(&args), session.server_with(&args)];
    let (on_x11, native);
    if let Some(toolkit) = subject.toolkit {
        on_x11 = bed.widgets(toolkit);
        native = session.widgets(toolkit, &servers[1]);
    } else {
        on_x11 = bed.gnome_calculator();
        let command = session.command("/usr/bin/gnome-calculator");
        native = session.app(command, session.folder().join("app.log"));
    }
    let pids = [on_x11.pid, native.pid()];
    for (server, pid) in servers.iter().zip(pids) {
        deskline_testbed::until("the button", || {
            let answer = server.call("refresh_traversal", json!({"pid": pid}));
            let there = !answer.is_error && answer.find("AXButton", subject.button).is_some();
            there.then_some(())
        });
    }
    let mut elements = String::new();
    let (mut trees, mut clicks) = (Pair::default(), Pair::default());
    // The first call of each kind makes devices and caches.
    for call in 0..=calls {
        for (on, (server, pid)) in servers.iter().zip(pids).enumerate() {
            let (ms, answer) = timed(server, "refresh_traversal", json!({"pid": pid}));
            let click = json!({"pid": pid, "element": subject.button, "role": "AXButton"});
            sleep(APART);
            let (click, _) = timed(server, "click_and_traverse", click);
            sleep(APART);
            if call > 0 {
                trees.0[on].add(ms);
                clicks.0[on].add(click);
            }
            elements = answer;
        }
    }
    (elements, trees, clicks)
}

/// How long a call took, and how many elements there are.
fn timed(server: &Client, tool: &str, arguments: Value) -> (f64, String) {
    let begun = Instant::now();
    let answer = server.call(tool, arguments).ok();
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let size = answer.get("file_size").unwrap_or_default();
    let elements = size.split(['(', ' ']).rev().nth(1).unwrap_or_default();
    (ms, elements.to_owned())
}
