//! One story for each sentence about the transaction.

use std::time::Duration;

use deskline_core::Point;
use deskline_link::call::Awaited;
use insta::assert_snapshot;

use crate::script::person;
use crate::story::{MAIL, MAIL_WINDOW, MUSIC_WINDOW, Story, opens_menu, scrolls};
use crate::world::{Health, World};

#[test]
fn a_click_resolves_locks_acts_settles_and_restores_in_this_order() {
    let mut story = Story::new();
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
    watch_person
    front
    every_window
    windows
    front
    popup_open
    pointer
    grab 'AI: clicking 'Send' in Mail'
    aim 100 2
    front
    every_window
    activate 2
    front
    picture 2
    windows
    windows
    pointer
    click 540,52
    windows
    front
    pointer
    ungrab
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
    popup_open
    release_all
    rest
    pointer
    move_pointer 900,700
    front
    activate 3
    unwatch_person
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
}

/// Otherwise the person's next keys would go into the dialog.
#[test]
fn the_persons_window_comes_back_over_a_dialog_from_a_quiet_press() {
    for menu in [false, true] {
        let mut story = Story::new();
        let front = story.front();
        story.on_press("Send", move |world| {
            world.window(MAIL, "Really?", [50, 20, 400, 300], "");
            if menu {
                opens_menu(world);
            }
        });
        story.press("Send");
        story.succeeds();
        assert_eq!(story.front() == front, !menu, "{}", story.text());
    }
}

