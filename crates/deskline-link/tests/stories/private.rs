//! Stories of a private desktop: nobody sits there, so nothing is guarded and nothing is put back.

use insta::assert_snapshot;

use crate::story::{EDITOR_WINDOW, Story};
use crate::world::World;

#[test]
fn a_click_makes_only_the_calls_to_resolve_act_and_settle() {
    let mut story = Story::alone();
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    target: [AXButton] "Send" focused #e5
    focus: "New Message" › [AXButton] "Send" #e5
    text_changes:
      'To' -> 'Sent'
    "##);
    assert_snapshot!(story.calls().join("\n"), @"
    listen 100
    read 100 again
    front
    every_window
    windows
    front
    popup_open
    aim 100 2
    front
    activate 2
    front
    picture 2
    windows
    windows
    click 540,52
    windows
    front
    every_window
    computed
    wait_for_change
    wait_for_change
    computed
    read 100 again
    handoff_pending
    wait_for_change
    front
    windows
    front
    windows
    picture 2
    release_all
    rest
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: New Message, pointer: 540,52");
}

#[test]
fn the_target_stays_in_front_even_after_an_error() {
    let mut story = Story::alone();
    story.click("Send").click("Receive");
    story.fails();
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: New Message, pointer: 540,52");
}

/// The editor was in front before, but no person has put it there.
#[test]
fn a_handoff_to_the_app_that_was_in_front_before_is_reported() {
    let mut story = Story::alone();
    let raises = |world: &mut World| world.raise(EDITOR_WINDOW);
    story.after("click", raises).click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXButton] "Send" #e5
    focus: "Notes" › [AXTextArea] "Text" #e11
    text_changes:
      'To' -> 'Sent'
    app_switch: Editor (PID: 200) is now frontmost
    app_switch_elements: 3 total, 2 visible
    app_switch_visible_elements:
      [AXTextArea] "Text" (310,240 580×340) focused #e11
    "##);
}

#[test]
fn set_value_reports_no_handoff_to_the_app_in_front() {
    let mut story = Story::alone();
    story.set_value("To", "ann@example.org");
    assert_eq!(story.field("app_switch"), "");
}

#[test]
fn text_goes_to_the_window_that_the_click_brought_to_the_front() {
    let mut story = Story::alone();
    story.click_then("To", Some("ann"), None);
    assert_snapshot!(story.seen(), @"reached: Mail: click To, Mail: a, Mail: n, Mail: n; front: \
        New Message, pointer: 170,52");
}
