//! One story for each way in which an app reports success and does something else, or nothing.

use std::time::Duration;

use deskline_core::States;
use deskline_link::{Action, Target};

use crate::story::{EDITOR_WINDOW, MAIL, MAIL_WINDOW, Story};
use crate::world::World;

/// A desk where the field `To` changes the text that it gets.
fn with(makes: fn(&str) -> String) -> Story {
    let story = Story::new();
    story.given(|world| world.node("To").unwrap().makes = Some(makes));
    story
}

fn nothing(_: &str) -> String {
    String::new()
}

fn five(text: &str) -> String {
    text.chars().take(5).collect()
}

impl Story {
    fn types(&mut self, text: &str) -> &mut Self {
        self.given(|world| focus(world, 0));
        self.type_text(text)
    }

    fn select(&mut self, target: &str, selected: bool) -> &mut Self {
        self.run(Action::set_selected(Target::text(target), selected))
    }

    fn says_nothing_more(&self) {
        self.succeeds();
        assert!(!self.text().contains("note: "), "{}", self.text());
    }
}

/// Gives a field of Mail's window the focus, and raises the window.
fn focus(world: &mut World, node: usize) {
    world.focus(MAIL_WINDOW, node);
    world.raise(MAIL_WINDOW);
}

#[test]
fn a_value_that_the_app_does_not_take_is_an_error_with_the_current_value() {
    let mut story = with(nothing);
    story.set_value("To", "bob");
    story.fails();
    story.says("error: Set 'To' [AXTextField] to 'bob', but it still shows ''");
    story.says("Click it and type instead");
    assert!(!story.field("file").is_empty());
    story.given(|world| world.node("To").unwrap().makes = Some(five));
    story.set_value("To", "bob@example.com");
    story.fails();
    story.says("took 5 of 15 characters, and contains 'bob@e' now");
}

#[test]
fn a_value_that_the_app_writes_in_its_own_form_is_a_success_with_a_note() {
    let mut story = with(|text| format!("{text}.00"));
    story.set_value("To", "3");
    story.succeeds();
    story.says("note: 'To' [AXTextField] contains '3.00' now");
    // Setting the same value again changes nothing, and nothing should change.
    story.set_value("To", "3").says_nothing_more();
    story.given(|world| world.node("To").unwrap().makes = Some(|text| text.trim().to_owned()));
    story.set_value("To", " bob ").says_nothing_more();
}

#[test]
fn an_error_is_reported_if_the_app_undoes_a_value_after_a_moment() {
    for ms in [30, 150, 250] {
        let mut story = Story::new();
        story.later(ms, |world: &mut World| {
            world.node("To").unwrap().value.clear();
        });
        story.set_value("To", "bob").fails();
        story.says("Set 'To' [AXTextField] to 'bob', but it still shows ''");
    }
    let mut story = Story::new();
    story.later(400, |world: &mut World| {
        world.node("To").unwrap().value.clear();
    });
    story.set_value("To", "bob").succeeds();
    for ms in [30, 150, 280] {
        let mut story = Story::new();
        story.later(ms, |world: &mut World| {
            world.node("To").unwrap().value.clear();
        });
        story.types("bob").fails();
    }
}

#[test]
fn an_error_is_reported_if_the_app_unticks_a_box_after_a_moment() {
    let states = |world: &mut World| world.node("Agree").unwrap().line.states;
    for ms in [70, 150, 250, 400] {
        let mut story = Story::new();
        story.given(|world| {
            let lines = r#"[AXCheckBox] "Agree" x:20 y:40 w:90 h:20"#;
            world.window(MAIL, "Form", [0, 0, 300, 200], lines);
            world.raise(EDITOR_WINDOW);
        });
        story.on_press("Agree", |world| {
            world.node("Agree").unwrap().line.states |= States::CHECKED;
        });
        story.later(ms, |world: &mut World| {
            world.node("Agree").unwrap().line.states -= States::CHECKED;
        });
        story.click("Agree");
        if ms < 300 {
            story.fails();
            story.says("not checked");
            assert!(!story.given(states).contains(States::CHECKED));
        } else {
            story.succeeds();
        }
    }
}

