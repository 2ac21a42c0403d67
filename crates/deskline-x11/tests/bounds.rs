//! Nothing hangs or leaks. One test runs at a time, as the tests count the process's descriptors or
//! stop the server.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use deskline_contract::Pictures as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{Look, Manager, PlainWindow, TestDesktop};
use deskline_contract::{Error, Raising as _, WindowId};
use deskline_core::{Key, KeyPress, Modifiers, Point};
use deskline_input::{Cancel, Click, Port as _, click, press_key, scroll, type_text};
use deskline_x11::X11;
use x11rb::protocol::res::ConnectionExt as _;

/// The lock that runs one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The number of resources of all clients of the display.
fn resources(display: &str) -> u32 {
    let (c, _) = x11rb::connect(Some(display)).unwrap();
    let clients = c.res_query_clients().unwrap().reply().unwrap().clients;
    let of = |client: u32| c.res_query_client_resources(client).unwrap().reply();
    let counts = clients
        .iter()
        .filter_map(|client| of(client.resource_base).ok());
    counts
        .flat_map(|reply| reply.types)
        .map(|kind| kind.count)
        .sum()
}

#[test]
fn three_thousand_pictures_leave_nothing_behind() {
    let _alone = alone();
    let desktop = TestDesktop::start(Manager::Plain);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, Look::default());
    let cover = PlainWindow::open(&desktop.display, Look::default());
    let windows = [&window, &cover].map(|window| WindowId(window.id.into()));
    let mut take = |count: usize| {
        for window in windows.iter().cycle().take(count) {
            x11.picture(*window).unwrap();
        }
    };
    take(10);
    let before = (descriptors(), resources(&desktop.display));
    take(3000);
    assert_eq!((descriptors(), resources(&desktop.display)), before);
}

#[test]
fn a_thousand_operations_leave_nothing_behind() {
    let _alone = alone();
    let desktop = TestDesktop::start(Manager::Plain);
    let mut x11 = desktop.connect();
    let window = PlainWindow::open(&desktop.display, Look::default());
    let id = WindowId(window.id.into());
    let never = Cancel::new();
    x11.activate(id, &never).unwrap();
    let mut work = |rounds: i32| {
        for round in 0..rounds {
            let at = Point::at(150 + round * 37 % 200, 150 + round * 23 % 100);
            let key = KeyPress {
                key: Key::Char('a'),
                modifiers: Modifiers::CONTROL,
            };
            x11.go(at).unwrap();
            click(&mut x11, Click::left(at), &mut || None, &never).unwrap();
            scroll(&mut x11, at, (0, 1), &never).unwrap();
            press_key(&mut x11, key, Duration::ZERO, &never).unwrap();
            type_text(&mut x11, "é", &never).unwrap();
            x11.activate(id, &never).unwrap();
            x11.toplevels().unwrap();
            x11.front().unwrap();
            x11.popup_open(std::process::id()).unwrap();
            x11.picture(id).unwrap();
        }
    };
    work(2);
    let before = (descriptors(), resources(&desktop.display));
    work(100);
    assert_eq!((descriptors(), resources(&desktop.display)), before);
}

#[test]
fn a_hung_server_is_an_error_within_seconds_and_so_is_a_dead_one() {
    let _alone = alone();
    let mut desktop = TestDesktop::start(Manager::None);
    let mut x11 = desktop.connect();
    assert!(x11.alive());
    desktop.stop("Xvfb");
    let started = Instant::now();
    let error = x11.pointer().unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    assert!(!x11.alive());
    assert!(x11.toplevels().is_err());
    assert!(type_text(&mut x11, "abc", &Cancel::new()).is_err());
    x11.release_all();
    let connected = X11::connect(&desktop.display, None);
    assert!(matches!(connected, Err(Error::Unavailable(_))));
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    desktop.resume("Xvfb");
    let x11 = desktop.connect();
    assert!(x11.pointer().is_ok());
    let display = desktop.display.clone();
    drop(desktop);
    let error = x11.pointer().unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    assert!(!x11.alive());
    let Err(error) = X11::connect(&display, None) else {
        panic!("connected to a dead server")
    };
    assert!(error.to_string().contains(&display), "{error}");
}

#[test]
fn the_cookie_is_read_from_the_file_that_was_named() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cookies");
    let mut entry = 65535u16.to_be_bytes().to_vec();
    for part in [&b""[..], b"", b"MIT-MAGIC-COOKIE-1", b"0123456789abcdef"] {
        entry.extend((part.len() as u16).to_be_bytes());
        entry.extend(part);
    }
    std::fs::write(&file, entry).unwrap();
    let auth = [
        "-screen",
        "0",
        "640x480x24",
        "-auth",
        file.to_str().unwrap(),
    ];
    let desktop = TestDesktop::start_with(Manager::None, &auth);
    assert!(X11::connect(&desktop.display, Some(&file)).is_ok());
    let Err(error) = X11::connect(&desktop.display, None) else {
        panic!("let in without a cookie")
    };
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    for nonsense in ["", "nonsense", ":70000", ":65535", ":1.99999", "host:-1"] {
        assert!(X11::connect(nonsense, None).is_err(), "{nonsense}");
    }
}
