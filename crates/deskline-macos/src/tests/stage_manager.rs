//! Stage Manager: windows of apps that are not in front are tiles at the screen's side.

use std::time::Duration;

use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, front, has, tree};
use crate::os::fake::clicks;

fn staged(tiles_are_unlisted: bool) -> Desk {
    let desk = Desk::new();
    desk.given(|world| {
        world.quirks.tile = Some([0.0, 300.0, 83.0, 103.0]);
        world.quirks.tiles_are_unlisted = tiles_are_unlisted;
        world.quirks.animation = Duration::from_millis(400);
    });
    desk
}

#[test]
fn a_window_set_aside_by_stage_manager_is_clicked_and_goes_back() {
    for unlisted in [false, true] {
        let mut desk = staged(unlisted);
        for nth in 1..=2 {
            let answer = desk.click_on("Send", "AXButton").ok();
            let tree = tree(&answer);
            has(&tree, "+ [AXStaticText] \"Sending…\"");
            let clicked = clicks(&desk.mac.world()).len();
            assert_eq!((clicked, front(&desk)), (nth, Some(EDITOR)));
        }
    }
}

#[test]
fn text_for_an_app_that_is_set_aside_arrives() {
    for unlisted in [false, true] {
        let mut desk = staged(unlisted);
        let body = desk.body;
        desk.mac.world().focus(MAIL, body);
        desk.type_text("hello").ok();
        assert_eq!(desk.mac.world().value(body), "hello");
    }
}

#[test]
fn an_app_that_is_set_aside_is_listed_and_a_reading_reports_where_it_is() {
    let mut desk = staged(true);
    let listed = desk.links.applications("").text;
    has(&listed, "Mail (PID: 100)");
    let answer = desk.run(Action::Refresh);
    has(tree(&answer), "Stage Manager");
    assert_eq!(front(&desk), Some(EDITOR));
}

/// Accessibility acts on the window without bringing it to the stage.
#[test]
fn a_quiet_press_leaves_a_window_off_the_stage() {
    let mut desk = staged(false);
    let target = Target::titled("Send", "AXButton");
    let answer = desk.run(Action::press_ax(target)).ok();
    has(tree(&answer), "\"Sending…\"");
    assert!(!desk.mac.world().fronts.ends_with(&[MAIL]));
}
