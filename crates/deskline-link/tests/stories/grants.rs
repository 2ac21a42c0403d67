//! The person is asked before an agent acts in an app for the first time.

use deskline_link::call::Action;
use deskline_link::grants::{Approval, Grants, Question};
use deskline_link::{Call, Policy, Target};

use crate::story::{MAIL, Story, click, press_ax, presses, types};
use crate::world::World;

/// A story in which the person is asked, and their grants.
fn asking() -> (Story, Grants) {
    let grants = Grants::new(None, true);
    let story = Story::with(Policy {
        grants: grants.clone(),
        ..Policy::default()
    });
    story.script().programs.push((MAIL, "mailer"));
    (story, grants)
}

fn question(story: &mut Story) -> Question {
    *story.asks("Send").expect("no question")
}

#[test]
fn nothing_is_touched_before_the_person_allows_the_app() {
    let (mut story, grants) = asking();
    let asked = question(&mut story);
    assert_eq!(asked.to_string(), "mailer");
    let acts = story.acts();
    assert!(!acts.contains("raise") && !acts.contains("grab"), "{acts}");
    assert_eq!(story.reached(), "nothing");

    story.click("Send");
    let error = story.field("error");
    assert!(error.contains("deskline grants allow 'mailer'"), "{error}");
    assert_eq!(story.reached(), "nothing");

    // Reading needs no permission.
    story.refresh();
    assert_eq!(story.field("status"), "success");

    grants.answered(&asked, Approval::Once).unwrap();
    story.click("Send");
    assert_eq!(story.field("status"), "success", "{}", story.text());
    assert!(story.asks("Send").is_none());
}

#[test]
fn an_app_that_is_allowed_by_name_is_not_asked_about() {
    let mut story = Story::with(Policy {
        grants: Grants::new(None, true),
        allow: vec!["mailer".into()],
        ..Policy::default()
    });
    story.script().programs.push((MAIL, "mailer"));
    assert!(story.asks("Send").is_none());
}

#[test]
fn an_app_opened_by_a_click_gets_no_text_until_it_is_allowed() {
    let (mut story, grants) = asking();
    let asked = question(&mut story);
    grants.answered(&asked, Approval::Once).unwrap();
    story.script().programs.push((400, "terminal"));
    story.on_press("Send", |world| {
        world.app(400, "Terminal");
        world.window(400, "bash", [300, 300, 300, 200], "");
    });
    story.click_then("Send", Some("rm -rf"), None);
    let error = story.field("error");
    assert!(error.contains("act in terminal"), "{error}");
    assert!(error.contains("as a separate call"), "{error}");
    assert_eq!(story.reached(), "Mail: click Send");
}

#[test]
fn an_app_that_keeps_passwords_is_blocked_until_it_is_allowed_by_name() {
    let mut story = Story::new();
    story.script().programs.push((MAIL, "keepassxc"));
    story.click("Send");
    let error = story.field("error");
    assert!(error.contains("keeps or asks for passwords"), "{error}");
    assert!(error.contains("grants allow 'keepassxc'"), "{error}");
    assert_eq!(story.reached(), "nothing");
    story.refresh();
    assert_eq!(story.field("status"), "error");
    assert!(!story.listed().contains("Mail"), "{}", story.listed());

    let mut named = Story::allowing(&["keepassxc"]);
    named.script().programs.push((MAIL, "keepassxc"));
    named.click("Send");
    assert_eq!(named.field("status"), "success", "{}", named.text());

    // On a private desktop an agent can harm nobody.
    let mut alone = Story::alone();
    alone.script().programs.push((MAIL, "keepassxc"));
    alone.click("Send");
    assert_eq!(alone.field("status"), "success", "{}", alone.text());
}

const ALERT: &str = r#"[AXStaticText] "Delete \"all\"?\u{a}" x:110 y:110 w:200 h:20
    [AXTextField] "Why" x:110 y:125 w:200 h:14 editable
    [AXButton] "Cancel" x:110 y:140 w:100 h:24
    [AXButton] "Delete" x:220 y:140 w:100 h:24"#;

fn ask(world: &mut World) {
    let alert = world.window(MAIL, "Question", [100, 100, 300, 100], ALERT);
    world.alerts.push(alert);
}

/// [`asking`], where Mail is allowed and has an alert open.
fn alerted() -> (Story, Grants) {
    let (mut story, grants) = asking();
    let asked = question(&mut story);
    grants.answered(&asked, Approval::Once).unwrap();
    story.given(ask);
    (story, grants)
}

fn call(action: Action) -> Call {
    Call::new(MAIL, action)
}

#[test]
fn each_press_of_an_alert_button_needs_an_answer_of_the_person() {
    let (mut story, grants) = alerted();
    let mut delete = call(click("Delete", None, None));
    let asked = *story.asks_before(&delete).expect("no question");
    assert_eq!(
        asked.words(),
        "An agent wants to press \"Delete\" in an alert of mailer, through Deskline.\n\
         The app asks: \"Delete \\\"all\\\"?\""
    );
    assert_eq!(story.reached(), "nothing");
    story.run_call(&delete);
    let error = story.field("error");
    assert!(error.contains("allow 'alerts of mailer'"), "{error}");

    // An answer counts for one press, and for no other question.
    delete.approved = Some("mailer".into());
    assert!(story.asks_before(&delete).is_some());
    grants.answered(&asked, Approval::Once).unwrap();
    delete.approved = Some(asked.id());
    assert!(story.asks_before(&delete).is_none());
    assert_eq!(story.reached(), "Mail: click Delete");
    assert!(story.asks("Delete").is_some());
    assert!(
        story.asks("Cancel").is_some(),
        "no toolkit reports which button cancels"
    );

    let kept = grants.answered(&asked, Approval::Always);
    assert!(kept.is_err(), "there is no file for it");
    assert!(story.asks("Delete").is_none());
}

