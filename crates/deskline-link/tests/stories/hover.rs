//! A link that hovers leaves the pointer there, and the next link that acts puts the pointer back.

use deskline_link::call::Awaited;
use deskline_link::{Action, Target};
use insta::assert_snapshot;

use crate::script::person;
use crate::story::Story;

fn hover() -> Action {
    Action::hover(Target::text("Send"))
}

#[test]
fn a_hover_keeps_the_pointer_there_and_restores_the_front_window() {
    let mut story = Story::new();
    assert_snapshot!(story.run(hover()).seen(), @"reached: nothing; front: Notes, pointer: 540,52");
    assert_snapshot!(story.field("summary"), @"Moved the pointer over 'Send' [AXButton]. 0 added, \
        0 removed, 1 modified. Settled in _ ms.");
    story.refresh().wait_for("Send", Awaited::Present, 200);
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 540,52");
    assert_snapshot!(story.type_text("bob").seen(), @"reached: Mail: b, Mail: o, Mail: b; front: \
        Notes, pointer: 900,700");
}

#[test]
fn after_a_hover_the_pointer_stays_where_the_person_moved_it() {
    let mut story = Story::new();
    story.run(hover());
    story.given(|world| world.pointer = deskline_core::Point { x: 50, y: 50 });
    assert_snapshot!(story.type_text("bob").seen(), @"reached: Mail: b, Mail: o, Mail: b; front: \
        Notes, pointer: 50,50");
}

#[test]
fn a_click_after_a_hover_returns_the_pointer_to_the_persons_place() {
    let mut story = Story::new();
    story.run(hover());
    story.given(|world| world.pointer = deskline_core::Point { x: 50, y: 50 });
    assert_snapshot!(story.click("Send").seen(), @"reached: Mail: click Send; front: Notes, pointer: 50,50");
}

#[test]
fn a_cancelled_hover_puts_the_pointer_back() {
    let mut story = Story::new();
    story.after("hover", person::presses_esc);
    assert_snapshot!(story.run(hover()).seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}