#[test]
fn a_box_is_watched_from_when_its_app_told_that_it_was_ticked() {
    for (told, undone) in [(None, true), (Some(100), false)] {
        let mut story = Story::new();
        story.given(|world| {
            let lines = r#"[AXCheckBox] "Agree" x:20 y:40 w:90 h:20"#;
            world.window(MAIL, "Form", [0, 0, 300, 200], lines);
        });
        story.script().switched = told.map(Duration::from_millis);
        let set = |on| {
            move |world: &mut World| {
                let node = world.node("Agree").unwrap();
                node.line.states.set(States::CHECKED, on);
            }
        };
        // The reading that shows the tick comes 20 ms after it.
        story.later(100, set(true)).later(410, set(false));
        story.click("Agree");
        if undone {
            story.fails();
        } else {
            story.succeeds();
        }
    }
}

/// If another link follows at once, a link does not wait for an app that undoes its change. The
/// next link reports that, and does nothing.
#[test]
fn the_next_step_reports_that_the_app_has_undone_a_change() {
    let mut story = Story::new();
    story.given(|world| {
        let lines = r#"[AXCheckBox] "Agree" x:20 y:40 w:90 h:20
[AXButton] "Send" x:20 y:80 w:90 h:20"#;
        world.window(MAIL, "Form", [0, 0, 300, 200], lines);
    });
    let set = |world: &mut World, on| {
        world
            .node("Agree")
            .unwrap()
            .line
            .states
            .set(States::CHECKED, on);
    };
    story.on_press("Agree", move |world| set(world, true));
    story.on_press("Send", |world| {
        world.node("To").unwrap().value = "sent".into();
    });
    story.options.goes_on = true;
    story.click("Agree").succeeds();
    story.given(|world| set(world, false));
    story.click("Send").fails();
    story.says("the app undid the change: it is not checked again");
    assert_ne!(
        story.given(|world| world.node("To").unwrap().value.clone()),
        "sent"
    );
    story.click("Agree").succeeds();
    story.click("Send").succeeds();
}

#[test]
fn a_text_is_not_typed_where_another_field_keeps_the_focus() {
    let mut story = Story::new();
    let form = story.given(|world| {
        let lines = r#"[AXTextField] "Name" x:20 y:40 w:90 h:24 editable
[AXTextField] "Email" x:20 y:80 w:90 h:24 editable"#;
        let form = world.window(MAIL, "Form", [0, 0, 300, 200], lines);
        world.focus(form, 0);
        world.raise(EDITOR_WINDOW);
        form
    });
    // The app reads the click, and keeps the focus where it was.
    story.on_press("Email", move |world| world.focus(form, 0));
    story.click_then("Email", Some("bob"), None);
    story.fails();
    story.says("'Email' [AXTextField] did not get the focus: 'Name' [AXTextField] has it");
}

#[test]
fn a_password_field_is_not_read_back() {
    let mut story = Story::new();
    story.given(|world| world.node("Password").unwrap().makes = Some(nothing));
    story.set_value("Password", "hunter2").says_nothing_more();
    story.given(|world| focus(world, 1));
    story.type_text("hunter2").says_nothing_more();
    assert!(!story.journal().contains("hunter2"));
}

#[test]
fn after_a_text_that_loses_characters_the_next_key_is_not_pressed() {
    let mut story = with(five);
    story.types("bob@example.com");
    story.fails();
    story.says("took 5 of 15 characters, and contains 'bob@e' now");
    let mut story = with(five);
    story.click_then("To", Some("bob@example.com"), Some("Return"));
    story.fails();
    story.says("Return was not pressed");
    assert!(!story.acts().contains("press_key"), "{}", story.acts());
    let mut story = with(nothing);
    story.types("bob");
    story.fails();
    story.says("took none of the text and still contains ''");
}

