//! Windows keeps other programs from taking the front.

use deskline_core::Point;
use deskline_link::Target;
use std::time::{Duration, Instant};

use super::desk::{Desk, EDITOR, NOTES};
use super::suite;
use crate::desktop::WinDesktop;
use crate::tests::fake::{Guard, HIGH, PID};

#[test]
fn the_desktop_on_windows_keeps_the_contract() {
    let desk = Desk::new();
    desk.fake.world().pointer = Point::at(700, 500);
    let mut desktop = WinDesktop::new(desk.fake.clone(), Guard, None);
    suite::is_kept_by(&mut desktop, PID, EDITOR);
}

#[test]
fn a_window_comes_to_the_front_despite_the_foreground_lock() {
    let mut desk = Desk::new();
    desk.fake.world().odd.foreground_lock = true;
    let answer = desk.click_on("Bold");
    assert!(!answer.is_error, "{}", answer.text);
    assert!(desk.is_bold());
    assert_eq!(
        desk.front(),
        Some(NOTES),
        "the person has their window back"
    );
}

#[test]
fn nothing_is_sent_if_the_window_does_not_come_to_the_front() {
    let mut desk = Desk::new();
    desk.fake.world().odd.foreground_held = true;
    let start = Instant::now();
    let answer = desk.click_on("Bold");
    let said = "did not let the window come to the front";
    assert!(
        answer.is_error && answer.text.contains(said),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("menu"), "{}", answer.text);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(!desk.is_bold());
    assert_eq!(desk.fake.requests("click"), 0);
    assert_eq!(desk.front(), Some(NOTES));
    // An element's own action does not need the window in front.
    let answer = desk.press_on(Target::text("Bold"));
    assert!(!answer.is_error && desk.is_bold(), "{}", answer.text);
}

#[test]
fn a_program_of_an_administrator_that_keeps_the_front_is_named() {
    let mut desk = Desk::new();
    {
        let mut world = desk.fake.world();
        world.odd.foreground_held = true;
        world.apps.get_mut(&EDITOR).unwrap().integrity = HIGH;
    }
    let answer = desk.click_on("Bold");
    assert!(answer.is_error && !desk.is_bold(), "{}", answer.text);
    assert!(answer.text.contains("administrator"), "{}", answer.text);
}

/// Keys go to the app's open dialog, which Windows keeps in front of its owner.
#[test]
fn a_dialog_of_the_app_takes_the_keys() {
    let mut desk = Desk::new();
    let dialog = desk
        .fake
        .window(10, "Really?", [150.0, 150.0, 200.0, 100.0]);
    {
        let mut world = desk.fake.world();
        let owner = Some(super::desk::FORM);
        let [dialog, form] = [10, 9].map(deskline_core::WindowId);
        world.win_mut(dialog).unwrap().owner = owner;
        world.win_mut(form).unwrap().enabled = false;
        world.come(NOTES);
    }
    let yes = crate::tests::fake::raw(50_002, "Yes", [160.0, 200.0, 60.0, 24.0]);
    let yes = crate::tests::fake::with(yes, crate::tree::uia::Patterns::TOGGLE);
    let yes = desk.fake.add(dialog, yes);
    let answer = desk.click_on("Yes");
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(desk.fake.raw(yes).toggle, 1);
    assert_eq!(desk.front(), Some(NOTES));
}

/// The edges of a window that glow are windows of their own, as of Visual Studio and `MahApps`.
#[test]
fn glowing_window_edges_are_not_taken_for_an_open_menu() {
    let mut desk = Desk::new();
    let edges = [
        [96.0, 96.0, 408.0, 4.0],
        [96.0, 400.0, 408.0, 4.0],
        [96.0, 100.0, 4.0, 300.0],
        [500.0, 100.0, 4.0, 300.0],
    ];
    for (id, edge) in (30..).zip(edges) {
        desk.fake.window(id, "", edge);
        let mut world = desk.fake.world();
        let styles = &mut world.win_mut(deskline_core::WindowId(id)).unwrap().styles;
        (styles.plain, styles.extended) = (0x8000_0000, 0x8_0080);
    }
    desk.fake.world().come(NOTES);
    let answer = desk.click_on("Bold");
    assert!(!answer.is_error && desk.is_bold(), "{}", answer.text);
    assert_eq!(desk.front(), Some(NOTES));
}
