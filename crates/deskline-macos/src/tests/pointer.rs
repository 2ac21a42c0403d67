//! Clicks that all arrive, the wheel at the intended place, drags that move.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use deskline_contract::{Cancel, Reason};
use deskline_core::Point;
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Call, Target};

use super::desk::{Desk, Expect, MAIL, has};
use crate::os::{Event, Value};

/// A desktop with a button that counts its presses.
fn counting() -> (Desk, Arc<AtomicU32>) {
    let desk = Desk::new();
    let count = Arc::new(AtomicU32::new(0));
    let counted = count.clone();
    desk.mac.world().node(desk.send).pressed = Some(Arc::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    }));
    (desk, count)
}

#[test]
fn a_mouse_up_is_not_posted_immediately_after_its_mouse_down() {
    let (mut desk, count) = counting();
    desk.mac.world().quirks.loses_quick_ups = true;
    for _ in 0..5 {
        desk.click_on("Send", "AXButton").ok();
    }
    let target = Target::titled("Send", "AXButton");
    let then = Typing::default();
    let double = Input::Click {
        target,
        kind: ClickKind::double(),
        then,
    };
    desk.run(double);
    assert_eq!(count.load(Ordering::Relaxed), 7);
}

#[test]
fn a_click_waits_until_the_pointer_has_arrived() {
    let (mut desk, count) = counting();
    desk.mac.world().quirks.late_pointer = Duration::from_millis(30);
    desk.click_on("Send", "AXButton").ok();
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn the_wheel_turns_at_the_target_and_not_at_the_pointers_old_place() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.late_pointer = Duration::from_millis(400);
    let at = Point { x: 300, y: 300 };
    let scroll = Input::Scroll {
        at: Target::Point(at),
        delta_x: 0,
        delta_y: 5,
        until: None,
    };
    desk.run(scroll).ok();
    assert_eq!(desk.mac.world().scrolled, [(MAIL, -5, 0)]);
}

#[test]
fn a_drag_has_deltas_and_a_new_event_number_and_moves_its_element() {
    let mut desk = Desk::new();
    let card = desk.given(|world| {
        let window = desk.window;
        let card = world.add(window, "AXImage", "card", [200.0, 420.0, 40.0, 40.0]);
        world.draggable.insert(card);
        world.quirks.strict_drags = true;
        world.quirks.loses_quick_ups = true;
        world.presses_before = 4_711;
        card
    });
    let drag = Action::drag(Target::titled("card", "AXImage"), Target::at(420, 450));
    desk.run(drag).ok();
    let place = desk.mac.world().node(card).attributes["AXPosition"].clone();
    assert_eq!(place, Value::Point(400.0, 430.0));
}

#[test]
fn a_drag_that_is_cancelled_moves_nothing() {
    let mut desk = Desk::in_real_time();
    let card = desk.given(|world| {
        let window = desk.window;
        let card = world.add(window, "AXImage", "card", [200.0, 420.0, 40.0, 40.0]);
        world.draggable.insert(card);
        card
    });
    let cancel = Cancel::new();
    let person = std::thread::spawn({
        let (mac, cancel) = (desk.mac.clone(), cancel.clone());
        move || {
            let start = Instant::now();
            let on_its_way = || (230.0..400.0).contains(&mac.world().pointer.0);
            while !on_its_way() && start.elapsed() < Duration::from_secs(5) {
                std::thread::yield_now();
            }
            cancel.cancel(Reason::Person);
        }
    });
    let drag = Action::drag(Target::titled("card", "AXImage"), Target::at(420, 450));
    let answer = desk.links.run(&Call::new(MAIL, drag), &cancel);
    person.join().unwrap();
    has(&answer.text, "Cancelled: the user");
    let place = desk.mac.world().node(card).attributes["AXPosition"].clone();
    assert_eq!(place, Value::Point(200.0, 420.0));
}

/// Some Macs move the pointer although the tap drops the motion (deskflow #9963).
#[test]
fn the_pointer_goes_back_although_the_mouse_moves_under_the_guard() {
    let mut desk = Desk::in_real_time();
    desk.mac.world().quirks.drops_still_move = true;
    let person = std::thread::spawn({
        let mac = desk.mac.clone();
        move || {
            let start = Instant::now();
            let types = |event: &Event| matches!(event, Event::Text { .. });
            while !mac.world().reached.iter().any(|(event, _)| types(event)) {
                assert!(start.elapsed() < Duration::from_secs(5));
                std::thread::yield_now();
            }
            let motion = Event::Move {
                to: (300.0, 700.0),
                delta: (0, 0),
                clicks: 0,
                number: 0,
                dragging: None,
                flags: 0,
            };
            mac.person(&motion);
            mac.world().pointer
        }
    });
    let then = Typing::text("a text that takes a while ".repeat(4));
    let answer = desk.click(Target::titled("Message", "AXTextArea"), then);
    assert_eq!(person.join().unwrap(), (300.0, 700.0), "it moved");
    assert!(!answer.is_error, "{}", answer.text);
    let pointer = desk.mac.world().pointer;
    assert_eq!(pointer, (1_000.0, 800.0));
}