#[test]
fn nothing_is_touched_if_the_target_is_not_found() {
    let mut story = Story::new();
    story.click("Sned");
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: no element matches 'Sned'. Nearest: "Send" [AXButton] #e5, "Password" [AXTextField] #e4, "New Message" [AXWindow] #e2. Nothing was touched. Search the file of this answer
    pid: 100
    app: Mail
    focus: "New Message"
    "##);
    assert_snapshot!(story.acts(), @"
    listen 100
    read 100 again
    rest
    ");
}

#[test]
fn a_change_between_two_links_is_reported_as_late() {
    let mut story = Story::new();
    story.refresh();
    story.given(|world| world.node("To").unwrap().value = "bob".into());
    story.press("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Pressed 'Send' [AXButton]. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXButton] "Send" #e5
    focus: "New Message"
    late_changes: 1 modified since the last answer
      [AXTextField] "To" (20,40 300×24) value:"bob" #e3
    text_changes:
      'bob' -> ''
      'To' -> 'Sent'
    "##);
}

#[test]
fn quiet_actions_take_no_input_lock_and_raise_no_window() {
    let mut story = Story::new();
    story.set_value("To", "bob@example.com");
    assert_snapshot!(story.outcome(), @r##"
    summary: Set 'To' [AXTextField] to 'bob@example.com'. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXTextField] "To" editable value:"bob@example.com" #e3
    focus: "New Message"
    text_changes:
      '' -> 'bob@example.com'
    "##);
    assert_snapshot!(story.acts(), @"
    set_value
    read 100 again
    read 100 again
    rest
    ");
    assert_snapshot!(story.press("Send").acts(), @"
    press
    read 100 again
    ");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn a_click_a_text_and_a_key_make_one_link_with_one_diff() {
    let mut story = Story::new();
    story.given(|world| {
        world.on_return(MAIL_WINDOW, |world| {
            world.node("Send").unwrap().says("Sending");
        });
    });
    story.click_then("To", Some("bob"), Some("Return"));
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'To' [AXTextField], typed 'bob', pressed Return. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    target: [AXTextField] "To" focused editable value:"bob" #e3
    focus: "New Message" › [AXTextField] "To" #e3
    text_changes:
      '' -> 'bob'
      'Send' -> 'Sending'
    "##);
    assert_snapshot!(story.acts(), @"
    grab 'AI: clicking 'To' in Mail'
    aim 100 2
    activate 2
    click 170,52
    read 100 showing
    read 100 showing
    aim 100 2
    type_text
    read 100 showing
    read 100 showing
    press_key Return
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click To, Mail: b, Mail: o, Mail: b, Mail: ⏎; \
        front: Notes, pointer: 900,700");
}

#[test]
fn a_target_that_is_scrolled_away_is_brought_into_view_first() {
    let mut story = Story::new();
    story.after("scroll_into_view", |world| {
        let archive = world.node("Archive").unwrap();
        archive.line.extents.as_mut().unwrap().y = 160;
    });
    story.click("Archive");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Archive' [AXStaticText]. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: nothing
    target: [AXStaticText] "Archive" focused #e8
    focus: "New Message" › [AXStaticText] "Archive" #e8
    visible_elements:
      [AXStaticText] "Archive" (30,160 100×20) focused #e8
    "##);
    assert_snapshot!(story.acts(), @"
    grab 'AI: clicking 'Archive' in Mail'
    aim 100 2
    activate 2
    ungrab
    scroll_into_view
    read 100 showing
    read 100 showing
    read 100 whole
    grab 'AI: clicking 'Archive' in Mail'
    aim 100 2
    read 100 showing
    click 80,170
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    ");
}

#[test]
fn a_window_in_front_stays_there_and_no_window_is_raised() {
    let mut story = Story::new();
    story.given(|world| world.raise(MAIL_WINDOW));
    story.click("Send");
    assert_snapshot!(story.acts(), @"
    grab 'AI: clicking 'Send' in Mail'
    aim 100 2
    click 540,52
    ungrab
    read 100 again
    move_pointer 900,700
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: New Message, pointer: 900,700");
}

/// A dialog of another process, like file choosers.
pub(crate) fn chooser(world: &mut World) {
    world.app(400, "File Chooser");
    let lines = "[AXButton] \"Open\" x:320 y:340 w:80 h:24";
    world.window(400, "Open File", [300, 300, 300, 200], lines);
}

#[test]
fn after_a_handoff_the_new_app_is_read_and_nothing_is_put_back() {
    let mut story = Story::new();
    story.on_press("Send", chooser);
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. 0 added, 0 removed, 0 modified. Settled in _ ms.
    effect: changed
    target: [AXButton] "Send" #e5
    focus: "Open File"
    app_switch: File Chooser (PID: 400) is now frontmost
    app_switch_elements: 3 total, 2 visible
    app_switch_visible_elements:
      [AXButton] "Open" (320,340 80×24) #e11
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Open File, pointer: 540,52");
}

#[test]
fn a_window_that_the_person_switches_to_is_no_handoff_and_is_not_read() {
    let mut story = Story::new();
    story.after("ungrab", person::switches_to(MUSIC_WINDOW));
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXButton] "Send" #e5
    focus: "New Message"
    text_changes:
      'To' -> 'Sent'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Songs, pointer: 900,700");
    // The same on a desktop that does not report what the person presses.
    let mut story = Story::new();
    story.script().watches = false;
    story.after("ungrab", person::switches_to(MUSIC_WINDOW));
    story.click("Send");
    assert!(!story.text().contains("Music"), "{}", story.text());
    assert_eq!(story.count("read 300"), 0);
}

#[test]
fn the_persons_keys_reach_no_app_until_their_window_is_back() {
    let settling = || {
        let story = Story::new();
        story.script().holds_on = true;
        story
    };
    let mut story = settling();
    story.after("wait_for_change", person::types);
    story.click("Send");
    let seen = story.seen();
    assert_eq!(
        seen,
        "reached: Mail: click Send; front: Notes, pointer: 900,700"
    );
    assert_eq!(story.given(|world| world.kept_out), 1);
    assert!(
        story.last("ungrab") > story.last("activate 3"),
        "{}",
        story.acts()
    );
    assert!(story.journal().contains("guard_held_ms"));

    // The person's devices are released while an app takes long to settle, and after an error.
    let mut story = settling();
    story.after("wait_for_change", |world| {
        deskline_input::clock::pass(Duration::from_millis(1_050));
        world.node("Inbox").unwrap().says("Inbox (1)");
    });
    story.after("ungrab", person::types);
    story.click("Send");
    assert!(story.seen().contains("Mail: p"), "{}", story.seen());
    let mut story = settling();
    story.after("wait_for_change", person::presses_esc);
    story.after("ungrab", person::types);
    story.click("Send");
    assert!(story.is_error() && story.seen().contains("Mail: p"));

    // The app's own window was in front: nothing is put back.
    let mut story = settling();
    story.given(|world| world.raise(MAIL_WINDOW));
    story.after("wait_for_change", person::types);
    story.click("Send");
    assert!(story.seen().contains("Mail: p"), "{}", story.seen());
}

#[test]
fn a_panic_at_any_step_gives_the_devices_back_to_the_person() {
    for step in 1..60 {
        let mut story = Story::new();
        story.script().holds_on = true;
        story.before(step, |_| std::panic::resume_unwind(Box::new("scripted")));
        story.click("Send");
        let calls = story.calls().join("\n");
        assert!(!story.given(|world| world.guarded), "step {step}: {calls}");
    }
}

#[test]
fn a_click_follows_a_window_that_has_moved_since_its_app_was_read() {
    for call in ["read", "activate"] {
        let mut story = Story::new();
        story.after(call, |world| {
            let window = world.stack.iter_mut().find(|w| w.id == MAIL_WINDOW);
            let window = window.unwrap();
            let places = window
                .nodes
                .iter_mut()
                .filter_map(|n| n.line.extents.as_mut());
            for place in places.chain([&mut window.at]) {
                place.y += 120;
            }
        });
        story.click("Send");
        let seen = story.seen();
        assert!(seen.contains("Mail: click Send"), "{call}: {seen}");
    }
}

#[test]
fn a_link_that_only_waits_reports_no_handoff() {
    let mut story = Story::new();
    story.after("wait_for_change", |world| {
        chooser(world);
        world.node("To").unwrap().says("Recipient");
    });
    story.wait_for("Recipient", Awaited::Present, 2_000);
    assert_snapshot!(story.outcome(), @r##"
    summary: 'Recipient' [AXTextField] is present after _ ms. 0 added, 0 removed, 1 modified. Settled in _ ms.
    target: [AXTextField] "Recipient" editable #e3
    focus: "New Message"
    text_changes:
      'To' -> 'Recipient'
    "##);
    assert_snapshot!(story.acts(), @"
    read 100 whole
    read 100 whole
    read 100 again
    ");
}

#[test]
fn the_pointer_is_put_back_only_if_the_person_has_not_used_it() {
    let mut story = Story::new();
    story.after("ungrab", person::moves(50, 50));
    assert_snapshot!(story.click("Send").seen(), @"reached: Mail: click Send; front: Notes, pointer: 50,50");
    let mut story = Story::new();
    story.after("ungrab", |world| world.held = true);
    assert_snapshot!(story.click("Send").seen(), @"reached: Mail: click Send; front: Notes, pointer: 540,52");
}

#[test]
fn keys_alone_do_not_touch_the_pointer() {
    let mut story = Story::new();
    story.after("ungrab", person::moves(50, 50));
    story.type_text("bob");
    assert_snapshot!(story.acts(), @"
    grab 'AI: typing in Mail'
    aim 100 2
    activate 2
    read 100 showing
    type_text
    ungrab
    read 100 again
    activate 3
    read 100 again
    rest
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: b, Mail: o, Mail: b; front: Notes, pointer: 50,50");
}

#[test]
fn an_open_menu_delays_the_restore_until_the_link_that_closes_it() {
    let mut story = Story::with_open_menu();
    assert_snapshot!(story.acts(), @"
    grab 'AI: clicking 'Send' in Mail'
    aim 100 2
    activate 2
    click 540,52
    ungrab
    read 100 again
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: New Message, pointer: 540,52");
    story.click("Later");
    assert_snapshot!(story.acts(), @"
    aim 100 any
    grab 'AI: clicking 'Later' in Mail'
    click 550,80
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, Mail: click Later; front: Notes, \
        pointer: 900,700");
}

#[test]
fn the_pointer_stays_where_the_person_moves_it_beside_a_menu() {
    let mut story = Story::with_open_menu();
    story.given(|world| world.pointer = Point { x: 50, y: 50 });
    assert_snapshot!(story.click("Later").seen(), @"reached: Mail: click Send, Mail: click Later; \
        front: Notes, pointer: 50,50");
}

#[test]
fn esc_stops_the_text_and_restores_the_desktop() {
    let mut story = Story::new();
    story.after("half", person::presses_esc);
    story.type_text("secret words");
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Cancelled: the user pressed Esc during type_and_traverse. Some of the input may have arrived. Call refresh_traversal to see
    pid: 100
    app: Mail
    focus: "New Message"
    "##);
    assert_snapshot!(story.acts(), @"
    grab 'AI: typing in Mail'
    aim 100 2
    activate 2
    read 100 showing
    type_text
    ungrab
    release_all
    rest
    activate 3
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: s, Mail: e, Mail: c, Mail: r, Mail: e, Mail: \
        t; front: Notes, pointer: 900,700");
}

#[test]
fn a_link_is_one_line_of_the_journal_with_its_answer() {
    let mut story = Story::new();
    story.click_then("To", Some("bob"), None);
    let line: serde_json::Value = serde_json::from_str(story.journal().trim()).unwrap();
    for name in [
        "tool",
        "pid",
        "app",
        "outcome",
        "arguments",
        "diff",
        "guard_held_ms",
    ] {
        assert!(!line[name].is_null(), "no {name}: {line}");
    }
    assert_snapshot!(line["arguments"], @r#"{"text":"bob"}"#);
}

#[test]
fn refresh_only_reads_and_touches_nothing() {
    let mut story = Story::new();
    story.refresh();
    assert_snapshot!(story.outcome(), @r##"
    summary: Read the tree. 8 elements, 6 visible.
    focus: "New Message"
    visible_elements:
      [AXTextField] "To" (20,40 300×24) #e3
      [AXTextField] "Password" (20,80 300×24) secure #e4
      [AXButton] "Send" (500,40 80×24) #e5
      [AXStaticText] "Inbox" (30,130 100×20) #e7
    "##);
    assert_snapshot!(story.calls().join("\n"), @"
    read 100 whole
    windows
    picture 2
    rest
    ");
}

#[test]
fn a_scroll_turns_the_wheel_at_its_place_and_puts_the_pointer_back() {
    let mut story = Story::new();
    story.run(scrolls(3, None));
    assert_snapshot!(story.field("summary"), @"Scrolled by (0, 3) lines at (100, 150). 0 added, 0 \
        removed, 1 modified. Settled in _ ms.");
    assert_snapshot!(story.acts(), @"
    grab 'AI: scrolling in Mail'
    aim 100 2
    activate 2
    scroll 100,150 3
    ungrab
    read 100 again
    read 100 again
    move_pointer 900,700
    activate 3
    ");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn the_answer_reports_that_the_persons_input_was_not_blocked() {
    let mut story = Story::new();
    story.script().unable = Some("the display is Xwayland's");
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    note: the user's input was not blocked: the display is Xwayland's. The user's own keys and clicks may have mixed with the agent's input
    target: [AXButton] "Send" focused #e5
    focus: "New Message" › [AXButton] "Send" #e5
    text_changes:
      'To' -> 'Sent'
    "##);
}

#[test]
fn the_end_of_the_app_counts_as_the_actions_effect() {
    let mut story = Story::new();
    story.on_press("Send", |world| world.becomes(MAIL, Health::Dead));
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. The process ended.
    effect: changed
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
}

/// The label belongs to the combo box, the value to the text field in it.
#[test]
fn the_value_of_an_editable_combo_box_goes_into_its_text_field() {
    let mut story = Story::new();
    story.given(|world| {
        let lines = r#"[AXComboBox] "Search for:" x:20 y:440 w:300 h:24
                         [AXTextField] x:20 y:440 w:280 h:24 editable"#;
        world.window(MAIL, "Find", [0, 420, 400, 100], lines);
    });
    story.set_value("Search for:", "eggs");
    assert_snapshot!(story.outcome(), @r##"
    summary: Set 'Search for:' [AXComboBox] to 'eggs'. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXTextField] "eggs" editable #e11
    focus: "Find"
    windows: "Find" #e9 (front), "New Message" #e2
    text_changes:
      '' -> 'eggs'
    "##);
}
