//! Programs with more rights: Windows drops the input that is sent to them, without an error.

use super::desk::Desk;
use crate::os::Integrity;
use crate::tests::fake::{HIGH, PID};
use deskline_link::Target;

fn elevated(integrity: Integrity) -> Desk {
    let desk = Desk::new();
    desk.fake.world().apps.get_mut(&PID).unwrap().integrity = integrity;
    desk
}

#[test]
fn a_click_into_a_program_of_an_administrator_is_an_error() {
    for integrity in [HIGH, Integrity::Denied] {
        let mut desk = elevated(integrity);
        let answer = desk.click_on("Bold");
        assert!(answer.is_error, "{}", answer.text);
        assert!(answer.text.contains("administrator"), "{}", answer.text);
        assert!(answer.text.contains("Nothing was sent"), "{}", answer.text);
    }
}

#[test]
fn text_for_a_program_of_an_administrator_is_an_error() {
    let mut desk = elevated(HIGH);
    let name = desk.name;
    desk.fake.change(name, |raw| raw.focused = true);
    let answer = desk.type_text("Ann");
    assert!(answer.is_error, "{}", answer.text);
    assert!(answer.text.contains("administrator"), "{}", answer.text);
    assert_eq!(desk.fake.requests("sent"), 0);
}

#[test]
fn the_tree_of_a_program_of_an_administrator_reports_its_missing_parts() {
    let mut desk = elevated(HIGH);
    let answer = desk.refresh(PID);
    assert!(!answer.is_error, "{}", answer.text);
    assert!(answer.text.contains("administrator"), "{}", answer.text);
    let mut plain = Desk::new();
    assert!(!plain.refresh(PID).text.contains("administrator"));
}

#[test]
fn a_provider_that_denies_access_is_an_error_with_the_reason() {
    let mut desk = elevated(HIGH);
    desk.fake.world().odd.denies_access = true;
    let answer = desk.press_on(Target::text("Send"));
    assert!(answer.is_error, "{}", answer.text);
    assert!(answer.text.contains("administrator"), "{}", answer.text);
}
