//! Clicks, drags and the wheel, as a window receives them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Look, Manager, PlainWindow, Seen, TestDesktop, eventually};
use deskline_contract::Error;
use deskline_core::{Modifiers, Point, WindowId};
use deskline_input::{Aim, Button, Cancel, Click, Port as _, Reason, click, drag, hover, scroll};
use deskline_x11::X11;

const AT: Point = Point { x: 150, y: 170 };

fn start() -> (TestDesktop, X11, PlainWindow) {
    let desktop = TestDesktop::start(Manager::None);
    let window = PlainWindow::open(&desktop.display, Look::default());
    let x11 = desktop.connect();
    (desktop, x11, window)
}

/// Button presses: number, state, time.
fn pressed(window: &PlainWindow) -> Vec<(u8, u16, u32)> {
    let seen = window.seen().into_iter();
    seen.filter_map(|seen| match seen {
        Seen::Button {
            button,
            state,
            x,
            y,
            time,
        } => {
            assert_eq!((i32::from(x), i32::from(y)), (AT.x, AT.y));
            Some((button, state, time))
        }
        _ => None,
    })
    .collect()
}

fn released(window: &PlainWindow) -> usize {
    let seen = window.seen().into_iter();
    seen.filter(|seen| matches!(seen, Seen::ButtonUp { .. }))
        .count()
}

#[test]
fn a_click_is_motion_then_press_and_release() {
    let (_desktop, mut x11, window) = start();
    let never = Cancel::new();
    click(
        &mut x11,
        Click {
            button: Button::Right,
            modifiers: Modifiers::SHIFT | Modifiers::CONTROL,
            ..Click::left(AT)
        },
        &mut || None,
        &never,
    )
    .unwrap();
    eventually("the click", || released(&window) == 1);
    assert!(matches!(window.seen()[0], Seen::Motion { x: 150, y: 170 }));
    let clicks = pressed(&window);
    assert_eq!((clicks[0].0, clicks[0].1), (3, 5));
    assert_eq!(x11.pointer().unwrap().at, AT);
}

#[test]
fn a_window_of_a_remote_program_over_the_target_gets_no_click() {
    let server = ["-screen", "0", "1280x800x24", "-listen", "tcp", "-ac"];
    let desktop = TestDesktop::start_with(Manager::Plain, &server);
    let window = PlainWindow::open(&desktop.display, Look::default());
    let mut x11 = desktop.connect();
    let mut click_it = || {
        let wanted = Some(WindowId(window.id.into()));
        x11.set_aim(Aim::new(std::process::id(), wanted));
        click(&mut x11, Click::left(AT), &mut || None, &Cancel::new())
    };
    click_it().unwrap();
    eventually("a click", || pressed(&window).len() == 1);
    // The X server knows no process of a client over TCP, such as one over `ssh -X`.
    let remote = format!("127.0.0.1{}", desktop.display);
    let over = Look {
        override_redirect: true,
        ..Look::default()
    };
    let over = PlainWindow::open(&remote, over);
    let error = click_it().unwrap_err();
    assert!(error.to_string().contains("Plain"), "{error}");
    assert_eq!((pressed(&window).len(), pressed(&over).len()), (1, 0));
}

#[test]
fn the_middle_button_clicks_and_hovering_only_moves() {
    let (_desktop, mut x11, window) = start();
    hover(&mut x11, AT, &Cancel::new()).unwrap();
    eventually("the motion", || {
        matches!(window.seen()[..], [.., Seen::Motion { x: 150, y: 170 }])
    });
    assert_eq!(x11.pointer().unwrap().at, AT, "it stays there");
    assert!(pressed(&window).is_empty());
    let click_ = Click {
        button: Button::Middle,
        ..Click::left(AT)
    };
    click(&mut x11, click_, &mut || None, &Cancel::new()).unwrap();
    eventually("the click", || released(&window) == 1);
    assert_eq!(pressed(&window)[0].0, 2);
}

#[test]
fn a_click_follows_the_button_order_of_a_left_handed_mouse() {
    let (desktop, mut x11, window) = start();
    desktop.run("xmodmap", &["-e", "pointer = 3 2 1"]);
    click(&mut x11, Click::left(AT), &mut || None, &Cancel::new()).unwrap();
    eventually("the click", || released(&window) == 1);
    assert_eq!(pressed(&window)[0].0, 1, "the app sees the main button");
}

#[test]
fn a_cancelled_drag_ends_where_it_began_and_leaves_no_key_down() {
    let (desktop, mut x11, window) = start();
    let cancel = Cancel::new();
    let other = cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(40));
        other.cancel(Reason::Person);
    });
    let result = drag(
        &mut x11,
        [AT, Point { x: 390, y: 130 }],
        Modifiers::SHIFT,
        &cancel,
    );
    canceller.join().unwrap();
    assert!(matches!(result, Err(Error::Cancelled(Reason::Person))));
    eventually("the release", || released(&window) == 1);
    let motions = window.seen().into_iter().filter_map(|seen| match seen {
        Seen::Motion { x, y } => Some((i32::from(x), i32::from(y))),
        _ => None,
    });
    let motions: Vec<_> = motions.collect();
    assert!(motions.iter().any(|at| *at != (AT.x, AT.y)), "{motions:?}");
    assert_eq!(motions.last(), Some(&(AT.x, AT.y)));
    let mask = desktop.run("xdotool", &["getmouselocation"]);
    assert!(mask.contains("x:"), "{mask}");
    click(&mut x11, Click::left(AT), &mut || None, &Cancel::new()).unwrap();
    eventually("a click", || pressed(&window).len() == 2);
    assert_eq!(
        pressed(&window)[1].1,
        0,
        "no modifier and no button is down"
    );
}

#[test]
fn the_wheel_turns_line_by_line() {
    let (_desktop, mut x11, window) = start();
    let never = Cancel::new();
    for (delta_x, delta_y, button, count) in [
        (0, 3, 5, 3),
        (0, -70, 4, 70),
        (2, 0, 7, 2),
        (-1, 0, 6, 1),
        (0, 0, 0, 0),
    ] {
        window.forget();
        scroll(&mut x11, AT, (delta_x, delta_y), &never).unwrap();
        eventually("the turns", || released(&window) == count);
        assert!(pressed(&window).iter().all(|turn| turn.0 == button));
    }
}

#[test]
fn places_off_the_screen_are_refused() {
    let (_desktop, mut x11, window) = start();
    let never = Cancel::new();
    for (x, y) in [
        (-1, 5),
        (1280, 5),
        (5, 800),
        (i32::MAX, i32::MIN),
        (65_536 + 150, 170),
    ] {
        let at = Point { x, y };
        let error = click(&mut x11, Click::left(at), &mut || None, &never);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("not on the screen"), "{error}");
        assert!(drag(&mut x11, [AT, at], Modifiers::empty(), &never).is_err());
        assert!(x11.go(at).is_err());
    }
    assert!(pressed(&window).is_empty());
}
