//! The guard during a link: the person's keys while the agent types, Esc, secure input.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::Cancel;
use deskline_link::Target;
use deskline_link::call::Typing;

use super::desk::{Desk, EDITOR, Expect, has};
use crate::keys::ESCAPE;
use crate::os::fake::clicks;
use crate::os::{Event, Os as _, TAG, Verdict};

fn key(code: u16) -> [Event; 2] {
    [true, false].map(|down| Event::Key {
        code,
        down,
        flags: 0,
    })
}

#[test]
fn the_persons_keys_do_not_mix_with_the_agents() {
    let mut desk = Desk::in_real_time();
    let body = desk.body;
    let mac = desk.mac.clone();
    // The person types x as fast as possible while the agent types.
    let typing = std::thread::spawn(move || {
        let until = std::time::Instant::now() + std::time::Duration::from_millis(600);
        while std::time::Instant::now() < until {
            if mac
                .world()
                .reached
                .iter()
                .any(|(e, _)| matches!(e, Event::Text { .. }))
            {
                for event in key(7) {
                    mac.person(&event);
                }
            }
            std::thread::yield_now();
        }
    });
    let words = "the quick brown fox jumps over the lazy dog ".repeat(10);
    let then = Typing::text(words.clone());
    let answer = desk.click(Target::titled("Message", "AXTextArea"), then);
    typing.join().unwrap();
    assert!(!answer.is_error, "{}", answer.text);
    let value = desk.mac.world().value(body);
    // Text after the guard has opened is the person's own.
    assert_eq!(value.trim_end_matches('x'), words);
}

#[test]
fn the_persons_esc_cancels_the_call_and_restores_the_desktop() {
    let mut desk = Desk::in_real_time();
    let send = desk.send;
    let mac = desk.mac.clone();
    desk.mac.world().node(send).pressed = Some(Arc::new(move |_| {
        let mac = mac.clone();
        // On another thread, as the person's keys do not arrive during the app's own turn.
        std::thread::spawn(move || mac.person(&key(ESCAPE)[0]));
    }));
    let then = Typing::text("never in full ".repeat(100));
    let answer = desk.click(Target::titled("Send", "AXButton"), then);
    assert!(answer.is_error, "{}", answer.text);
    has(
        &answer.text,
        "Cancelled: the user pressed Esc during click_and_traverse",
    );
    let world = desk.mac.world();
    assert_eq!((world.front, world.pointer), (EDITOR, (1_000.0, 800.0)));
    assert_eq!(clicks(&world).len(), 1);
    assert!(world.panels.is_empty());
}

#[test]
fn keys_that_the_person_holds_are_released_before_any_input() {
    let mut desk = Desk::new();
    desk.mac.world().held_keys = vec![57, 56];
    assert!(!desk.click_on("Send", "AXButton").is_error);
    let world = desk.mac.world();
    let first = &world.reached[0].0;
    assert!(
        matches!(
            first,
            Event::Key {
                code: 56,
                down: false,
                ..
            }
        ),
        "{first:?}"
    );
}

#[test]
fn a_tap_that_the_system_turns_off_is_turned_on_again() {
    let desk = Desk::new();
    let mut guard = crate::guard::Guard::new(desk.mac.clone());
    let task = deskline_contract::guard::Task {
        caption: None,
        place: None,
        pointer: false,
        limit: deskline_contract::guard::LIMIT,
    };
    let kept = guard.grab(&task, &Cancel::new());
    assert_eq!(kept, deskline_contract::guard::Grab::Held);
    assert_eq!(desk.mac.turn_tap_off(), Some(Verdict::Enable));
    let before = desk.mac.world().reached.len();
    desk.mac.post(&key(7)[0], 0).unwrap();
    assert_eq!(desk.mac.world().reached.len(), before);
    desk.mac.post(&key(7)[0], TAG).unwrap();
    assert_eq!(desk.mac.world().reached.len(), before + 1);
    guard.end();
    assert_eq!(desk.mac.turn_tap_off(), None);
}

#[test]
fn the_summary_reports_that_a_password_field_prevents_the_guard() {
    let mut desk = Desk::new();
    desk.mac.world().secure_input = true;
    let answer = desk.click_on("Send", "AXButton").ok();
    has(&answer.text, "input was not blocked: a password field");
}

/// An enabled tap blocks all input once its process may not use Accessibility any more
/// (cjpais/Handy #1281), even if `AXIsProcessTrusted` still returns true.
#[test]
fn a_person_who_revokes_the_permission_in_mid_link_can_type_again_at_once() {
    for stale_trust in [false, true] {
        let mut desk = Desk::in_real_time();
        desk.given(|world| {
            world.quirks.revoked_after = Some(20);
            world.quirks.stale_trust = stale_trust;
        });
        let mac = desk.mac.clone();
        let person = std::thread::spawn(move || {
            while !mac.world().revoked {
                std::thread::yield_now();
            }
            let since = Instant::now();
            let before = mac.world().reached.len();
            while mac.world().reached.len() == before {
                mac.person(&key(7)[0]);
                std::thread::sleep(Duration::from_millis(5));
                assert!(since.elapsed() < Duration::from_secs(20), "locked out");
            }
            since.elapsed()
        });
        let then = Typing::text("never in full ".repeat(100));
        let answer = desk.click(Target::titled("Message", "AXTextArea"), then);
        let locked_out = person.join().unwrap();
        assert!(locked_out < Duration::from_millis(1_500), "{locked_out:?}");
        assert!(answer.is_error, "{}", answer.text);
        assert!(desk.mac.world().tap.is_none());
    }
}

/// Terminal's Secure Keyboard Entry lasts as long as Terminal is in front, and the agent's own
/// terminal is in front.
#[test]
fn the_guard_works_despite_secure_keyboard_entry_in_the_persons_terminal() {
    let mut desk = Desk::new();
    let editor = |desk: &Desk, on| {
        desk.mac
            .world()
            .apps
            .get_mut(&EDITOR)
            .unwrap()
            .secure_keyboard = on;
    };
    editor(&desk, true);
    let then = Typing::text("hello");
    let answer = desk
        .click(Target::titled("Message", "AXTextArea"), then)
        .ok();
    assert!(!answer.text.contains("may have mixed"), "{}", answer.text);
    let told = desk.mac.world().said.join(", ");
    has(&told, "press Esc to cancel");
    // If the driven app has secure input too, there is no guard.
    desk.mac
        .world()
        .apps
        .get_mut(&super::desk::MAIL)
        .unwrap()
        .secure_keyboard = true;
    editor(&desk, false);
    let answer = desk.click_on("Send", "AXButton");
    has(&answer.text, "got through at the end: a password field");
}
