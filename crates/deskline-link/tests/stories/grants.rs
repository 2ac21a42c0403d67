//! The person is asked before an agent acts in an app for the first time.

use deskline_link::Policy;
use deskline_link::grants::{Approval, Grants, Question};

use crate::story::{MAIL, Story};

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

    // Looking needs no answer.
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
fn text_goes_to_no_app_that_a_click_brings_up_before_the_person_allows_it() {
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
    assert!(error.contains("in a call of its own"), "{error}");
    assert_eq!(story.reached(), "Mail: click Send");
}

#[test]
fn what_keeps_passwords_is_closed_until_it_is_allowed_by_name() {
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

    // Nobody is harmed on a private desktop.
    let mut alone = Story::alone();
    alone.script().programs.push((MAIL, "keepassxc"));
    alone.click("Send");
    assert_eq!(alone.field("status"), "success", "{}", alone.text());
}
