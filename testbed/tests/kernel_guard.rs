//! The kernel's guard beside a real compositor and a real app, by an installed `deskline-grab`. Its
//! devices are fake, as the test machines have none. Only root can install it, so this tests
//! nothing if another user runs it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::process::Command;
use std::time::{Duration, Instant};

use deskline_grab::message::{Order, Report, pair, receive, send};
use deskline_testbed::{Client, Compositor, NativeApp, Session, Setup, Toolkit, signal, until};
use rustix::process::{Signal, getuid};
use serde_json::json;

#[path = "../../crates/deskline-evdev/tests/apart/devices.rs"]
#[allow(dead_code)]
mod devices;

use devices::Devices;

/// `KEY_ESC`
const ESCAPE: u32 = 1;

/// sway, and the helper, which has two devices.
fn session() -> Option<(Session, Devices)> {
    session_of(Setup::here(Compositor::Sway))
}

fn session_of(setup: Setup) -> Option<(Session, Devices)> {
    if !getuid().is_root() {
        return None;
    }
    let sway = setup.start().ends_with_the_test();
    let user = fs::metadata(sway.folder().join("deskline")).unwrap().uid();
    let devices = Devices::in_folder(&sway.folder().join("devices"));
    devices.make(user, &["event0", "event1"]);
    let program = sway.folder().join("deskline-grab");
    fs::copy(env!("CARGO_BIN_EXE_grab_on_fakes"), &program).unwrap();
    chown(&program, Some(0), Some(65534)).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o2755)).unwrap();
    Some((sway, devices))
}

/// The doctor's row about the guard.
fn doctors_row(sway: &Session) -> String {
    let doctor = sway.deskline(&["doctor"]).output().unwrap();
    let printed = String::from_utf8(doctor.stdout).unwrap();
    let row = printed.lines().find(|line| line.contains("input lock"));
    row.expect("no input lock").to_owned()
}

fn text() -> String {
    "all work and no play ".repeat(30)
}

/// Types for more than a second.
fn typing<'c>(server: &'c Client, app: &NativeApp) -> deskline_testbed::Pending<'c> {
    let field = json!({"pid": app.pid(), "element": "Name", "role": "AXTextField", "text": text()});
    server.send("click_and_traverse", field)
}

/// The length of the longest text that the app has logged.
fn longest(app: &NativeApp) -> usize {
    let log = app.log();
    let texts = log
        .iter()
        .filter_map(|line| line.strip_prefix("text Name "));
    texts.map(str::len).max().unwrap_or_default()
}

#[test]
fn the_devices_are_grabbed_while_an_agent_types_and_escape_cancels() {
    let Some((sway, devices)) = session() else {
        return;
    };
    let program = sway.folder().join("deskline-grab");
    let by = format!("is sent, by {}", program.display());
    assert!(doctors_row(&sway).contains(&by));

    let server = sway.server();
    let app = sway.widgets(Toolkit::Gtk3, &server);
    assert!(!devices.grabbed("event0"));
    let whole = typing(&server, &app);
    until("the grab", || devices.grabbed("event1"));
    assert!(devices.grabbed("event0"));
    let answer = whole.answer(Duration::from_secs(30)).unwrap().ok();
    assert!(!answer.text.contains("may have mixed"), "{answer}");
    app.wait_for(&format!("text Name {}", text()));
    assert!(!devices.grabbed("event0"));

    let cancelled = typing(&server, &app);
    until("the grab", || devices.grabbed("event0"));
    devices.tap("event0", ESCAPE);
    cancelled
        .answer(Duration::from_secs(30))
        .unwrap()
        .has("Cancelled: the user pressed Esc");
    assert!(!devices.grabbed("event0"));
    assert!(longest(&app) < 2 * text().len(), "all was typed");
}

/// The banner's accent colour.
const ACCENT: [u8; 3] = [0xff, 0x8a, 0x00];

/// How many pixels of the screen have the banner's colour.
fn accents(sway: &Session) -> usize {
    let shot = sway
        .command("/usr/bin/grim")
        .args(["-t", "ppm", "-"])
        .output();
    let shot = shot.unwrap().stdout;
    let lines = shot.splitn(4, |byte| *byte == b'\n');
    let pixels = lines.last().unwrap();
    assert_eq!(pixels.len() % 3, 0);
    pixels.chunks_exact(3).filter(|p| *p == ACCENT).count()
}

