//! Pictures: of covered windows, with menus, and without other apps' windows.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Look, Manager, PlainWindow, TestDesktop, eventually};
use deskline_contract::Pictures as _;
use deskline_contract::{Cancel, Picture, Raising as _, WindowId};
use deskline_core::Point;

const BLUE: u32 = 0x0030_60c0;
const RED: u32 = 0x00e0_1010;
const GREEN: u32 = 0x0010_a020;

fn look(x: i16, y: i16, color: u32) -> Look {
    Look {
        x,
        y,
        color,
        ..Look::default()
    }
}

fn id(window: &PlainWindow) -> WindowId {
    WindowId(window.id.into())
}

/// The colour at a point in root coordinates.
fn at(picture: &Picture, x: i32, y: i32) -> u32 {
    assert_eq!(
        picture.rgb.len(),
        (picture.width * picture.height * 3) as usize
    );
    let (x, y) = (x - picture.origin.x, y - picture.origin.y);
    let pixel = (y * picture.width as i32 + x) as usize * 3;
    let color = &picture.rgb[pixel..pixel + 3];
    u32::from_be_bytes([0, color[0], color[1], color[2]])
}

fn count(picture: &Picture, color: u32) -> usize {
    let [_, r, g, b] = color.to_be_bytes();
    picture.rgb.chunks(3).filter(|p| *p == [r, g, b]).count()
}

#[test]
fn a_window_is_pictured_whole_and_alone() {
    for manager in [Manager::None, Manager::Plain, Manager::Compositing] {
        let desktop = TestDesktop::start(manager);
        let mut x11 = desktop.connect();
        let window = PlainWindow::open(&desktop.display, look(200, 150, BLUE));
        let picture = x11.picture(id(&window)).unwrap();
        let extents = x11.toplevel(id(&window)).unwrap().unwrap().extents;
        assert_eq!((picture.width, picture.height), (300, 200));
        let origin = Point::at(extents.x, extents.y);
        assert_eq!(picture.origin, origin);
        assert_eq!(count(&picture, BLUE), 300 * 200, "{manager:?}");
    }
}

/// The first picture is complete too: a window that was just redirected is black until its app
/// repaints it.
#[test]
fn a_covered_window_is_pictured_as_if_it_were_not() {
    for manager in [Manager::None, Manager::Plain, Manager::Compositing] {
        let desktop = TestDesktop::start(manager);
        let mut x11 = desktop.connect();
        let window = PlainWindow::open(&desktop.display, look(200, 150, BLUE));
        let cover = PlainWindow::open(&desktop.display, look(210, 160, RED));
        x11.activate(id(&cover), &Cancel::new()).unwrap();
        for _ in 0..3 {
            let picture = x11.picture(id(&window)).unwrap();
            assert_eq!(count(&picture, BLUE), 300 * 200, "{manager:?}");
        }
        let picture = x11.picture(id(&cover)).unwrap();
        assert_eq!(count(&picture, RED), 300 * 200, "{manager:?}");
        // Another client takes its first picture of the same window.
        let picture = desktop.connect().picture(id(&window)).unwrap();
        assert_eq!(count(&picture, BLUE), 300 * 200, "{manager:?}");
    }
}

#[test]
fn parts_off_the_screen_are_cropped() {
    let desktop = TestDesktop::start(Manager::None);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, look(-100, 700, BLUE));
    let picture = x11.picture(id(&window)).unwrap();
    assert_eq!((picture.width, picture.height), (200, 100));
    assert_eq!(picture.origin, Point { x: 0, y: 700 });
    assert_eq!(count(&picture, BLUE), 200 * 100);
    let far = PlainWindow::open(&desktop.display, look(1200, 0, RED));
    desktop.run("xdotool", &["windowmove", &far.id.to_string(), "3000", "0"]);
    let error = x11.picture(id(&far)).unwrap_err().to_string();
    assert!(error.contains("off the screen"), "{error}");
}

/// Pop-ups are in the picture at their position, without the windows beside them.
#[test]
fn a_picture_shows_open_popups_and_no_other_app() {
    for manager in [Manager::None, Manager::Plain, Manager::Compositing] {
        let desktop = TestDesktop::start(manager);
        let mut x11 = desktop.connect();
        let window = PlainWindow::open(&desktop.display, look(200, 150, BLUE));
        let extents = x11.toplevel(id(&window)).unwrap().unwrap().extents;
        let (x, y) = (extents.x, extents.y);
        let popup = Look {
            override_redirect: true,
            w: 50,
            h: 300,
            ..look((x + 280) as i16, (y + 20) as i16, GREEN)
        };
        let popup = PlainWindow::open(&desktop.display, popup);
        let picture = x11.picture(id(&window)).unwrap();
        assert_eq!((picture.width, picture.height), (330, 320), "{manager:?}");
        assert_eq!(count(&picture, GREEN), 50 * 300);
        assert_eq!(count(&picture, BLUE), 300 * 200 - 20 * 180);
        assert_eq!(at(&picture, x + 300, y + 100), GREEN);
        assert_eq!(at(&picture, x + 10, y + 250), 0x0080_8080, "backdrop");
        drop(popup);
        eventually("it to close", || {
            let picture = x11.picture(id(&window)).unwrap();
            count(&picture, BLUE) == 300 * 200
        });
    }
}

#[test]
fn minimised_and_closed_windows_have_no_picture() {
    let desktop = TestDesktop::start(Manager::Plain);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, look(200, 150, BLUE));
    desktop.run("xdotool", &["windowminimize", &window.id.to_string()]);
    eventually("it to be minimised", || {
        x11.toplevel(id(&window)).unwrap().unwrap().minimised
    });
    let error = x11.picture(id(&window)).unwrap_err().to_string();
    assert!(error.contains("minimised"), "{error}");
    let gone = id(&window);
    drop(window);
    eventually("it to be gone", || x11.toplevel(gone).unwrap().is_none());
    assert!(
        x11.picture(gone)
            .unwrap_err()
            .to_string()
            .contains("closed")
    );
}

#[test]
fn a_screen_of_an_unsupported_colour_depth_is_refused_with_a_reason() {
    for depth in ["30", "16"] {
        let screen = format!("640x480x{depth}");
        let desktop = TestDesktop::start_with(Manager::None, &["-screen", "0", &screen]);
        let mut x11 = desktop.connect();
        let window = PlainWindow::open(&desktop.display, look(100, 100, 0x3f));
        let error = x11.picture(id(&window)).unwrap_err().to_string();
        assert!(error.contains(&format!("colour depth {depth}")), "{error}");
    }
}

#[test]
fn if_shared_memory_or_composite_is_missing_the_screen_is_pictured() {
    for extension in ["MIT-SHM", "Composite"] {
        let screen = ["-screen", "0", "1280x800x24", "-extension", extension];
        let desktop = TestDesktop::start_with(Manager::None, &screen);
        let mut x11 = desktop.connect();
        let window = PlainWindow::open(&desktop.display, look(200, 150, BLUE));
        let picture = x11.picture(id(&window)).unwrap();
        assert_eq!(count(&picture, BLUE), 300 * 200, "{extension}");
    }
}
