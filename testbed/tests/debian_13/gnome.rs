//! GNOME Shell 48: input and pictures in the window in front, by Mutter's own interfaces.

use std::time::{Duration, Instant};

use deskline_testbed::{Compositor, Session, Toolkit, until};
use serde_json::json;

#[test]
fn clicks_land_to_the_pixel_in_windows_over_each_other() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    let apps = Toolkit::DEBIAN_13.map(|toolkit| (toolkit, session.widgets(toolkit, &server)));
    let last = || server.has_in_front(&apps[2].1).then_some(());
    until("the last app's window", last);
    for (toolkit, app) in &apps {
        let click = json!({"element": "OK", "role": "AXButton"});
        let click = server.call_for(app, "click_and_traverse", click).ok();
        app.wait_for("clicked OK");
        assert!(
            click.file().contains("# coordinates: window"),
            "{toolkit:?}"
        );
        let ok = click.line_of("AXButton", "OK").extents.unwrap();
        let corners = [(ok.x + 2, ok.y + 2), (ok.x + ok.w - 3, ok.y + ok.h - 3)];
        for (n, (x, y)) in corners.into_iter().enumerate() {
            server
                .call_for(app, "click_and_traverse", json!({"x": x, "y": y}))
                .ok();
            until("the click", || {
                (app.logged("clicked OK") == n + 2).then_some(())
            });
        }
        let outside = json!({"x": ok.x + ok.w / 2, "y": ok.y + ok.h + 2});
        server.call_for(app, "click_and_traverse", outside).ok();
        assert_eq!(app.logged("clicked OK"), 3, "{toolkit:?}");
    }
}

#[test]
fn the_persons_window_comes_back_after_clicks_and_after_menus() {
    window_comes_back([Toolkit::Gtk3, Toolkit::Gtk4, Toolkit::Qt6]);
}

#[test]
fn the_persons_window_comes_back_after_qt_6_too() {
    window_comes_back([Toolkit::Qt6, Toolkit::Gtk3, Toolkit::Gtk4]);
}

/// The last app is the person's.
fn window_comes_back(toolkits: [Toolkit; 3]) {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    let apps = toolkits.map(|t| session.widgets(t, &server));
    let person = &apps[2];
    let persons_window = || server.has_in_front(person).then_some(());
    until("the last app's window", persons_window);
    let key = |app, key| {
        server
            .call_for(app, "press_key_and_traverse", json!({"keyName": key}))
            .ok()
    };
    for app in &apps[..2] {
        let ok = json!({"element": "OK", "role": "AXButton"});
        server.call_for(app, "click_and_traverse", ok).ok();
        app.wait_for("clicked OK");
        until("the person's window", persons_window);
        // It would close the menu, so it waits until the menu is done with.
        server
            .call_for(app, "click_and_traverse", json!({"element": "File"}))
            .ok();
        assert!(server.has_in_front(app));
        key(app, "Down");
        assert!(server.has_in_front(app));
        key(app, "Return");
        until("the item's effect", || {
            let log = app.log();
            log.iter().any(|l| l.starts_with("menu ")).then_some(())
        });
        until("the person's window after the menu", persons_window);
        for (element, role) in [("File", "AXMenuBarItem"), ("File option", "AXMenuItem")] {
            assert_eq!(app.logged("menu File option true"), 0);
            let click = json!({"element": element, "role": role});
            server.call_for(app, "click_and_traverse", click).ok();
        }
        app.wait_for("menu File option true");
        until("the person's window after the item", persons_window);
    }
}

#[test]
fn an_open_menu_gives_way_to_another_app() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    let [gtk3, gtk4, qt6] = Toolkit::DEBIAN_13.map(|t| session.widgets(t, &server));
    for (n, app) in [&gtk3, &gtk4].into_iter().enumerate() {
        server
            .call_for(app, "click_and_traverse", json!({"element": "File"}))
            .ok();
        let ok = json!({"element": "OK", "role": "AXButton"});
        server.call_for(&qt6, "click_and_traverse", ok).ok();
        until("the click", || (qt6.logged("clicked OK") > n).then_some(()));
    }
}

#[test]
fn text_and_shortcuts_reach_the_field() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        let text = "Hello, World: 1+1=2!";
        let field = json!({"element": "Name", "role": "AXTextField", "text": text});
        server.call_for(&app, "click_and_traverse", field).ok();
        app.wait_for(&format!("text Name {text}"));
        let all = json!({"keyName": "a", "modifierFlags": ["Control"]});
        server.call_for(&app, "press_key_and_traverse", all).ok();
        let rest = json!({"text": "x", "pressKey": "Return"});
        server.call_for(&app, "type_and_traverse", rest).ok();
        app.wait_for("text Name x");
        let foreign = server.call_for(&app, "type_and_traverse", json!({"text": "漢"}));
        assert!(
            foreign.is_error && foreign.text.contains("character 1 of the text"),
            "{foreign}"
        );
    }
}

#[test]
fn the_doctor_says_what_gnome_can_do() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    let _app = session.widgets(Toolkit::Gtk4, &server);
    let output = session
        .deskline(&["doctor", "--dir", "j"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for row in [
        "✓ windows",
        "✓ raise",
        "✓ pointer",
        "✓ keys",
        "✓ picture",
        "! guard",
    ] {
        assert!(said.contains(row), "{row}\n{said}");
    }
}

/// A headless session's seat has none, nor has a remote one's while nobody is connected.
#[test]
fn clicks_on_a_seat_without_keyboard_and_pointer() {
    for extension in [false, true] {
        let session = Session::gnome_bare(extension);
        let times = click_times(&session);
        println!("bare, extension {extension}: {times:?}");
        // Apps that report nothing were once waited for four times 500 ms.
        assert!(
            times[times.len() / 2] < Duration::from_millis(1500),
            "{times:?}"
        );
    }
}

/// Clicks in windows behind the person's, which comes back. Returns how long each took, sorted.
fn click_times(session: &Session) -> Vec<Duration> {
    let server = session.server();
    let apps = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, &server));
    let [_, _, person] = &apps;
    let listed = server.call("list_applications", json!({})).ok();
    assert!(!listed.text.contains("gnome-shell"), "{listed}");
    let mut times = Vec::new();
    for n in 1..=4 {
        for app in &apps[..2] {
            let ok = json!({"element": "OK", "role": "AXButton"});
            let start = Instant::now();
            server.call_for(app, "click_and_traverse", ok).ok();
            times.push(start.elapsed());
            until("the click", || {
                (app.logged("clicked OK") == n).then_some(())
            });
            assert_eq!(person.logged("clicked OK"), 0);
        }
    }
    println!("{times:?}");
    times.sort_unstable();
    times
}

/// For the table of docs and notes.
#[test]
#[ignore = "measures"]
fn click_times_with_a_keyboard() {
    println!(
        "keyboard: {:?}",
        click_times(&Session::new(Compositor::Gnome))
    );
    println!(
        "extension: {:?}",
        click_times(&Session::gnome_with_extension())
    );
}
