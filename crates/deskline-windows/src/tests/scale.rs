//! Monitors with different scales.

use deskline_core::Rect;

use super::desk::{Desk, FORM, NOTES};
use crate::tests::fake::PID;

/// Two monitors, the second with twice the scale.
fn two_monitors() -> Desk {
    let desk = Desk::new();
    let mut world = desk.fake.world();
    world.screen = Rect::at(0, 0, 1920 + 3840, 2160);
    drop(world);
    desk
}

#[test]
fn a_window_restored_at_another_scale_is_clicked_at_its_new_place() {
    let mut desk = two_monitors();
    desk.refresh(PID);
    {
        let mut world = desk.fake.world();
        world.odd.rescales = true;
        world.win_mut(FORM).unwrap().minimised = true;
    }
    let answer = desk.click_on("Bold");
    assert!(!answer.is_error, "{}", answer.text);
    assert!(desk.is_bold(), "{}", answer.text);
    assert_eq!(desk.front(), Some(NOTES));
    assert!(desk.fake.world().win(FORM).unwrap().minimised);
}

/// The person drags the window to the other monitor, or changes the scale, after it was read.
#[test]
fn a_window_is_clicked_where_it_is_after_its_scale_has_changed() {
    let mut desk = two_monitors();
    desk.refresh(PID);
    desk.fake.world().rescale(FORM, (2500, 300), 2.0);
    let answer = desk.click_on("Bold");
    assert!(!answer.is_error, "{}", answer.text);
    assert!(desk.is_bold(), "{}", answer.text);
}

/// The scale changes in the middle of the link: once the window is in front.
#[test]
fn a_click_is_right_although_the_scale_changes_with_the_raise() {
    let mut desk = two_monitors();
    {
        let mut world = desk.fake.world();
        world.odd.rescales_in_front = true;
    }
    let answer = desk.click_on("Bold");
    assert!(!answer.is_error, "{}", answer.text);
    assert!(desk.is_bold(), "{}", answer.text);
}
