//! When the picture is taken: after the person has their window back, if the picture is then still
//! the same.

use std::sync::Arc;

use deskline_input::clock::Instant;
use deskline_link::call::Typing;

use super::desk::{Desk, EDITOR, Expect, MAIL, front, line};
use crate::os::fake::Behaviour;

/// The apps that were in front when pictures were taken during a click on Send, whose effect is
/// `effect`.
fn in_front(desk: &mut Desk, does: Behaviour) -> Vec<u32> {
    let send = desk.send;
    desk.given(|world| {
        world.node(send).pressed = Some(does);
        world.pictured_behind.clear();
    });
    let answer = desk.click_on("Send", "AXButton").ok();
    assert!(line(&answer, "screenshot").is_some(), "{}", answer.text);
    desk.mac.world().pictured_behind.clone()
}

fn says_sent(desk: &Desk) -> Behaviour {
    let window = desk.window;
    Arc::new(move |world| {
        world.add(window, "AXStaticText", "Sent", [130.0, 420.0, 90.0, 18.0]);
    })
}

#[test]
fn the_person_has_their_window_back_before_the_picture_is_taken() {
    let mut desk = Desk::new();
    let does = says_sent(&desk);
    assert_eq!(in_front(&mut desk, does), [EDITOR]);
    assert_eq!(front(&desk), Some(EDITOR));
}

/// A popover, a sheet or a panel closes when its app goes back.
#[test]
fn a_popover_is_pictured_before_the_persons_app_comes_back() {
    let mut desk = Desk::new();
    let does = |world: &mut crate::os::fake::World| {
        let root = world.apps[&MAIL].root;
        let at = [300.0, 200.0, 200.0, 100.0];
        world.add(root, "AXWindow", "Sent!", at);
    };
    assert_eq!(in_front(&mut desk, Arc::new(does)), [MAIL]);
    assert_eq!(front(&desk), Some(EDITOR));
}

/// After the restore, the window's Space is not visible.
#[test]
fn a_window_on_another_space_is_pictured_there() {
    let mut desk = Desk::new();
    let (window, does) = (desk.window, says_sent(&desk));
    desk.mac.world().move_to_space(window, 1);
    let taken = in_front(&mut desk, does);
    assert!(taken.iter().all(|pid| *pid == MAIL), "{taken:?}");
}

/// An active and an inactive window differ in their title bars.
#[test]
fn a_picture_for_comparison_is_taken_while_the_app_is_still_in_front() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let at = [400.0, 420.0, 100.0, 60.0];
        world.add(desk.window, "AXUnknown", "", at);
        world.pictured_behind.clear();
    });
    let canvas = deskline_core::Point { x: 450, y: 450 };
    let target = deskline_link::Target::Point(canvas);
    desk.click(target, Typing::default()).ok();
    let taken = desk.mac.world().pictured_behind.clone();
    assert!(
        taken.len() > 1 && taken.iter().all(|pid| *pid == MAIL),
        "{taken:?}"
    );
}

#[test]
fn the_person_s_own_app_is_pictured_as_it_is() {
    let mut desk = Desk::new();
    desk.mac.world().bring_forward(MAIL);
    let does = says_sent(&desk);
    let taken = in_front(&mut desk, does);
    assert!(taken.iter().all(|pid| *pid == MAIL), "{taken:?}");
}

/// vorssaint-utils #1098: to the window server a sheet, a popover and a menu are separate windows.
#[test]
fn a_picture_shows_the_sheet_and_the_open_menu_but_no_other_window() {
    let mut desk = Desk::new();
    let window = desk.window;
    desk.given(|world| {
        let root = world.apps[&MAIL].root;
        let inbox = world.add(root, "AXWindow", "Inbox", [150.0, 150.0, 600.0, 400.0]);
        world.layers.insert(inbox, 3);
        world.bring_forward(EDITOR);
        let sheet = [200.0, 130.0, 300.0, 150.0];
        world.add(window, "AXSheet", "Save", sheet);
        world.extra.push((MAIL, sheet, 0));
        world.extra.push((MAIL, [220.0, 140.0, 100.0, 150.0], 101));
        world.extra.push((EDITOR, [220.0, 140.0, 100.0, 150.0], 0));
        world.shots.clear();
    });
    let answer = desk.run(deskline_link::Action::Refresh);
    assert!(line(&answer, "screenshot").is_some(), "{}", answer.text);
    let shots = desk.mac.world().shots.clone();
    let shot = shots.last().unwrap();
    assert_eq!(
        (shot.window, &shot.over),
        (window as u32, &vec![9_000, 9_001])
    );
}

/// Otherwise each call would wait until the time limit again.
#[test]
fn a_system_that_gives_no_picture_in_time_is_not_asked_again_at_once() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.no_pictures = true;
    let refresh = |desk: &mut Desk| {
        let start = Instant::now();
        let answer = desk.run(deskline_link::Action::Refresh).ok();
        (start.elapsed().as_secs(), answer.text)
    };
    assert!(refresh(&mut desk).0 >= 3);
    let (seconds, text) = refresh(&mut desk);
    assert!(
        seconds < 1 && text.contains("tries again in a minute"),
        "{text}"
    );
}
