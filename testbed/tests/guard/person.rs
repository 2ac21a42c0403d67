//! A person who types and clicks while the agent's input goes in, on each kind of device.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use deskline_testbed::person::{CONTROL, ESCAPE, Person, SHIFT};
use deskline_testbed::watcher::{Stroke, Watcher};
use deskline_testbed::{Bed, Client, Toolkit, until};
use serde_json::json;

use crate::{Dice, median, runs, saved};

/// Runs the tests on an X server, with a person at its devices.
macro_rules! with_a_person {
    ($where:ident, $bed:expr, $($test:ident),*) => {
        mod $where {
            $(#[test] fn $test() { super::$test(&$bed); })*
        }
    };
    ($($test:ident),* $(,)?) => {
        with_a_person!(on_xvnc, crate::bed(), $($test),*);
        with_a_person!(on_xorg, deskline_testbed::Bed::on_xorg(), $($test),*);
    };
}

with_a_person!(
    the_agents_text_is_not_mixed_with_the_persons_keys,
    without_the_guard_the_persons_keys_mix_into_the_text,
    keys_that_the_person_holds_do_not_modify_the_text_and_stay_held,
    esc_stops_the_typing_and_restores_the_desktop,
    esc_cancels_until_the_link_has_ended,
    a_killed_process_frees_the_devices_and_leaves_no_key_down,
    no_key_of_the_persons_reaches_the_app_that_a_link_raises,
);

fn types_apart(
    bed: &Bed,
    server: &Client,
    person: &mut Person,
    dice: &mut Dice,
    most: u32,
) -> Option<bool> {
    let (app, file) = bed.mousepad("");
    app.bring_to_front();
    bed.screen().move_pointer(1700, 900);
    let watcher = Watcher::on(bed);
    let text = dice.text(2_000);
    let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
    let (x, y, w, h) = app.window.bounds;
    let (mut typed, mut inputs) = (0, 0_u32);
    let deadline = Instant::now() + Duration::from_secs(30);
    while typed < 1_500 && inputs < most && Instant::now() < deadline {
        typed += watcher.strokes().iter().filter(|s| s.synthetic).count();
        if typed == 0 {
            continue;
        }
        // Click in the text area, because an open menu or dialog would get all later input.
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
    // Mixed keys are an error: the field has more text than the agent typed.
    let apart = !answer.is_error;
    if !apart {
        println!("{answer}");
    }
    let there = bed.screen().pointer() == (1700, 900);
    Some(saved(server, &app, &file) == text && there && apart)
}

fn the_agents_text_is_not_mixed_with_the_persons_keys(bed: &Bed) {
    let server = bed.server(&[]);
    let (mut person, mut dice) = (Person::at(bed), Dice::new());
    let apart: Vec<bool> = (0..runs(3))
        .filter_map(|_| types_apart(bed, &server, &mut person, &mut dice, u32::MAX))
        .collect();
    println!("{} of {} runs in one piece", apart.len(), runs(3));
    assert!(
        !apart.is_empty() && apart.iter().all(|apart| *apart),
        "{apart:?}"
    );
}

/// Presses a key again and again, as fast as a quick typist, until the other end of the channel is
/// dropped, also by a panic. Returns the number of presses.
fn types_on(bed: &Bed, over: &Receiver<()>) -> usize {
    const PACE: Duration = Duration::from_millis(40);
    let mut person = Person::at(bed);
    let mut typed = 0;
    while over.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
        person.tap('x'.into());
        typed += 1;
    }
    typed
}

/// The person types all the time. The agent's app is in front only during links.
fn no_key_of_the_persons_reaches_the_app_that_a_link_raises(bed: &Bed) {
    /// Only links that settle within this time (in ms) count, because the guard opens if an app
    /// takes longer.
    const SETTLED: f64 = 700.0;
    const LINKS: usize = 20;
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    let own = bed.widgets(Toolkit::Gtk3);
    own.bring_to_front();
    let calls = [
        json!({"pid": app.pid, "element": "OK", "role": "AXButton"}),
        json!({"pid": app.pid, "element": "Name", "role": "AXTextField", "text": "agent"}),
    ];
    let is_theirs = |line: &String| line == "key x" || line == "key Shift+X";
    let (mut counted, mut made) = (0, 0);
    let typed = std::thread::scope(|scope| {
        let (typing, over) = channel();
        let person = scope.spawn(move || types_on(bed, &over));
        own.wait_for("key x");
        while counted < LINKS {
            assert!(made < 3 * LINKS, "{counted} of {made} links settled soon");
            app.clear_log();
            server
                .call("click_and_traverse", calls[made % 2].clone())
                .ok();
            made += 1;
            let lines = bed.journal_lines();
            let settled = &lines[lines.len() - 1]["steps_ms"]["settle"];
            if settled.as_f64().unwrap() < SETTLED {
                let log = app.full_log();
                let strays = log.iter().filter(|line| is_theirs(line)).count();
                assert_eq!(strays, 0, "link {made}: {log:?}");
                counted += 1;
            }
        }
        drop(typing);
        person.join().unwrap()
    });
    let theirs = until("a window of the person's without the agent's keys", || {
        let log = own.full_log();
        let keys: Vec<&String> = log.iter().filter(|line| line.starts_with("key ")).collect();
        assert!(keys.iter().all(|line| is_theirs(line)), "{keys:?}");
        (bed.screen().pressed() == (vec![], 0)).then_some(keys.len())
    });
    println!(
        "{made} links, {typed} keys of the person's, {} swallowed",
        typed - theirs
    );
    assert!(theirs > LINKS, "{theirs} of {typed}");
    assert_eq!(bed.screen().front(), own.window.id);
}

fn without_the_guard_the_persons_keys_mix_into_the_text(bed: &Bed) {
    let server = bed.server(&["--guard", "off"]);
    let mut person = Person::at(bed);
    let apart = until("an editor that reads", || {
        // A few inputs are enough to find mixed keys; hundreds of clicks would keep the editor busy
        // for too long.
        types_apart(bed, &server, &mut person, &mut Dice::new(), 40)
    });
    assert!(!apart);
    let log = bed.journal_lines();
    assert!(log.iter().all(|line| line.get("guard_held_ms").is_none()));
}

fn keys_that_the_person_holds_do_not_modify_the_text_and_stay_held(bed: &Bed) {
    let server = bed.server(&[]);
    let (app, file) = bed.mousepad("");
    app.bring_to_front();
    let mut person = Person::at(bed);
    let watcher = Watcher::on(bed);
    let mut expected = String::new();
    for key in [SHIFT, CONTROL] {
        let code = watcher.code_of(key) as u8;
        person.press(key);
        until("the key down", || bed.screen().pressed().0.contains(&code));
        let text = Dice::new().text(60);
        server.type_text(app.pid, &text).ok();
        expected += &text;
        assert_eq!(bed.screen().pressed().0, [code], "held as before");
        person.release(key);
        until("no key down", || bed.screen().pressed().0.is_empty());
        // Shift is not pressed on XTEST's own device either, so the agent can use it.
        server.type_text(app.pid, "aBc").ok();
        expected += "aBc";
    }
    // There is nothing to drag at this point.
    person.point(1900, 1060);
    person.buttons(1);
    until("the button down", || bed.screen().pressed().1 != 0);
    let text = Dice::new().text(60);
    server.type_text(app.pid, &text).ok();
    expected += &text;
    let click =
        json!({"pid": app.pid, "x": app.window.bounds.0 + 50, "y": app.window.bounds.1 + 90});
    server
        .call("click_and_traverse", click)
        .fails_with("holding a mouse button");
    person.buttons(0);
    until("no button down", || bed.screen().pressed() == (vec![], 0));
    assert_eq!(saved(&server, &app, &file), expected);
}

fn esc_stops_the_typing_and_restores_the_desktop(bed: &Bed) {
    let server = bed.server(&[]);
    let (app, _file) = bed.mousepad("");
    let front = bed.widgets(Toolkit::Gtk3);
    front.bring_to_front();
    let watcher = Watcher::on(bed);
    let mut person = Person::at(bed);
    let mut dice = Dice::new();
    let escape = watcher.code_of(ESCAPE);
    let keyboard = watcher.keyboard();
    let mut stops = vec![];
    for run in 0..runs(4) {
        bed.screen().move_pointer(1500, 20);
        watcher.strokes();
        let text = dice.text(3_000) + if run % 2 == 0 { "" } else { "漢字 Ω" };
        let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
        watcher.await_overlay();
        std::thread::sleep(Duration::from_millis(dice.below(500)));
        person.tap(ESCAPE);
        let answer = call.answer(Duration::from_secs(30)).expect("an answer");
        let message = "Cancelled: the user pressed Esc during type_and_traverse";
        assert!(answer.error().starts_with(message), "{answer}");
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
    // Esc from the agent does not cancel.
    server.press_key(app.pid, "Escape", &[]).ok();
}

fn a_killed_process_frees_the_devices_and_leaves_no_key_down(bed: &Bed) {
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(bed);
    let mut person = Person::at(bed);
    let mut dice = Dice::new();
    let keyboard = watcher.keyboard();
    let mut waits = vec![];
    for run in 0..runs(4) {
        app.clear_log();
        let text = dice.text(3_000) + if run % 2 == 0 { "" } else { "漢字 Ω" };
        // A space would press a button of the app.
        let text = text.replace(' ', "_");
        let mut server = bed.command(deskline_testbed::deskline());
        server.arg("--dir").arg(bed.journal());
        server.args(["call", "--attended", "type_and_traverse"]);
        server.arg(json!({"pid": app.pid, "text": text}).to_string());
        let mut server = server.stdout(std::process::Stdio::null()).spawn().unwrap();
        watcher.await_overlay();
        std::thread::sleep(Duration::from_millis(dice.below(300)));
        server.kill().unwrap();
        let start = Instant::now();
        // A key that is pressed before the process has ended is still lost.
        let key = until("a key of the person's", || {
            person.tap('x'.into());
            // The X server drops unread requests of a client that has gone, so the agent's Shift
            // may be down until the server executes the will.
            let is_theirs = |line: &String| line == "key x" || line == "key Shift+X";
            app.full_log().into_iter().find(is_theirs)
        });
        println!("{key}");
        waits.push(start.elapsed().as_secs_f64() * 1e3);
        server.wait().unwrap();
        assert!(watcher.overlay().is_none());
    }
    println!(
        "first key after a kill, ms: {waits:?}, median {}",
        median(waits.clone())
    );
    assert!(median(waits) < 100.0);
    // The watchdog restores the key codes.
    until("nothing pressed", || bed.screen().pressed() == (vec![], 0));
    until("the keyboard map", || watcher.keyboard() == keyboard);
}

fn esc_cancels_until_the_link_has_ended(bed: &Bed) {
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(bed);
    let mut person = Person::at(bed);
    // The guard is open while the app settles, so the link goes on.
    let text = "a".repeat(200);
    let call = json!({"pid": app.pid, "text": text, "delayAfterAction": 5});
    let call = server.send("type_and_traverse", call);
    watcher.await_overlay();
    watcher.await_no_overlay();
    let start = Instant::now();
    person.tap(ESCAPE);
    let answer = call.answer(Duration::from_secs(30)).expect("an answer");
    // The whole text was typed, as the answer reports.
    let message = answer.error();
    assert!(message.starts_with("Typed "), "{message}");
    assert!(
        message.ends_with(". Cancelled: the user pressed Esc during type_and_traverse"),
        "{message}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    // Esc has cancelled the previous link, and has also reached the app. The next link works.
    server.press_key(app.pid, "F8", &[]).ok();
    let log = app.full_log();
    assert_eq!(log[log.len() - 2..], ["key Escape", "key F8"]);
    assert_eq!(log.iter().filter(|line| *line == "key a").count(), 200);
}

/// Enabling a device has the same effect on the X server as plugging in a new keyboard.
#[test]
fn a_keyboard_that_is_plugged_in_during_a_link_is_locked_too() {
    let bed = Bed::on_xorg();
    let server = bed.server(&[]);
    let app = bed.widgets(Toolkit::Gtk3);
    app.bring_to_front();
    let watcher = Watcher::on(&bed);
    bed.run("xinput", &["disable", "Keyboard"]);
    // A space would press a button of the app, and the person types x.
    let text = Dice::new().text(3_000).replace(' ', "_");
    let call = server.send("type_and_traverse", json!({"pid": app.pid, "text": text}));
    watcher.await_overlay();
    bed.run("xinput", &["enable", "Keyboard"]);
    // Wait for the grab: no person types as soon as the X server reports the device to the guard.
    watcher.await_grab("Keyboard");
    let mut person = Person::at(&bed);
    let theirs = watcher.code_of('x'.into());
    until("the keyboard's first key", || {
        assert!(watcher.overlay().is_some(), "the typing was over too soon");
        person.tap('x'.into());
        let strokes = watcher.strokes();
        let pressed = |s: &Stroke| !s.synthetic && s.code == theirs;
        strokes.iter().any(pressed).then_some(())
    });
    for _ in 0..20 {
        person.tap('x'.into());
    }
    call.answer(Duration::from_secs(60))
        .expect("an answer")
        .ok();
    let log = app.full_log();
    assert!(log.iter().all(|line| line != "key x"), "it reached the app");
    person.tap('x'.into());
    app.wait_for("key x");
}
