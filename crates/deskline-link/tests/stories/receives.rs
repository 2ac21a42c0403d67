//! What receives a click: an element that another one covers, and what the answer says of effects
//! and expectations.

use std::time::Duration;

use deskline_link::{Action, Call, Expect, Target};
use insta::assert_snapshot;

use crate::story::{MAIL, Story, presses};

/// A window of Mail with a bar that covers one button whole and another in part.
fn covered() -> Story {
    let story = Story::new();
    story.given(|world| {
        world.window(
            MAIL,
            "Outbox",
            [0, 0, 600, 400],
            "[AXButton] \"Whole\" x:20 y:100 w:80 h:24\n\
             [AXButton] \"Part\" x:20 y:140 w:80 h:24\n\
             [AXGroup] x:0 y:90 w:600 h:66\n  \
               [AXButton] \"Undo\" x:0 y:90 w:600 h:66",
        );
        world.raise(crate::story::EDITOR_WINDOW);
    });
    story
}

#[test]
fn a_click_on_a_covered_element_is_an_error_that_names_what_covers_it() {
    let mut story = covered();
    story.click("Whole");
    assert_snapshot!(story.field("error"), @"'Whole' [AXButton] is covered by 'Undo' [AXButton] \
        #e13. Nothing was sent. Close or move what covers it, scroll, or use \
        press_ax_and_traverse");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn a_half_covered_element_is_clicked_at_its_visible_part() {
    let mut story = covered();
    story.click("Part");
    story.succeeds();
    assert_eq!(story.reached(), "Mail: click Part");
}

#[test]
fn coordinates_from_the_call_are_clicked_whatever_lies_there() {
    let mut story = covered();
    story.click_at(60, 112);
    assert_eq!(story.reached(), "Mail: click Undo");
}

fn expecting(text: &str, absent: bool, action: Action) -> Call {
    let (text, timeout) = (text.to_owned(), Duration::from_millis(500));
    let expect = Expect {
        text,
        absent,
        timeout,
    };
    Call {
        expects: vec![Some(expect)],
        ..Call::new(MAIL, action)
    }
}

#[test]
fn an_expected_text_may_appear_late() {
    let mut story = Story::new();
    story.later(200, |world: &mut crate::world::World| {
        world.node("Inbox").unwrap().says("Inbox (1)");
        world.changes(deskline_link::Sign::Change);
    });
    let click = Action::click(Target::text("Send"), deskline_link::call::Typing::default());
    story.run_call(&expecting("inbox (1)", false, click));
    story.succeeds();
    assert!(story.field("expected").starts_with("met after "));
}

#[test]
fn an_expectation_that_is_not_met_is_an_error_after_the_action() {
    let mut story = Story::new();
    let click = || Action::click(Target::text("Send"), deskline_link::call::Typing::default());
    story.run_call(&expecting("Delivered", false, click()));
    assert_snapshot!(story.field("error"), @"Clicked 'Send' [AXButton], but expected: 'Delivered' \
        does not show after _ ms. New: \"Sent\". Nearest: \"Folders\" [AXList], \"Send\" \
        [AXButton], \"Password\" [AXTextField]");
    story.run_call(&expecting("Inbox", true, click()));
    assert_snapshot!(story.field("error"), @"Clicked 'Send' [AXButton], but expected: 'Inbox' \
        still shows after _ ms");
    assert_eq!(story.reached(), "Mail: click Send, Mail: click Send");
}

#[test]
fn the_effect_is_nothing_or_unknown_if_nothing_has_changed() {
    let mut story = Story::new();
    story.on_press("Send", |_| {});
    story.click("Send");
    assert_snapshot!(story.field("effect"), @"nothing");
    story.run(presses("Tab"));
    assert_snapshot!(story.field("effect"), @"unknown");
}
