//! Stories of what an action has opened, and of which app is in front.

use insta::assert_snapshot;

use crate::story::{MAIL, Story};

const QUESTION: &str = r#"[AXStaticText] "Send without a subject?" x:110 y:110 w:200 h:20
    [AXButton] "Send anyway" x:110 y:140 w:100 h:24"#;

#[test]
fn a_window_that_came_is_named_modal_or_not_and_read_first() {
    let mut story = Story::new();
    story.given(|world| {
        world.on_press("Send", |world| {
            world.window(MAIL, "Question", [100, 100, 300, 100], QUESTION);
            if let Some(to) = world.node("To") {
                to.says("Sent");
            }
        });
    });
    story.click("Send");
    assert!(
        story.field("dialog").contains("\"Question\""),
        "{}",
        story.text()
    );
    story.refresh();
    let listed = story.text().split("visible_elements:\n").nth(1);
    let first = listed
        .and_then(|lines| lines.lines().next())
        .unwrap_or_default();
    assert!(first.contains("Send anyway"), "{}", story.text());
}

#[test]
fn a_menu_that_popped_up_is_named() {
    let mut story = Story::new();
    story.given(|world| {
        world.on_press("Send", |world| {
            let items = r#"[AXMenuItem] "Send later" x:110 y:110 w:100 h:20"#;
            world.menu(MAIL, [100, 100, 120, 60], items);
        });
    });
    story.click("Send");
    assert!(story.field("dialog").contains("AXMenu"), "{}", story.text());
}

#[test]
fn an_action_that_opens_nothing_names_nothing() {
    let mut story = Story::new();
    story.click("Send");
    assert_eq!(story.field("dialog"), "");
}

#[test]
fn the_list_tells_the_users_front_app_from_the_one_that_was_acted_on() {
    let mut story = Story::new();
    assert!(!story.listed().contains("last"), "{}", story.listed());
    story.click("Send");
    let listed = story.listed();
    let lines: Vec<&str> = listed.lines().map(str::trim).collect();
    assert_snapshot!(lines.join("\n"), @"
    status: success
    summary: 3 running apps with windows. front: the user's; last: where you acted last
    applications:
    Music (PID: 300)
    Mail (PID: 100) last
    Editor (PID: 200) front
    ");
}
