//! A `wait_for` that lets other links run between its looks.

use std::time::Duration;

use deskline_core::States;
use deskline_link::call::Awaited;
use deskline_link::{Call, Waiting};
use insta::assert_snapshot;

use crate::story::{MAIL, Story, wait_for};
use crate::world::Health;

/// A wait until Mail has sent the message.
fn until_sent(ms: u64) -> Box<Waiting> {
    let wait = wait_for("Sent", Awaited::Present, ms);
    let waiting = Waiting::new(Call::new(MAIL, wait));
    Box::new(waiting.expect("a single wait"))
}

#[test]
fn other_calls_run_during_a_wait_whose_diff_counts_from_its_start() {
    let mut story = Story::new();
    let wait = story.look(until_sent(30_000), true);
    assert_snapshot!(story.acts(), @r##"
    listen 100
    read 100 again
    read 100 whole
    rest
    "##);
    // Another agent clicks, and the person's window is put back.
    story.click("Send");
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton]. 0 added, 0 removed, 2 \
        modified. Settled in _ ms.");
    assert!(story.look(wait.expect("no answer yet"), true).is_none());
    assert_snapshot!(story.outcome(), @r##"
    summary: 'Sent' [AXTextField] is present after _ ms. 0 added, 0 removed, 1 modified. Settled in _ ms.
    target: [AXTextField] "Sent" editable #e3
    focus: "New Message"
    text_changes:
      'To' -> 'Sent'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
    assert_snapshot!(story.acts(), @r##"
    listen 100
    read 100 whole
    rest
    listen 100
    read 100 again
    read 100 again
    release_all
    rest
    "##);
}

#[test]
fn a_wait_goes_on_while_the_app_hangs_and_ends_when_the_app_ends() {
    let mut story = Story::new();
    let wait = story.look(until_sent(30_000), true);
    story.given(|world| world.becomes(MAIL, Health::Hung));
    let wait = story.look(wait.expect("no answer yet"), false);
    story.given(|world| world.becomes(MAIL, Health::Dead));
    story.look(wait.expect("no answer yet"), false);
    assert_snapshot!(story.field("error"), @"Mail (pid 100) is gone. The process ended. Call \
        open_application_and_traverse to start it again");
}

#[test]
fn a_wait_that_times_out_shows_the_last_state() {
    let mut story = Story::new();
    let wait = story.look(until_sent(5), true);
    story.given(|world| world.node("Inbox").unwrap().says("Outbox"));
    deskline_input::clock::pass(Duration::from_millis(6));
    assert!(story.look(wait.expect("no answer yet"), true).is_none());
    assert_snapshot!(story.field("error"), @"timed out after 0.0 s: no element matches 'Sent'. \
        Nearest: \"Send\" [AXButton] #e5, \"To\" [AXTextField] #e3, \"Password\" [AXTextField] \
        #e4. Nothing was touched. Search the file of this answer");
    assert!(
        story.tree_line("Outbox").contains("#e7"),
        "{}",
        story.text()
    );
    // The changes that the wait has reported are not late changes.
    assert_snapshot!(story.refresh().field("late_changes"), @"");
}

#[test]
fn a_chain_may_begin_with_a_wait() {
    let wait = wait_for("Sent", Awaited::Present, 30_000);
    assert!(Waiting::new(Call::chain(MAIL, wait, vec![])).is_err());
}

/// A chain that types into the field "To", and then waits.
fn typed_then(wait: deskline_link::Action, more: Vec<deskline_link::Action>) -> Call {
    let typing = crate::story::click("To", Some("Archive ready"), None);
    Call::chain(MAIL, typing, [vec![wait], more].concat())
}

#[test]
fn the_text_just_typed_does_not_end_a_wait_for_that_text() {
    let mut story = Story::new();
    let wait = wait_for("ready", Awaited::Present, 50);
    story.run_call(&typed_then(wait, vec![]));
    assert_snapshot!(story.field("error"), @"Did 1 of 2 steps. Step 2: timed out after 0.1 s: no \
        element matches 'ready'. Nearest: \"To\" [AXTextField] #e3, \"Password\" [AXTextField] \
        #e4, \"Send\" [AXButton] #e5. Nothing was touched. Search the file of this answer");
}

#[test]
fn a_wait_before_a_click_lasts_until_the_clicked_element_is_enabled() {
    let mut story = Story::new();
    story.given(|world| world.node("Send").unwrap().line.states |= States::DISABLED);
    let wait = || wait_for("Send", Awaited::Present, 600);
    story.run_call(&Call::chain(MAIL, wait(), vec![wait()]));
    story.succeeds();
    story.later(200, |world: &mut crate::world::World| {
        world.node("Send").unwrap().line.states -= States::DISABLED;
    });
    let click = crate::story::click("Send", None, None);
    story.run_call(&Call::chain(MAIL, wait(), vec![click]));
    story.succeeds();
    assert_eq!(story.reached(), "Mail: click Send");
    story.wait_for("Send", Awaited::Enabled, 50).succeeds();
    story.given(|world| world.node("Send").unwrap().line.states |= States::DISABLED);
    story.wait_for("Send", Awaited::Enabled, 50);
    assert_snapshot!(story.field("error"), @"timed out after 0.1 s: 'Send' [AXButton] is not enabled");
}

#[test]
fn a_wait_behind_a_dialog_that_the_chain_has_opened_ends_early() {
    let mut story = Story::new();
    story.on_press("Send", |world| {
        let lines = "[AXButton] \"Keep\" x:320 y:320 w:80 h:24";
        let dialog = world.window(MAIL, "Send without a subject?", [300, 300, 200, 80], lines);
        world.dialogs.push(dialog);
    });
    let click = crate::story::click("Send", None, None);
    let wait = wait_for("Sent", Awaited::Present, 60_000);
    story.run_call(&Call::chain(MAIL, click, vec![wait]));
    assert_snapshot!(story.field("error"), @"Did 1 of 2 steps. Step 2: timed out after 2.1 s: \
        \"Send without a subject?\" [AXWindow (dialog)] #e9 has opened and waits for an answer. \
        Answer it first");
}
