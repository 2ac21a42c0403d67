//! Hundreds of calls in one server: nothing grows. `DESKLINE_SOAK_CALLS` sets how many.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::time::Instant;

use deskline_testbed::{Bed, Client, Toolkit, until};
use serde_json::{Value, json};

/// By then everything that is allocated once (buffers, connections, allocator arenas) is allocated.
const WARM: usize = 300;
/// The allocator keeps some of what was freed; a leak of a tree in each call is more than this.
const MOST_GROWTH_KB: usize = 4 * 1024;
const MOST_GROWTH_KB_PER_CALL: usize = 6;

fn calls() -> usize {
    let asked = std::env::var("DESKLINE_SOAK_CALLS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(800)
}

#[derive(Debug)]
struct Held {
    descriptors: usize,
    threads: usize,
    x_resources: u32,
    matches: Vec<u64>,
    kilobytes: u64,
}

/// How many entries a folder of the server's in /proc has.
fn count(server: &Client, folder: &str) -> usize {
    let folder = format!("/proc/{}/{folder}", server.pid);
    fs::read_dir(folder).unwrap().count()
}

fn held(bed: &Bed, server: &Client) -> Held {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid)).unwrap();
    let rss = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .unwrap();
    Held {
        descriptors: count(server, "fd"),
        threads: count(server, "task"),
        x_resources: bed.screen().resources_of(server.pid),
        matches: match_rules(bed),
        kilobytes: rss.trim().trim_end_matches(" kB").parse().unwrap(),
    }
}

/// The number of match rules on the session bus and the accessibility bus.
fn match_rules(bed: &Bed) -> Vec<u64> {
    let ask = |which: &[&str]| {
        let mut args = which.to_vec();
        args.extend([
            "--dest=org.freedesktop.DBus",
            "--print-reply",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.Debug.Stats.GetStats",
        ]);
        let stats = bed.run("dbus-send", &args);
        let mut lines = stats.lines().skip_while(|l| !l.contains("\"MatchRules\""));
        let rules = lines.nth(1).expect("MatchRules in the bus's statistics");
        rules
            .split_whitespace()
            .last()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let address = bed.run(
        "dbus-send",
        &[
            "--session",
            "--print-reply=literal",
            "--dest=org.a11y.Bus",
            "/org/a11y/bus",
            "org.a11y.Bus.GetAddress",
        ],
    );
    let accessibility = format!("--bus={}", address.trim());
    vec![ask(&["--session"]), ask(&[&accessibility])]
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
    let acts: Vec<(&str, Value)> = [gtk3.pid, qt5.pid]
        .into_iter()
        .flat_map(|pid| {
            [
                (
                    "press_ax_and_traverse",
                    json!({"pid": pid, "element": "OK", "role": "AXButton"}),
                ),
                ("click_and_traverse", json!({"pid": pid, "element": "Wrap"})),
                (
                    "press_key_and_traverse",
                    json!({"pid": pid, "keyName": "Tab"}),
                ),
                (
                    "set_value_and_traverse",
                    json!({"pid": pid, "element": "Volume", "value": 3}),
                ),
                (
                    "click_and_traverse",
                    json!({"pid": pid, "element": "Name", "text": "é漢"}),
                ),
            ]
        })
        .collect();
    let looks = [
        ("refresh_traversal", json!({"pid": zenity.pid})),
        (
            "click_and_traverse",
            json!({"pid": zenity.pid, "element": "no such thing"}),
        ),
        ("list_applications", json!({})),
    ];
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
            before = Some(held(&bed, &server));
        }
        server.call(tool, arguments.clone());
        if n % 500 == 0 {
            println!("{n} calls in {:?}", begun.elapsed());
        }
    }
    let (before, after) = (before.unwrap(), held(&bed, &server));
    println!(
        "{before:?}\n{after:?}\n{calls} calls in {:?}",
        begun.elapsed()
    );
    assert_eq!(after.descriptors, before.descriptors);
    // The server's pool keeps a thread that has nothing to do for 10 s.
    until(&format!("the {} threads of before", before.threads), || {
        (count(&server, "task") <= before.threads).then_some(())
    });
    assert!(
        after.x_resources <= before.x_resources,
        "{before:?} {after:?}"
    );
    assert_eq!(after.matches, before.matches);
    let grown = after.kilobytes.saturating_sub(before.kilobytes);
    let allowed = MOST_GROWTH_KB + MOST_GROWTH_KB_PER_CALL * (calls - WARM);
    assert!(grown < allowed as u64, "{grown} kB, {allowed} allowed");
}
