//! Stage Manager: windows of apps that are not in front are tiles at the screen's side.

use std::time::Duration;

use deskline_link::call::{Quiet, Typing};
use deskline_link::{Action, Tool};

use super::desk::{Desk, EDITOR, MAIL, by_text, front, tree};
use crate::os::fake::clicks;

fn staged(tiles_are_unlisted: bool) -> Desk {
    let desk = Desk::new();
    {
        let mut world = desk.mac.world();
        world.quirks.tile = Some([0.0, 300.0, 83.0, 103.0]);
        world.quirks.tiles_are_unlisted = tiles_are_unlisted;
        world.quirks.animation = Duration::from_millis(400);
    }
    desk
}

#[test]
fn a_window_that_is_set_aside_comes_to_the_stage_is_clicked_and_goes_back() {
    for unlisted in [false, true] {
        let mut desk = staged(unlisted);
        for nth in 1..=2 {
            let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
            assert!(!answer.is_error, "{}", answer.text);
            let tree = tree(&answer);
            assert!(tree.contains("+ [AXStaticText] \"Sending…\""), "{tree}");
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
        let answer = desk.type_text("hello");
        assert!(!answer.is_error, "{}", answer.text);
        assert_eq!(desk.mac.world().value(body), "hello");
    }
}

#[test]
fn an_app_that_is_set_aside_is_listed_and_a_reading_says_where_it_is() {
    let mut desk = staged(true);
    let listed = desk.links.applications("").text;
    assert!(listed.contains("Mail (PID: 100)"), "{listed}");
    let answer = desk.run(Tool::Refresh, Action::Refresh);
    assert!(tree(&answer).contains("Stage Manager"), "{}", tree(&answer));
    assert_eq!(front(&desk), Some(EDITOR));
}

/// Accessibility acts on it where it is.
#[test]
fn a_quiet_press_leaves_it_where_it_is() {
    let mut desk = staged(false);
    let target = by_text("Send", "AXButton");
    let answer = desk.run(Tool::PressAx, Action::Quiet(Quiet::PressAx { target }));
    assert!(!answer.is_error, "{}", answer.text);
    assert!(tree(&answer).contains("\"Sending…\""), "{}", tree(&answer));
    assert!(!desk.mac.world().fronts.ends_with(&[MAIL]));
}
