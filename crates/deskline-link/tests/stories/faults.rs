//! One story for each fault that was once observed: wrong windows, passwords written down, promises
//! broken.

use deskline_core::{Point, Rect, States};
use deskline_link::Call;
use insta::assert_snapshot;

use crate::script::person;
use crate::story::{
    EDITOR_WINDOW, MAIL, MAIL_WINDOW, MUSIC, MUSIC_WINDOW, Story, click, press_ax, types,
};
use crate::world::Health;

/// A second window of Mail, of the same size and in front of the first.
fn second_window(story: &Story) -> u64 {
    story.given(|world| {
        let line = "[AXButton] \"Push Beta\" x:500 y:40 w:80 h:24";
        let window = world.window(MAIL, "Beta", [0, 0, 600, 400], line);
        world.raise(EDITOR_WINDOW);
        window
    })
}

#[test]
fn a_click_goes_to_the_targets_own_window_even_if_another_covers_it() {
    let mut story = Story::new();
    second_window(&story);
    story.click("Send");
    assert_snapshot!(story.acts(), @"
    grab 'AI: clicking 'Send' in Mail'
    aim 100 2
    activate 2
    click 540,52
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
}

#[test]
fn a_click_at_a_place_goes_to_the_topmost_window_there() {
    let mut story = Story::new();
    second_window(&story);
    story.click_at(540, 52);
    assert_snapshot!(story.field("summary"), @"Clicked 'Push Beta' [AXButton] at (540, 52). 0 \
        added, 0 removed, 1 modified. Settled in _ ms.");
    assert_snapshot!(story.seen(), @"reached: Mail: click Push Beta; front: Notes, pointer: 900,700");
}

#[test]
fn the_active_one_of_two_twin_windows_is_found() {
    let mut story = Story::new();
    second_window(&story);
    story.given(|world| world.twins = Some(MAIL));
    story.click("Send");
    assert_snapshot!(story.acts(), @"
    grab 'AI: clicking 'Send' in Mail'
    aim 100 2
    activate 2
    read 100 showing
    aim 100 2
    click 540,52
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    ");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
}

#[test]
fn a_picture_shows_the_targets_window() {
    let mut story = Story::new();
    second_window(&story);
    story.press("Send");
    let pictures: Vec<String> = story.calls();
    assert!(pictures.contains(&"picture 2".to_owned()), "{pictures:?}");
}

/// The answer's sentence. Neither the answer nor the journal may have the secret.
fn said_of_secret(story: &Story) -> String {
    let message = story.field(if story.is_error() { "error" } else { "summary" });
    for text in [&message, &story.journal()] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    message
}

#[test]
fn a_text_with_a_tab_or_return_is_hidden_as_a_possible_password() {
    let mut story = Story::new();
    story.type_text("alice\thunter2");
    assert_snapshot!(said_of_secret(&story), @"Typed •••. 0 added, 0 removed, 2 modified. Settled in _ ms.");
    let mut story = Story::new();
    story.type_text("alice\nhunter2");
    assert_snapshot!(said_of_secret(&story), @"Typed •••. 0 added, 0 removed, 1 modified. Settled in _ ms.");
}

#[test]
fn text_for_a_form_that_has_closed_is_hidden_as_a_possible_password() {
    let mut story = Story::new();
    story.given(|world| {
        let login = world.window(
            MAIL,
            "Login",
            [0, 0, 300, 200],
            "[AXTextField] \"Key\" x:20 y:80 w:200 h:24 editable secure",
        );
        world.focus(login, 0);
        world.on_return(login, move |world| world.close(login));
    });
    story.click_then("Key", Some("hunter2"), Some("Return"));
    assert_snapshot!(said_of_secret(&story), @"Clicked 'Key' [AXTextField], typed •••, pressed \
        Return. 0 added, 2 removed, 0 modified. Settled in _ ms.");
    assert_snapshot!(story.field("text_changes"), @"");
}

#[test]
fn a_text_for_a_prompt_of_another_process_is_hidden() {
    let mut story = Story::new();
    story.on_press("Send", |world| {
        world.app(400, "Keyring");
        let line = "[AXTextField] \"Key\" x:320 y:340 w:80 h:24 editable secure";
        let prompt = world.window(400, "Unlock", [300, 300, 300, 200], line);
        world.focus(prompt, 0);
    });
    story.click_then("Send", Some("hunter2"), None);
    assert_snapshot!(said_of_secret(&story), @"Clicked 'Send' [AXButton], typed •••. 0 added, 0 \
        removed, 0 modified. Settled in _ ms.");
    assert_snapshot!(story.given(|world| world.reached.join("")), @"Mail: click SendKeyring: \
        hKeyring: uKeyring: nKeyring: tKeyring: eKeyring: rKeyring: 2");
}

#[test]
fn keys_pressed_one_at_a_time_reveal_no_password() {
    let mut story = Story::new();
    story.click("Password");
    story.press_key("h");
    assert_snapshot!(story.field("summary"), @"Pressed •••. 0 added, 0 removed, 1 modified. \
        Settled in _ ms.");
    story.press_key("Return");
    assert_snapshot!(story.field("summary"), @"Pressed Return. 0 added, 0 removed, 1 modified. \
        Settled in _ ms.");
}

#[test]
fn a_text_is_hidden_if_the_app_is_not_read_first() {
    let mut story = Story::new();
    story.options.traverse_before = false;
    story.type_text("hunter2");
    assert_snapshot!(said_of_secret(&story), @"Typed •••. 8 elements, 6 visible. Settled in _ ms.");
}

#[test]
fn a_caption_shows_no_text_that_may_be_a_secret() {
    let mut story = Story::new();
    story.options.show_animation = true;
    story.click_then("Password", Some("hunter2"), None);
    assert!(!story.acts().contains("hunter2"), "{}", story.acts());
    assert_snapshot!(said_of_secret(&story), @"Clicked 'Password' [AXTextField], typed •••. 0 \
        added, 0 removed, 1 modified. Settled in _ ms.");
}

#[test]
fn the_caption_hides_a_text_that_is_typed_after_a_click_on_a_button() {
    let mut story = Story::new();
    story.options.show_animation = true;
    let press = click("Play", Some("hunter2"), None);
    story.run_on(MUSIC, press);
    assert!(!story.acts().contains("hunter2"), "{}", story.acts());
}

/// The window's app has been in front since the previous link.
#[test]
fn a_chain_stays_with_its_app_after_a_menu_was_left_open() {
    let mut story = Story::with_open_menu();
    story.on_press("Play", |_| ());
    story.run_call(&Call::chain(MUSIC, press_ax("Play"), vec![types("x")]));
    story.succeeds();
    assert_eq!(story.reached(), "Mail: click Send, Music: x");
}

/// Text may have reached the app before the panic.
#[test]
fn the_error_after_a_panic_says_that_the_action_may_have_been_done() {
    let mut story = Story::new();
    story.after("type_text", |_| panic!("scripted"));
    story.run(types("x"));
    let error = story.field("error");
    assert!(error.contains("internal error"), "{error}");
    assert!(error.contains("may have been done"), "{error}");
    assert!(!error.contains("Nothing was"), "{error}");
}

#[test]
fn a_panic_while_an_error_is_explained_is_an_error() {
    let mut story = Story::allowing(&["Mail"]);
    story.given(|world| {
        world.raise(MAIL_WINDOW);
        world.on_press("Send", |world| world.close(MAIL_WINDOW));
    });
    story.after("applications", |_| panic!("scripted"));
    story.chain(None, vec![click("Send", None, None), types("x")]);
    story.says("internal error");
}

#[test]
fn an_open_menu_stays_open_after_an_error_in_another_app() {
    let mut story = Story::with_open_menu();
    story.given(|world| world.becomes(MUSIC, Health::Hung));
    story.run_on(MUSIC, press_ax("Play"));
    story.fails();
    story.click("Later");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, Mail: click Later; front: Notes, \
        pointer: 900,700");
}

#[test]
fn an_app_whose_menu_was_left_open_does_not_count_as_the_persons() {
    let mut story = Story::with_open_menu();
    story.run_on(MUSIC, click("Play", None, None));
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, Music: click Play; front: Notes, \
        pointer: 900,700");
}

#[test]
fn a_delayed_restore_happens_when_the_menu_has_closed() {
    let mut story = Story::with_open_menu();
    story.given(|world| {
        world.stack.retain(|w| !w.menu);
        world.pointer = Point { x: 5, y: 5 };
    });
    story.type_text("x");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, Mail: x; front: New Message, pointer: 5,5");
}

#[test]
fn a_delayed_restore_is_dropped_once_the_person_has_switched_windows() {
    let mut story = Story::with_open_menu();
    story.given(|world| world.raise(MUSIC_WINDOW));
    story.click("Inbox");
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, Mail: click Inbox; front: Songs, \
        pointer: 540,52");
}

#[test]
fn an_error_after_the_action_names_the_action_first() {
    let mut story = Story::new();
    story.on_press("Send", |world| world.becomes(MAIL, Health::Hung));
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Clicked 'Send' [AXButton]. The app is busy: no answer for _ ms. Call wait_for_and_traverse, which waits longer.
    effect: unknown
    focus: "New Message"
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Notes, pointer: 900,700");
    let mut story = Story::new();
    story.after("ungrab", person::presses_esc);
    story.click("Send");
    assert_snapshot!(story.field("error"), @"Clicked 'Send' [AXButton]. Cancelled: the user \
        pressed Esc during click_and_traverse");
    let mut story = Story::new();
    story.after("press", |world| world.becomes(MAIL, Health::Dead));
    story.press("Send");
    assert_snapshot!(story.outcome(), @r##"
    summary: Pressed 'Send' [AXButton]. The process ended.
    effect: changed
    "##);
}

#[test]
fn a_press_in_an_app_that_hangs_is_reported_as_possibly_done() {
    let mut story = Story::new();
    story.after("read 100 again", |world| world.becomes(MAIL, Health::Hung));
    story.press("Send");
    assert_snapshot!(story.field("error"), @"Mail (pid 100) does not answer: no reply to an \
        accessibility call within _ ms. It is busy or hung. Call wait_for_and_traverse, which \
        waits longer, or refresh_traversal later. Other apps are not affected. The action may have \
        been done: look before you repeat it");
}

#[test]
fn typing_stops_when_another_window_comes_to_the_front() {
    let mut story = Story::new();
    story.after("half", |world| {
        world.app(400, "Updates");
        world.window(400, "Restart now?", [0, 0, 300, 200], "");
    });
    story.type_text("bob@example.com");
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: the window 'Restart now?' (pid 400) is in front now, so input would no longer reach the target. The first 7 of 15 characters were typed. The action may have been done: look before you repeat it
    pid: 100
    app: Mail
    focus: "New Message"
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: b, Mail: o, Mail: b, Mail: @, Mail: e, Mail: \
        x, Mail: a; front: Restart now?, pointer: 900,700");
}

#[test]
fn a_drag_ends_at_the_present_place_of_its_drop_target() {
    let mut story = Story::new();
    story.after("scroll_into_view", |world| {
        let rect = Rect::at(30, 160, 100, 20);
        let archive = &mut world.node("Archive").unwrap().line;
        archive.extents = Some(rect);
        archive.states |= States::EDITABLE;
    });
    story.drag("Inbox", "Archive");
    assert_snapshot!(story.field("summary"), @"Dragged 'Inbox' [AXStaticText] to 'Archive' \
        [AXStaticText]. 0 added, 0 removed, 2 modified. Settled in _ ms.");
    assert_snapshot!(story.acts(), @"
    grab 'AI: dragging 'Inbox' in Mail'
    aim 100 2
    activate 2
    ungrab
    read 100 whole
    scroll_into_view
    read 100 showing
    read 100 showing
    read 100 whole
    read 100 whole
    grab 'AI: dragging 'Inbox' in Mail'
    aim 100 2
    drag 80,140 80,170
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    ");
}

#[test]
fn a_drag_does_not_end_in_a_window_that_covers_its_drop_target() {
    let mut calm = Story::new();
    let calls = calm.drag("Inbox", "Send").calls();
    let drag = calm.last("drag").unwrap();
    let looked = calls[..drag].iter().rposition(|call| call == "windows");
    let mut story = Story::new();
    story.before(looked.unwrap() + 1, |world| {
        world.window(MAIL, "Popped up", [400, 0, 200, 100], "");
    });
    story.drag("Inbox", "Send");
    assert_snapshot!(story.field("error"), @"the window 'Popped up' covers 'Send' [AXButton], \
        where the drag was to end. Nothing was dragged. Move one of the two windows");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn a_blocked_app_is_not_read_touched_or_named() {
    let mut story = Story::allowing(&["Editor"]);
    story.click("Send");
    assert_snapshot!(story.outcome(), @"
    status: error
    error: Mail (pid 100) is blocked \
        for agents (--allow-app, --deny-app). Allowed are apps named 'Editor'. Nothing was \
        touched. Do not look for a way around
    pid: 100
    ");
    assert_snapshot!(story.acts(), @"
    listen 100
    read 100 again
    rest
    ");
}

#[test]
fn an_app_that_takes_another_name_is_judged_by_its_program() {
    for mut story in [Story::denying("keyring"), Story::allowing(&["Mail"])] {
        story.script().programs.push((MAIL, "keyring"));
        story.click("Send");
        story.says("'keyring'");
        assert!(!story.listed().contains("Mail"), "{}", story.listed());
        assert_eq!(story.given(|world| world.reached.len()), 0);
    }
}

#[test]
fn the_text_after_a_click_does_not_reach_a_blocked_app() {
    let mut story = Story::allowing(&["Mail"]);
    story.on_press("Send", |world| {
        world.app(400, "Terminal");
        world.window(400, "bash", [300, 300, 300, 200], "");
    });
    story.click_then("Send", Some("rm -rf"), None);
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Clicked 'Send' [AXButton]; then: the click brought a blocked app to the front (pid 400), so no key was sent. Allowed are apps named 'Mail'. Look before you repeat it
    pid: 100
    app: Mail
    effect: unknown
    focus: "New Message"
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: bash, pointer: 900,700");
}

#[test]
fn the_title_of_a_blocked_window_is_not_shown() {
    let mut story = Story::allowing(&["Mail"]);
    story.after("activate", |world| {
        let at = [480, 20, 120, 60];
        world.window(MUSIC, "Private song", at, "");
    });
    story.click("Send");
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: a window of pid 300 covers (540, 52), where the input was to go. Nothing was sent there. Use press_ax_and_traverse, which also works on a covered element
    pid: 100
    app: Mail
    focus: "New Message"
    "##);
}

#[test]
fn an_element_re_created_between_calls_keeps_its_ref() {
    let mut story = Story::new();
    story.refresh();
    let before = story.tree_line("\"Send\"");
    assert!(before.contains(" #e"), "{before}");
    story.given(|world| world.node("Send").unwrap().id = "re-created".into());
    story.refresh();
    assert_eq!(story.tree_line("\"Send\""), before);
    assert_eq!(story.field("late_changes"), "");
    story.press("Send");
    story.succeeds();
}

#[test]
fn an_app_that_does_not_answer_is_not_listened_to_afterwards() {
    let mut story = Story::new();
    story.given(|world| world.becomes(MAIL, Health::Hung));
    story.click("Send");
    story.fails();
    assert!(!story.script().listening);
}

#[test]
fn a_grab_that_panics_after_taking_the_devices_is_released() {
    let mut story = Story::new();
    story.after("grab", |_| std::panic::resume_unwind(Box::new("scripted")));
    story.click("Send");
    assert_snapshot!(story.field("error"), @"an internal error of Deskline: scripted. The desktop \
        was put back. Please report it");
    assert!(!story.given(|world| world.guarded));
}

#[test]
fn without_a_guard_no_key_reaches_a_window_that_the_person_switches_to() {
    let mut story = Story::new();
    story.script().unable = Some("the script says so");
    story.after("click", person::switches_to(MUSIC_WINDOW));
    story.click_then("Send", None, Some("Return"));
    story.fails();
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Songs, pointer: 900,700");
}
