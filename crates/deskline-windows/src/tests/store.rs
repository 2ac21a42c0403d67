//! Apps from the Store: their frames belong to another process, and frames without an app remain.

use deskline_link::Target;
use std::time::{Duration, Instant};

use deskline_core::WindowId;

use super::desk::{Desk, NOTES, tree};
use crate::tests::fake::{App, raw, with};
use crate::tree::uia::Patterns;

const HOST: u32 = 60;
const APP: u32 = 61;
const FRAME: WindowId = WindowId(30);

/// A calculator in a frame. Returns its check box.
fn calculator(desk: &Desk) -> usize {
    let frame = desk
        .fake
        .window_of(HOST, FRAME.0, "Calculator", [200.0, 450.0, 300.0, 400.0]);
    let mut inside = raw(50_032, "Calculator", [200.0, 480.0, 300.0, 370.0]);
    inside.window = Some(WindowId(31));
    let inside = desk.fake.add(frame, inside);
    let keep = with(
        raw(50_002, "Keep on top", [220.0, 500.0, 80.0, 24.0]),
        Patterns::TOGGLE,
    );
    let keep = desk.fake.add(inside, keep);
    let mut world = desk.fake.world();
    world.apps.insert(HOST, App::named("ApplicationFrameHost"));
    world.apps.insert(APP, App::named("CalculatorApp"));
    let window = world.win_mut(FRAME).unwrap();
    window.class = "ApplicationFrameWindow";
    window.core = Some((WindowId(31), APP));
    world.come(NOTES);
    keep
}

#[test]
fn a_click_reaches_an_app_in_its_frame() {
    let mut desk = Desk::new();
    let keep = calculator(&desk);
    let answer = desk.click(APP, Target::text("Keep on top"));
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(desk.fake.raw(keep).toggle, 1);
    assert_eq!(desk.front(), Some(NOTES));
    let listed = desk.links.applications("").text;
    assert!(listed.contains("CalculatorApp (PID: 61)"), "{listed}");
}

/// A suspended app does not answer, and the shell keeps its frame.
#[test]
fn a_store_frame_without_a_running_app_delays_nothing() {
    let mut desk = Desk::new();
    calculator(&desk);
    let frame = desk
        .fake
        .window_of(HOST, 32, "Calculator", [0.0, 0.0, 300.0, 400.0]);
    desk.fake.hang(frame, true);
    {
        let mut world = desk.fake.world();
        let window = world.win_mut(WindowId(32)).unwrap();
        window.class = "ApplicationFrameWindow";
        window.core = Some((WindowId(31), APP));
        (window.cloaked, window.view_cloak) = (2, 1);
        world.come(NOTES);
    }
    let start = Instant::now();
    let answer = desk.refresh(APP);
    assert!(!answer.is_error, "{}", answer.text);
    assert!(!answer.text.contains("does not answer"), "{}", answer.text);
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(
        tree(&answer).matches("AXWindow").count(),
        1,
        "{}",
        tree(&answer)
    );
}

#[test]
fn a_window_on_another_virtual_desktop_is_listed_and_takes_no_click() {
    let mut desk = Desk::new();
    {
        let mut world = desk.fake.world();
        let window = world.win_mut(super::desk::FORM).unwrap();
        (window.cloaked, window.view_cloak) = (2, 2);
    }
    let answer = desk.refresh(crate::tests::fake::PID);
    assert!(tree(&answer).contains("\"Form\""), "{}", tree(&answer));
    let answer = desk.click_on("Bold");
    assert!(answer.is_error && !desk.is_bold(), "{}", answer.text);
    let answer = desk.press_on(Target::text("Bold"));
    assert!(!answer.is_error && desk.is_bold(), "{}", answer.text);
}