#[test]
fn a_banner_says_that_the_agent_acts_and_is_in_no_picture() {
    for scale in [1, 2] {
        let screen = format!("resolution 1600x900 scale {scale}");
        let setup = Setup::here(Compositor::Sway).screens(&[&screen]);
        let Some((sway, devices)) = session_of(setup) else {
            return;
        };
        let server = sway.server();
        let app = sway.widgets(Toolkit::Gtk3, &server);
        assert_eq!(accents(&sway), 0);
        let whole = typing(&server, &app);
        until("the banner", || accents(&sway) > 500);
        assert!(devices.grabbed("event0"));
        let answer = whole.answer(Duration::from_secs(30)).unwrap().ok();
        // The banner takes no key, and is gone before the picture.
        app.wait_for(&format!("text Name {}", text()));
        assert_eq!(accents(&sway), 0);
        let picture = answer.picture().rgb;
        assert!(picture.chunks_exact(3).all(|p| p != ACCENT));

        let quiet = sway.server_with(&["--guard", "input"]);
        let whole = typing(&quiet, &app);
        until("the grab", || devices.grabbed("event0"));
        assert_eq!(accents(&sway), 0);
        whole.answer(Duration::from_secs(30)).unwrap().ok();

        let _killed = typing(&server, &app);
        until("the banner", || accents(&sway) > 500);
        sway.kill(&server);
        until("its end", || accents(&sway) == 0);
    }
}

/// labwc's windows are found in pictures of the screen, which have the banner.
#[test]
fn labwcs_windows_are_found_beside_a_banner() {
    let Some((labwc, devices)) = session_of(Setup::debian_13(Compositor::Labwc).with_root()) else {
        return;
    };
    let server = labwc.server();
    let app = labwc.widgets(Toolkit::Gtk3, &server);
    for round in 0..3 {
        server.click(app.pid(), "AXButton", "OK").ok();
        app.wait_for("clicked OK");
        app.clear_log();
        let whole = typing(&server, &app);
        until("the grab", || devices.grabbed("event0"));
        whole.answer(Duration::from_secs(30)).unwrap().ok();
        assert!(longest(&app) >= text().len(), "{round}");
        app.clear_log();
    }
}

#[test]
fn the_extension_of_gnome_shows_a_banner() {
    let setup = Setup::debian_13(Compositor::Gnome).extension().with_root();
    let Some((gnome, _devices)) = session_of(setup) else {
        return;
    };
    let (server, other) = (gnome.server(), gnome.server_with(&["--guard", "off"]));
    let app = gnome.widgets(Toolkit::Gtk3, &server);
    // The shell's own tree has the banner's text.
    let shell = json!({"pid": gnome.compositor()});
    let banners = || {
        let read = other.call("refresh_traversal", shell.clone());
        let text = if read.is_error {
            read.text.clone()
        } else {
            read.file()
        };
        text.matches("press Esc").count()
    };
    assert_eq!(banners(), 0);
    let whole = typing(&server, &app);
    until("the banner", || banners() > 0);
    whole.answer(Duration::from_secs(30)).unwrap().ok();
    app.wait_for(&format!("text Name {}", text()));
    assert_eq!(banners(), 0);
    let _killed = typing(&server, &app);
    until("the banner", || banners() > 0);
    gnome.kill(&server);
    until("its end", || banners() == 0);
}

#[test]
fn esc_releases_the_devices_of_a_stopped_server() {
    let Some((sway, devices)) = session() else {
        return;
    };
    let server = sway.server();
    let app = sway.widgets(Toolkit::Gtk3, &server);
    let stopped = typing(&server, &app);
    until("the grab", || devices.grabbed("event0"));
    signal(server.pid, Signal::STOP);
    devices.tap("event0", ESCAPE);
    let start = Instant::now();
    until("the release", || !devices.grabbed("event0"));
    let took = start.elapsed();
    signal(server.pid, Signal::CONT);
    assert!(took < Duration::from_secs(2), "{took:?}");
    stopped
        .answer(Duration::from_secs(30))
        .unwrap()
        .has("Cancelled: the user pressed Esc");
    assert!(longest(&app) < text().len(), "all was typed");
}

/// The keeper of a user who may read the devices anyway. In this test, it only counts the devices.
#[test]
fn the_servers_own_keeper_obeys_and_ends_with_its_socket() {
    let (socket, orders) = pair().unwrap();
    let mut keeper = Command::new(deskline_testbed::deskline());
    keeper.args(["helper", "grab-devices"]).stdin(orders);
    let mut keeper = keeper.spawn().unwrap();
    send(&socket, Order::Look).unwrap();
    let seen = receive(&socket, true).unwrap();
    assert!(matches!(seen, Some(Report::Seen(seen)) if seen.allowed));
    drop(socket);
    assert!(keeper.wait().unwrap().success());
}

#[test]
fn the_doctor_explains_why_an_installed_helper_is_not_used() {
    let Some((sway, devices)) = session() else {
        return;
    };
    assert!(doctors_row(&sway).contains("Esc cancels"));
    devices.seat(4321);
    let row = doctors_row(&sway);
    assert!(row.contains("not the one in front on seat0"), "{row}");
}
