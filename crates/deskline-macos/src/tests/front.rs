//! The app in front, which is determined live. The trait [`crate::os::Os`] does not have
//! `NSWorkspace`'s cache, which may be outdated.

use std::time::Duration;

use deskline_link::call::Typing;
use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, field, front, has, install, tree};
use crate::os::fake::text;
use deskline_input::clock::Instant;

/// While a menu has the focus, the system-wide element names no app (Hammerspoon #3799).
#[test]
fn if_no_app_has_the_focus_each_app_is_asked_whether_it_is_in_front() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.no_focused_app = true;
    let body = desk.body;
    desk.mac.world().focus(MAIL, body);
    let start = Instant::now();
    desk.type_text("for Mail").ok();
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!(desk.mac.world().value(body), "for Mail");
    assert_eq!(front(&desk), Some(EDITOR));
}

/// Another app takes the front while the agent types, as a notification's window may.
#[test]
fn an_app_that_takes_the_front_in_mid_link_gets_no_key() {
    let mut desk = Desk::new();
    let (send, body) = (desk.send, desk.body);
    let notes = desk.given(|world| {
        let window = world.stack[0];
        let at = [710.0, 540.0, 480.0, 300.0];
        let notes = field(world, window, "AXTextArea", "", at);
        world.set(notes, "AXValue", text(""));
        world.focus(EDITOR, notes);
        world.focus(MAIL, body);
        // The editor is the person's app: the click brings it back to the front.
        world.node(send).pressed = Some(std::sync::Arc::new(|world| world.bring_forward(EDITOR)));
        notes
    });
    let then = Typing::text("for Mail");
    let answer = desk.click(Target::titled("Send", "AXButton"), then);
    let world = desk.mac.world();
    assert_eq!(
        (world.value(notes), world.value(body)),
        (String::new(), String::new())
    );
    answer.fails_with("'Editor' (pid 200)");
}

#[test]
fn a_front_app_without_a_window_is_put_back_to_the_front() {
    let mut desk = Desk::new();
    desk.given(|world| {
        world.app(300, "Chrome", "/Applications/Chrome.app".into());
        world.bring_forward(300);
        // No window has the focus.
    });
    desk.click_on("Send", "AXButton").ok();
    assert_eq!(desk.mac.world().front, 300);
}

#[test]
fn a_link_restores_the_order_of_all_windows() {
    let mut desk = Desk::new();
    let before = desk.given(|world| {
        let root = world.app(300, "Terminal", "/Applications/Terminal.app".into());
        let shell = world.add(root, "AXWindow", "zsh", [300.0, 300.0, 500.0, 400.0]);
        let root = world.apps[&MAIL].root;
        world.add(root, "AXWindow", "Inbox", [150.0, 200.0, 600.0, 400.0]);
        world.bring_forward(EDITOR);
        let (own, rest): (Vec<u64>, Vec<u64>) = {
            let stack = world.stack.clone();
            stack.into_iter().partition(|w| *w == shell)
        };
        // The person's editor is on top, the terminal below it, and both of Mail's windows at the
        // bottom.
        let editor = rest[0];
        world.stack = [vec![editor], own, rest[1..].to_vec()].concat();
        world.stack.clone()
    });
    desk.click_on("Send", "AXButton").ok();
    let after = desk.mac.world().stack.clone();
    assert_eq!(after[..2], before[..2], "{before:?} → {after:?}");
}

#[test]
fn list_applications_marks_the_app_that_is_in_front() {
    let mut desk = Desk::new();
    let listed = desk.links.applications("").text;
    has(&listed, "Editor (PID: 200) front");
}

#[test]
fn an_app_that_hangs_does_not_hold_up_the_list_of_applications() {
    let mut desk = Desk::new();
    desk.mac.world().apps.get_mut(&MAIL).unwrap().hung = true;
    let start = Instant::now();
    let listed = desk.links.applications("").text;
    has(&listed, "Mail (PID: 100)");
    assert!(start.elapsed() < Duration::from_millis(600));
}

/// It is unknown whether the system-wide element answers a request for several attributes at once.
#[test]
fn the_front_app_is_found_by_one_message() {
    let desk = Desk::new();
    desk.given(|world| {
        world.quirks.no_system_batch = true;
        world.messages.clear();
    });
    assert_eq!(front(&desk), Some(EDITOR));
    let messages = desk.mac.world().messages.clone();
    assert_eq!(
        messages,
        std::collections::BTreeMap::from([("attribute", 1)])
    );
}

/// If Accessibility may not bring an app forward, `NSRunningApplication` is used.
#[test]
fn an_app_that_refuses_to_be_frontmost_is_activated() {
    let mut desk = Desk::new();
    desk.given(|world| {
        world.quirks.refuses_frontmost = true;
        world.quirks.activates = true;
    });
    desk.click_on("Send", "AXButton").ok();
    assert_eq!(front(&desk), Some(EDITOR));
}

/// macOS 27 may be like this: a background process cannot activate an app.
#[test]
fn an_app_that_cannot_be_activated_is_opened() {
    let mut desk = Desk::new();
    desk.given(|world| {
        world.quirks.refuses_frontmost = true;
        world.quirks.opening_activates = true;
    });
    let answer = desk.click_on("Send", "AXButton").ok();
    has(tree(&answer), "\"Sending…\"");
    assert_eq!(front(&desk), Some(EDITOR));
}

/// macOS 27 may be like this: no call of a background process brings an app forward.
#[test]
fn an_app_that_opens_in_the_background_counts_as_open() {
    let mut desk = Desk::new();
    install(&desk, "Maps", |world, path| {
        let root = world.app(300, "Maps", path);
        world.add(root, "AXWindow", "Berlin", [50.0, 50.0, 400.0, 300.0]);
        300
    });
    desk.mac.world().quirks.refuses_frontmost = true;
    let identifier = "Maps".to_owned();
    let answer = desk.run(Action::Open { identifier }).ok();
    has(&answer.text, "did not come to the front");
    has(tree(&answer), "\"Berlin\"");
    assert_eq!(front(&desk), Some(EDITOR));
}