#[test]
fn the_person_is_asked_about_keys_that_may_answer_an_alert() {
    let (mut story, _) = alerted();
    for key in ["Return", "Space", "d"] {
        let call = call(presses(key));
        assert!(story.asks_before(&call).is_some(), "{key}");
    }
    let typed = call(types("d"));
    assert!(story.asks_before(&typed).is_some());
    assert_eq!(story.reached(), "nothing");
    for key in ["Tab", "Escape"] {
        let call = call(presses(key));
        assert!(story.asks_before(&call).is_none(), "{key}");
    }
    // A text in its field presses nothing.
    story.click("Why");
    assert!(story.asks_before(&typed).is_none());
    let lines = call(types("d\n"));
    assert!(story.asks_before(&lines).is_some());
}

#[test]
fn a_call_ends_when_an_alert_opens_during_the_call() {
    let (mut story, grants) = asking();
    let asked = question(&mut story);
    grants.answered(&asked, Approval::Once).unwrap();
    story.on_press("Send", ask);
    story.chain(
        None,
        vec![click("Send", None, None), click("Delete", None, None)],
    );
    let error = story.field("error");
    assert!(error.contains("press \"Delete\""), "{error}");
    assert!(error.contains("as a separate call"), "{error}");
    assert_eq!(story.reached(), "Mail: click Send");

    let (mut story, grants) = asking();
    grants.answered(&asked, Approval::Once).unwrap();
    story.on_press("Send", ask);
    story.click_then("Send", None, Some("Return"));
    let error = story.field("error");
    assert!(error.contains("press the key Return"), "{error}");
    assert_eq!(story.reached(), "Mail: click Send");
}

#[test]
fn the_next_character_does_not_answer_an_alert_that_typing_opened() {
    let (mut story, grants) = asking();
    let asked = question(&mut story);
    grants.answered(&asked, Approval::Once).unwrap();
    story.after("type_text", ask);
    story.run(types("\n\n"));
    let error = story.field("error");
    assert!(error.contains("type in an alert of mailer"), "{error}");
    assert_eq!(story.reached(), "Mail: ⏎");
}

/// A letter may be a shortcut that opens an alert, and the next letter a shortcut of a button in
/// it.
#[test]
fn the_rest_of_a_text_does_not_answer_an_alert_that_a_letter_opened() {
    for (focus, text) in [("Send", "xd"), ("Send", "x\n"), ("To", "x\n")] {
        let (mut story, grants) = asking();
        let asked = question(&mut story);
        grants.answered(&asked, Approval::Once).unwrap();
        story.click(focus);
        story.after("type_text", ask);
        story.run(types(text));
        let error = story.field("error");
        assert!(
            error.contains("type in an alert of mailer"),
            "{focus}: {error}"
        );
        assert_eq!(story.reached(), format!("Mail: click {focus}, Mail: x"));
    }
}

#[test]
fn choose_does_not_press_a_button_of_the_alert_that_it_opens() {
    let (mut story, grants) = asking();
    let asked = question(&mut story);
    grants.answered(&asked, Approval::Once).unwrap();
    story.on_press("Send", ask);
    story.run(Action::choose(Target::text("Send"), "Delete"));
    let error = story.field("error");
    assert!(
        error.contains("click again in an alert of mailer"),
        "{error}"
    );
    assert_eq!(story.reached(), "Mail: click Send");
}

/// A press on a field is sent as Return, which may press the alert's default button.
#[test]
fn a_press_on_a_field_of_an_alert_is_asked_about() {
    let (mut story, _) = alerted();
    assert!(story.asks_before(&call(press_ax("Why"))).is_some());
    let fill = Action::set_value(Target::text("Why"), "so");
    assert!(story.asks_before(&call(fill)).is_none());
}

/// The click brings up an alert of another app, which the person has allowed too.
#[test]
fn a_key_after_a_click_answers_no_alert_of_another_allowed_app() {
    for (text, key) in [
        (None, Some("Return")),
        (Some("\n"), None),
        (Some("d"), None),
    ] {
        let mut story = Story::with(Policy {
            grants: Grants::new(None, true),
            allow: vec!["mailer".into(), "files".into()],
            ..Policy::default()
        });
        story.script().programs = vec![(MAIL, "mailer"), (400, "files")];
        story.on_press("Send", |world| {
            world.app(400, "Files");
            let alert = world.window(400, "Question", [100, 100, 300, 100], ALERT);
            world.alerts.push(alert);
        });
        story.click_then("Send", text, key);
        let error = story.field("error");
        assert!(error.contains("in an alert of files"), "{error}");
        assert_eq!(story.reached(), "Mail: click Send");
    }
}

#[test]
fn the_person_is_not_asked_about_an_alert_with_one_button() {
    let (mut story, _) = alerted();
    story.given(|world| {
        let told = r#"[AXStaticText] "Sent." x:510 y:110 w:200 h:20
            [AXButton] "OK" x:510 y:140 w:100 h:24"#;
        let alert = world.window(MAIL, "Note", [500, 100, 300, 100], told);
        world.alerts.push(alert);
    });
    assert!(story.asks("OK").is_none());
}
