//! Whatever ends or hangs, and whenever, the person has their devices back and nothing stays down.
//! Judged by what their own keys do in an app. Writes the tables of docs/dev/reliability.md.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod desks;

use std::thread::sleep;
use std::time::{Duration, Instant};

use deskline_testbed::table::rows;
use deskline_testbed::{Bed, Client, PATIENCE, Pending, signal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use desks::{OnWayland, OnX11};

/// The longest time that the agent may hold the person's devices.
const LIMIT: Duration = Duration::from_secs(1);

/// The time between two keys of the person's.
const APART: Duration = Duration::from_millis(10);

/// Runs only the cases whose name has this text, and compares no table.
const ONLY: &str = "DESKLINE_LOCKOUT";

const LATE: &str = "late";

const DOWN: &str = "; keys stay down";

/// A part of a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Server,
    /// The process that holds the devices, or that watches over the server which does.
    Helper,
    App,
    /// All buses of the session.
    Buses,
    /// The compositor, or the X server.
    Display,
}

/// What happens: to which parts, and by which signal.
type Fate = (&'static str, &'static [Part], Signal);

const FATES: [Fate; 9] = [
    ("the server is killed", &[Part::Server], Signal::KILL),
    ("the server hangs", &[Part::Server], Signal::STOP),
    ("the helper is killed", &[Part::Helper], Signal::KILL),
    ("the helper hangs", &[Part::Helper], Signal::STOP),
    (
        "both are killed",
        &[Part::Helper, Part::Server],
        Signal::KILL,
    ),
    ("both hang", &[Part::Helper, Part::Server], Signal::STOP),
    ("the app hangs", &[Part::App], Signal::STOP),
    ("the buses hang", &[Part::Buses], Signal::STOP),
    ("the display hangs", &[Part::Display], Signal::STOP),
];

/// When the fate comes: while the app is read, before anything is grabbed or pressed; while keys
/// are down; between two keys of a text; right after the only key has come up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    Down,
    Between,
    After,
}

const MOMENTS: [Moment; 4] = [Moment::Before, Moment::Down, Moment::Between, Moment::After];

/// A desktop with an app in front, and a person at a keyboard.
pub trait Desk {
    const NAME: &'static str;

    fn server(&self) -> Client;

    /// The processes of a part, as the test can signal them.
    fn pids(&self, part: Part, server: &Client) -> Vec<u32>;

    /// The app's pid, for Deskline.
    fn app(&self) -> u32;

    /// The text of the app's field, which has the keyboard.
    fn text(&self) -> String;

    fn clear_log(&self);

    /// The person presses and releases the key of this digit.
    fn tap(&mut self, digit: char);

    /// Whether no key that the agent or the person has pressed is down.
    fn is_all_up(&self) -> bool;
}

/// How many of the person's keys have arrived.
fn arrived(desk: &impl Desk, digit: char) -> usize {
    // "2" with a Shift that stays down is "@".
    let is_it = |c: char| c == digit || (digit == '2' && c == '@');
    desk.text().matches(is_it).count()
}

/// Sends the call, and waits until its moment.
fn reach<'c>(desk: &impl Desk, server: &'c Client, moment: Moment) -> Pending<'c> {
    let pid = desk.app();
    let press = |hold: f64| {
        json!({"pid": pid, "keyName": "x", "modifierFlags": ["Shift"], "hold": hold,
            "traverseBefore": moment == Moment::Before})
    };
    if moment == Moment::Before {
        signal(desk.pids(Part::App, server)[0], Signal::STOP);
        return server.send("press_key_and_traverse", press(0.0));
    }
    let call = match moment {
        Moment::Between => {
            let text = json!({"pid": pid, "text": "ab".repeat(500)});
            server.send("type_and_traverse", text)
        }
        Moment::Down => server.send("press_key_and_traverse", press(10.0)),
        _ => server.send("press_key_and_traverse", press(0.0)),
    };
    let has_come = || match moment {
        Moment::Between => desk.text().len() > 20,
        Moment::After => desk.text().contains('X') && desk.is_all_up(),
        _ => desk.text().contains('X'),
    };
    let start = Instant::now();
    while !has_come() {
        let patience = Duration::from_secs(5);
        assert!(
            start.elapsed() < patience,
            "no key: {:?}",
            call.answer(patience)
        );
        sleep(APART);
    }
    call
}

/// Whether all keys come up within this time.
fn rises(desk: &impl Desk, time: Duration) -> bool {
    let start = Instant::now();
    while !desk.is_all_up() && start.elapsed() < time {
        sleep(APART);
    }
    desk.is_all_up()
}

