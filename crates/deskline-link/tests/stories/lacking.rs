//! Desktops that lack an ability, links that work without it, and the errors that cost the
//! connection.

use insta::assert_snapshot;

use crate::opened::{NOTES, notes};
use crate::story::{MAIL_WINDOW, Story};
use crate::transaction::chooser;
use crate::world::Health;

/// A desktop that reads trees, presses through the accessibility API, and has no other ability.
fn trees_only() -> Story {
    Story::lacking(&[("display", "it is reached through a bridge for trees")])
}

#[test]
fn without_a_display_trees_are_read_and_elements_pressed() {
    let mut story = trees_only();
    story.press("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Pressed 'Send' [AXButton]. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    note: no screenshot: it is reached through a bridge for trees
    target: [AXButton] "Send" #e5
    focus: "New Message"
    text_changes:
      'To' -> 'Sent'
    "##);
    assert_snapshot!(story.acts(), @"
    press
    read 100 again
    ");
    story.set_value("Sent", "bob");
    assert_snapshot!(story.field("summary"), @"Set 'Sent' [AXTextField] to 'bob'. 0 added, 0 \
        removed, 1 modified. Settled in _ ms.");
    assert_snapshot!(story.refresh().outcome(), @r##"
    summary: Read the tree. 8 elements, 6 visible.
    focus: "New Message"
    visible_elements:
      [AXTextField] "Sent" (20,40 300×24) value:"bob" #e3
      [AXTextField] "Password" (20,80 300×24) secure #e4
      [AXButton] "Send" (500,40 80×24) #e5
      [AXStaticText] "Inbox" (30,130 100×20) #e7
    "##);
}

#[test]
fn without_a_display_input_is_an_error_that_names_an_alternative() {
    let mut story = trees_only();
    assert_snapshot!(story.click("Send").outcome(), @r##"
    status: error
    error: clicking is not possible on this desktop: it is reached through a bridge for trees. Nothing was touched. Use press_ax_and_traverse, set_value_and_traverse or set_selected_and_traverse, which go through the accessibility API
    pid: 100
    app: Mail
    focus: "New Message"
    "##);
    assert_snapshot!(story.type_text("bob").field("error"), @"typing is not possible on this \
        desktop: it is reached through a bridge for trees. Nothing was touched. Use \
        press_ax_and_traverse, set_value_and_traverse or set_selected_and_traverse, which go \
        through the accessibility API");
    assert_snapshot!(story.drag("Inbox", "Send").field("error"), @"dragging is not possible on \
        this desktop: it is reached through a bridge for trees. Nothing was touched. Use \
        press_ax_and_traverse, set_value_and_traverse or set_selected_and_traverse, which go \
        through the accessibility API");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn without_keyboard_input_a_click_works_and_a_click_with_text_is_refused() {
    let mut story = Story::lacking(&[("key_input", "there is no keyboard")]);
    assert!(!story.click("Send").is_error(), "{}", story.text());
    story.click_then("Inbox", Some("bob"), None);
    assert_snapshot!(story.field("error"), @"clicking and typing is not possible on this desktop: \
        there is no keyboard. Nothing was touched. Use press_ax_and_traverse, \
        set_value_and_traverse or set_selected_and_traverse, which go through the accessibility \
        API");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
}

#[test]
fn a_pointer_whose_position_is_unknown_is_not_put_back() {
    let mut story = Story::lacking(&[("pointer", "Wayland does not report it")]);
    story.click("Send");
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton]. 0 added, 0 removed, 2 \
        modified. Settled in _ ms.");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 540,52");
}

#[test]
fn if_windows_cannot_be_raised_only_the_front_window_gets_input() {
    let lack = [("raising", "the compositor does not allow it")];
    let mut story = Story::lacking(&lack);
    assert_snapshot!(story.click("Send").field("error"), @"the target's window is not in front, \
        and this desktop cannot bring it there: the compositor does not allow it. Nothing was \
        touched. Ask the user to bring it to the front, or use press_ax_and_traverse, \
        set_value_and_traverse or set_selected_and_traverse, which need no window");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
    story.given(|world| world.raise(MAIL_WINDOW));
    story.click("Send");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: New Message, pointer: 900,700");
}

#[test]
fn windows_without_extents_are_chosen_by_their_elements() {
    let mut story = Story::lacking(&[("extents", "Wayland does not report them")]);
    story.click("Send");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
    story.click_at(540, 52);
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton] at (540, 52). 0 added, 0 \
        removed, 1 modified. Settled in _ ms.");
}

#[test]
fn windows_of_unknown_owners_are_put_back_and_are_no_handoffs() {
    let lack = [("pids", "the compositor does not report them")];
    let mut story = Story::lacking(&lack);
    story.click("Send");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
    let mut story = Story::lacking(&lack);
    story.after("click", chooser);
    story.click("Send");
    assert!(!story.text().contains("app_switch"), "{}", story.text());
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Open File, pointer: 900,700");
}

#[test]
fn the_answer_reports_a_missing_guard_and_missing_pictures() {
    let mut story = Story::lacking(&[
        ("guard", "only the compositor could"),
        ("pictures", "the portal was refused"),
    ]);
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    note: the user's input was not blocked: only the compositor could. The user's own keys and clicks may have mixed with the agent's input
    note: no screenshot: the portal was refused
    target: [AXButton] "Send" focused #e5
    focus: "New Message" › [AXButton] "Send" #e5
    text_changes:
      'To' -> 'Sent'
    "##);
    // An answer notes what is lacking only once in a session.
    story.click("Send");
    assert!(!story.text().contains("note: no "), "{}", story.text());
}

#[test]
fn a_click_waits_while_the_person_holds_a_mouse_button() {
    let mut story = Story::new();
    story.given(|world| world.held = true);
    story.after("pointer", |world| world.held = false);
    assert!(!story.click("Send").is_error(), "{}", story.text());
    let mut story = Story::new();
    story.given(|world| world.held = true);
    assert_snapshot!(story.click("Send").outcome(), @r##"
    status: error
    error: the user is holding a mouse button down, and a click would become part of what they are doing. Nothing was sent. Try again in a moment
    pid: 100
    app: Mail
    focus: "New Message"
    "##);
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
    // Keys need no pointer.
    assert!(!story.type_text("bob").is_error(), "{}", story.text());
}

#[test]
fn an_app_that_starts_slowly_is_waited_for() {
    let mut story = Story::new();
    story.script().slow = 2;
    story.script().installed.push(("notes", notes));
    story.open("notes");
    assert_eq!(story.count("progress"), 3);
    assert_snapshot!(story.field("summary"), @"Opened 'notes'. 3 elements, 2 visible. Settled in _ ms.");
}

#[test]
fn an_app_that_is_busy_after_its_start_counts_as_opened() {
    let mut story = Story::new();
    story.script().installed.push(("notes", notes));
    story.after("progress", |world| world.becomes(NOTES, Health::Hung));
    story.open("notes");
    assert_snapshot!(story.outcome(), @r##"
    status: success
    pid: 500
    summary: Opened 'notes'. The app is busy: no answer for _ ms. Call wait_for_and_traverse, which waits longer.
    "##);
}

#[test]
fn a_malformed_reply_fails_its_call_and_keeps_the_connection() {
    let mut story = Story::new();
    story.refresh();
    story.script().garbled = true;
    assert_snapshot!(story.press("Send").field("error"), @"talking to the app: a malformed reply");
    story.script().garbled = false;
    assert!(!story.press("Send").is_error(), "{}", story.text());
    assert_eq!(story.script().connections, 1);
}

#[test]
fn the_call_after_a_lost_connection_reconnects() {
    let mut story = Story::new();
    story.refresh();
    story.given(|world| world.broken = true);
    assert_snapshot!(story.press("Send").field("error"), @"asking the desktop: connection reset. \
        The connection is lost. The next call reconnects");
    assert!(!story.press("Send").is_error(), "{}", story.text());
    assert_eq!(story.script().connections, 2);
}
