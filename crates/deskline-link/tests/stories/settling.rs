//! When a link settles: after the effect of its action, not after the effects of raising and
//! focusing.

use std::time::Duration;

use deskline_link::Sign;
use insta::assert_snapshot;

use crate::story::{MAIL, MAIL_WINDOW, Story};
use crate::world::World;

/// The app shows a result.
fn says_sent(world: &mut World) {
    world.node("To").unwrap().says("Sent");
}

/// A desk on which a click on 'Send' shows nothing yet.
fn slow() -> Story {
    let story = Story::new();
    story.given(|world| world.node("Send").unwrap().pressed = None);
    story
}

fn is_answered_with_sent(story: &Story, ms: u64) {
    let reported = story.outcome();
    let sent = reported.contains("'To' -> 'Sent'");
    assert!(sent, "after {ms} ms: {reported}");
}

#[test]
fn the_answer_to_a_click_behind_the_persons_window_has_the_clicks_effect() {
    for ms in [50, 100, 150, 250] {
        let mut story = slow();
        story.later(ms, says_sent).click("Send");
        is_answered_with_sent(&story, ms);
    }
}

#[test]
fn a_click_that_only_moves_the_focus_to_a_button_has_no_effect() {
    for ms in [50, 150, 250] {
        let mut story = slow();
        story.given(|world| world.raise(MAIL_WINDOW));
        story.later(ms, says_sent).click("Send");
        is_answered_with_sent(&story, ms);
    }
}

#[test]
fn a_click_on_a_field_ends_once_the_field_has_the_focus() {
    let mut story = Story::new();
    story.click("Password");
    assert!(story.script().waited.as_millis() <= 100);
}

#[test]
fn the_answer_to_a_text_typed_behind_the_persons_window_has_its_effect() {
    for ms in [50, 75] {
        let mut story = Story::new();
        story.given(|world| world.focus(MAIL_WINDOW, 2));
        story.later(ms, says_sent).press_key("F5");
        is_answered_with_sent(&story, ms);
    }
}

#[test]
fn the_wait_for_a_keys_effect_goes_on_after_an_empty_event() {
    for ms in [100, 150, 250] {
        let mut story = Story::new();
        story.given(|world| world.on_return(MAIL_WINDOW, |_| ()));
        // GTK 4 sends these events when its window is raised.
        let event = |world: &mut World| world.changes(Sign::Change);
        story.later(20, event).later(ms, says_sent);
        story.press_key("Return");
        is_answered_with_sent(&story, ms);
    }
}

#[test]
fn a_late_effect_is_waited_for_until_the_app_is_quiet() {
    let mut story = Story::new();
    story.after("ungrab", |world| {
        world.node("Inbox").unwrap().says("Inbox (1)");
    });
    story.click("Send");
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton]. 0 added, 0 removed, 3 \
        modified. Settled in _ ms.");
}

/// LibreOffice lays out a dialog once more when the dialog is on the screen.
#[test]
fn a_dialog_that_grows_after_it_opens_is_reported_at_its_final_size() {
    for ms in [120, 200] {
        let mut story = Story::new();
        story.on_press("Send", |world| {
            let ok = r#"[AXButton] "OK" x:310 y:230 w:60 h:24"#;
            world.window(MAIL, "Warning", [300, 200, 200, 100], ok);
        });
        let grows = |world: &mut World| {
            assert_eq!(world.stack[0].title, "Warning");
            world.stack[0].at.h = 160;
            let place = world.node("OK").unwrap().line.extents.as_mut().unwrap();
            place.y = 290;
        };
        story.later(ms, grows).click("Send");
        let ok = story.tree_line("OK");
        assert!(ok.contains("y:290"), "after {ms} ms: {ok}");
    }
}

/// GTK 4 scrolls smoothly to the focus.
#[test]
fn an_element_that_slides_is_reported_at_its_final_place() {
    let slides_to = |y: i32| {
        move |world: &mut World| {
            let inbox = world.stack.iter_mut().flat_map(|w| &mut w.nodes);
            let inbox = { inbox }.find(|node| node.text() == "Inbox").unwrap();
            inbox.line.extents.as_mut().unwrap().y = y;
        }
    };
    let mut story = Story::new();
    story.script().moves_silently = true;
    for (ms, y) in [(10, 150), (30, 170), (50, 190), (70, 200)] {
        story.later(ms, slides_to(y));
    }
    story.click("Send");
    let inbox = story.tree_line("Inbox");
    assert!(inbox.contains("y:200"), "{inbox}");

    // The link does not wait for an element that goes on moving.
    let mut story = Story::new();
    story.script().moves_silently = true;
    for turn in 0..200 {
        story.later(10 * turn, slides_to(130 + i32::from(turn % 2 == 0)));
    }
    story.click("Send");
    let waited = story.script().waited.as_millis();
    assert!((300..600).contains(&waited), "{waited} ms");

    // If nothing moves, the link waits no longer either.
    let waited = |moves_silently| {
        let mut story = Story::new();
        story.script().moves_silently = moves_silently;
        story.click("Send");
        story.script().waited
    };
    assert_eq!(waited(true), waited(false));
}

#[test]
fn a_requested_delay_is_added_after_settling() {
    let mut story = Story::new();
    story.options.delay_after_action = Duration::from_millis(5);
    story.click("Send");
    assert_eq!(story.count("read"), 3, "before, settled, after the delay");
}

#[test]
fn a_change_during_a_reading_is_in_the_answer() {
    let mut story = Story::new();
    story.after("handoff_pending", |world| {
        world.node("Sent").unwrap().says("Delivered");
    });
    story.click("Send");
    story.says("'To' -> 'Delivered'");
}
