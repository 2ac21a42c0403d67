//! Each action on a scripted display, where one thing goes wrong at each of its steps: the call is
//! cancelled, another window comes to the front, a step fails, the connection is lost. Whatever
//! goes wrong, nothing stays pressed, nothing more is pressed, and the error names the cause.
#![allow(clippy::unwrap_used)]

mod script;

use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers, Point};
use deskline_input::{
    Button, Cancel, Cancelled, Click, Clicks, Doing, InputError, Progress, Reason, click, drag,
    hover, press_key, scroll, type_text,
};
use script::{Event, Failure, Fault, Script};

const FROM: Point = Point { x: 10, y: 300 };
const TO: Point = Point { x: 907, y: 17 };
const TEXT: &str = "Two Words\nand a Tab\tin it";

type Action = (&'static str, fn(&mut Script) -> Result<(), Failure>);

fn clicked(script: &mut Script, click_: Click) -> Result<(), Failure> {
    let cancel = script.cancel.clone();
    click(script, click_, &mut || None, &cancel)
}

fn pressed(script: &mut Script, modifiers: Modifiers, held: Duration) -> Result<(), Failure> {
    let cancel = script.cancel.clone();
    let key = Key::Char('x');
    press_key(script, KeyPress { key, modifiers }, held, &cancel)
}

const ACTIONS: [Action; 10] = [
    ("click", |script| clicked(script, Click::left(FROM))),
    ("double click", |script| {
        let clicks = Clicks::Double;
        clicked(
            script,
            Click {
                clicks,
                ..Click::left(FROM)
            },
        )
    }),
    ("middle click with modifiers", |script| {
        let click = Click {
            button: Button::Middle,
            modifiers: Modifiers::CONTROL | Modifiers::SHIFT,
            ..Click::left(FROM)
        };
        clicked(script, click)
    }),
    ("hover", |script| {
        let cancel = script.cancel.clone();
        hover(script, FROM, &cancel)
    }),
    ("drag with modifiers", |script| {
        let cancel = script.cancel.clone();
        let modifiers = Modifiers::CONTROL | Modifiers::ALT;
        drag(script, [FROM, TO], modifiers, &cancel)
    }),
    ("scroll", |script| {
        let cancel = script.cancel.clone();
        scroll(script, FROM, (-3, 7), &cancel)
    }),
    ("text", |script| {
        let cancel = script.cancel.clone();
        type_text(script, TEXT, &cancel)
    }),
    ("text in bursts", |script| {
        script.burst = true;
        let cancel = script.cancel.clone();
        type_text(script, TEXT, &cancel)
    }),
    ("key with modifiers", |script| {
        pressed(
            script,
            Modifiers::CONTROL | Modifiers::SHIFT,
            Duration::ZERO,
        )
    }),
    ("held key", |script| {
        pressed(script, Modifiers::CONTROL, Duration::from_millis(1))
    }),
];

/// Runs each action once per step, with a fault at that step. Passes each result to `look`.
fn at_each_step(fault: Fault, look: impl Fn(&str, &Script, &Result<(), Failure>)) {
    for (name, action) in ACTIONS {
        let mut whole = Script::default();
        action(&mut whole).unwrap();
        assert!(whole.down.is_empty(), "{name}: {:?}", whole.events);
        for step in 0..whole.steps {
            let mut script = Script::default();
            script.fault = Some((fault, step));
            let result = action(&mut script);
            let name = format!("{name}, {fault:?} at {step}: {:?}", script.events);
            assert!(script.down.is_empty(), "{name}: {:?} is down", script.down);
            assert!(!script.open, "{name}: the guard is open");
            assert_eq!(script.doing, None, "{name}: the action has not ended");
            look(&name, &script, &result);
        }
    }
}

/// The events after the fault.
fn after(script: &Script) -> &[Event] {
    &script.events[script.before_fault..]
}

/// The presses among some events.
fn presses(events: &[Event]) -> usize {
    let press = |event: &&Event| matches!(event, Event::Key(_, true) | Event::Button(_, true));
    events.iter().filter(press).count()
}

#[test]
fn a_cancel_stops_each_action_at_once() {
    at_each_step(Fault::Cancel, |name, script, result| match result {
        // The cancellation came after the last wait.
        Ok(()) => assert_eq!(script.missing(), 0, "{name}"),
        Err(e) => {
            let cancelled = InputError::Cancelled(Cancelled(Reason::Person));
            assert_eq!(*e, Failure::Input(cancelled), "{name}");
            // At most the current stroke with its modifiers, or the current part of a text, was
            // still sent.
            let most = if script.burst { script::PART * 2 } else { 4 };
            assert!(presses(after(script)) <= most, "{name}");
        }
    });
}

#[test]
fn after_a_step_that_fails_nothing_more_is_pressed() {
    at_each_step(Fault::Fail, |name, script, result| {
        assert_eq!(*result, Err(Failure::Step), "{name}");
        assert_eq!(presses(after(script)), 0, "{name}");
    });
}

#[test]
fn a_lost_connection_ends_an_action_with_its_own_error() {
    at_each_step(Fault::Lose, |name, script, result| {
        assert_eq!(*result, Err(Failure::Lost), "{name}");
        assert!(after(script).is_empty(), "{name}");
    });
}

#[test]
fn a_new_front_window_gets_no_more_than_the_event_under_way() {
    at_each_step(Fault::Focus, |name, script, result| {
        let strayed = script.strayed.chars().count();
        match result {
            Ok(()) => assert_eq!(script.missing(), 0, "{name}"),
            Err(Failure::Input(InputError::Elsewhere { other, progress })) => {
                assert_eq!(other.pid, Some(script::OTHER), "{name}");
                match progress {
                    Progress::NotPressed => assert_eq!(presses(&script.events), 0, "{name}"),
                    Progress::Pressed => assert!(presses(&script.events) > 0, "{name}"),
                    Progress::Typed { typed, all, unsure } => {
                        let arrived = script.typed.chars().count();
                        assert_eq!(*all, TEXT.chars().count(), "{name}");
                        assert_eq!(*typed, arrived + strayed, "{name}");
                        assert!(strayed <= *unsure, "{name}: {strayed} strayed");
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
            Err(Failure::Input(
                InputError::Covered { other, .. } | InputError::EndCovered { other, .. },
            )) => {
                assert_eq!(other.pid, Some(script::OTHER), "{name}");
                assert!(script.events.is_empty(), "{name}");
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
        assert!(strayed <= script::PART, "{name}: {:?}", script.strayed);
    });
}

#[test]
fn no_click_reaches_the_window_behind_an_app_that_has_ended() {
    for (name, action) in ACTIONS {
        let mut script = Script::default();
        script.ends = true;
        let done = action(&mut script);
        let is_input = |event: &&Event| !matches!(event, Event::Go(_) | Event::Key(..));
        let sent = script.events.iter().find(is_input);
        assert_eq!(sent, None, "{name}");
        let points = script
            .events
            .iter()
            .any(|event| matches!(event, Event::Go(_)));
        assert_eq!(done.is_err(), points && name != "hover", "{name}: {done:?}");
    }
}

#[test]
fn an_interrupted_drag_drops_where_it_began() {
    for fault in [Fault::Cancel, Fault::Fail] {
        at_each_step(fault, |name, script, result| {
            // If the fault comes at the drop or after it, the element has been dragged all the way.
            let before_drop = script.fault.map(|(_, step)| step) < script.release;
            if result.is_err() && script.was_drag() && before_drop {
                let drop = script.dropped_at();
                assert!(drop.is_none_or(|at| at == FROM), "{name}: {drop:?}");
            }
        });
    }
}

#[test]
fn the_events_of_each_action_come_in_their_order() {
    let run = |action: usize| {
        let mut script = Script::default();
        ACTIONS[action].1(&mut script).unwrap();
        script.to_string()
    };
    assert_eq!(run(2), "go(10,300) +29 +42 +Middle -Middle -42 -29");
    assert_eq!(run(3), "go(10,300)");
    assert_eq!(
        run(5),
        "go(10,300) wheel(0,3) wheel(0,3) wheel(0,1) wheel(-3,0)"
    );
    assert_eq!(run(8), "+29 +42 +120 -120 -42 -29");
    assert_eq!(run(9), "+29 +120 -120 -29");
    let mut script = Script::default();
    type_text(&mut script, "aB", &Cancel::new()).unwrap();
    assert_eq!(script.to_string(), "+97 -97 +42 +98 -98 -42");
    assert_eq!(script.typed, "aB");
    assert_eq!(script.began, [Doing::Text]);
}

#[test]
fn no_part_of_a_text_is_typed_if_the_keyboard_lacks_a_character() {
    let mut script = Script::default();
    let cancel = script.cancel.clone();
    let result = type_text(&mut script, "ab€c€", &cancel);
    let Err(Failure::Input(InputError::Lacks { at, .. })) = result else {
        panic!("{result:?}");
    };
    assert_eq!(at, [3, 5]);
    assert!(script.events.is_empty());
}

#[test]
fn an_app_that_does_not_read_its_input_gets_no_more_text() {
    let mut script = Script::default();
    script.reads = false;
    let cancel = script.cancel.clone();
    let result = type_text(&mut script, TEXT, &cancel);
    let Err(Failure::Input(InputError::NotReading { progress })) = result else {
        panic!("{result:?}");
    };
    let typed = script.typed.chars().count();
    assert_eq!(
        progress,
        Progress::Typed {
            typed,
            all: TEXT.len(),
            unsure: 0
        }
    );
    assert_eq!(typed, script::PART);
}