#[test]
fn a_text_changed_by_a_mask_or_a_completion_gets_a_note() {
    let mut story = with(|text| match text.len() {
        8 => format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]),
        _ => text.to_owned(),
    });
    story.types("20261122");
    story.succeeds();
    story.says("note: 'To' [AXTextField] contains '2026-11-22' now");
    let mut story = with(|text| match text {
        "Lon" => "London".to_owned(),
        text => text.to_owned(),
    });
    story.types("Lon");
    story.succeeds();
    story.says("note: 'To' [AXTextField] contains 'London' now");
}

/// A desk with a text area that changes the text that it gets.
fn with_notes(makes: fn(&str) -> String) -> Story {
    let story = Story::new();
    story.given(|world| {
        world.window(
            MAIL,
            "Script",
            [0, 0, 300, 200],
            r#"[AXTextArea] "Code" x:20 y:40 w:200 h:100 editable"#,
        );
        world.node("Code").unwrap().makes = Some(makes);
        let window = world.stack[0].id;
        world.focus(window, 0);
        world.raise(window);
    });
    story
}

/// An editor that indents a new line.
fn indented(text: &str) -> String {
    if text.ends_with('\n') {
        format!("{text}    ")
    } else {
        text.to_owned()
    }
}

#[test]
fn an_error_shows_where_an_editor_has_added_white_space() {
    let mut story = with_notes(indented);
    story.type_text("if a:\n    b\n");
    story.fails();
    story.says("differs from that text after 10 characters: ");
    story.says("'if a:\\n        b\\n    ' instead of 'if a:\\n    b'");
    story.says("paste true, or pass the field's whole text to set_value_and_traverse");
    story.paste("if a:\n    c\n");
    story.says("Undo it (Control+Z), then pass the field's whole text to set_value_and_traverse");
    let mut story = with_notes(|text| text.replace("hello", "合理咯"));
    story.type_text("hello world");
    story.fails();
    story.says("'合理咯 world' instead of 'hello world'");
}

#[test]
fn curly_quotes_and_the_next_lines_indentation_are_no_error() {
    let mut story = with_notes(|text| text.replace('\'', "’"));
    story.type_text("it's");
    story.succeeds();
    story.says("note: ");
    let mut story = with_notes(indented);
    story.type_text("    a\n");
    story.succeeds();
    let mut story = with_notes(str::to_owned);
    story.type_text("line\n  line\n").says_nothing_more();
}

#[test]
fn a_typed_text_is_compared_only_if_it_stays_in_its_field() {
    let mut story = Story::new();
    story.types("bob").says_nothing_more();
    story.types("@example.com").says_nothing_more();
    let mut story = with(five);
    story.types("bobby\tsecret").says_nothing_more();
    story.types("much more\n").says_nothing_more();
}

#[test]
fn a_press_and_a_selection_without_an_effect_are_errors() {
    let mut story = Story::new();
    story.given(|world| {
        world.window(
            MAIL,
            "Options",
            [0, 0, 300, 200],
            r#"[AXCheckBox] "Stuck" x:20 y:40 w:80 h:24
               [AXCheckBox] "Works" x:20 y:80 w:80 h:24
               [AXRow] "One" x:20 y:120 w:80 h:24"#,
        );
        world.on_press("Stuck", |_| {});
        world.on_press("Works", |world| {
            let node = world.node("Works").unwrap();
            node.line.states.toggle(States::CHECKED);
        });
    });
    story.press("Works").says_nothing_more();
    story.press("Works").says_nothing_more();
    story.press("Stuck");
    story.fails();
    story.says("but it is still not checked, and nothing else changed");
    story.select("One", true).says_nothing_more();
    story.given(|world| world.node("One").unwrap().makes = Some(nothing));
    story.select("One", false);
    story.fails();
    story.says("but it is still selected, and nothing else changed");
}

