//! Which app is in front: asked of the system each time, never of a cache.

use std::time::{Duration, Instant};

use deskline_link::call::Typing;

use super::desk::{Desk, EDITOR, MAIL, by_text, field, front};
use crate::os::fake::text;

#[test]
fn a_stale_cache_that_names_the_old_app_does_not_hold_a_click_back() {
    let mut desk = Desk::new();
    desk.mac.world().cached_front = Some(EDITOR);
    let start = Instant::now();
    let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
    assert!(!answer.is_error, "{}", answer.text);
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(front(&desk), Some(EDITOR));
}

#[test]
fn a_stale_cache_that_names_the_target_sends_no_text_into_the_persons_window() {
    let mut desk = Desk::new();
    let (notes, body) = {
        let mut world = desk.mac.world();
        let window = world.stack[0];
        let notes = field(
            &mut world,
            window,
            "AXTextArea",
            "",
            [710.0, 540.0, 480.0, 300.0],
        );
        world.set(notes, "AXValue", text(""));
        world.focus(EDITOR, notes);
        let body = desk.body;
        world.focus(MAIL, body);
        world.cached_front = Some(MAIL);
        (notes, body)
    };
    let answer = desk.type_text("for Mail");
    let world = desk.mac.world();
    assert_eq!(
        (world.value(notes), world.value(body)),
        (String::new(), "for Mail".into())
    );
    assert!(!answer.is_error, "{}", answer.text);
}

#[test]
fn a_front_app_without_a_window_is_known_and_put_back() {
    let mut desk = Desk::new();
    {
        let mut world = desk.mac.world();
        world.app(300, "Chrome", "/Applications/Chrome.app".into());
        world.bring_forward(300);
        // NSWorkspace has it right by chance, the focused window is nobody's.
        world.cached_front = Some(EDITOR);
    }
    let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(desk.mac.world().front, 300);
}

#[test]
fn a_link_puts_the_order_of_all_windows_back() {
    let mut desk = Desk::new();
    let before = {
        let mut world = desk.mac.world();
        let root = world.app(300, "Terminal", "/Applications/Terminal.app".into());
        let shell = world.add(root, "AXWindow", "zsh", [300.0, 300.0, 500.0, 400.0]);
        let root = world.apps[&MAIL].root;
        world.add(root, "AXWindow", "Inbox", [150.0, 200.0, 600.0, 400.0]);
        world.bring_forward(EDITOR);
        let (own, rest): (Vec<u64>, Vec<u64>) = {
            let stack = world.stack.clone();
            stack.into_iter().partition(|w| *w == shell)
        };
        // The person's editor, the terminal below it, both of Mail's windows at the bottom.
        let editor = rest[0];
        world.stack = [vec![editor], own, rest[1..].to_vec()].concat();
        world.stack.clone()
    };
    let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
    assert!(!answer.is_error, "{}", answer.text);
    let after = desk.mac.world().stack.clone();
    assert_eq!(after[..2], before[..2], "{before:?} → {after:?}");
}

#[test]
fn list_applications_marks_the_app_that_is_in_front() {
    let mut desk = Desk::new();
    desk.mac.world().cached_front = Some(MAIL);
    let listed = desk.links.applications().text;
    assert!(listed.contains("Editor (PID: 200) front"), "{listed}");
}
