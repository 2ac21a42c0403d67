//! Windows: reading them, and bringing them to the front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::{Duration, Instant};

use common::{Look, Manager, PlainWindow, TestDesktop, eventually};
use deskline_contract::Reason;
use deskline_contract::{Cancel, Error, Raising as _, WindowId};
use deskline_core::Rect;
use deskline_x11::{Kind, X11};

fn at(x: i16, y: i16) -> Look {
    Look {
        x,
        y,
        ..Look::default()
    }
}

fn id(window: &PlainWindow) -> WindowId {
    WindowId(window.id.into())
}

fn front(x11: &X11) -> Option<u32> {
    x11.front().unwrap().map(|window| window.id)
}

#[test]
fn a_window_is_read_with_its_real_pid_and_place() {
    for manager in [Manager::None, Manager::Plain] {
        let desktop = TestDesktop::start(manager);
        let window = PlainWindow::open(&desktop.display, at(200, 150));
        let x11 = desktop.connect();
        let read = x11.toplevel(id(&window)).unwrap().unwrap();
        assert_eq!(
            read.pid,
            std::process::id(),
            "the window has no _NET_WM_PID"
        );
        assert_eq!(read.title, "Plain é");
        assert_eq!(read.kind, Kind::Normal);
        assert!(read.viewable && !read.minimised && !read.modal);
        assert_eq!((read.extents.w, read.extents.h), (300, 200));
        assert_eq!(read.extents, read.raw);
        if manager == Manager::None {
            assert_eq!((read.raw.x, read.raw.y), (200, 150));
        }
        let listed = x11.toplevels().unwrap();
        assert_eq!(listed, [read]);
    }
}

#[test]
fn the_shadow_is_no_part_of_a_window() {
    let desktop = TestDesktop::start(Manager::Plain);
    let window = PlainWindow::open(&desktop.display, at(200, 150));
    let id_text = window.id.to_string();
    let property = [
        "-f",
        "_GTK_FRAME_EXTENTS",
        "32c",
        "-set",
        "_GTK_FRAME_EXTENTS",
    ];
    let set = [&["-id", &id_text], &property[..], &["10, 20, 30, 40"]].concat();
    desktop.run("xprop", &set);
    let x11 = desktop.connect();
    let read = x11.toplevel(id(&window)).unwrap().unwrap();
    let Rect { x, y, w, h } = read.raw;
    let inner = Rect::at(x + 10, y + 30, w - 30, h - 70);
    assert_eq!(read.extents, inner);
}

#[test]
fn windows_are_listed_from_the_front_and_can_be_raised() {
    for manager in [Manager::None, Manager::Plain, Manager::Compositing] {
        let desktop = TestDesktop::start(manager);
        let mut x11 = desktop.connect();
        assert_eq!(x11.has_window_manager().unwrap(), manager != Manager::None);
        let windows = [at(0, 0), at(100, 100), at(200, 200)];
        let windows = windows.map(|look| PlainWindow::open(&desktop.display, look));
        for wanted in [0, 2, 1, 0] {
            let wanted = &windows[wanted];
            x11.activate(id(wanted), &Cancel::new()).unwrap();
            assert_eq!(front(&x11), Some(wanted.id));
            let order: Vec<_> = x11.toplevels().unwrap().iter().map(|w| w.id).collect();
            assert_eq!(order.first(), Some(&wanted.id), "{order:?}");
            assert_eq!(order.len(), 3);
        }
    }
}

#[test]
fn a_minimised_window_is_restored() {
    let desktop = TestDesktop::start(Manager::Plain);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, at(100, 100));
    let read = || x11_read(&desktop, &window);
    eventually("the window", || read().viewable);
    desktop.run("xdotool", &["windowminimize", &window.id.to_string()]);
    eventually("it to be minimised", || read().minimised);
    x11.activate(id(&window), &Cancel::new()).unwrap();
    assert!(!read().minimised);
    assert_eq!(front(&x11), Some(window.id));
}

fn x11_read(desktop: &TestDesktop, window: &PlainWindow) -> deskline_x11::Toplevel {
    desktop.connect().toplevel(id(window)).unwrap().unwrap()
}

#[test]
fn a_window_that_cannot_come_to_the_front_is_an_error_in_bounded_time() {
    let mut desktop = TestDesktop::start(Manager::Plain);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, at(100, 100));
    let other = PlainWindow::open(&desktop.display, at(500, 100));
    x11.activate(id(&other), &Cancel::new()).unwrap();
    desktop.stop("xfwm4");
    let started = Instant::now();
    let error = x11.activate(id(&window), &Cancel::new()).unwrap_err();
    assert!(matches!(error, Error::Target(_)), "{error}");
    assert!(error.to_string().contains("did not come to the front"));
    assert!(started.elapsed() < Duration::from_millis(1500));
    let cancel = Cancel::new();
    cancel.cancel(Reason::Request);
    let cancelled = x11.activate(id(&window), &cancel);
    assert!(matches!(cancelled, Err(Error::Cancelled(Reason::Request))));
}

#[test]
fn raising_a_closed_window_is_an_error_about_a_window_that_is_gone() {
    let desktop = TestDesktop::start(Manager::Plain);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, at(100, 100));
    let gone = id(&window);
    drop(window);
    eventually("it to be gone", || x11.toplevel(gone).unwrap().is_none());
    let error = x11.activate(gone, &Cancel::new()).unwrap_err().to_string();
    assert!(error.contains("is gone"), "{error}");
    assert!(x11.toplevel(WindowId(u64::MAX)).unwrap().is_none());
}

#[test]
fn a_popup_is_an_unmanaged_window_of_the_process() {
    let desktop = TestDesktop::start(Manager::Plain);
    let x11 = desktop.connect();
    let pid = std::process::id();
    let _window = PlainWindow::open(&desktop.display, at(100, 100));
    assert!(!x11.popup_open(pid).unwrap());
    let popup = Look {
        override_redirect: true,
        ..at(120, 120)
    };
    let popup = PlainWindow::open(&desktop.display, popup);
    assert!(x11.popup_open(pid).unwrap());
    assert!(!x11.popup_open(pid + 1).unwrap());
    assert!(!x11.popup_open(0).unwrap());
    let kind = |name: &str| {
        let property = "_NET_WM_WINDOW_TYPE";
        let value = format!("_NET_WM_WINDOW_TYPE_{name}");
        let id = popup.id.to_string();
        desktop.run(
            "xprop",
            &["-id", &id, "-f", property, "32a", "-set", property, &value],
        );
    };
    for (name, open) in [
        ("TOOLTIP", false),
        ("COMBO", true),
        ("NOTIFICATION", false),
        ("MENU", false),
    ] {
        kind(name);
        assert_eq!(x11.popup_open(pid).unwrap(), open, "{name}");
    }
    drop(popup);
    eventually("it to close", || !x11.popup_open(pid).unwrap());
}