#[test]
fn a_key_that_changes_nothing_is_reported() {
    let mut story = Story::new();
    // A button, which takes no keys.
    story.given(|world| focus(world, 2));
    story.press_key("F9");
    story.succeeds();
    story.says("note: F9 changed nothing, neither tree nor screenshot");
    // The click's changes may hide the key's effect.
    story.click_then("Send", Some("bob"), Some("F9"));
    story.says_nothing_more();
    story.given(|world| {
        world.on_return(MAIL_WINDOW, |world| {
            world.node("Send").unwrap().says("Sending");
        });
    });
    story.click_then("Sent", Some("bob"), Some("Return"));
    story.says_nothing_more();
    // The window's earlier look is unknown: it was behind the person's window.
    story.given(|world| world.raise(EDITOR_WINDOW));
    story.press_key("F9");
    story.says_nothing_more();
}

#[test]
fn a_key_that_only_closes_a_list_over_the_window_is_reported() {
    let mut story = Story::new();
    story.given(|world| {
        focus(world, 0);
        world.menu(
            MAIL,
            [20, 70, 200, 60],
            "[AXStaticText] \"bob@example.com\" x:20 y:70 w:200 h:20",
        );
        let list = world.stack[0].id;
        world.on_return(MAIL_WINDOW, move |world| world.close(list));
    });
    story.press_key("Return");
    story.succeeds();
    story.says("note: Return only closed the list that was open");
}

#[test]
fn a_note_says_that_keys_act_on_another_row_than_the_selected_one() {
    let mut story = Story::new();
    story.given(|world| {
        world.window(
            MAIL,
            "Rows",
            [0, 0, 300, 200],
            r#"[AXOutline] x:0 y:20 w:300 h:180
                 [AXCell] "One" x:0 y:20 w:100 h:20
                 [AXCell] "One's size" x:100 y:20 w:100 h:20
                 [AXCell] "Two" x:0 y:40 w:100 h:20"#,
        );
        let id = world.stack[0].id;
        world.focus(id, 1);
    });
    story.select("Two", true);
    story.says("note: it is selected, but keys still act on the current row, 'One' [AXCell]");
    story.select("One's size", true).says_nothing_more();
}

#[test]
fn a_call_waits_until_a_slow_app_has_the_whole_text() {
    let says = |text: &'static str| {
        move |world: &mut World| world.node("To").unwrap().value = text.to_owned()
    };
    let mut story = with(five);
    story
        .later(200, says("bob@examp"))
        .later(400, says("bob@example.com"));
    story.types("bob@example.com").says_nothing_more();
    // A field that keeps less than it was given gets the rest once more, and no time beyond that.
    let mut story = with(five);
    story.types("bob@example.com");
    story.says("took 5 of 15 characters");
    assert!(story.script().waited.as_millis() < 3_000);
}

/// With an X11 window manager that delays the first click into a window.
#[test]
fn typing_waits_until_the_clicked_field_has_the_focus() {
    let mut story = Story::new();
    story
        .after("click", |world| drop(world.focused.remove(&MAIL_WINDOW)))
        .later(300, |world| focus(world, 0))
        .click_then("To", Some("hi"), None)
        .says_nothing_more();
    let to = story.given(|world| world.node("To").unwrap().value.clone());
    assert_eq!(to, "hi");
}

#[test]
fn a_text_typed_before_the_clicked_field_has_the_focus_is_an_error() {
    let mut story = Story::new();
    story
        .after("click", |world| drop(world.focused.remove(&MAIL_WINDOW)))
        .after("type_text", |world| focus(world, 0))
        .click_then("To", Some("hi"), None);
    story.fails();
    story.says("took none of the text and still contains ''");
}
