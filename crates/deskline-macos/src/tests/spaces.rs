//! Apps on another Space or in full screen.

use std::time::Duration;

use deskline_link::call::{Quiet, Typing};
use deskline_link::{Action, Tool};

use super::desk::{Desk, EDITOR, by_text, front, tree};
use crate::os::fake::clicks;

/// Mail's window is on a Space of its own, as in full screen.
fn away() -> Desk {
    let desk = Desk::new();
    {
        let mut world = desk.mac.world();
        let window = desk.window;
        world.move_to_space(window, 1);
        world.quirks.animation = Duration::from_millis(400);
    }
    desk
}

#[test]
fn an_app_on_another_space_is_brought_here_clicked_and_left_again() {
    let mut desk = away();
    // Twice: after the first link the person's own Space is back.
    for nth in 1..=2 {
        let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
        assert!(!answer.is_error, "{}", answer.text);
        assert!(
            tree(&answer).contains("+ [AXStaticText] \"Sending…\""),
            "{}",
            tree(&answer)
        );
        let clicked = clicks(&desk.mac.world()).len();
        assert_eq!((clicked, front(&desk)), (nth, Some(EDITOR)));
        std::thread::sleep(Duration::from_millis(450));
        assert_eq!(desk.mac.world().space, 0);
    }
}

#[test]
fn text_for_an_app_on_another_space_arrives() {
    let mut desk = away();
    let body = desk.body;
    desk.mac.world().focus(super::desk::MAIL, body);
    let answer = desk.type_text("hello");
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(desk.mac.world().value(body), "hello");
}

#[test]
fn a_reading_says_that_its_windows_are_elsewhere_and_moves_nothing() {
    let mut desk = away();
    let answer = desk.run(Tool::Refresh, Action::Refresh);
    assert!(!answer.is_error, "{}", answer.text);
    let tree = tree(&answer);
    assert!(
        tree.contains("# partial: ") && tree.contains("'New Message' is on another Space"),
        "{tree}"
    );
    assert_eq!(desk.mac.world().fronts.last(), Some(&EDITOR));
    let target = by_text("Send", "AXButton");
    let press = Action::Quiet(Quiet::PressAx { target });
    let answer = desk.run(Tool::PressAx, press);
    assert!(
        answer.is_error && answer.text.contains("another Space"),
        "{}",
        answer.text
    );
    assert_eq!(desk.mac.world().fronts.last(), Some(&EDITOR));
}

#[test]
fn list_applications_has_an_app_on_another_space() {
    let mut desk = away();
    let listed = desk.links.applications().text;
    assert!(
        listed.contains("Mail (PID: 100) \"New Message\""),
        "{listed}"
    );
}
