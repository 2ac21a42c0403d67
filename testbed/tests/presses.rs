//! Buttons, modifiers, keys and hovering arrive as asked. Another app's window, the person's, is in
//! front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Answer, App, Bed, Client};
use serde_json::{Value, json};

/// Calls a tool with the person's window in front, which it is again afterwards.
fn call(
    bed: &Bed,
    server: &Client,
    [persons, app]: [&App<'_>; 2],
    tool: &str,
    mut more: Value,
) -> Answer {
    persons.bring_to_front();
    more["pid"] = app.pid.into();
    let answer = server.call(tool, more).ok();
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
    answer
}

#[test]
fn clicks_arrive_with_their_modifiers_and_the_middle_button() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = bed.presses();
    let click = |more| call(&bed, &server, [&persons, &app], "click_and_traverse", more);
    let answer = click(json!({"element": "Pad", "middleClick": true}));
    app.wait_for("button 2");
    let summary = answer.field("summary").to_owned();
    assert!(summary.starts_with("Middle-clicked 'Pad'"), "{summary}");
    click(json!({"element": "Pad", "modifierFlags": ["Control", "Shift"]}));
    app.wait_for("button 1 Control Shift");
    click(json!({"element": "aa.txt"}));
    let answer = click(json!({"element": "cc.txt", "modifierFlags": ["Control"]}));
    app.wait_for("selected aa.txt cc.txt");
    let summary = answer.field("summary").to_owned();
    assert!(summary.starts_with("Control-clicked 'cc.txt'"), "{summary}");
    click(json!({"element": "dd.txt", "modifierFlags": "Shift"}));
    app.wait_for("selected cc.txt dd.txt");
    // Nothing stays pressed.
    assert_eq!(bed.screen().pressed().0, Vec::<u8>::new());
}

#[test]
fn a_key_is_held_as_long_as_asked_and_delete_deletes_forwards() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = bed.presses();
    let press = |more| {
        call(
            &bed,
            &server,
            [&persons, &app],
            "press_key_and_traverse",
            more,
        )
    };
    press(json!({"keyName": "x", "hold": 0.7}));
    let held = app
        .log()
        .iter()
        .find_map(|line| line.strip_prefix("up x ")?.parse::<u32>().ok());
    assert!(held.is_some_and(|ms| (700..1500).contains(&ms)), "{held:?}");
    for (name, symbol) in [
        ("Delete", "Delete"),
        ("Backspace", "BackSpace"),
        ("Insert", "Insert"),
        ("Menu", "Menu"),
        ("Pause", "Pause"),
        ("ScrollLock", "Scroll_Lock"),
        ("KP_Add", "KP_Add"),
    ] {
        app.clear_log();
        press(json!({"keyName": name}));
        app.wait_for(&format!("key {symbol}"));
    }
    app.clear_log();
    let steps = json!([{"do": "press_key", "keyName": "x", "repeat": 5}]);
    let chain = json!({"steps": steps});
    let answer = call(&bed, &server, [&persons, &app], "chain_and_traverse", chain);
    let keys = app.full_log().iter().filter(|l| *l == "key x").count();
    assert_eq!(keys, 5, "{answer}");
    assert_eq!(
        answer.list("steps"),
        ["1 done 5 times: Pressed X; effect: nothing"],
        "{answer}"
    );
}

#[test]
fn the_pointer_stays_over_what_it_hovers_until_the_next_link() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = bed.presses();
    bed.screen().move_pointer(5, 5);
    app.clear_log();
    let hover = json!({"element": "Tipped", "hover": true});
    let answer = call(&bed, &server, [&persons, &app], "click_and_traverse", hover);
    let summary = answer.field("summary").to_owned();
    assert!(
        summary.starts_with("Moved the pointer over 'Tipped'"),
        "{summary}"
    );
    // The app was asked for its tool tip before the answer.
    let log = app.full_log();
    for line in ["enter", "tip"] {
        assert!(log.iter().any(|l| l == line), "{log:?}");
    }
    let there = bed.screen().pointer();
    assert_ne!(there, (5, 5));
    // A reading leaves it there.
    call(
        &bed,
        &server,
        [&persons, &app],
        "refresh_traversal",
        json!({}),
    );
    assert_eq!(bed.screen().pointer(), there);
    let key = json!({"keyName": "x"});
    call(
        &bed,
        &server,
        [&persons, &app],
        "press_key_and_traverse",
        key,
    );
    assert_eq!(bed.screen().pointer(), (5, 5));
    app.wait_for("leave");
}
