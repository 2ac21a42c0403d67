//! Chains: several steps, one checkpoint, one diff, one restore.

use deskline_core::KeyPress;
use deskline_link::call::Typing;
use deskline_link::{Action, Target};
use insta::assert_snapshot;

use crate::script::person;
use crate::story::{
    EDITOR_WINDOW, MAIL, MAIL_WINDOW, MUSIC_WINDOW, Story, click, press_ax, presses, types,
};
use crate::transaction::chooser;
use crate::world::World;

#[test]
fn a_chain_is_one_link_with_one_diff_and_one_restore() {
    let mut story = Story::new();
    let steps = vec![click("To", Some("bob"), None), press_ax("Send")];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 2 of 2 steps. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Clicked 'To' [AXTextField], typed 'bob'; effect: changed
      2 done: Pressed 'Send' [AXButton]; effect: changed
    target: [AXButton] "Send" #e5
    focus: "New Message" › [AXTextField] "Sent" #e3
    text_changes:
      'To' -> 'Sent'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click To, Mail: b, Mail: o, Mail: b; front: \
        Notes, pointer: 900,700");
    assert_snapshot!(story.acts(), @r##"
    grab 'AI: clicking 'To' in Mail'
    aim 100 2
    activate 2
    click 170,52
    read 100 showing
    read 100 showing
    aim 100 2
    type_text
    ungrab
    read 100 again
    press
    read 100 again
    move_pointer 900,700
    activate 3
    "##);
}

#[test]
fn the_first_step_that_fails_ends_the_chain_and_the_steps_done_are_listed() {
    let mut story = Story::new();
    let steps = vec![
        click("To", Some("bob"), None),
        press_ax("Attach"),
        press_ax("Send"),
        presses("Return"),
    ];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Did 1 of 4 steps. Step 2: no element matches 'Attach'. Nearest: "To" [AXTextField] #e3, "Password" [AXTextField] #e4, "Send" [AXButton] #e5. Nothing was touched. Search the file of this answer
    pid: 100
    app: Mail
    summary: Did 1 of 4 steps. 0 added, 0 removed, 1 modified.
    effect: changed
    steps:
      1 done: Clicked 'To' [AXTextField], typed 'bob'; effect: changed
      2 failed: see error
      3-4 not done
    focus: "New Message" › [AXTextField] "To" #e3
    text_changes:
      '' -> 'bob'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click To, Mail: b, Mail: o, Mail: b; front: \
        Notes, pointer: 900,700");
}

#[test]
fn each_run_of_a_repeated_step_finds_its_target_anew() {
    let mut story = Story::new();
    let steps = || vec![presses("Down"), press_ax("Send"), presses("Return")];
    story.repeated_chain(None, steps(), &[3, 2, 1]);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 3 of 3 steps. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done 3 times: Pressed Down; effect: changed
      2 done 2 times: Pressed 'Send' [AXButton]; effect: unknown
      3 done: Pressed Return; effect: changed
    target: [AXTextField] "Sent" focused editable #e3
    focus: "New Message" › [AXTextField] "Sent" #e3
    text_changes:
      '' -> '\n'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: ·, Mail: ·, Mail: ·, Mail: ⏎; front: Notes, \
        pointer: 900,700");

    // The button disappears once it has been pressed.
    let mut story = Story::new();
    let vanishes = |world: &mut World| {
        for window in &mut world.stack {
            window.nodes.retain(|node| node.text() != "Send");
        }
    };
    story.on_press("Send", vanishes);
    story.repeated_chain(None, steps(), &[1, 4, 1]);
    story.says("error: Did 1 of 3 steps. Step 2, run 2 of 4: no element matches 'Send'.");
    story.says(
        "\n  1 done: Pressed Down; effect: changed\
         \n  2 failed in run 2 of 4: see error\
         \n  3 not done\n",
    );
}

#[test]
fn a_chain_whose_first_step_fails_touches_nothing() {
    let mut story = Story::new();
    story.chain(None, vec![press_ax("Attach"), press_ax("Send")]);
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Step 1 of 2: no element matches 'Attach'. Nearest: "To" [AXTextField] #e3, "Password" [AXTextField] #e4, "Send" [AXButton] #e5. Nothing was touched. Search the file of this answer
    pid: 100
    app: Mail
    steps:
      1 failed: see error
      2 not done
    focus: "New Message"
    "##);
    assert_snapshot!(story.acts(), @r##"
    listen 100
    read 100 again
    rest
    "##);
}

/// `Send` opens a file chooser of another process, and a button in the chooser closes it again.
fn attaches(world: &mut World) {
    world.on_press("Send", |world| {
        chooser(world);
        world.on_press("Open", |world| {
            let chooser = world.stack[0].id;
            world.close(chooser);
            world.raise(MAIL_WINDOW);
        });
    });
}

#[test]
fn steps_act_in_a_window_that_a_step_opens_and_then_in_the_app_again() {
    let mut story = Story::new();
    story.given(attaches);
    let steps = vec![
        click("Send", None, None),
        click("Open", None, None),
        click("To", Some("bob"), None),
    ];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 3 of 3 steps. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Clicked 'Send' [AXButton] → File Chooser came to the front; effect: changed
      2 done: Clicked 'Open' [AXButton] → Mail came to the front; effect: changed
      3 done: Clicked 'To' [AXTextField], typed 'bob'; effect: changed
    target: [AXTextField] "To" focused editable value:"bob" #e3
    focus: "New Message" › [AXTextField] "To" #e3
    text_changes:
      '' -> 'bob'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, File Chooser: click Open, Mail: \
        click To, Mail: b, Mail: o, Mail: b; front: Notes, pointer: 900,700");
}

#[test]
fn a_chain_may_end_in_the_app_that_came_to_the_front() {
    let mut story = Story::new();
    story.given(attaches);
    let steps = vec![click("Send", None, None), types("x")];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 2 of 2 steps. 0 added, 0 removed, 0 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Clicked 'Send' [AXButton] → File Chooser came to the front; effect: changed
      2 done: Typed 'x'; effect: nothing
    focus: "Open File"
    app_switch: File Chooser (PID: 400) is now frontmost
    app_switch_elements: 3 total, 2 visible
    app_switch_visible_elements:
      [AXButton] "Open" (320,340 80×24) #e11
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, File Chooser: x; front: Open File, \
        pointer: 540,52");
}

#[test]
fn a_chain_that_names_a_window_also_acts_in_what_its_steps_open() {
    let mut story = Story::new();
    story.given(attaches);
    let steps = vec![
        click("Send", None, None),
        click("Open", None, None),
        types("bob"),
    ];
    story.chain(Some("new mess"), steps);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 3 of 3 steps. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Clicked 'Send' [AXButton] → File Chooser came to the front; effect: changed
      2 done: Clicked 'Open' [AXButton] → Mail came to the front; effect: changed
      3 done: Typed 'bob'; effect: nothing
    focus: "New Message" › [AXButton] "Send" #e5
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, File Chooser: click Open, Mail: b, \
        Mail: o, Mail: b; front: Notes, pointer: 900,700");
}

/// `Send` opens a dialog of Mail itself, and a button in the dialog closes it again. Meanwhile the
/// window gets another title.
fn asks(world: &mut World) {
    let other = r#"[AXTextField] "Search" x:20 y:440 w:300 h:24 editable"#;
    world.window(MAIL, "Find", [0, 420, 400, 100], other);
    world.on_press("Send", |world| {
        let lines = r#"[AXTextField] "Name" x:720 y:340 w:100 h:24 editable
                       [AXButton] "Keep 2007" x:720 y:380 w:80 h:24"#;
        let id = world.window(MAIL, "Keep Format?", [700, 300, 200, 200], lines);
        world.focus(id, 0);
        world.on_press("Keep 2007", move |world| {
            world.close(id);
            world.raise(MAIL_WINDOW);
            world.retitle(MAIL_WINDOW, "Draft");
        });
    });
}

#[test]
fn the_next_steps_go_to_a_dialog_that_a_step_opens_until_it_closes() {
    let mut story = Story::new();
    story.given(asks);
    let steps = vec![
        click("Send", None, None),
        types("x"),
        click("Keep", None, None),
        types("bob"),
    ];
    story.chain(Some("new mess"), steps);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 4 of 4 steps. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Clicked 'Send' [AXButton] → opened 'Keep Format?' [AXWindow]; effect: changed
      2 done: Typed 'x'; effect: changed
      3 done: Clicked 'Keep 2007' [AXButton] → closed 'Keep Format?' [AXWindow]; The text is only a part of the element's text; effect: changed
      4 done: Typed 'bob'; effect: nothing
    focus: "Draft" › [AXButton] "Send" #e5
    windows: "Draft" #e2 (front), "Find" #e9
    text_changes:
      'New Message' -> 'Draft'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send, Mail: x, Mail: click Keep 2007, \
        Mail: b, Mail: o, Mail: b; front: Find, pointer: 900,700");
}

#[test]
fn the_error_names_the_other_window_that_contains_the_element() {
    let mut story = Story::new();
    story.given(asks);
    story.chain(Some("new mess"), vec![click("Search", None, None)]);
    assert_snapshot!(story.field("error"), @"Step 1 of 1: no element matches 'Search' in \"New \
        Message\" [AXWindow] #e2. It is in another window: \"Find\" [AXWindow] #e9. Nothing was \
        touched. Pass that window's ref or title as window, or leave window out");
}

#[test]
fn a_blocked_app_gets_no_step() {
    let mut story = Story::allowing(&["Mail"]);
    story.given(attaches);
    let steps = vec![click("Send", None, None), types("hello")];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Did 1 of 2 steps. Step 2: File Chooser (pid 400) is blocked for agents (--allow-app, --deny-app). Allowed are apps named 'Mail'. Nothing was touched. Do not look for a way around
    pid: 100
    app: Mail
    summary: Did 1 of 2 steps. 0 added, 0 removed, 0 modified.
    effect: changed
    steps:
      1 done: Clicked 'Send' [AXButton]; effect: nothing
      2 failed: see error
    note: the app now in front was not read: File Chooser (pid 400) is blocked for agents (--allow-app, --deny-app). Allowed are apps named 'Mail'. Nothing was…
    focus: "New Message"
    app_switch: another app (PID: 400) is now frontmost
    app_switch_elements: 0 total, 0 visible
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click Send; front: Open File, pointer: 540,52");
}

#[test]
fn keys_go_to_the_window_that_the_call_names() {
    let mut story = Story::new();
    story.given(|world| {
        let field = r#"[AXTextField] "Search" x:20 y:440 w:300 h:24 editable"#;
        let id = world.window(MAIL, "Find", [0, 420, 400, 100], field);
        world.focus(id, 0);
    });
    story.chain(Some("New Message"), vec![types("bob"), types("by")]);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 2 of 2 steps. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Typed 'bob'; effect: changed
      2 done: Typed 'by'; effect: changed
    target: [AXTextField] "To" focused editable value:"bobby" #e3
    focus: "New Message" › [AXTextField] "To" #e3
    windows: "New Message" #e2 (front), "Find" #e9
    text_changes:
      '' -> 'bobby'
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: b, Mail: o, Mail: b, Mail: b, Mail: y; front: \
        Find, pointer: 900,700");
    story.chain(Some("Drafts"), vec![types("x")]);
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Step 1 of 1: Mail (pid 100) shows no window 'Drafts'. It shows "Find" #e9 (front), "New Message" #e2. Nothing was touched. Pass a part of a title, or the ref of a window
    pid: 100
    app: Mail
    steps:
      1 failed: see error
    focus: "Find" › [AXTextField] "Search" #e10
    windows: "Find" #e9 (front), "New Message" #e2
    "##);
}

#[test]
fn a_typed_text_is_hidden_if_it_is_unknown_which_field_got_it() {
    let mut story = Story::new();
    let steps = vec![
        click("To", Some("alice"), None),
        click("Password", Some("hunter2"), None),
        press_ax("Attach"),
        types("never"),
    ];
    story.chain(None, steps);
    let (message, journal) = (story.outcome(), story.journal());
    for text in [&message, &journal] {
        assert!(
            !text.contains("hunter2") && !text.contains("never"),
            "{text}"
        );
        assert!(text.contains("alice") && text.contains("•••"), "{text}");
    }
}

#[test]
fn esc_ends_a_chain_and_puts_everything_back() {
    let mut story = Story::new();
    story.after("press", person::presses_esc);
    let steps = vec![click("To", Some("bob"), None), press_ax("Send"), types("x")];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    status: error
    error: Did 1 of 3 steps. Step 2: Pressed 'Send' [AXButton]. Cancelled: the user pressed Esc during chain_and_traverse
    pid: 100
    app: Mail
    summary: Did 1 of 3 steps.
    effect: changed
    steps:
      1 done: Clicked 'To' [AXTextField], typed 'bob'; effect: changed
      2 failed: see error
      3 not done
    focus: "New Message" › [AXTextField] "To" #e3
    "##);
    assert_snapshot!(story.seen(), @"reached: Mail: click To, Mail: b, Mail: o, Mail: b; front: \
        Notes, pointer: 900,700");
    // Late changes are the changes since the tree in that answer's file, in which step 1 is done.
    story.refresh();
    let file = std::fs::read_to_string(story.field("file")).unwrap();
    let late: Vec<&str> = file.lines().filter(|l| l.starts_with("late ")).collect();
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(late[0].contains(r#"AXValue: "bob" -> """#), "{late:?}");
}

/// Another window of Mail, behind the person's, that Send brings to the front.
fn with_another_window() -> Story {
    let story = Story::new();
    story.given(|world| {
        let field = r#"[AXTextField] "Cc" x:60 y:60 w:200 h:24 editable"#;
        let other = world.window(MAIL, "Another Message", [50, 20, 400, 300], field);
        world.raise(MAIL_WINDOW);
        world.raise(EDITOR_WINDOW);
        world.on_press("Send", move |world| world.raise(other));
    });
    story
}

#[test]
fn keys_go_to_the_window_that_was_clicked_or_nowhere() {
    let why = "came to the front, but the last input of this call went to another window of the \
        app. So no key was sent. Pass window 'Another Message'";
    let mut story = with_another_window();
    story.click_then("Send", None, Some("Return"));
    story.fails();
    story.says(why);
    assert!(!story.seen().contains('⏎'), "{}", story.seen());

    let mut story = with_another_window();
    story.chain(None, vec![click("Send", None, None), types("hello")]);
    story.fails();
    story.says(why);
    story.says("Did 1 of 2 steps");
    assert!(!story.seen().contains("Mail: h"), "{}", story.seen());

    // A dialog that was open behind and comes to the front is an effect of the click.
    let mut story = with_another_window();
    story.given(|world| {
        world.window(MAIL, "Find", [50, 20, 400, 300], "");
        let found = world.stack[0].id;
        world.dialogs.push(found);
        world.raise(MAIL_WINDOW);
        world.raise(EDITOR_WINDOW);
        world.on_press("Send", move |world| world.raise(found));
    });
    story.click_then("Send", None, Some("Return"));
    assert!(story.seen().contains("Mail: ⏎"), "{}", story.text());

    // Keys go to a window that the click has opened.
    let mut story = Story::new();
    story.on_press("Send", |world| {
        world.window(MAIL, "Really?", [50, 20, 400, 300], "");
    });
    story.click_then("Send", None, Some("Return"));
    story.succeeds();
    assert!(story.seen().contains("Mail: ⏎"), "{}", story.seen());
}

/// A click on Mail's field `To`, by the ref that an answer gave the field.
fn click_by_ref(story: &mut Story) -> impl Fn() -> Action + use<> {
    story.refresh();
    let line: deskline_core::Line = story.tree_line("\"To\"").trim().parse().unwrap();
    let target = Target::Ref(line.reference.unwrap());
    move || Action::click(target.clone(), Typing::default())
}

#[test]
fn a_ref_is_not_moved_to_an_element_of_another_window() {
    let mut story = Story::new();
    let by_ref = click_by_ref(&mut story);
    story.given(|world| {
        let node = world.node("To").unwrap();
        node.id = "2/other".into();
        node.says("From");
        let field = r#"[AXTextField] "To" x:60 y:60 w:200 h:24 editable"#;
        world.window(MAIL, "Reply", [50, 20, 400, 300], field);
    });
    story.run(by_ref());
    story.says("is stale");
}

#[test]
fn a_ref_stays_good_if_the_app_re_creates_its_element() {
    let mut story = Story::new();
    let by_ref = click_by_ref(&mut story);
    let anew = |world: &mut World, id: &str| {
        let node = world.node("To").unwrap();
        node.id = id.into();
        node.value += "b";
    };
    story.on_press("Send", move |world| anew(world, "2/anew"));
    story.chain(None, vec![press_ax("Send"), by_ref()]);
    story.succeeds();
    story.given(|world| anew(world, "2/again"));
    story.run(by_ref());
    story.succeeds();
    let clicks = story.seen().matches("Mail: click To").count();
    assert_eq!(clicks, 2, "{}", story.seen());
    // If two elements look alike, neither counts as the earlier one.
    story.given(|world| {
        anew(world, "2/third");
        world.node("Password").unwrap().says("To");
    });
    story.run(by_ref());
    story.says("is stale");
}

#[test]
fn a_changed_element_is_reported_although_a_step_re_created_it() {
    let mut story = Story::new();
    story.on_press("Send", |world| {
        world.node("To").unwrap().id = "2/anew".into();
    });
    story.chain(None, vec![press_ax("Send"), click("To", Some("bob"), None)]);
    let outcome = story.outcome();
    for part in ["0 added, 0 removed, 1 modified", "'' -> 'bob'"] {
        assert!(outcome.contains(part), "{outcome}");
    }
}

/// The window that the window manager then brings to the front was chosen neither by the user nor
/// by the agent.
#[test]
fn a_chain_stops_after_the_app_has_closed_its_last_window() {
    let mut story = Story::new();
    story.given(|world| {
        world.raise(MAIL_WINDOW);
        world.on_press("Send", |world| world.close(MAIL_WINDOW));
    });
    story.chain(None, vec![click("Send", None, None), types("rm -rf")]);
    assert_snapshot!(story.field("error"), @"Step 1 of 2: Clicked 'Send' [AXButton]; then: the \
        window 'Notes' (pid 200) is in front now, because the app has closed its own window. \
        Nothing more was sent. Call again with pid 200 to act in that app. Look before you repeat \
        it");
    assert_eq!(story.reached(), "Mail: click Send");
}

/// Nobody has chosen a window that comes to the front because the person's own window closes.
#[test]
fn a_chain_stays_with_its_app_when_the_persons_window_closes() {
    let mut story = Story::new();
    story.given(|world| {
        world.raise(MUSIC_WINDOW);
        world.raise(EDITOR_WINDOW);
        world.on_press("Send", |world| world.close(EDITOR_WINDOW));
    });
    story.chain(None, vec![press_ax("Send"), types("bob")]);
    story.succeeds();
    assert_snapshot!(story.seen(), @"reached: Mail: b, Mail: o, Mail: b; front: Songs, pointer: 900,700");
    assert!(!story.text().contains("Music"), "{}", story.text());
}

/// Another program, such as a notification or a task bar, may have raised the window.
#[test]
fn keys_do_not_go_to_an_older_window_of_another_app() {
    for (mut story, steps) in [Story::new, Story::alone].into_iter().flat_map(|desk| {
        [
            (desk(), vec![click("Send", Some("rm -rf"), None)]),
            (desk(), vec![click("Send", None, None), types("rm -rf")]),
        ]
    }) {
        story.on_press("Send", |world| world.raise(MUSIC_WINDOW));
        story.chain(None, steps);
        story.says("has come to the front, and was open before");
        assert_eq!(story.reached(), "Mail: click Send");
    }
}

/// The app has another window, but the keys were meant for the closed one.
#[test]
fn no_text_is_typed_after_a_click_that_closes_the_clicked_window() {
    let mut story = Story::new();
    story.given(|world| {
        world.window(MAIL, "Inbox 2", [0, 0, 300, 200], "");
        world.raise(MUSIC_WINDOW);
        world.raise(EDITOR_WINDOW);
        world.on_press("Send", |world| {
            world.close(MAIL_WINDOW);
            world.raise(MUSIC_WINDOW);
        });
    });
    story.click_then("Send", Some("rm -rf"), None);
    assert_snapshot!(story.field("error"), @"Clicked 'Send' [AXButton]; then: the window 'Songs' \
        (pid 300) is in front now, because the app has closed its own window. Nothing more was \
        sent. Call again with pid 300 to act in that app. Look before you repeat it");
    assert_eq!(story.reached(), "Mail: click Send");
}

#[test]
fn a_text_is_hidden_if_any_run_of_its_step_met_a_password_field() {
    let mut story = Story::new();
    let typing = Typing::text("hunter2").then(Some(KeyPress::parse("Tab", &[]).unwrap()));
    story.repeated_chain(None, vec![Action::type_text(typing)], &[3]);
    story.succeeds();
    story.says("\n  1 done 3 times: Typed •••, pressed Tab; effect: changed\n");
}

#[test]
fn a_step_reads_a_whole_text_and_acts_on_nothing() {
    let mut story = Story::new();
    let long = "A text of several lines\nthat is longer than ninety characters, ".repeat(3);
    story.given(|world| world.node("To").unwrap().value = long.clone());
    let read = |text: &str| Action::Read {
        target: Target::text(text),
    };
    story.chain(None, vec![read("To"), read("Folders"), read("Nobody")]);
    assert_snapshot!(story.outcome(), @"
    status: error
    error: Did 2 of 3 steps. Step 3: no element matches 'Nobody'. Nearest: \"Inbox\" [AXStaticText] #e7, \"New Message\" [AXWindow] #e2, \"To\" [AXTextField] #e3. Nothing was touched. Search the file of this answer
    pid: 100
    app: Mail
    summary: Did 2 of 3 steps. 0 added, 0 removed, 0 modified.
    steps:
      1 done: Read 'To' [AXTextField]: 'To: A text of several lines\\nthat is longer than ninety characters, A text of several lines\\nthat is longer than ninety characters, A text of several lines\\nthat is longer than ninety characters,'
      2 done: Read 'Folders' [AXList]: 'Folders\\nInbox\\nArchive'
      3 failed: see error
    focus: \"New Message\"
    ");
    assert_eq!(story.reached(), "nothing");
    story.chain(None, vec![read("Folders")]);
    assert_snapshot!(story.field("summary"), @"Did 1 of 1 steps. 0 added, 0 removed, 0 modified. \
        Settled in _ ms.");
    assert!(!story.text().contains("\neffect: "));
}
