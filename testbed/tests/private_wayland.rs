//! A private desktop on Wayland: apps of each toolkit behind others, judged by the apps, and what
//! is left after its end.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

use deskline_testbed::{Compositor, Session, Setup, Toolkit, until};
use serde_json::json;

fn desktop() -> Session {
    let setup = Setup::here(Compositor::Private);
    setup.start().ends_with_the_test()
}

#[test]
fn apps_behind_others_are_clicked_and_typed_into() {
    let desktop = desktop();
    let server = desktop.server_with(&["--attended"]);
    let apps = Toolkit::ALL.map(|toolkit| (toolkit, desktop.widgets(toolkit, &server)));
    for (toolkit, app) in &apps {
        // For a button, GTK 4.8 reports the bounds of its label.
        if *toolkit == Toolkit::Gtk4 {
            server.toggles(app, json!({"element": "Bold"}), 1, "GTK 4");
        } else {
            server.clicks_are_exact(app, &format!("{toolkit:?}"));
        }
        server.types_and_types_over(app, "Grüße, 漢字 😀");
    }
    let [(_, gtk_3), _, (_, qt)] = &apps;
    server.menu_item_is_clicked(gtk_3);
    server.turns_the_wheel(qt);
    server.drags_over_the_pad(qt);
    let clicked = server.click(gtk_3.pid(), "AXButton", "OK").ok();
    gtk_3.wait_for("clicked OK");
    clicked.shows_the_window();
}

#[test]
fn a_text_is_pasted() {
    desktop().pastes(&Toolkit::ALL);
}

/// Nobody sits there: the target stays in front, and no device is guarded.
#[test]
fn no_device_is_guarded_and_the_target_stays_in_front() {
    let desktop = desktop();
    let server = desktop.server();
    let behind = desktop.widgets(Toolkit::Gtk4, &server);
    let front = desktop.widgets(Toolkit::Qt5, &server);
    assert!(server.has_in_front(&front));
    server.click(behind.pid(), "AXButton", "OK").ok();
    behind.wait_for("clicked OK");
    assert!(server.has_in_front(&behind));
    assert!(front.log().iter().all(|line| !line.starts_with("clicked")));
    let can = "display windows raise pointer keys screenshot".split(' ');
    let said = desktop.doctor_says(&[], &can.collect::<Vec<_>>(), &[]);
    assert!(
        said.contains("nobody sits at this private desktop"),
        "{said}"
    );
    let doctor = desktop.folder().join("deskline");
    let mut bare = desktop.command(doctor);
    // Without the programs that a private desktop needs.
    bare.args(["doctor", "--dir", "j"])
        .env("PATH", desktop.folder());
    let said = String::from_utf8_lossy(&bare.output().unwrap().stdout).into_owned();
    assert!(said.contains("display"), "{said}");
    assert!(!said.contains("private desktop needs"), "{said}");
}

/// Whether a process belongs to the desktop with this directory.
fn has_processes(directory: &str) -> bool {
    let mark = format!("DESKLINE_DESKTOP={directory}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let environments =
        processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    { environments }.any(|variables| String::from_utf8_lossy(&variables).contains(&mark))
}

#[test]
fn two_private_desktops_share_nothing_and_leave_nothing() {
    let desktops = [desktop(), desktop()];
    let servers = desktops.each_ref().map(Session::server);
    let apps = [0, 1].map(|i| desktops[i].widgets(Toolkit::Gtk3, &servers[i]));
    for (i, server) in servers.iter().enumerate() {
        let other = apps[1 - i].pid().to_string();
        let listed = server.applications().ok();
        assert!(!listed.text.contains(&other), "{listed}");
        server
            .fill(apps[i].pid(), "AXTextField", "Name", &format!("app {i}"))
            .ok();
        apps[i].wait_for(&format!("text Name app {i}"));
    }
    for (i, app) in apps.iter().enumerate() {
        assert_eq!(app.text(), format!("app {i}"));
    }
    let directory = |desktop: &Session| {
        let bus = desktop.bus().strip_prefix("unix:path=").unwrap();
        bus.split_once("/run/").unwrap().0.to_owned()
    };
    let directories = desktops.each_ref().map(directory);
    assert_ne!(directories[0], directories[1]);
    assert!(directories.iter().all(|directory| has_processes(directory)));
    drop((servers, desktops));
    for directory in directories {
        until("the end of its processes", || !has_processes(&directory));
        assert!(!Path::new(&directory).exists(), "{directory}");
    }
}

/// With a new profile `LibreOffice` is started anew by its launcher, after its window has come.
#[test]
fn an_app_that_restarts_itself_is_followed() {
    let desktop = desktop();
    let server = desktop.server();
    let opened = server.open("libreoffice").ok();
    assert!(opened.find("AXButton", "Open File").is_some(), "{opened}");
    let clicked = server.click(opened.pid(), "AXButton", "Help").ok();
    assert!(!clicked.text.contains("ended"), "{clicked}");
}

/// A server that a person starts on her own sway desktop.
#[test]
fn a_private_desktop_shows_nothing_on_the_persons_desktop() {
    let persons = Setup::here(Compositor::Sway).start().ends_with_the_test();
    let own = persons.server();
    let in_front = persons.widgets(Toolkit::Qt5, &own);
    let server = persons.server_with(&["--desktop", "private-wayland=1000x700"]);
    let note = persons.folder().join("note.txt");
    persons
        .command("/usr/bin/touch")
        .arg(&note)
        .status()
        .unwrap();
    let pid = server
        .open(&format!("mousepad {}", note.display()))
        .ok()
        .pid();
    assert!(own.has_in_front(&in_front));
    let listed = own.applications().ok();
    assert!(!listed.text.contains("mousepad"), "{listed}");
    server.type_text(pid, "private").ok();
    assert_eq!(server.saved(pid, &note), "private");
    assert!(own.has_in_front(&in_front));
    assert!(in_front.text().is_empty());
}
