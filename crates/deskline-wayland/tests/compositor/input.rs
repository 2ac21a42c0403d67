//! Clicks, drags, the wheel and keys, judged by the input that reaches the windows.

use std::time::{Duration, Instant};

use deskline_contract::{Display as _, Error, Result};
use deskline_core::{KeyPress, Modifiers};
use deskline_input::{Button, Cancel, Click, Clicks, Reason};

use super::server::Options;
use super::{Bed, PERSONS, TARGET, at, rect};

const LEFT: u32 = 0x110;
const MIDDLE: u32 = 0x112;

#[test]
fn a_click_lands_in_its_window_wherever_the_window_is() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    let click = |bed: &mut Bed, x, y| {
        let pointer = bed.display.pointer_input().expect("a pointer");
        pointer
            .click(Click::left(at(x, y)), &mut || None, &Cancel::new())
            .expect("a click");
        bed.target().buttons
    };
    let both = |x, y| [(LEFT, true, at(x, y)), (LEFT, false, at(x, y))];
    assert_eq!(click(&mut bed, 33, 44), both(33, 44));
    let pictures = bed.server.with(|state| state.pictures());
    // Move it to the other screen, which has scale 2 and is left of the origin.
    bed.server.with(|state| {
        state.desktop.windows[TARGET].place = rect(-310, 80, 300, 200);
    });
    assert_eq!(click(&mut bed, 201, 133)[2..], both(201, 133));
    let again = bed.server.with(|state| state.pictures());
    assert!(again > pictures);
    let place = bed.target();
    assert!(
        place.restored.is_none(),
        "it was left in full screen: {place:?}"
    );
    assert!(bed.is_clean());
}

#[test]
fn modifiers_are_held_for_a_click() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    let click = Click {
        at: at(200, 150),
        button: Button::Middle,
        clicks: Clicks::Double,
        modifiers: Modifiers::SHIFT | Modifiers::CONTROL,
    };
    bed.server.at_event(4, |state| {
        // The pointer is there, and both modifiers and the button are down.
        assert_eq!(
            (state.desktop.keys.len(), state.desktop.buttons.len()),
            (2, 1)
        );
    });
    let pointer = bed.display.pointer_input().expect("a pointer");
    pointer
        .click(click, &mut || None, &Cancel::new())
        .expect("a click");
    let there = at(200, 150);
    let once = [(MIDDLE, true, there), (MIDDLE, false, there)];
    assert_eq!(bed.target().buttons, [once, once].concat());
    assert!(bed.is_clean());
}

#[test]
fn the_wheel_turns_by_notches_both_ways() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    let pointer = bed.display.pointer_input().expect("a pointer");
    pointer
        .scroll(at(100, 100), (-2, 5), &Cancel::new())
        .expect("the wheel");
    assert_eq!(bed.target().wheel, (-2, 5));
}

#[test]
fn text_arrives_as_it_is_written_in_any_script() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    // More characters than fit into one keymap.
    let many: String = ('\u{4e00}'..).take(120).collect();
    let text = format!("Grüße, {{мир}} 合理 — \"ñ\" 🙂 ¿ẞ? aA1!{many}aA");
    let keys = bed.display.key_input().expect("keys");
    keys.type_text(&text, &Cancel::new()).expect("a text");
    assert_eq!(bed.target().text, text);
    assert!(bed.is_clean());
}

#[test]
fn shortcuts_and_named_keys_arrive_with_their_modifiers() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    let pressed = |bed: &mut Bed, key: &str, modifiers: &[&str]| {
        let press = KeyPress::parse(key, modifiers).expect("a key");
        let keys = bed.display.key_input().expect("keys");
        keys.press_key(press, Duration::ZERO, &Cancel::new())
            .expect("a key press");
        bed.target().keys.last().copied()
    };
    assert_eq!(
        pressed(&mut bed, "a", &["Control", "Shift"]),
        Some((0x41, 0b101))
    );
    assert_eq!(pressed(&mut bed, "Delete", &[]), Some((0xffff, 0)));
    assert_eq!(pressed(&mut bed, "F24", &["Alt"]), Some((0xffd5, 0b1000)));
    assert_eq!(
        pressed(&mut bed, "XF86AudioMute", &[]),
        Some((0x1008_ff12, 0))
    );
    assert_eq!(pressed(&mut bed, "KP_7", &[]), Some((0xffb7, 0)));
    assert!(bed.is_clean());
}

