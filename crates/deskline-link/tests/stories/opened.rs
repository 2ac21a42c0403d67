//! Stories about the windows that an action opens, and the app in front.

use insta::assert_snapshot;

use crate::script::person;
use crate::story::{EDITOR_WINDOW, MAIL, MUSIC_WINDOW, Story};
use crate::world::World;

const QUESTION: &str = r#"[AXStaticText] "Send without a subject?" x:110 y:110 w:200 h:20
    [AXButton] "Send anyway" x:110 y:140 w:100 h:24"#;

#[test]
fn a_new_window_is_named_and_read_first_whether_modal_or_not() {
    let mut story = Story::new();
    story.on_press("Send", |world| {
        world.window(MAIL, "Question", [100, 100, 300, 100], QUESTION);
        if let Some(to) = world.node("To") {
            to.says("Sent");
        }
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
    story.on_press("Send", |world| {
        let items = r#"[AXMenuItem] "Send later" x:110 y:110 w:100 h:20"#;
        world.menu(MAIL, [100, 100, 120, 60], items);
    });
    story.click("Send");
    assert!(story.field("dialog").contains("AXMenu"), "{}", story.text());
}

#[test]
fn no_dialog_is_named_if_the_action_opens_none() {
    let mut story = Story::new();
    story.click("Send");
    assert_eq!(story.field("dialog"), "");
}

#[test]
fn the_app_list_marks_the_front_app_and_the_last_target() {
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

/// An app that opens its window by itself.
pub(crate) const NOTES: u32 = 500;

pub(crate) fn notes(world: &mut World) -> u32 {
    world.app(NOTES, "Notes App");
    let body = "[AXTextArea] \"Body\" x:0 y:0 w:200 h:200";
    world.window(NOTES, "Untitled", [0, 0, 200, 200], body);
    NOTES
}

#[test]
fn a_window_that_the_person_switches_to_meanwhile_stays_in_front() {
    let switched = |call: &'static str, fails: bool| {
        let mut story = Story::new();
        story.script().installed.push(("notes", notes));
        story.after(call, person::switches_to(MUSIC_WINDOW));
        if fails {
            story.after(call, |_| panic!("scripted"));
        }
        story.open("notes");
        assert_eq!(story.is_error(), fails, "{}", story.text());
        assert_eq!(
            story.front(),
            MUSIC_WINDOW,
            "after {call}: {}",
            story.acts()
        );
    };
    // After the app's window has come to the front, and before it is known which window belongs to
    // the app.
    switched("read 500", false);
    switched("progress", true);
}

#[test]
fn an_opened_app_comes_to_the_front_and_the_persons_window_comes_back() {
    let mut story = Story::new();
    story.script().installed.push(("notes", notes));
    story.open("notes");
    assert_snapshot!(story.outcome(), @r##"
    status: success
    pid: 500
    app: Notes App
    summary: Opened 'notes'. 3 elements, 2 visible. Settled in _ ms.
    focus: "Untitled"
    visible_elements:
      [AXTextArea] "Body" (0,0 200×200) #e3
    "##);
    assert_snapshot!(story.acts(), @"
    open notes
    progress
    read 500 again
    read 500 again
    release_all
    rest
    activate 3
    ");
    assert_eq!(story.front(), EDITOR_WINDOW);
}
