//! Several displays, negative origins and Retina scales share one coordinate space.

#![allow(clippy::float_cmp)] // whole numbers are exact in a double

use deskline_contract::{Pictures as _, WindowId};
use deskline_core::{Point, Rect};
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, Expect, displays, line};
use crate::desktop::MacDesktop;
use crate::os::Value;
use crate::os::fake::clicks;
use crate::panels::{panels, to_appkit};

#[test]
fn a_click_lands_on_a_display_left_of_and_above_the_main_one() {
    let mut desk = Desk::new();
    let (window, send) = (desk.window, desk.send);
    desk.given(|world| {
        world.set(window, "AXPosition", Value::Point(-1_900.0, -280.0));
        world.set(send, "AXPosition", Value::Point(-1_400.0, -250.0));
        world.pointer = (-12.5, -100.25);
    });
    desk.click_on("Send", "AXButton").ok();
    let world = desk.mac.world();
    assert_eq!(clicks(&world)[0].2, (-1_369.5, -235.5));
    assert_eq!((world.pointer, world.front), ((-13.0, -101.0), EDITOR));
}

#[test]
fn appkits_origin_is_the_bottom_left_of_the_main_display() {
    let place = Rect::at(-1_900, -280, 100, 50);
    assert_eq!(
        to_appkit(&displays(2.0), place),
        [-1_900.0, 1_130.0, 100.0, 50.0]
    );
    let corner = Rect::at(0, 890, 10, 10);
    assert_eq!(to_appkit(&displays(1.0), corner), [0.0, 0.0, 10.0, 10.0]);
}

#[test]
fn the_caption_is_on_the_display_of_the_action_and_does_not_cover_it() {
    let all = displays(1.0);
    let far = Rect::at(-1_000, 0, 50, 50);
    let plate = &panels(&all, Some(far), "AI: clicking", false)[0];
    assert!(
        plate.frame[0] < 0.0 && plate.frame[0] > -1_920.0,
        "{plate:?}"
    );
    let on_top = Rect::at(600, 40, 300, 50);
    let plate = &panels(&all, Some(on_top), "AI: clicking", false)[0];
    // The banner is at the bottom, where AppKit's y is near 0.
    assert!(plate.frame[1] < 100.0, "{plate:?}");
    let outlined = panels(&all, Some(on_top), "", true);
    assert_eq!((outlined.len(), outlined[0].outline), (1, true));
    assert_eq!(outlined[0].frame, [597.0, 807.0, 306.0, 56.0]);
}

#[test]
fn pictures_have_the_scale_of_the_windows_display() {
    for (scale, left) in [(2.0, 100.0), (1.0, -1_800.0)] {
        let desk = Desk::new();
        let window = desk.window;
        desk.given(|world| {
            world.displays = displays(2.0);
            world.set(window, "AXPosition", Value::Point(left, 100.0));
        });
        let mut desktop = MacDesktop::new(desk.mac.clone());
        let picture = desktop.picture(WindowId(window)).unwrap();
        assert!((picture.scale - scale).abs() < f64::EPSILON);
        assert_eq!(
            (picture.width, picture.height),
            ((600.0 * scale) as u32, (400.0 * scale) as u32)
        );
        assert_eq!(picture.origin, Point::at(left as i32, 100));
        assert_eq!(
            picture.rgb.len(),
            3 * (picture.width * picture.height) as usize
        );
    }
}

#[test]
fn the_crosshair_is_at_the_click_on_retina() {
    let mut desk = Desk::new();
    desk.mac.world().displays = displays(2.0);
    let answer = desk.click(Target::at(650, 124), Typing::default());
    let path = line(&answer, "screenshot").unwrap_or_else(|| panic!("{}", answer.text));
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (1_200, 800));
    let red = |x: usize, y: usize| {
        let at = 3 * (y * 1_200 + x);
        pixels[at] > 180 && pixels[at + 1] < 100 && pixels[at + 2] < 100
    };
    let (mut x, mut y, mut count) = (0, 0, 0);
    for row in 0..800 {
        for column in 0..1_200 {
            if red(column, row) {
                (x, y, count) = (x + column, y + row, count + 1);
            }
        }
    }
    assert!(count > 0, "no crosshair");
    let (x, y) = (x / count, y / count);
    // (650 − 100) × 2 and (124 − 100) × 2, within the width of a line.
    assert!(x.abs_diff(1_100) <= 4 && y.abs_diff(48) <= 4, "({x}, {y})");
}

#[test]
fn no_click_goes_to_another_app_that_covers_the_place() {
    let mut desk = Desk::new();
    let (window, editor) = (desk.window, EDITOR);
    {
        // The editor's floating window is above all others, even above the front app's.
        let mut world = desk.mac.world();
        world.extra.push((editor, [600.0, 100.0, 100.0, 100.0], 3));
    }
    desk.click_on("Send", "AXButton")
        .fails_with("'Editor' (pid 200)");
    assert!(clicks(&desk.mac.world()).is_empty());
    // A service's window on top is part of the app's own dialog.
    desk.given(|world| {
        world.extra.clear();
        let root = world.app(
            500,
            "Open and Save Panel Service",
            "/System/Panel.xpc".into(),
        );
        world.apps.get_mut(&500).unwrap().regular = false;
        let _ = (root, window);
        world.extra.push((500, [600.0, 100.0, 100.0, 100.0], 0));
    });
    desk.run(Action::Input(Input::Click {
        target: Target::titled("Send", "AXButton"),
        kind: ClickKind::double(),
        then: Typing::default(),
    }))
    .ok();
    let world = desk.mac.world();
    let counts: Vec<i64> = clicks(&world).iter().map(|c| c.1).collect();
    assert_eq!(counts, [1, 2]);
}

/// The Dock, notifications and Control Center are not apps in the Dock.
#[test]
fn no_click_goes_to_a_dock_or_banner_that_covers_the_place() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let dock = "/System/Library/CoreServices/Dock.app".into();
        let root = world.app(700, "Dock", dock);
        world.apps.get_mut(&700).unwrap().regular = false;
        world.covers.push((root, [600.0, 100.0, 100.0, 100.0]));
    });
    desk.click_on("Send", "AXButton")
        .fails_with("'Dock' (pid 700)");
    assert!(clicks(&desk.mac.world()).is_empty());
}

/// `KiwiDesk` #1322: an overlay as large as the screen, which lets clicks through.
#[test]
fn a_transparent_window_of_another_app_stops_no_click() {
    let mut desk = Desk::new();
    desk.mac
        .world()
        .ghosts
        .push((EDITOR, [0.0, 0.0, 1_440.0, 900.0]));
    desk.click_on("Send", "AXButton").ok();
    assert_eq!(clicks(&desk.mac.world()).len(), 1);
}