/// An action, with the events that its devices send.
type Action = (&'static str, usize, fn(&mut Bed, &Cancel) -> Result<()>);

const ACTIONS: [Action; 4] = [
    ("click", 3, |bed, cancel| {
        let pointer = bed.display.pointer_input().expect("a pointer");
        pointer.click(Click::left(at(50, 60)), &mut || None, cancel)
    }),
    ("drag", 14, |bed, cancel| {
        let pointer = bed.display.pointer_input().expect("a pointer");
        pointer.drag([at(50, 60), at(250, 180)], Modifiers::SHIFT, cancel)
    }),
    ("text", 10, |bed, cancel| {
        let keys = bed.display.key_input().expect("keys");
        keys.type_text("hello", cancel)
    }),
    ("key", 4, |bed, cancel| {
        let press = KeyPress::parse("c", &["Control"]).expect("a key");
        let keys = bed.display.key_input().expect("keys");
        keys.press_key(press, Duration::ZERO, cancel)
    }),
];

#[test]
fn no_key_or_button_stays_down_if_a_call_is_cancelled_at_any_event() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    for (name, events, action) in ACTIONS {
        for nth in 1..=events {
            let cancel = Cancel::new();
            let flag = cancel.clone();
            bed.server
                .at_event(nth, move |_| flag.cancel(Reason::Person));
            let done = action(&mut bed, &cancel);
            assert!(cancel.reason().is_some(), "{name} has no event {nth}");
            // A click and a key press end before the next check.
            let is_long = matches!(name, "drag" | "text") && nth < events;
            let is_cancelled = matches!(done, Err(Error::Cancelled(_)));
            assert!(is_cancelled || !is_long, "{name} {nth}: {done:?}");
            bed.display.release_all();
            assert!(bed.is_clean(), "{name}, cancelled at event {nth}");
        }
    }
}

#[test]
fn typing_stops_when_another_window_takes_the_keyboard() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    bed.server.at_event(20, |state| state.desktop.activate(0));
    let keys = bed.display.key_input().expect("keys");
    let typed = keys.type_text(&"x".repeat(400), &Cancel::new());
    let refused = matches!(typed, Err(Error::Elsewhere { pid: PERSONS, .. }));
    assert!(refused, "{typed:?}");
    bed.display.release_all();
    let [persons, targets] = bed
        .server
        .with(|state| [0, TARGET].map(|index| state.desktop.windows[index].text.chars().count()));
    assert!(
        targets >= 10 && persons + targets < 400,
        "{persons} and {targets}"
    );
}

#[test]
fn a_connection_that_is_lost_at_any_event_is_an_error() {
    for (name, events, action) in ACTIONS {
        for nth in 1..=events {
            let mut bed = Bed::new(Options::default());
            bed.raise();
            bed.server.at_event(nth, super::server::State::disconnect);
            let lost = action(&mut bed, &Cancel::new());
            assert!(
                matches!(lost, Err(Error::Lost { .. })),
                "{name} {nth}: {lost:?}"
            );
            bed.display.release_all();
            // The compositor releases the keys and buttons of a disconnected client's devices.
            assert!(bed.is_clean(), "{name}, lost at event {nth}");
        }
    }
}

#[test]
fn a_compositor_that_hangs_is_given_up_within_seconds() {
    let mut bed = Bed::new(Options::default());
    bed.raise();
    bed.server.at_event(2, super::server::State::hang);
    let begun = Instant::now();
    let keys = bed.display.key_input().expect("keys");
    let lost = keys.type_text("hello", &Cancel::new());
    assert!(matches!(lost, Err(Error::Lost { .. })), "{lost:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn an_ability_that_the_compositor_lacks_is_missing_with_a_reason() {
    for (interface, pointer, keys) in [
        ("zwlr_virtual_pointer_manager_v1", false, true),
        ("zwp_virtual_keyboard_manager_v1", true, false),
        ("zwlr_screencopy_manager_v1", false, true),
    ] {
        let without = vec![interface];
        let mut bed = Bed::new(Options {
            without,
            ..Options::default()
        });
        let missing = [
            bed.display.pointer_input().err(),
            bed.display.key_input().err(),
        ];
        let [no_pointer, no_keys] = missing;
        assert_eq!(
            (no_pointer.is_none(), no_keys.is_none()),
            (pointer, keys),
            "{interface}"
        );
        let why = no_pointer.or(no_keys).expect("one is missing").0;
        assert!(why.contains(interface), "{why}");
    }
}