/// How long it takes until the person's first key gets through, and whether all keys come up.
fn one(desk: &mut impl Desk, moment: Moment, (_, parts, what): Fate) -> (Duration, bool) {
    let server = desk.server();
    let field = json!([{"do": "set_value", "element": "Name", "role": "AXTextField", "value": ""},
        {"do": "click", "element": "Name", "role": "AXTextField"}]);
    let pid = desk.app();
    server
        .call("chain_and_traverse", json!({"pid": pid, "steps": field}))
        .ok();
    desk.clear_log();
    let pids = |part: &Part| desk.pids(*part, &server);
    let hit: Vec<u32> = parts.iter().flat_map(pids).collect();
    let all = [Part::Server, Part::App, Part::Buses, Part::Display];
    let all: Vec<u32> = all.iter().chain(parts).flat_map(pids).collect();
    let on = |what: Signal, pids: &[u32]| {
        for pid in pids {
            // It may have ended.
            let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), what);
        }
    };
    let pending = reach(desk, &server, moment);
    on(what, &hit);
    let mut start = Instant::now();
    let is_dead = parts.contains(&Part::Server) && what == Signal::KILL;
    if parts.contains(&Part::Display) {
        // Until the stopped part continues, nobody's keys reach anything.
        sleep(LIMIT + Duration::from_millis(500));
        on(Signal::CONT, &hit);
        start = Instant::now();
    }
    // A stopped app gets the keys later. Their number then tells when the first one got through.
    let blind = moment == Moment::Before || [Part::App, Part::Buses].contains(&parts[0]);
    let longest = match (is_dead || moment == Moment::Before, blind) {
        (true, _) => Duration::from_millis(300),
        (false, true) => LIMIT * 3 / 2,
        (false, false) => LIMIT * 5 / 2,
    };
    let mut taps = vec![];
    while taps.is_empty() || start.elapsed() < longest && (blind || arrived(desk, '2') == 0) {
        taps.push(start.elapsed());
        desk.tap('2');
        sleep(APART);
    }
    let seen = start.elapsed();
    let mut is_up = rises(desk, LIMIT);
    if parts.contains(&Part::Server) {
        on(Signal::KILL, &[all[0]]);
    }
    on(Signal::CONT, &all);
    if !parts.contains(&Part::Server) {
        pending.answer(PATIENCE).expect("an answer");
    }
    drop(server);
    // If the app or its bus was stopped, the app hears of a release only now, after all else.
    is_up |= blind && rises(desk, PATIENCE);
    if !rises(desk, LIMIT / 2) {
        // The next server releases the key, or at the latest presses it again.
        desk.server().press_key(desk.app(), "x", &["Shift"]);
    }
    deskline_testbed::until("a key of the person's", || {
        desk.tap('3');
        sleep(APART);
        arrived(desk, '3') > 0
    });
    let through = arrived(desk, '2');
    let first = taps
        .len()
        .checked_sub(through)
        .and_then(|first| taps.get(first));
    let took = match first {
        None => Duration::MAX,
        Some(first) if blind => *first,
        Some(_) => seen,
    };
    (took, is_up)
}

/// When the person's first key got through, in words.
fn words(took: Duration) -> &'static str {
    match took.as_millis() {
        ..=100 => "at once",
        101..=499 => LATE,
        500..=1_400 => "at the limit",
        1_401..=2_500 => "a second later",
        _ => "not by itself",
    }
}

/// The row of a table. On a busy machine a key can be late, and an app loses the release of a key
/// if its window loses the keyboard at that moment. So this tries up to three times for what is
/// `known`.
fn row<D: Desk>(desk: &mut D, fate: Fate, known: &str) -> String {
    let only = std::env::var(ONLY).unwrap_or_default();
    let mut known = known.split('|').map(str::trim).skip(2);
    let mut cells: Vec<String> = vec![];
    for moment in MOMENTS {
        let known = known.next().unwrap_or_default();
        let case = format!("{}, {moment:?}", fate.0);
        let mut cell = String::new();
        for _ in 0..3 {
            let (mut when, mut down) = ("", "");
            if case.contains(&only) {
                let (took, is_up) = one(desk, moment, fate);
                (when, down) = (words(took), if is_up { "" } else { DOWN });
                println!("{}: {case}: {took:?}{down}", D::NAME);
            }
            // The devices may still have been held.
            if moment == Moment::After && cells.last().is_some_and(|last| last.starts_with(when)) {
                when = "at once";
            }
            cell = format!("{when}{down}");
            if cell == known {
                break;
            }
        }
        cells.push(cell);
    }
    format!("| {} | {} |", fate.0, cells.join(" | "))
}

fn table<D: Desk>(mut desk: D) {
    let page = "dev/reliability.md";
    let head = format!(
        "| {} | before the grab | keys down | between keys | after |",
        D::NAME
    );
    let mut known = rows::known(page, &head).into_iter();
    let rows = FATES.map(|fate| row(&mut desk, fate, &known.next().unwrap_or_default()));
    println!("{}", rows.join("\n"));
    if std::env::var_os(ONLY).is_none() {
        rows::hold(page, &head, &rows);
    }
}

#[test]
fn nobody_is_locked_out_on_x11() {
    let bed = Bed::on_xorg();
    table(OnX11::new(&bed));
}

#[test]
fn nobody_is_locked_out_by_a_helper_that_holds_the_devices() {
    if let Some(sway) = OnWayland::<'s'>::new() {
        table(sway);
    }
}

#[test]
fn nobody_is_locked_out_on_gnome() {
    if let Some(gnome) = OnWayland::<'g'>::new() {
        table(gnome);
    }
}

#[test]
fn nobody_is_locked_out_on_kwin() {
    table(OnWayland::<'k'>::new().unwrap());
}
