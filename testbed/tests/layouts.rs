//! An app gets the requested text, whatever the keyboard's layout, locks and accessibility
//! features; and these are restored. Another app's window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::PathBuf;

use deskline_testbed::{App, Bed, Client, until};
use serde_json::json;

/// Small and capital letters, a second level, a third level, accents of dead keys, and characters
/// that no layout has.
const TEXT: &str = "Yz Qq aA ?!@{ ~^`' äéčžşğıİñ Жя ωΏ € ß 漢";

/// The layouts: `setxkbmap`'s arguments, and how often to press the key for the next group.
const LAYOUTS: [(&str, u8); 16] = [
    ("de", 0),
    ("de -variant nodeadkeys", 0),
    ("fr", 0),
    ("cz", 0),
    ("ru,us -option grp:shifts_toggle", 0),
    ("us,ru -option grp:shifts_toggle", 1),
    ("us,de -option grp:shifts_toggle", 1),
    ("tr", 0),
    ("gr", 0),
    ("us -variant dvorak", 0),
    ("de -variant neo", 0),
    ("us -variant intl", 0),
    ("us -option ctrl:nocaps", 0),
    ("us -option ctrl:swapcaps", 0),
    ("us -option altwin:swap_alt_win", 0),
    ("us -option caps:swapescape", 0),
];

fn run(bed: &Bed, program: &str, args: &[&str]) -> String {
    let output = bed.command(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The locks and the group, as the server has them.
fn state(bed: &Bed) -> String {
    let reported = run(bed, "xset", &["q"]);
    let lines = reported
        .lines()
        .filter(|l| l.contains("LED") || l.contains("Caps Lock"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces the whole text of a file by another one and saves it, with shortcuts of the layout.
fn types(server: &Client, (app, file): &(App<'_>, PathBuf), persons: &App<'_>, case: &str) {
    persons.bring_to_front();
    let text = format!("{case}: {TEXT}");
    let shortcut = |key| json!({"do": "press_key", "keyName": key, "modifierFlags": ["Control"]});
    let steps = [
        shortcut("a"),
        json!({"do": "type", "text": text}),
        shortcut("s"),
    ];
    let chain = json!({"pid": app.pid, "steps": steps});
    let answer = server.call("chain_and_traverse", chain).ok();
    until(&format!("{case}: {answer}"), || {
        let saved = fs::read_to_string(file).unwrap();
        (saved.trim_end() == text).then_some(())
    });
}

#[test]
fn a_text_arrives_under_each_layout_which_stays_as_it_is() {
    let (bed, server) = Bed::with_server();
    let apps = [bed.mousepad(""), bed.featherpad("")];
    let persons = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    for (layout, switches) in LAYOUTS {
        run(&bed, "setxkbmap", &["-option"]);
        let args: Vec<&str> = layout.split(' ').collect();
        run(&bed, "setxkbmap", &args);
        for _ in 0..switches {
            run(&bed, "xdotool", &["key", "ISO_Next_Group"]);
        }
        let before = state(&bed);
        for app in &apps {
            types(&server, app, &persons, layout);
            assert_eq!(state(&bed), before, "{layout}");
        }
    }
    // Caps Lock and Num Lock are on.
    run(&bed, "setxkbmap", &["-option"]);
    run(&bed, "setxkbmap", &["de"]);
    run(&bed, "xdotool", &["key", "Caps_Lock", "key", "Num_Lock"]);
    let before = state(&bed);
    for app in &apps {
        types(&server, app, &persons, "Caps Lock");
        assert_eq!(state(&bed), before);
    }
}
