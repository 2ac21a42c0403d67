//! Stories of apps that end, and of slow apps.

use deskline_core::States;
use deskline_link::Exit;
use deskline_link::call::Awaited;
use insta::assert_snapshot;

use crate::script::person;
use crate::story::{EDITOR_WINDOW, MAIL, MUSIC_WINDOW, Story};
use crate::world::Health;

fn ended_by(exit: Exit) -> Story {
    let story = Story::new();
    story.script().exit = Some(exit);
    story.on_press("Send", |world| world.becomes(MAIL, Health::Dead));
    story
}

#[test]
fn an_action_that_ends_the_app_reports_how_it_ended() {
    let mut story = ended_by(Exit::Status(0));
    story.press("Send");
    assert_snapshot!(story.field("summary"), @"Pressed 'Send' [AXButton]. The process ended (exit \
        status 0).");
    let mut story = ended_by(Exit::Signal(6));
    story.click("Send");
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton]. The process ended \
        (signal 6, SIGABRT: it crashed).");
    let mut story = ended_by(Exit::Unknown);
    story.click("Send");
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton]. The process ended.");
}

#[test]
fn later_calls_report_how_the_app_has_ended_too() {
    let mut story = ended_by(Exit::Signal(6));
    story.press("Send").refresh();
    assert_snapshot!(story.outcome(), @"
    status: error
    error: Mail (pid 100) is gone. The process ended (signal 6, SIGABRT: it crashed). Call open_application_and_traverse to start it again
    pid: 100
    ");
    story.click("Send");
    story.says("signal 6");
}

#[test]
fn an_app_that_ends_before_the_action_is_an_error() {
    let mut story = ended_by(Exit::Signal(11));
    story.after("read 100 again", |world| world.becomes(MAIL, Health::Dead));
    story.click("Send");
    assert_snapshot!(story.field("error"), @"Mail (pid 100) is gone. The process ended (signal 11, \
        SIGSEGV: it crashed). Call open_application_and_traverse to start it again");
}

#[test]
fn if_the_persons_window_closes_the_one_below_comes_to_the_front() {
    let mut story = Story::new();
    story.given(|world| {
        world.raise(MUSIC_WINDOW);
        world.raise(EDITOR_WINDOW);
    });
    story.after("activate", |world| world.close(EDITOR_WINDOW));
    story.click("Send");
    story.succeeds();
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Songs, pointer: 900,700");
}

/// The window that the user switches to was the lowest before.
#[test]
fn if_the_persons_new_window_closes_their_earlier_one_comes_back() {
    let mut story = Story::new();
    story.after("every_window", person::switches_to(MUSIC_WINDOW));
    story.after("activate", |world| world.close(MUSIC_WINDOW));
    story.click("Send");
    story.succeeds();
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
}

/// The user's own window closes right before it is put back, and the user switches to another one.
#[test]
fn a_window_that_the_person_switches_to_during_the_restore_stays() {
    let mut story = Story::new();
    story.click("Send");
    let back = story.last("activate 3");
    let mut story = Story::new();
    story.before(back.unwrap() + 1, |world| {
        world.close(EDITOR_WINDOW);
        world.raise(MUSIC_WINDOW);
    });
    story.click("Send");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Songs, pointer: 900,700");
}

#[test]
fn a_press_that_keeps_the_app_busy_counts_as_done_and_can_be_awaited() {
    let mut story = Story::new();
    story.on_press("Send", |world| world.becomes(MAIL, Health::Hung));
    story.press("Send");
    assert_snapshot!(story.field("summary"), @"Pressed 'Send' [AXButton]. The app is busy: no \
        answer for _ ms. Call wait_for_and_traverse, which waits longer.");
    story.after("read 100 again", |world| world.becomes(MAIL, Health::Well));
    story.wait_for("Send", Awaited::Present, 5_000);
    story.says("'Send' [AXButton] is present");
    story.given(|world| world.becomes(MAIL, Health::Hung));
    story.wait_for("Send", Awaited::Present, 200);
    story.says("does not answer");
}

#[test]
fn a_wait_for_an_element_to_disappear_ends_when_its_app_ends() {
    let mut story = Story::new();
    story.script().exit = Some(Exit::Status(0));
    story.after("read 100 again", |world| world.becomes(MAIL, Health::Dead));
    story.wait_for("Send", Awaited::Absent, 5_000);
    story.says("'Send' is absent after");
    story.says("The process ended (exit status 0)");
}

#[test]
fn an_app_that_computes_has_not_settled() {
    let mut story = Story::new();
    // The link asks for the computing time twice in each period in which it listens to the app.
    story.script().computes = 6;
    story.click("Send");
    story.says("Settled in");
    // One wait before the click, and four until the app has settled.
    assert_eq!(story.count("read 100 again"), 1 + 4);
    story.script().computes = usize::MAX;
    story.click("Inbox");
    story.says("The app is still busy after");
    story.says("it computes");
}

/// GTK 4 sends events of its own while it draws a button pressed, and runs the button's action
/// afterwards.
#[test]
fn an_event_without_a_change_does_not_count_as_a_buttons_effect() {
    let mut story = Story::new();
    story.on_press("Send", |_| ());
    story.press("Send");
    let calls = story.calls();
    let pressed = calls.iter().position(|c| c.starts_with("press")).unwrap();
    let waits = |of: &[String]| of.iter().filter(|c| *c == "wait_for_change").count();
    // Two for the event and the pause after it, five for the rest of the 320 ms in waits of 60 ms,
    // two for the last reading.
    assert_eq!(waits(&calls[pressed..]), 2 + 5 + 2, "{calls:?}");

    let mut waits = (0..calls.len()).filter(|call| calls[*call] == "wait_for_change");
    story.before(waits.nth(3).unwrap(), |world| {
        let send = world.node("Send").unwrap();
        send.line.states.insert(States::CHECKED);
    });
    story.press("Send");
    assert_snapshot!(story.field("summary"), @"Pressed 'Send' [AXButton]. 0 added, 0 removed, 1 \
        modified. Settled in _ ms.");
}
