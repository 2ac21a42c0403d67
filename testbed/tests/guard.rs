//! Nobody is locked out and nobody's keys get mixed in: a person at a VNC client's keyboard and
//! mouse, while an agent works.
//!
//! `DESKLINE_GUARD_RUNS` sets how often what is random is tried.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_testbed::person::{CONTROL, ESCAPE, Person, SHIFT};
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{App, Bed, Client, Toolkit, until};
use rustix::process::Signal;
use serde_json::json;

/// The overlay's accent.
const ACCENT: u32 = 0x00ff_8a00;

fn runs(usual: usize) -> usize {
    let asked = std::env::var("DESKLINE_GUARD_RUNS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn bed() -> Bed {
    Bed::with(&["--watch"])
}

/// Numbers that differ from run to run.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(now.as_nanos() as u64 | 1)
    }

    /// xorshift64.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// Text without the letter that the person types.
    fn text(&mut self, length: usize) -> String {
        let letters: Vec<char> = "abcdefghijklmnopqrstuvw ABCDEFGHIJK,.;-é".chars().collect();
        let letter = |_| letters[self.below(letters.len() as u64) as usize];
        (0..length).map(letter).collect()
    }
}

/// What the editor has saved.
fn saved(server: &Client, app: &App<'_>, file: &Path) -> String {
    let before = std::fs::read(file).unwrap();
    let save = json!({"pid": app.pid, "keyName": "s", "modifierFlags": ["Control"]});
    // A click of the person's may have left something open that takes the first key.
    let mut asked: Option<Instant> = None;
    until("the saved file", || {
        if asked.is_none_or(|at| at.elapsed() > Duration::from_secs(5)) {
            server.call("press_key_and_traverse", save.clone()).ok();
            asked = Some(Instant::now());
        }
        let now = std::fs::read(file).unwrap();
        (now != before && !now.is_empty()).then_some(())
    });
    std::fs::read_to_string(file).unwrap()
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The agent types, and until most of it is in the person types and clicks as fast as they can;
/// whether the editor's file has the agent's text and nothing else. At most `most` of the person's
/// clicks. `None` where the machine is so
/// busy that the editor did not read for 2 s, which ends a link.
fn types_apart(bed: &Bed, server: &Client, dice: &mut Dice, most: u32) -> Option<bool> {
    let (app, file) = bed.mousepad("");
    app.bring_to_front();
    bed.screen().move_pointer(1700, 900);
    let watcher = Watcher::of(bed);
    let mut person = Person::at(bed);
    let text = dice.text(2_000);
    let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
    let (x, y, w, h) = app.window.place;
    let (mut typed, mut inputs) = (0, 0_u32);
    let deadline = Instant::now() + Duration::from_secs(30);
    while typed < 1_500 && inputs < most && Instant::now() < deadline {
        typed += watcher.strokes().iter().filter(|s| s.synthetic).count();
        if typed == 0 {
            continue;
        }
        // In the text: a menu or a dialog would keep later input to itself.
        let at =
            |from: i32, size: u32| (from.unsigned_abs() + 80 + inputs * 37 % (size - 160)) as u16;
        person.tap('x'.into());
        person.click(at(x, w), at(y, h));
        inputs += 1;
    }
    let answer = call.answer(Duration::from_secs(60)).expect("an answer");
    if answer.text.contains("has not read its input") {
        return None;
    }
    assert!(inputs > 20, "the person was too slow: {inputs}");
    answer.ok();
    let there = bed.screen().pointer() == (1700, 900);
    Some(saved(server, &app, &file).trim_end() == text.trim_end() && there)
}

#[test]
fn typing_stays_in_one_piece() {
    let bed = bed();
    let server = bed.server(&[]);
    let mut dice = Dice::new();
    let apart: Vec<bool> = (0..runs(3))
        .filter_map(|_| types_apart(&bed, &server, &mut dice, u32::MAX))
        .collect();
    println!("{} runs in one piece", apart.len());
    assert!(
        !apart.is_empty() && apart.iter().all(|apart| *apart),
        "{apart:?}"
    );
}

#[test]
fn without_the_guard_the_same_mixes() {
    let bed = bed();
    let server = bed.server(&["--guard", "off"]);
    let apart = until("an editor that reads", || {
        // As many as show it; hundreds of clicks keep the editor busy for longer than it is
        // waited for.
        types_apart(&bed, &server, &mut Dice::new(), 40)
    });
    assert!(!apart);
    let log = bed.journal_lines();
    assert!(log.iter().all(|line| line.get("guard_held_ms").is_none()));
}

#[test]
fn what_the_person_holds_does_not_count_and_is_put_back() {
    let bed = bed();
    let server = bed.server(&[]);
    let (app, file) = bed.mousepad("");
    app.bring_to_front();
    let mut person = Person::at(&bed);
    let watcher = Watcher::of(&bed);
    let mut expected = String::new();
    for key in [SHIFT, CONTROL] {
        let code = watcher.code_of(key) as u8;
        person.press(key);
        until("the key down", || {
            bed.screen().pressed().0.contains(&code).then_some(())
        });
        let text = Dice::new().text(60);
        server
            .call("type_and_traverse", json!({"pid": app.pid, "text": text}))
            .ok();
        expected += &text;
        assert_eq!(bed.screen().pressed().0, [code], "held as before");
        person.release(key);
        until("no key down", || {
            bed.screen().pressed().0.is_empty().then_some(())
        });
        // Nor does XTEST's own device believe that it is down: Shift works for the agent.
        server
            .call("type_and_traverse", json!({"pid": app.pid, "text": "aBc"}))
            .ok();
        expected += "aBc";
    }
    // Where there is nothing to drag.
    person.point(1900, 1060);
    person.buttons(1);
    until("the button down", || {
        (bed.screen().pressed().1 != 0).then_some(())
    });
    let text = Dice::new().text(60);
    server
        .call("type_and_traverse", json!({"pid": app.pid, "text": text}))
        .ok();
    expected += &text;
    let click = json!({"pid": app.pid, "x": app.window.place.0 + 50, "y": app.window.place.1 + 90});
    let refused = server.call("click_and_traverse", click);
    assert!(
        refused.error().contains("holding a mouse button"),
        "{refused}"
    );
    person.buttons(0);
    until("no button down", || {
        (bed.screen().pressed() == (vec![], 0)).then_some(())
    });
    assert_eq!(saved(&server, &app, &file).trim_end(), expected);
}

#[test]
fn escape_stops_it_and_puts_back() {
    let bed = bed();
    let server = bed.server(&[]);
    let (app, _file) = bed.mousepad("");
    let front = bed.widgets(Toolkit::Gtk3);
    front.bring_to_front();
    let watcher = Watcher::of(&bed);
    let mut person = Person::at(&bed);
    let mut dice = Dice::new();
    let escape = watcher.code_of(ESCAPE);
    let keyboard = watcher.keyboard();
    let mut stops = vec![];
    for run in 0..runs(6) {
        bed.screen().move_pointer(1500, 20);
        watcher.strokes();
        let text = dice.text(3_000) + if run % 2 == 0 { "" } else { "漢字 Ω" };
        let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
        watcher.await_overlay();
        std::thread::sleep(Duration::from_millis(dice.below(500)));
        person.tap(ESCAPE);
        let answer = call.answer(Duration::from_secs(30)).expect("an answer");
        let said = "Cancelled: the user pressed Esc during type_and_traverse";
        assert_eq!(answer.error(), said);
        let strokes = watcher.strokes();
        let pressed = strokes.iter().find(|s| !s.synthetic && s.code == escape);
        let pressed = pressed.expect("the person's Esc").time;
        let last = strokes.iter().rfind(|s| s.synthetic).map(|s| s.time);
        stops.push(last.map_or(0.0, |last| {
            f64::from(last.wrapping_sub(pressed).cast_signed()).max(0.0)
        }));
        assert!(watcher.overlay().is_none());
        assert_eq!(bed.screen().pressed(), (vec![], 0));
        assert_eq!(bed.screen().front(), front.window.id);
        assert_eq!(bed.screen().pointer(), (1500, 20));
        assert!(watcher.keyboard() == keyboard, "the keyboard changed");
    }
    println!(
        "last key after Esc, ms: {stops:?}, median {}",
        median(stops.clone())
    );
    assert!(median(stops) < 50.0);
    let log = bed.journal_lines();
    assert!(log.iter().all(|line| line["outcome"] == "cancelled"));
    // The agent's own Esc is not the person's.
    let escape = json!({"pid": app.pid, "keyName": "Escape"});
    server.call("press_key_and_traverse", escape).ok();
}

#[test]
fn a_kill_frees_the_person_and_leaves_nothing() {
    let bed = bed();
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::of(&bed);
    let mut person = Person::at(&bed);
    let mut dice = Dice::new();
    let keyboard = watcher.keyboard();
    let mut waits = vec![];
    for run in 0..runs(6) {
        app.clear_log();
        let text = dice.text(3_000) + if run % 2 == 0 { "" } else { "漢字 Ω" };
        // A space would press a button of the app's.
        let text = text.replace(' ', "_");
        let mut server = bed.command(deskline_testbed::deskline());
        server.arg("--dir").arg(bed.journal());
        server.args(["call", "type_and_traverse"]);
        server.arg(json!({"pid": app.pid, "text": text}).to_string());
        let mut server = server.stdout(std::process::Stdio::null()).spawn().unwrap();
        watcher.await_overlay();
        std::thread::sleep(Duration::from_millis(dice.below(300)));
        server.kill().unwrap();
        let start = Instant::now();
        // A key that comes before the process is gone is still lost.
        until("a key of the person's", || {
            person.tap('x'.into());
            app.full_log()
                .iter()
                .any(|line| line == "key x")
                .then_some(())
        });
        waits.push(start.elapsed().as_secs_f64() * 1e3);
        server.wait().unwrap();
        assert!(watcher.overlay().is_none());
    }
    println!(
        "first key after a kill, ms: {waits:?}, median {}",
        median(waits.clone())
    );
    assert!(median(waits) < 100.0);
    // The next one that starts puts back what was borrowed.
    let server = bed.server(&[]);
    server.call("list_applications", json!({})).ok();
    assert_eq!(bed.screen().pressed(), (vec![], 0));
    until("the keyboard map", || {
        (watcher.keyboard() == keyboard).then_some(())
    });
}

#[test]
fn the_guard_opens_by_itself() {
    let bed = bed();
    let server = bed.server(&["--guard-timeout", "1"]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::of(&bed);
    let text = Dice::new().text(3_000).replace(' ', "_");
    let call = server.send(
        "type_and_traverse",
        json!({"pid": app.pid, "text": text, "traverseBefore": false}),
    );
    watcher.await_overlay();
    let start = Instant::now();
    app.signal(Signal::STOP);
    watcher.await_no_overlay();
    let held = start.elapsed();
    let answer = call.answer(Duration::from_secs(30)).expect("an answer");
    app.signal(Signal::CONT);
    println!("held {held:?}: {answer}");
    assert!(answer.error().contains("for too long"), "{answer}");
    assert!(held < Duration::from_millis(1_600), "{held:?}");
    assert_eq!(bed.screen().pressed(), (vec![], 0));
}

#[test]
fn a_person_who_does_nothing_notices_nothing() {
    let bed = bed();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    let front = bed.widgets(Toolkit::Gtk3);
    front.bring_to_front();
    bed.run("xdotool", &["key", "Caps_Lock"]);
    bed.screen().move_pointer(1800, 700);
    until("Caps Lock", || {
        (front.full_log() == ["key Caps_Lock"]).then_some(())
    });
    front.clear_log();
    let watcher = Watcher::of(&bed);
    let keyboard = watcher.keyboard();
    let calls = [
        (
            "press_key_and_traverse",
            json!({"pid": app.pid, "keyName": "F9"}),
        ),
        (
            "click_and_traverse",
            json!({"pid": app.pid, "element": "OK", "role": "AXButton"}),
        ),
        ("type_and_traverse", json!({"pid": app.pid, "text": "aé漢"})),
    ];
    for n in 0..runs(6) * 3 {
        let (tool, arguments) = calls[n % calls.len()].clone();
        server.call(tool, arguments).ok();
        assert_eq!(bed.screen().front(), front.window.id, "{n}");
        assert_eq!(bed.screen().pointer(), (1800, 700), "{n}");
        assert_eq!(bed.screen().pressed(), (vec![], 0), "{n}");
        assert!(watcher.keyboard() == keyboard, "{n}");
    }
    assert_eq!(front.full_log(), [""; 0]);
    let held = |line: &serde_json::Value| line["guard_held_ms"].as_f64();
    assert!(bed.journal_lines().iter().all(|line| held(line).is_some()));
}

#[test]
fn the_overlay_is_on_the_screen_and_nowhere_else() {
    let bed = bed();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::of(&bed);
    let before = watcher.pixels_of(ACCENT);
    let text = Dice::new().text(3_000);
    let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
    let overlay = watcher.await_overlay();
    assert!(watcher.is_click_through(overlay));
    until("the banner's pixels", || {
        (watcher.pixels_of(ACCENT) > before + 500).then_some(())
    });
    assert_eq!(bed.screen().front(), app.window.id, "it takes no focus");
    assert!(bed.screen().windows().iter().all(|w| w.id != overlay));
    let answer = call
        .answer(Duration::from_secs(60))
        .expect("an answer")
        .ok();
    assert_eq!(watcher.pixels_of(ACCENT), before);
    let tree = std::fs::read_to_string(answer.field("file")).unwrap();
    assert!(!tree.contains("press Esc"));
    let picture = std::fs::File::open(answer.field("screenshot")).unwrap();
    let mut picture = png::Decoder::new(std::io::BufReader::new(picture))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; picture.output_buffer_size().unwrap()];
    picture.next_frame(&mut pixels).unwrap();
    assert!(pixels.chunks_exact(3).all(|p| p != [0xff, 0x8a, 0x00]));

    // `input`: kept out, and nothing shown.
    let quiet = bed.server(&["--guard", "input"]);
    let call = quiet.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
    let answer = loop {
        assert!(watcher.overlay().is_none());
        let log = bed.journal_lines();
        if log.len() == 2 {
            assert!(log[1]["guard_held_ms"].as_f64().unwrap() > 1.0);
            break call.answer(Duration::from_secs(60)).expect("an answer");
        }
    };
    answer.ok();
}

#[test]
fn quiet_tools_hold_nothing() {
    let bed = bed();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    server
        .call(
            "press_ax_and_traverse",
            json!({"pid": app.pid, "element": "OK", "role": "AXButton"}),
        )
        .ok();
    server
        .call("refresh_traversal", json!({"pid": app.pid}))
        .ok();
    let log = bed.journal_lines();
    assert!(
        log.iter().all(|line| line.get("guard_held_ms").is_none()),
        "{log:?}"
    );
}

#[test]
fn typing_stops_when_something_else_comes_to_the_front() {
    let bed = bed();
    let server = bed.server(&["--guard", "off"]);
    let app = bed.widgets(Toolkit::Gtk3);
    let other = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::of(&bed);
    watcher.strokes();
    let text = Dice::new().text(3_000);
    let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
    until("the first key", || {
        (!watcher.strokes().is_empty()).then_some(())
    });
    other.bring_to_front();
    let answer = call.answer(Duration::from_secs(60)).expect("an answer");
    let error = answer.error();
    assert!(
        error.contains("is in front now") && error.contains("of 3000 characters"),
        "{error}"
    );
    let strayed = other
        .full_log()
        .iter()
        .filter(|l| l.starts_with("key "))
        .count();
    assert!(strayed <= 16, "{strayed} keys reached the wrong app");
    assert_eq!(
        bed.screen().front(),
        other.window.id,
        "the person's choice stays"
    );
}

/// What the guard adds to a click: the medians of clicks with it and without, taken in turn.
#[test]
fn a_click_costs_hardly_more_with_the_guard() {
    let bed = bed();
    let modes = ["full", "input", "off"];
    let servers = modes.map(|mode| bed.server(&["--guard", mode]));
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let click = json!({"pid": app.pid, "element": "OK", "role": "AXButton"});
    // The same place again within the double-click time would wait for that to pass.
    let away = json!({"pid": app.pid, "element": "Wrap", "role": "AXCheckBox"});
    let (rounds, skipped) = (12, 2);
    for _ in 0..rounds {
        for server in &servers {
            server.call("click_and_traverse", click.clone()).ok();
            server.call("click_and_traverse", away.clone()).ok();
        }
    }
    let log = bed.journal_lines();
    let acts: Vec<f64> = log
        .iter()
        .map(|line| line["steps_ms"]["act"].as_f64().unwrap())
        .skip(skipped * 6)
        .collect();
    let of = |mode: usize| -> Vec<f64> {
        let turns = acts.chunks(2).skip(mode).step_by(3);
        turns.flatten().copied().collect()
    };
    let quickest = |mode| of(mode).into_iter().fold(f64::INFINITY, f64::min);
    for (mode, name) in modes.iter().enumerate() {
        let (median, quickest) = (median(of(mode)), quickest(mode));
        println!("act of a click with guard {name}, ms: median {median}, quickest {quickest}");
    }
    // The median says as much of what else the machine does.
    assert!(quickest(0) - quickest(2) < 5.0);
}
